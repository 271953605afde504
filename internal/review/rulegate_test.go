package review_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// ruled opens the workspace of an agent whose changes follow rules.
func (b *bench) ruled(rules func() ([]string, error), only bool) *quarry.Workspace {
	return b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1, Rules: rules, OnlyRules: only})
}

func fixed(rules ...string) func() ([]string, error) {
	return func() ([]string, error) { return rules, nil }
}

// judged compares the gate's decisions with the twin's, decides waiting proposals, and
// counts cases.
type judged struct {
	made, asked, refused, parts, hostile, spelled int
}

func (j *judged) note(set *change.Set, touched map[string]int, action review.Action) {
	for name := range touched {
		j.parts++
		if _, odd := hostileFiles[name]; odd {
			j.hostile++
		}
		if _, odd := unixFiles[name]; odd {
			j.hostile++
		}
	}
	for _, op := range set.Ops {
		if _, plain := touched[op.Path]; !plain {
			j.spelled++
		}
	}
	*[]*int{&j.made, &j.asked, &j.refused}[action]++
}

// report fails if one kind of case was too rare.
func (j *judged) report(t *testing.T) {
	t.Helper()
	t.Logf("%d made, %d asked, %d refused; %d parts, %d of files with hostile names; %d paths in another spelling", j.made, j.asked, j.refused, j.parts, j.hostile, j.spelled)
	least, most := min(j.made, j.asked, j.refused), max(j.made, j.asked, j.refused)
	if least == 0 || most > 200 && least < most/200 || j.hostile == 0 || j.spelled == 0 {
		t.Error("too few of one kind")
	}
}

// TestRulesInTheGate compares the gate with the twin on random changes under random
// rules: both must agree which changes are made, proposed and refused. Nothing may be
// written before a decision.
func TestRulesInTheGate(t *testing.T) {
	run := stress.Start(t, "rules in the gate", 120, 200)
	var count judged
	tools := []string{"edit_file", "apply_changes"}
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		b := newGround(t)
		w := &twin{rules: someRules(rng, b.texts, tools), only: rng.IntN(2) == 0}
		agent := b.ruled(fixed(w.texts()...), w.only)
		for k := range 25 {
			run.Tried(1)
			set, touched, from, after := b.someChange(rng, fmt.Sprintf("%d-%d", seed, k))
			if len(set.Ops) == 0 {
				continue
			}
			set.Tool = tools[rng.IntN(len(tools))]
			set.Client.Name = []string{"", "cursor", "CLAUDE", "other"}[rng.IntN(4)]
			set.Client.Session = fmt.Sprint("s", rng.IntN(3))
			want := w.action(set.Tool, set.Client.Name, touched)
			tree := b.tree()
			_, err := agent.Apply(t.Context(), set)
			got, id, ok := actionOf(err)
			if !ok {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got != want {
				run.Violation(seed, "change %d of %s (only %v) by %q with %s: %v, want %v; rules %q; %v", k, fmt.Sprint(touched), w.only, set.Client.Name, set.Tool, got, want, w.texts(), err)
				break
			}
			if got != review.Accept && b.tree() != tree {
				run.Violation(seed, "something was written: %v", got)
			}
			count.note(&set, touched, got)
			if made, person := b.decides(rng, got, id); made {
				w.events, b.texts = append(w.events, event{touched, from, person}), after
			}
		}
	}
	count.report(t)
}

// actionOf returns the gate's action for a change that returned err, and the id of the
// proposal. ok is false for any other error.
func actionOf(err error) (a review.Action, id string, ok bool) {
	if pending, is := errors.AsType[*review.PendingError](err); is {
		return review.Ask, pending.ID, true
	}
	if _, is := errors.AsType[*review.RuledOutError](err); is {
		return review.Refuse, "", true
	}
	return review.Accept, "", err == nil
}

// decides accepts or refuses a proposal at random, if was is Ask. made reports whether the
// change is now made, and person whether a reviewer decided.
func (b *bench) decides(rng *rand.Rand, was review.Action, id string) (made, person bool) {
	b.t.Helper()
	if was != review.Ask {
		return was == review.Accept, false
	}
	verdict := review.No
	if rng.IntN(2) == 0 {
		verdict = review.Yes
	}
	if _, err := b.store.Decide(b.t.Context(), b.person, id, review.Decision{Rest: verdict, By: "page", Confirm: true}); err != nil {
		b.t.Fatalf("decide: %v", err)
	}
	return verdict == review.Yes, true
}

// Changes accepted by a rule are marked, rules also apply to undos, and a change that is
// split into small ones counts as a whole, over several connections.
func TestRulesSeeSplitChanges(t *testing.T) {
	b := newBench(t, hisFiles, -1)
	agent := b.ruled(fixed("accept docs/**", "ask lines>10"), false)
	text := hisFiles["docs/a.md"]
	waits := func(err error) bool { var p *review.PendingError; return errors.As(err, &p) }
	last := ""
	for i := range 5 { // each changes 2 lines
		text += fmt.Sprintf("line %d\nand %d\n", i, i)
		c, err := agent.Write(t.Context(), "docs/a.md", []byte(text), &change.Options{Client: change.Client{Name: "x", Session: fmt.Sprint(i)}})
		if err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
		last = c.ID
	}
	log, err := b.person.Changes(t.Context(), 1)
	if err != nil || log.Changes[0].Rule != "accept docs/**" || log.Changes[0].Proposal != "" {
		t.Errorf("the mark is %+v, %v", log.Changes[0], err)
	}
	if _, err := agent.Write(t.Context(), "docs/a.md", []byte(text+"one more\n"), &change.Options{Client: change.Client{Name: "y", Session: "new"}}); !waits(err) {
		t.Errorf("the eleventh line = %v", err)
	}
	if _, err := agent.Undo(t.Context(), last, &change.Options{Client: change.Client{Name: "y"}}); !waits(err) && !strings.Contains(fmt.Sprint(err), "waits for a decision") {
		t.Errorf("an undo that is too large = %v", err)
	}
	// A moved file keeps its count.
	list, _ := b.store.Pending()
	for _, p := range list {
		if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.No, By: "page", Confirm: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := agent.Move(t.Context(), "docs/a.md", "docs/new.md", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Write(t.Context(), "docs/new.md", []byte(text+"one more\n"), &change.Options{Client: change.Client{Name: "x"}}); !waits(err) {
		t.Errorf("after a move = %v", err)
	}
	// Acceptance by a reviewer resets the count.
	if list, _ = b.store.Pending(); len(list) == 0 {
		t.Fatal("nothing waits")
	}
	if _, err := b.store.Decide(t.Context(), b.person, list[0].ID, review.Decision{Rest: review.Yes, By: "page", Confirm: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Write(t.Context(), "docs/new.md", []byte(text), &change.Options{Client: change.Client{Name: "x"}}); err != nil {
		t.Errorf("after a person has looked: %v", err)
	}
}

// Rules apply to everything in a moved or deleted folder. If the rules can't be read,
// nothing is accepted.
func TestRulesOfFolders(t *testing.T) {
	b := newBench(t, hisFiles, -1)
	agent := b.ruled(fixed("accept docs/**", "accept other/**", "accept docs", "accept other", "refuse *.lock"), false)
	var out *review.RuledOutError
	if _, err := agent.Delete(t.Context(), "docs", &change.DeleteOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); !errors.As(err, &out) || out.Path != "docs/in.lock" {
		t.Errorf("delete of a folder with a lock file = %v", err)
	}
	if _, err := agent.Move(t.Context(), "docs", "other", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); !errors.As(err, &out) {
		t.Errorf("move of a folder with a lock file = %v", err)
	}
	if err := os.Remove(filepath.Join(b.dir, "docs", "in.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Move(t.Context(), "docs", "other", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); err != nil {
		t.Errorf("move of a folder that is accepted = %v", err)
	}
	for _, broken := range []func() ([]string, error){func() ([]string, error) { return nil, errors.New("no file") }, fixed("accept **", "what")} {
		agent := b.ruled(broken, true)
		var pending *review.PendingError
		_, err := agent.Write(context.Background(), "top.txt", []byte(fmt.Sprintln("t", &broken)), &change.Options{Client: change.Client{Name: "x"}})
		if !errors.As(err, &pending) {
			t.Errorf("with rules that can't be read: %v", err)
		} else if _, err := b.store.Decide(t.Context(), b.person, pending.ID, review.Decision{Rest: review.No, By: "page", Confirm: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that is or becomes binary exceeds the size limit of every rule, whichever tool
// changes it, even if many files are changed at once.
func TestRulesSeeBinaryFiles(t *testing.T) {
	text, blob := strings.Repeat("line\n", 100), strings.Repeat("line\n", 100)+"\x00"
	waits := func(err error) bool { var p *review.PendingError; return errors.As(err, &p) }
	for _, c := range []struct {
		name string
		do   func(ws *quarry.Workspace) error
	}{
		{"a new file", func(ws *quarry.Workspace) error {
			_, err := ws.Write(t.Context(), "docs/new.bin", []byte(blob), nil)
			return err
		}},
		{"a text becomes binary", func(ws *quarry.Workspace) error {
			_, err := ws.Write(t.Context(), "docs/text.md", []byte("\x00"), nil)
			return err
		}},
		{"a binary file becomes text", func(ws *quarry.Workspace) error {
			_, err := ws.Write(t.Context(), "docs/blob.bin", []byte("one\n"), nil)
			return err
		}},
		{"a binary file is deleted", func(ws *quarry.Workspace) error {
			_, err := ws.Delete(t.Context(), "docs/blob.bin", nil)
			return err
		}},
		{"a folder with a binary file is deleted", func(ws *quarry.Workspace) error {
			_, err := ws.Delete(t.Context(), "docs/deep", nil)
			return err
		}},
		{"one of many", func(ws *quarry.Workspace) error {
			var set change.Set
			for i := range 2000 {
				set.Ops = append(set.Ops, change.Op{Verb: change.CreateFile, Path: fmt.Sprintf("docs/many/%d.md", i), Content: []byte("1\n2\n3\n4\n5\n6\n7\n")})
			}
			set.Ops = append(set.Ops, change.Op{Verb: change.CreateFile, Path: "docs/many/x.bin", Content: []byte(blob)})
			_, err := ws.Apply(t.Context(), set)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rules := range [][]string{{"accept docs/**", "ask lines>150"}, {"accept docs/** lines<=150"}} {
				b := newBench(t, map[string]string{"docs/text.md": text, "docs/blob.bin": blob, "docs/deep/blob.bin": "\x00"}, -1)
				if err := c.do(b.ruled(fixed(rules...), false)); !waits(err) {
					t.Errorf("%q: %v", rules, err)
				}
			}
		})
	}
}
