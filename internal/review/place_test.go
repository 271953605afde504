package review_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// manyLines returns n lines, many of them equal.
func manyLines(rng *rand.Rand, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("line %d", i)
		if rng.IntN(4) == 0 {
			list[i] = "the same"
		}
	}
	return list
}

// edited changes, removes or inserts some lines.
func edited(rng *rand.Rand, list []string, mark string, edits int) []string {
	out := append([]string{}, list...)
	for k := range edits {
		i := rng.IntN(len(out))
		switch rng.IntN(3) {
		case 0:
			out[i] = fmt.Sprintf("%s %d", mark, k)
		case 1:
			out = append(out[:i], out[i+1:]...)
		default:
			out = append(out[:i:i], append([]string{fmt.Sprintf("%s new %d", mark, k)}, out[i:]...)...)
		}
		if len(out) == 0 {
			return []string{mark}
		}
	}
	return out
}

func joined(list []string) string { return strings.Join(list, "\n") + "\n" }

// TestAcceptsBeneathOtherEdits accepts random hunks of a proposal after its file was
// changed. The result equals git's conflict-free merge byte for byte, or the decision is
// refused and nothing is written. The file never contains a hunk that was not accepted.
func TestAcceptsBeneathOtherEdits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	run := stress.Start(t, "accepting beneath other edits", 600, 3000)
	b := newBench(t, map[string]string{"x": ""}, -1)
	tmp := t.TempDir()
	counts := map[string]int{}
	for seed := range run.Cases() {
		run.Tried(1)
		rng := stress.Rand(seed)
		old := manyLines(rng, 15+rng.IntN(50))
		want, now := joined(edited(rng, old, "proposed", 1+rng.IntN(4))), joined(edited(rng, old, "meanwhile", 1+rng.IntN(3)))
		name := fmt.Sprintf("f%d.txt", seed)
		file := filepath.Join(b.dir, name)
		write := func(path, text string) {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(file, joined(old))
		_, err := b.agent.Write(t.Context(), name, []byte(want), &change.Options{Client: change.Client{Name: "x"}})
		pending, waits := errors.AsType[*review.PendingError](err)
		if !waits {
			continue // nothing changed
		}
		p, err := b.store.Get(pending.ID)
		if err != nil {
			t.Fatal(err)
		}
		write(file, now)
		stale := b.store.Stale(t.Context(), b.person, p)
		d := review.Decision{By: "page", Rest: review.No, Hunks: [][]review.Verdict{nil}, Confirm: true}
		blocked := false
		for j := range p.Files[0].Hunks {
			v := []review.Verdict{review.Yes, review.Yes, review.No}[rng.IntN(3)]
			d.Hunks[0] = append(d.Hunks[0], v)
			for _, s := range stale {
				for _, k := range s.Blocked {
					blocked = blocked || k == j && v == review.Yes
				}
			}
		}
		got, err := b.store.Decide(t.Context(), b.person, p.ID, d)
		after := b.read(name)
		for k, text := range map[string]string{"now": now, "ancestor": joined(old), "accepted": review.Merge(p.Files[0].Old, p.Files[0].Hunks, d.Hunks[0])} {
			write(filepath.Join(tmp, k), text)
		}
		cmd := exec.Command(git, "merge-file", "-p", "now", "ancestor", "accepted")
		cmd.Dir = tmp
		merged, mergeErr := cmd.Output()
		var is *review.StaleError
		switch {
		case errors.As(err, &is) != blocked:
			run.Violation(seed, "decided: %v; shown as blocked: %v", err, blocked)
		case blocked && after != now:
			run.Violation(seed, "refused, and written")
		case blocked:
			counts["blocked"]++
			if mergeErr != nil {
				counts["blocked, and a conflict for git"]++
			}
			if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{By: "page", Rest: review.No, Confirm: true}); err != nil {
				t.Fatal(err)
			}
		case err != nil:
			run.Violation(seed, "decide: %v", err)
		case mergeErr != nil:
			counts["placed, a conflict for git"]++
		case after != string(merged):
			run.Violation(seed, "the file is\n%s\nwant\n%s", after, merged)
		default:
			counts["placed as git does"]++
			for _, part := range got.Reviewed().Written {
				if at := strings.Split(after, "\n"); part.Added > 0 && part.Removed == 0 && (part.Line > len(at) || !strings.HasPrefix(at[part.Line-1], "proposed")) {
					run.Violation(seed, "line %d differs from the written text:\n%s", part.Line, after)
				}
			}
		}
	}
	t.Log(counts)
	if counts["placed as git does"] == 0 || counts["blocked"] == 0 {
		t.Error("too few of one kind")
	}
}

// The agent is told where the accepted hunks are in the file with the later changes.
func TestAgentIsToldPositions(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"}, 0)
	type answer struct {
		c   *change.Change
		err error
	}
	done := make(chan answer)
	go func() {
		c, err := b.agent.Edit(t.Context(), "a.txt", []change.Edit{{Old: "8\n", New: "eight\n"}}, &change.Options{Client: change.Client{Name: "x"}})
		done <- answer{c, err}
	}()
	p := b.only()
	if err := os.WriteFile(filepath.Join(b.dir, "a.txt"), []byte("0\n1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{By: "page", Rest: review.Yes}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if want := "0\n1\ntwo\n3\n4\n5\n6\n7\neight\n9\n10\n"; b.read("a.txt") != want {
		t.Errorf("the file is %q", b.read("a.txt"))
	}
	if got.err != nil || got.c.Reviewed == nil || len(got.c.Reviewed.Written) != 1 || got.c.Reviewed.Written[0].Line != 9 || !strings.Contains(got.c.Diff, "-8\n+eight\n 9") {
		t.Errorf("the agent hears %+v, %v", got.c, got.err)
	}
}
