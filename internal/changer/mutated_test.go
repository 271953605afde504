package changer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
	"quarry/internal/stress"
)

// A patch made for another state of a file is applied at the right place or refused, but
// never applied elsewhere. The generator marks the right place with text that the hunk
// removes and that is nowhere else in the correct result.
func TestMutatedPatches(t *testing.T) {
	run := stress.Start(t, "mutated patches", 300, 10_000)
	applied, refused := 0, 0
	w := changing(t, nil)
	file := filepath.Join(w.root.RealDir(), "f.txt")
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		m := newMutation(rng)
		if err := os.WriteFile(file, []byte(m.file), 0o644); err != nil {
			t.Fatal(err)
		}
		ops, err := patch.Parse(m.patch, -1)
		if err == nil {
			_, err = w.Plan(context.Background(), change.Set{Ops: ops})
		}
		if err == nil {
			_, err = w.Apply(context.Background(), change.Set{Ops: ops})
		}
		now, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case err != nil && string(now) != m.file:
			run.Violation(seed, "refused and changed: %v", err)
		case err != nil:
			refused++
		case string(now) != m.want:
			run.Violation(seed, "applied in a wrong place (%s):\n%s\npatch\n%s\ngives\n%s\nwant\n%s", m.kind, m.file, m.patch, now, m.want)
		default:
			applied++
		}
	}
	t.Logf("%d applied at the true place, %d refused", applied, refused)
	if applied == 0 || refused == 0 {
		t.Errorf("%d applied, %d refused: the test shows nothing", applied, refused)
	}
}

// mutation is a file, a patch, and the only right result.
type mutation struct{ kind, file, patch, want string }

// newMutation makes a file of few distinct lines, so that contexts repeat, and a diff of
// one place. It then changes the file, the line numbers or the context.
func newMutation(rng *rand.Rand) *mutation {
	words := []string{"{", "}", "a()", "b()", "return", "", "if x {", "else"}
	lines := make([]string, 20+rng.IntN(40))
	for i := range lines {
		lines[i] = words[rng.IntN(len(words))]
		if rng.IntN(4) == 0 {
			lines[i] = fmt.Sprintf("line %d", rng.IntN(200))
		}
	}
	at := 4 + rng.IntN(len(lines)-8)
	context, size := rng.IntN(4), 1+rng.IntN(2)
	from, to := max(0, at-context), min(len(lines), at+size+context)
	var hunk []string
	for _, l := range lines[from:at] {
		hunk = append(hunk, " "+l)
	}
	for _, l := range lines[at : at+size] {
		hunk = append(hunk, "-"+l)
	}
	hunk = append(hunk, "+NEW")
	for _, l := range lines[at+size : to] {
		hunk = append(hunk, " "+l)
	}
	m := &mutation{}
	stated := from + 1
	before, after := append([]string(nil), lines[:at]...), append([]string(nil), lines[at+size:]...)
	middle := lines[at : at+size]
	switch rng.IntN(5) {
	case 0:
		m.kind = "as it was"
	case 1:
		m.kind = "the file moved"
		extra := make([]string, 1+rng.IntN(9))
		for i := range extra {
			extra[i] = fmt.Sprintf("inserted %d", rng.IntN(1000))
		}
		before = append(extra, before...)
	case 2:
		m.kind = "wrong numbers"
		// A wrong number is undetectable if the same lines also occur there.
		stated = 1 + rng.IntN(len(lines))
		if occursAt(lines, lines[from:to], stated-1) && stated != from+1 {
			stated = len(lines) + 50
		}
	case 3:
		m.kind = "a block stands twice"
		copied := append([]string(nil), lines[from:to]...)
		if rng.IntN(2) == 0 {
			after = append(after, copied...)
		} else {
			pad := make([]string, 1+rng.IntN(3))
			for i := range pad {
				pad[i] = fmt.Sprintf("pad %d", rng.IntN(1000))
			}
			before = append(append(append([]string(nil), pad...), copied...), before...)
			if occursAt(append(append(append([]string(nil), before...), middle...), after...), lines[from:to], stated-1) {
				stated = 0 // the number must not point to the copy
			}
		}
	case 4:
		m.kind = "damaged context"
		i := rng.IntN(len(hunk))
		if hunk[i][0] != '+' {
			hunk[i] = hunk[i][:1] + hunk[i][1:] + "~"
		}
	}
	file := append(append(append([]string(nil), before...), middle...), after...)
	m.file = strings.Join(file, "\n") + "\n"
	m.want = strings.Join(append(append(append([]string(nil), before...), "NEW"), after...), "\n") + "\n"
	removed, added := 0, 0
	for _, l := range hunk {
		if l[0] != '+' {
			removed++
		}
		if l[0] != '-' {
			added++
		}
	}
	m.patch = fmt.Sprintf("--- a/f.txt\n+++ b/f.txt\n@@ -%d,%d +%d,%d @@\n%s\n", stated, removed, stated, added, strings.Join(hunk, "\n"))
	return m
}

// occursAt reports whether lines contain block at index at.
func occursAt(lines, block []string, at int) bool {
	if at < 0 || at+len(block) > len(lines) {
		return false
	}
	for i, l := range block {
		if lines[at+i] != l {
			return false
		}
	}
	return true
}
