package searcher_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/search"
)

// told is the answer of a child process of TestOwnersKilled.
type told struct {
	Answer []byte // not a string, because JSON strings can't hold arbitrary bytes
	Plan   search.Plan
	Remote bool
	Keeper bool // the process owns the index
	Status search.IndexStatus
}

func ownerOptions(base string) *quarry.Options {
	watches, _ := strconv.Atoi(os.Getenv("QUARRY_WATCHES"))
	return &quarry.Options{Workers: 2, Index: &quarry.IndexOptions{Dir: filepath.Join(base, "index"), Socket: filepath.Join(base, "run", "sock"), MaxWatches: watches}}
}

// TestOwnerChild runs as one of the processes that share an index: it reads questions
// from stdin and answers on stdout. A question without a query asks whether it owns the
// index.
func TestOwnerChild(t *testing.T) {
	base := os.Getenv("QUARRY_OWNERS")
	if base == "" {
		t.Skip("runs as a child of TestOwnersKilled")
	}
	ws, err := quarry.Open(filepath.Join(base, "ws"), ownerOptions(base))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if os.Getenv("QUARRY_WAIT") != "" {
		if err := ws.Index().Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q *search.Query
		if err := in.Decode(&q); err != nil {
			return
		}
		var r told
		if q != nil {
			res, err := ws.Search(ctx, *q)
			r.Answer = []byte(answerText(res, err))
			if err == nil {
				r.Plan, r.Remote = res.Stats.Plan, res.Stats.Remote
			}
		}
		st, err := ws.Index().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r.Keeper, r.Status = !st.Remote && st.State != "not_found", *st
		if err := out.Encode(&r); err != nil {
			return
		}
	}
}

// ownerProc is a running TestOwnerChild.
type ownerProc struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
	end io.Closer
}

func startOwner(t *testing.T, base string, env ...string) *ownerProc {
	t.Helper()
	cmd := child(t, "TestOwnerChild", append(env, "QUARRY_OWNERS="+base, "GOMAXPROCS=2")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &ownerProc{cmd, json.NewEncoder(in), bufio.NewReader(out), in}
}

func (p *ownerProc) ask(q *search.Query) error { return p.in.Encode(q) }

func (p *ownerProc) hear() (r told, err error) {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	return r, err
}

func (p *ownerProc) kill() {
	p.cmd.Process.Kill()
	p.end.Close()
	p.cmd.Wait()
}

// ownersRun is the state of TestOwnersKilled.
type ownersRun struct {
	t       *testing.T
	base    string
	procs   []*ownerProc
	scan    *quarry.Workspace
	m       *mutator
	answers map[string]int // by how they were answered
}

// keeper asks all processes and returns the index of the one that owns the search index,
// or -1.
func (r *ownersRun) keeper() int {
	r.t.Helper()
	found := -1
	for i, a := range r.askAll(nil, -1) {
		if !a.Keeper {
			continue
		}
		if found >= 0 {
			r.t.Fatalf("processes %d and %d both own the index", found, i)
		}
		found = i
	}
	return found
}

// askAll sends a question to all processes at once and returns their answers. The
// process with index dying is killed at the same time and may not answer.
func (r *ownersRun) askAll(q *search.Query, dying int) []told {
	r.t.Helper()
	for i, p := range r.procs {
		if err := p.ask(q); err != nil {
			r.t.Fatalf("process %d: %v", i, err)
		}
	}
	if dying >= 0 {
		// Some time between before the first answer and after the last one.
		time.Sleep(time.Duration(r.m.rng.IntN(6000)) * time.Microsecond)
		r.procs[dying].kill()
	}
	all := make([]told, len(r.procs))
	for i, p := range r.procs {
		a, err := p.hear()
		if err != nil && i != dying {
			r.t.Fatalf("process %d: %v", i, err)
		}
		all[i] = a
	}
	return all
}

// settle waits until the index is ready. On a loaded machine, possibly no owner has lived
// long enough to build it.
func (r *ownersRun) settle() {
	r.t.Helper()
	if !regime.Becomes(func() bool {
		if i := r.keeper(); i >= 0 && r.askAll(nil, -1)[i].Status.State == "ready" {
			return true
		}
		r.check("while the index is built", -1) // another process takes over
		return false
	}) {
		r.t.Error("no index got ready in a minute")
	}
}

// check compares all answers with a scan.
func (r *ownersRun) check(what string, dying int) {
	r.t.Helper()
	q := r.m.query()
	if dying >= 0 && r.m.rng.IntN(3) == 0 {
		q = search.Query{Pattern: "."} // a long answer, to be interrupted
	}
	r.compare(q, what, dying)
}

func (r *ownersRun) compare(q search.Query, what string, dying int) {
	r.t.Helper()
	want := answer(r.t, r.scan, q)
	for i, a := range r.askAll(&q, dying) {
		if i == dying {
			continue
		}
		how := "scan"
		if a.Plan.Indexed() {
			how = map[bool]string{true: "asked", false: "owned"}[a.Remote]
		}
		r.answers[how]++
		if got := string(a.Answer); got != want {
			r.t.Fatalf("%s, process %d, answered by %s, %+v:\n%s", what, i, how, q, cmp.Diff(want, got))
		}
	}
}

// Six processes share an index. Its owner is killed repeatedly: while it answers, while
// it builds, and while files change. Every answer of the others equals a scan's, and
// there is never more than one owner.
func TestOwnersKilled(t *testing.T) {
	base := regime.FastDir(t)
	for _, d := range []string{"ws", "index"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := &ownersRun{t: t, base: base, answers: map[string]int{}}
	r.m = &mutator{rng: regime.Rand(0), dir: filepath.Join(base, "ws")}
	for range 100 {
		r.m.step()
	}
	var err error
	if r.scan, err = quarry.Open(filepath.Join(base, "ws"), nil); err != nil {
		t.Fatal(err)
	}
	defer r.scan.Close()
	for range 6 {
		r.procs = append(r.procs, startOwner(t, base))
	}
	defer func() {
		for _, p := range r.procs {
			p.kill()
		}
	}()
	run := regime.Start(t, "processes: owner killed", 50, 2000)
	for seed := range run.Cases() {
		r.m.rng = regime.Rand(seed)
		for range r.m.rng.IntN(4) {
			r.m.step()
			r.check("after a change", -1)
		}
		owner := r.keeper()
		if owner < 0 { // the last owner died and there was no question since
			r.check("without an owner", -1)
			if owner = r.keeper(); owner < 0 {
				t.Fatal("nobody took over")
			}
		}
		r.m.step()
		r.check("killed", owner)
		r.procs[owner] = startOwner(t, base)
	}
	r.check("at the end", -1)
	r.settle()
	r.compare(search.Query{Pattern: "needle|alpha"}, "when the index is ready", -1)
	if r.answers["asked"] == 0 || r.answers["owned"] == 0 {
		t.Errorf("the index was hardly used: %v", r.answers)
	}
	t.Logf("answers: %v", r.answers)
}

// The owner misses events: it is stopped while more of them occur than the kernel's queue
// holds, or it may watch only 100 folders. It must then scan the tree again, so that its
// answers equal the scan's.
func TestOwnerMissesEvents(t *testing.T) {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skipf("needs inotify and /proc mounted: %v", err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || queue > 1<<18 {
		t.Skipf("a queue of %q events takes too long to fill", data)
	}
	for _, c := range []struct {
		name    string
		watches int
		events  int
	}{
		{"overflow", 0, queue + 20},
		{"overflow, 100 watches", 100, queue + 20},
		{"100 watches", 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := regime.FastDir(t)
			dir := filepath.Join(base, "ws")
			for i := range 150 {
				if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("deep/d%d/e", i)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			r := &ownersRun{t: t, answers: map[string]int{}, m: &mutator{rng: regime.Rand(0), dir: dir}}
			for range 60 {
				r.m.step()
			}
			os.Mkdir(filepath.Join(base, "index"), 0o700)
			if r.scan, err = quarry.Open(dir, nil); err != nil {
				t.Fatal(err)
			}
			defer r.scan.Close()
			r.procs = []*ownerProc{startOwner(t, base, fmt.Sprintf("QUARRY_WATCHES=%d", c.watches), "QUARRY_WAIT=1")}
			defer r.procs[0].kill()
			run := regime.Start(t, "overflow: "+c.name, 7, 67)
			for seed := range run.Cases() {
				r.m.rng = regime.Rand(seed)
				before := r.askAll(nil, -1)[0].Status
				r.burst(c.events)
				r.compare(search.Query{Pattern: "needle|alpha"}, "after the burst", -1)
				r.check("after the burst", -1)
				after := r.askAll(nil, -1)[0].Status
				if after.Sweeps == before.Sweeps {
					t.Fatalf("nothing was swept: %+v", after)
				}
				if c.watches > 0 && (after.Watches != 100 || after.Unwatched == 0) {
					t.Fatalf("%d watches, %d parts without", after.Watches, after.Unwatched)
				}
			}
			if r.answers["owned"] == 0 {
				t.Errorf("the index was not used: %v", r.answers)
			}
		})
	}
}

// burst stops the process and meanwhile makes changes that cause the given number of
// events.
func (r *ownersRun) burst(events int) {
	r.t.Helper()
	pid := r.procs[0].cmd.Process
	if err := pid.Signal(syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	defer pid.Signal(syscall.SIGCONT)
	for stat := []byte(nil); !bytes.Contains(stat, []byte(") T ")); { // the process is stopped once all its threads are
		var err error
		if stat, err = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid.Pid)); err != nil {
			r.t.Fatal(err)
		}
	}
	a, b := filepath.Join(r.m.dir, "burst1"), filepath.Join(r.m.dir, "burst2")
	for _, f := range []string{a, b} {
		if err := os.WriteFile(f, []byte("needle\n"), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	for i := range events / 2 { // alternate, because the kernel merges equal consecutive events
		os.Truncate(a, int64(i%7))
		os.Truncate(b, int64(i%7))
	}
	for range 3 + r.m.rng.IntN(6) { // the queue is full, so these cause no events
		r.m.step()
	}
	deep := filepath.Join(r.m.dir, fmt.Sprintf("deep/d%d/e/f", r.m.rng.IntN(150)))
	if err := os.WriteFile(deep, []byte(r.m.text()), 0o644); err != nil {
		r.t.Fatal(err)
	}
}
