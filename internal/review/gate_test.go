package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/review"
	"quarry/internal/stress"
	"quarry/toolset"
)

// bench is a workspace behind a gate, and the same workspace without it, for the
// reviewer.
type bench struct {
	t              testing.TB
	dir            string
	agent, person  *quarry.Workspace
	store          *review.Store
	state, reviews string
}

func newBench(t testing.TB, files map[string]string, wait time.Duration) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), state: t.TempDir(), reviews: t.TempDir()}
	for name, text := range files {
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.agent = b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: wait})
	b.person = b.open(nil)
	store, err := review.Open(b.reviews)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	return b
}

func (b *bench) open(r *quarry.ReviewOptions) *quarry.Workspace {
	b.t.Helper()
	ws, err := quarry.Open(b.dir, &quarry.Options{StateDir: b.state, Trash: change.TrashLocal, Review: r})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { ws.Close() })
	return ws
}

// sameTick sets the time of the store's folder to a fixed one, as if the file system's
// clock did not advance.
func (b *bench) sameTick() {
	b.t.Helper()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := os.Chtimes(b.reviews, at, at); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	return string(data)
}

// tree describes the names, modes and contents of everything in the workspace.
func (b *bench) tree() string {
	b.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v", path, info.Mode())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %x %v", data, info.ModTime())
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.String()
}

// only waits until there is one open proposal and returns it.
func (b *bench) only() *review.Proposal {
	b.t.Helper()
	var open *review.Proposal
	if stress.Becomes(func() bool {
		list, err := b.store.Pending()
		if err != nil {
			b.t.Fatal(err)
		}
		if len(list) > 0 {
			open = list[0]
		}
		return open != nil
	}) {
		return open
	}
	b.t.Fatal("no proposal")
	return nil
}

const (
	ten      = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30\n"
	agentish = "agent"
)

// three returns three edits that are far enough apart to be three hunks.
func three() []change.Edit {
	return []change.Edit{{Old: "2\n3", New: "two\n3"}, {Old: "15\n", New: "15\nfifteen and a half\n"}, {Old: "28\n", New: ""}}
}

var as = &change.Options{Client: change.Client{Name: agentish}, Tool: "edit_file"}

// TestOneHunkOfThree accepts each subset of three hunks and checks that exactly that
// subset is applied.
func TestOneHunkOfThree(t *testing.T) {
	stress.SkipTiny(t)
	parts := []struct{ old, new string }{{"2\n3", "two\n3"}, {"15\n", "15\nfifteen and a half\n"}, {"28\n", ""}}
	for subset := range 8 {
		b := newBench(t, map[string]string{"a.txt": ten}, time.Minute)
		done := make(chan error, 1)
		var got *change.Change
		go func() {
			c, err := b.agent.Edit(context.Background(), "a.txt", three(), as)
			got = c
			done <- err
		}()
		p := b.only()
		if len(p.Files) != 1 || len(p.Files[0].Hunks) != 3 {
			t.Fatalf("proposal = %+v", p)
		}
		if b.read("a.txt") != ten {
			t.Fatal("something was written before the decision")
		}
		want, verdicts := ten, []review.Verdict{review.No, review.No, review.No}
		for i, part := range parts {
			if subset&(1<<i) != 0 {
				verdicts[i] = review.Yes
				want = strings.Replace(want, part.old, part.new, 1)
			}
		}
		if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{By: "shell", Hunks: [][]review.Verdict{verdicts}, Comment: "so"}); err != nil {
			t.Fatal(err)
		}
		err := <-done
		if b.read("a.txt") != want {
			t.Errorf("subset %d: %q, want %q", subset, b.read("a.txt"), want)
		}
		var refused *review.RefusedError
		switch {
		case subset == 0:
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "so") || fault.CodeOf(err) != fault.Conflict {
				t.Errorf("refused: %v", err)
			}
		case err != nil || got.ID == "" || got.Client.Name != agentish:
			t.Errorf("subset %d: %+v, %v", subset, got, err)
		}
		if subset != 0 {
			if _, err := b.person.Undo(t.Context(), got.ID, nil); err != nil || b.read("a.txt") != ten {
				t.Errorf("undo: %v, %q", err, b.read("a.txt"))
			}
		}
	}
}

// TestPending checks that a proposal remains after the wait. The same change finds it
// again, another change of the file is refused because of it, and it can be withdrawn.
func TestPending(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": ten, "b.txt": "b\n"}, -1)
	edit := func(new string, o *change.Options) error {
		_, err := b.agent.Edit(t.Context(), "a.txt", []change.Edit{{Old: "4\n5\n6\n", New: "4\n" + new + "6\n"}}, o)
		return err
	}
	var pending *review.PendingError
	if err := edit("five\n", as); !errors.As(err, &pending) || fault.CodeOf(err) != fault.Timeout {
		t.Fatalf("first = %v", err)
	}
	id := pending.ID
	if err := edit("five\n", as); !errors.As(err, &pending) || pending.ID != id {
		t.Errorf("the same again = %v, want %s", err, id)
	}
	var busy *review.BusyError
	if err := edit("FIVE\n", as); !errors.As(err, &busy) || busy.ID != id || fault.CodeOf(err) != fault.Conflict {
		t.Errorf("another = %v", err)
	}
	// Another client can't withdraw it. The error says who can.
	if err := edit("FIVE\n", &change.Options{Client: change.Client{Name: "another"}}); !errors.As(err, &busy) || !strings.Contains(err.Error(), "proposal "+id+" of "+agentish) ||
		strings.Contains(busy.Hint(), "undo_change") || !strings.Contains(busy.Hint(), agentish+" can withdraw it") {
		t.Errorf("another client's = %v", err)
	}
	if _, err := b.agent.Write(t.Context(), "b.txt", []byte("c\n"), as); !errors.As(err, &pending) || pending.ID == id {
		t.Errorf("another file = %v", err)
	}
	log, err := b.agent.Changes(t.Context(), 0)
	if err != nil || len(log.Changes) != 2 || log.Changes[1].ID != id || !log.Changes[1].Pending {
		t.Errorf("log = %+v, %v", log, err)
	}
	if _, err := b.agent.Undo(t.Context(), id, &change.Options{Client: change.Client{Name: "another"}}); err == nil {
		t.Error("another client withdrew it")
	}
	if _, err := b.agent.Undo(t.Context(), id, as); err != nil {
		t.Errorf("withdraw = %v", err)
	}
	if err := edit("FIVE\n", as); !errors.As(err, &pending) || pending.ID == id {
		t.Errorf("after the withdrawal = %v", err)
	}
	if b.read("a.txt") != ten {
		t.Error("something was written")
	}
	// After a restart the proposal still exists and can be accepted.
	again, err := review.Open(b.reviews)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	p, err := again.Decide(t.Context(), b.person, pending.ID, review.Decision{By: "page", Rest: review.Yes})
	if err != nil || p.State != review.Accepted || !strings.Contains(b.read("a.txt"), "FIVE\n") {
		t.Fatalf("decided after a restart: %+v, %v", p, err)
	}
	// The client is told the decision once.
	news, err := again.News(change.Client{Name: agentish})
	if err != nil || len(news) != 1 || news[0].ID != p.ID {
		t.Errorf("news = %v, %v", news, err)
	}
	if news, _ := again.News(change.Client{Name: agentish}); len(news) != 0 {
		t.Errorf("news twice: %v", news)
	}
}

// TestStale checks that hunks in conflict with later changes are not applied.
func TestStale(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": ten}, -1)
	_, _ = b.agent.Edit(t.Context(), "a.txt", three(), as)
	p := b.only()
	if err := os.WriteFile(filepath.Join(b.dir, "a.txt"), []byte("others\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if stale := b.store.Stale(t.Context(), b.person, p); len(stale) != 1 || stale[0].Path != "a.txt" || len(stale[0].Blocked) != 3 {
		t.Errorf("stale = %v", stale)
	}
	var stale *review.StaleError
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); !errors.As(err, &stale) {
		t.Errorf("decide = %v", err)
	}
	if b.read("a.txt") != "others\n" {
		t.Error("a stale proposal was applied")
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.No}); err != nil {
		t.Errorf("refuse = %v", err)
	}
}

// TestAbandoned checks that the proposal of a disconnected client remains, and that
// accepting it needs a confirmation.
func TestAbandoned(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": ten}, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := b.agent.Edit(ctx, "a.txt", three(), as); done <- err }()
	p := b.only()
	cancel()
	err := <-done
	var pending *review.PendingError
	if want := "the call was cancelled; its change remains as " + p.ID; !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Timeout || !errors.As(err, &pending) || !strings.HasPrefix(pending.Error(), want) || fault.HintOf(err) != pending.Hint() {
		t.Fatalf("%v, want %s", err, want)
	}
	if p, _ = b.store.Get(p.ID); p.State != review.Abandoned {
		t.Fatalf("state = %s", p.State)
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("without a confirmation: %v", err)
	}
	if b.read("a.txt") != ten {
		t.Error("it was applied without a confirmation")
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes, Confirm: true}); err != nil || b.read("a.txt") == ten {
		t.Errorf("with one: %v", err)
	}
}

// TestAbandonedBlocksNothing checks that other clients may propose changes of a file
// after the client of a first proposal has disconnected, since it can't withdraw that.
// Once one is accepted, the abandoned proposal is stale. The end of a connection abandons
// its proposals, unless a later call has sent the same change again.
func TestAbandonedBlocksNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": ten}, -1)
	var ends []func()
	agent := b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1, Stays: true, OnEnd: func(_ context.Context, f func()) { ends = append(ends, f) }})
	edit := func(new, client string) (string, error) {
		_, err := agent.Edit(t.Context(), "a.txt", []change.Edit{{Old: "5\n6", New: new + "\n6", Occurrence: change.First}}, &change.Options{Client: change.Client{Name: client}})
		var pending *review.PendingError
		if errors.As(err, &pending) {
			return pending.ID, nil
		}
		return "", err
	}
	first, err := edit("five", "gone")
	if err != nil {
		t.Fatal(err)
	}
	var busy *review.BusyError
	if _, err := edit("FIVE", "other"); !errors.As(err, &busy) || busy.ID != first {
		t.Fatalf("while its client is there: %v", err)
	}
	if again, err := edit("five", "gone"); err != nil || again != first {
		t.Fatalf("again: %s, %v", again, err)
	}
	if ends[0](); b.only().State != review.Waiting {
		t.Error("the end of an earlier connection abandoned what a later one waits for")
	}
	if ends[1](); b.only().State != review.Abandoned {
		t.Error("the end of its connection did not abandon it")
	}
	second, err := edit("FIVE", "other")
	if err != nil || second == first {
		t.Fatalf("after that: %s, %v", second, err)
	}
	if _, err := b.store.Decide(t.Context(), b.person, second, review.Decision{Rest: review.Yes}); err != nil {
		t.Fatal(err)
	}
	var stale *review.StaleError
	if _, err := b.store.Decide(t.Context(), b.person, first, review.Decision{Rest: review.Yes, Confirm: true}); !errors.As(err, &stale) {
		t.Errorf("the abandoned one: %v", err)
	}
	if !strings.Contains(b.read("a.txt"), "FIVE\n") {
		t.Error("the file differs from the accepted text")
	}
}

// TestTwoPeople checks that exactly one of many concurrent decisions takes effect, and
// that the files match it.
func TestTwoPeople(t *testing.T) {
	for range 5 {
		b := newBench(t, map[string]string{"a.txt": ten}, -1)
		_, _ = b.agent.Edit(t.Context(), "a.txt", three(), as)
		p := b.only()
		var wg sync.WaitGroup
		var mu sync.Mutex
		var winners []review.Verdict
		for i := range 8 {
			wg.Go(func() {
				store, err := review.Open(b.reviews) // like another process
				if err != nil {
					t.Error(err)
					return
				}
				defer store.Close()
				v := []review.Verdict{review.Yes, review.No}[i%2]
				_, err = store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: v})
				var late *review.DecidedError
				if err == nil {
					mu.Lock()
					winners = append(winners, v)
					mu.Unlock()
				} else if !errors.As(err, &late) {
					t.Errorf("decide = %v", err)
				}
			})
		}
		wg.Wait()
		if len(winners) != 1 || (b.read("a.txt") != ten) != (winners[0] == review.Yes) {
			t.Errorf("winners %v, file %q", winners, b.read("a.txt"))
		}
	}
}

// TestUndoIsProposed checks that undoing an applied change also waits for a decision.
func TestUndoIsProposed(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": ten}, -1)
	c, err := b.person.Write(t.Context(), "a.txt", []byte("new\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.agent.Undo(t.Context(), c.ID, as); fault.CodeOf(err) != fault.Timeout {
		t.Fatalf("undo = %v", err)
	}
	p := b.only()
	if b.read("a.txt") != "new\n" || p.Undo != c.ID {
		t.Fatalf("before the decision: %q, %+v", b.read("a.txt"), p)
	}
	if p, err = b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); err != nil || b.read("a.txt") != ten || p.State != review.Accepted {
		t.Errorf("accepted: %v, %q", err, b.read("a.txt"))
	}
}

// hostileValues are arguments for any parameter of any tool.
func hostileValues(r *rand.Rand) any {
	list := []any{
		"a.txt", "notes/n.md", "new/deep/file.txt", "../outside.txt", "/etc/passwd", ".git/config", ".env", "a.txt/../a.txt", "./a.txt", "A.TXT", "notes", "notes/", "", ".", "..", " a.txt ", "a\x00b", "a\nb", "\u202etxt.a",
		"\xff\xfe", strings.Repeat("x", 5000), "p-0001", "p-9999", "1", 0, -1, 3, 1 << 40, 1.5, true, false, nil, []any{"a.txt"}, []any{}, map[string]any{"a": 1}, "2\n3", "5\n", "two\n", "$&", "${x}", "*** Begin Patch\n*** End Patch", "{}", "[]", "null", "<script>", "%2e%2e/x",
	}
	return list[r.IntN(len(list))]
}

// TestNoByteBeforeADecision calls every changing tool with hostile arguments, also while
// the state folders are missing. The bytes and times of all files must stay the same.
func TestNoByteBeforeADecision(t *testing.T) {
	stress.SkipShort(t)
	for _, fault := range []string{"", "reviews", "state"} {
		t.Run("without "+fault, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": ten, "notes/n.md": "# n\n\n[[m]]\n", "notes/m.md": "# m\n", ".env": "K=v\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`}, -1)
			written, err := b.person.Write(t.Context(), "notes/m.md", []byte("# m\n\nmore\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			before := b.tree()
			switch fault {
			case "reviews":
				os.RemoveAll(b.reviews)
			case "state":
				os.RemoveAll(b.state)
			}
			called, proposed := b.attack(rand.New(rand.NewPCG(3, 4)), written.ID, fault == "")
			if after := b.tree(); after != before {
				t.Errorf("the workspace changed:\n%s\n%s", before, after)
			}
			t.Logf("%d calls, %d of them proposed something", called, proposed)
			if fault == "" && proposed < 200 {
				t.Errorf("only %d calls came as far as a proposal", proposed)
			}
		})
	}
}

// attack calls every changing tool 200 times, half of the time with mostly valid
// arguments, and refuses the resulting proposals.
func (b *bench) attack(r *rand.Rand, last string, refuse bool) (called, proposed int) {
	b.t.Helper()
	tools, err := toolset.New(b.agent, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, tool := range tools.Tools() {
		if tool.Hints.ReadOnly {
			continue
		}
		for range 200 {
			args := map[string]any{}
			almost := r.IntN(2) == 0
			if almost {
				args = working(b.t, tool.Name, last)
			}
			for _, p := range tool.Params {
				if almost && r.IntN(8) == 0 || !almost && (p.Required || r.IntN(3) > 0) {
					args[p.Name] = hostileValues(r)
				}
			}
			if r.IntN(4) == 0 && args["path"] != nil {
				args["path"] = "a.txt"
			}
			raw, err := json.Marshal(args)
			if err != nil {
				b.t.Fatal(err)
			}
			called++
			if res := tool.Execute(b.t.Context(), raw); strings.Contains(res.Text, "waits for") {
				proposed++
			}
		}
		if !refuse {
			continue
		}
		// Waiting proposals would block the next tool.
		list, _ := b.store.List()
		for _, p := range list {
			if p.State.Open() {
				if _, err := b.store.Decide(b.t.Context(), b.person, p.ID, review.Decision{Rest: review.No}); err != nil {
					b.t.Fatal(err)
				}
			}
		}
	}
	return called, proposed
}
