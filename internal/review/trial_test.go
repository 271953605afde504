package review_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// TestTrialAgreesWithGate tries random rules on the last change and compares the result
// with the gate's decision: for clients that are held back and others, for files with
// hostile names, and for folders.
func TestTrialAgreesWithGate(t *testing.T) {
	run := stress.Start(t, "trial of rules", 120, 200)
	held := []string{"cursor", "claude"}
	counts, unknown := map[review.Action]int{}, 0
	tools := []string{"edit_file", "apply_changes"}
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		b := newGround(t)
		w := &twin{rules: someRules(rng, b.texts, tools)}
		parsed, err := review.ParseRules(w.texts())
		if err != nil {
			t.Fatal(err)
		}
		agent := b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1, Rules: fixed(w.texts()...), Clients: held})
		otherwise := func(c *change.Change) review.Action {
			if c.Client.Name == "" || slices.Contains(held, strings.ToLower(c.Client.Name)) {
				return review.Ask
			}
			return review.Accept
		}
		folders := false
		for k := range 10 {
			run.Tried(1)
			set, touched, _, after := b.someChange(rng, fmt.Sprintf("%d-%d", seed, k))
			if rng.IntN(8) == 0 { // of a whole folder
				folders = true
				dir := []string{"docs", "src", "src/gen", "my notes"}[rng.IntN(4)]
				set.Ops, touched, after = []change.Op{{Verb: change.DeletePath, Path: dir}}, map[string]int{dir: 0}, map[string]string{}
				if rng.IntN(2) == 0 {
					set.Ops = []change.Op{{Verb: change.MovePath, Path: dir, To: fmt.Sprintf("docs-%d", k)}}
				}
				for name, text := range b.texts {
					if rest, in := strings.CutPrefix(name, dir+"/"); !in {
						after[name] = text
					} else if set.Ops[0].To != "" {
						after[set.Ops[0].To+"/"+rest] = text
					}
				}
			}
			if len(set.Ops) == 0 {
				continue
			}
			set.Tool = tools[rng.IntN(len(tools))]
			set.Client = change.Client{Name: []string{"", "cursor", "CLAUDE", "other"}[rng.IntN(4)], Session: fmt.Sprint("s", rng.IntN(3))}
			_, err := agent.Apply(t.Context(), set)
			got, id, ok := actionOf(err)
			if !ok {
				if folders {
					continue // its file may have been removed with a folder
				}
				t.Fatalf("seed %d: %v", seed, err)
			}
			switch got {
			case review.Ask:
				if _, err := b.store.Decide(t.Context(), b.person, id, review.Decision{Rest: review.Yes, By: "page", Confirm: true}); err != nil {
					t.Fatal(err)
				}
			case review.Refuse: // made without the gate, so that it is in the log
				if _, err := b.person.Apply(t.Context(), set); err != nil {
					t.Fatal(err)
				}
			}
			b.texts = after
			tried, err := review.Try(t.Context(), b.person, parsed, otherwise, 1)
			if err != nil || len(tried) != 1 {
				t.Fatalf("seed %d: %d changes, %v", seed, len(tried), err)
			}
			if tried[0].Unknown {
				if unknown++; len(set.Ops) != 1 || set.Ops[0].FileOnly || strings.Contains(set.Ops[0].Path, ".") {
					run.Violation(seed, "the trial can't tell of %+v", set.Ops)
				}
				continue
			}
			counts[got]++
			if tried[0].Action != got {
				run.Violation(seed, "change %d, %v of %q by %s: the gate says %v, the trial %v (%q, %s); rules %q", k, touched, set.Client.Name, set.Tool, got, tried[0].Action, tried[0].Rule, tried[0].Path, w.texts())
				break
			}
		}
	}
	t.Logf("%v; of folders whose contents the log does not have: %d", counts, unknown)
	if len(counts) < 3 {
		t.Error("too few of one kind")
	}
}
