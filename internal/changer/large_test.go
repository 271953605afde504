package changer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/stress"
)

// largeAnyway makes a Changer treat all files as large.
func largeAnyway(w *Changer) *Changer {
	w.largeFrom = -1
	return w
}

// randomEdits returns edits for a text of lines "needle NN word". Some of them fail.
func randomEdits(rng *rand.Rand) []change.Edit {
	line := func() int { return 1 + rng.IntN(110) }
	one := func() change.Edit {
		switch rng.IntN(8) {
		case 0:
			return change.Edit{Old: "needle", New: []string{"N", "needles", "a\nb", ""}[rng.IntN(4)], Occurrence: change.All}
		case 1:
			return change.Edit{Old: fmt.Sprintf("needle %d word\nneedle", line()), New: "two\nlines", Occurrence: change.First}
		case 2:
			return change.Edit{Verb: change.DeleteLines, First: line(), Last: line() + 3}
		case 3:
			return change.Edit{Verb: change.InsertAfter, First: line() - 1, New: "new\nlines é"}
		case 4:
			return change.Edit{Verb: change.ReplaceLines, First: line(), Last: line(), New: "replaced"}
		case 5:
			return change.Edit{Verb: change.AppendText, New: "at the end"}
		case 6:
			n := line()
			return change.Edit{Verb: change.ApplyHunk, First: n, Hunk: fmt.Sprintf(" needle %d word\n-needle %d word\n+hunk\n", n, n+1), Loose: true}
		}
		return change.Edit{Old: "e", New: "EE", Occurrence: change.All}
	}
	edits := []change.Edit{one()}
	if rng.IntN(3) == 0 {
		edits = append(edits, one())
	}
	return edits
}

// Editing a large file page by page gives the same content, answer, error, diff and undo
// as editing it in memory.
func TestLargeAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	ctx := context.Background()
	made := 0
	for i := range stress.Size(40, 150) {
		var b strings.Builder
		for n := range 80 + rng.IntN(40) {
			fmt.Fprintf(&b, "needle %d word%s", n+1, []string{"\n", "\r\n"}[min(1, rng.IntN(i%3+1))])
		}
		content := b.String()
		switch i % 4 {
		case 1:
			content = "\xEF\xBB\xBF" + content
		case 2:
			content = content[:len(content)-1] + "caf\xe9\n"
		case 3:
			content = strings.Repeat(content, 60) // more edits than are kept as a list
		}
		set := change.Set{Ops: []change.Op{{Path: "f.txt", Edits: randomEdits(rng)}}}
		a, b2 := changing(t, map[string]string{"f.txt": content}), largeAnyway(changing(t, map[string]string{"f.txt": content}))
		ca, errA := a.Apply(ctx, set)
		cb, errB := b2.Apply(ctx, set)
		if fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Fatalf("%d %+v: %v, in pages %v", i, set.Ops[0].Edits, errA, errB)
		}
		if errA != nil {
			continue
		}
		made++
		sameChange(t, ca, cb)
		if x, y := text(t, a, "f.txt"), text(t, b2, "f.txt"); x != y {
			t.Fatalf("%d %+v: %.300q, in pages %.300q", i, set.Ops[0].Edits, x, y)
		}
		for range 2 { // undo and redo
			ua, errA := a.Undo(ctx, ca.ID, change.Options{})
			ub, errB := b2.Undo(ctx, cb.ID, change.Options{})
			if errA != nil || errB != nil {
				t.Fatalf("%d: undo %v, in pages %v", i, errA, errB)
			}
			if x, y := text(t, a, "f.txt"), text(t, b2, "f.txt"); x != y {
				t.Fatalf("%d: undone %.300q, in pages %.300q", i, x, y)
			}
			if ua.Diff == "" != (ub.Diff == "") {
				t.Fatalf("%d: the diff of the undo is %.300q, in pages %.300q", i, ua.Diff, ub.Diff)
			}
			ca, cb = ua, ub
		}
	}
	if made < stress.Size(15, 60) {
		t.Errorf("only %d edits were made", made)
	}
}

func sameChange(t *testing.T, a, b *change.Change) {
	t.Helper()
	x, y := *a, *b
	x.ID, x.Time, y.ID = "", y.Time, ""
	if !reflect.DeepEqual(x, y) {
		t.Fatalf("%+v\nin pages\n%+v", x, y)
	}
}

// If a large file is modified between plan and write, the change is a conflict, and the
// foreign content remains.
func TestLargeFileChangesMeanwhile(t *testing.T) {
	for _, edit := range []change.Edit{
		{Old: "needle", New: "N", Occurrence: change.All},
		{Old: "needle 7 ", New: "x ", Occurrence: change.First},
	} {
		w := largeAnyway(changing(t, map[string]string{"f.txt": strings.Repeat("needle 1 \nneedle 7 \n", 5000)}))
		p := newPlanner(w, &change.Set{}, false)
		file, err := p.openLarge(t.Context(), resolved(t, w, "f.txt"))
		if err != nil {
			t.Fatal(err)
		}
		edited, err := p.planEdits(file, []change.Edit{edit}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := file.step(w, edited, "")
		if err != nil {
			t.Fatal(err)
		}
		foreign := strings.Repeat("needle 1 \nNEEDLE 7 \n", 5000)
		if err := os.WriteFile(filepath.Join(w.root.RealDir(), "f.txt"), []byte(foreign), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.do(nil); !errors.Is(err, fault.Conflict) {
			t.Errorf("%v, want a conflict", err)
		}
		if got := text(t, w, "f.txt"); got != foreign {
			t.Errorf("what someone wrote is gone: %.100q", got)
		}
		p.close()
	}
}

// The hunks of a diff, reversed, equal the hunks of the reverse diff.
func TestReverseHunks(t *testing.T) {
	const there = "@@ -1,3 +1,4 @@\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+C\n+d\n@@ -9 +10,0 @@\n-x\n[diff cut: 3 more changed lines]\n"
	const back = "@@ -1,4 +1,3 @@\n a\n-B\n-C\n-d\n+b\n+c\n\\ No newline at end of file\n@@ -10,0 +9 @@\n+x\n[diff cut: 3 more changed lines]\n"
	if got := reverseHunks(there); got != back {
		t.Errorf("%s\nwant\n%s", got, back)
	}
}

// The report counts all lines and hunks of a file, not only those in the diff shown.
func TestCountsOfACutDiff(t *testing.T) {
	text := strings.Repeat("needle a\n", 5000) + strings.Repeat("other\n", 20) + strings.Repeat("needle b\nother\n\n\n\n\n\n\n\n\n", 100)
	for _, w := range []*Changer{changing(t, map[string]string{"f.txt": text}), largeAnyway(changing(t, map[string]string{"f.txt": text}))} {
		c, err := w.Plan(t.Context(), change.Set{Ops: []change.Op{{Path: "f.txt", Edits: []change.Edit{{Old: "needle", New: "N", Occurrence: change.All}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if f := c.Files[0]; f.Added != 5100 || f.Removed != 5100 || f.Hunks != 101 {
			t.Errorf("%d hunks, +%d -%d; want 101, +5100 -5100", f.Hunks, f.Added, f.Removed)
		}
	}
}
