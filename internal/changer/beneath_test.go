package changer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/stress"
)

// twin models a file as a list of pointers, one for each byte. It computes from scratch
// the undo of a change with later changes on top.
type twin struct {
	name    string
	bytes   []*byte
	changes []*twinChange
}

type twinChange struct {
	id            string
	edits         []twinEdit
	before, after string
	undoes        *twinChange
}

type twinEdit struct {
	was, data   []*byte
	left, right *byte // neighbours; nil at an end of the file
}

func pointers(text string) []*byte {
	out := make([]*byte, len(text))
	for i := range text {
		c := text[i]
		out[i] = &c
	}
	return out
}

func (w *twin) text() string {
	out := make([]byte, len(w.bytes))
	for i, p := range w.bytes {
		out[i] = *p
	}
	return string(out)
}

type splice struct {
	off, n int
	with   []*byte
}

// make applies splices in order, as one change.
func (w *twin) make(list []splice) *twinChange {
	c := &twinChange{before: w.text()}
	at, shift := make([]int, len(list)), 0
	for i, s := range list {
		at[i] = s.off + shift
		c.edits = append(c.edits, twinEdit{was: slices.Clone(w.bytes[at[i] : at[i]+s.n]), data: s.with})
		w.bytes = slices.Concat(w.bytes[:at[i]], s.with, w.bytes[at[i]+s.n:])
		shift += len(s.with) - s.n
	}
	for i := range c.edits {
		e := &c.edits[i]
		if at[i] > 0 {
			e.left = w.bytes[at[i]-1]
		}
		if end := at[i] + len(e.data); end < len(w.bytes) {
			e.right = w.bytes[end]
		}
	}
	c.after = w.text()
	return c
}

type fate uint8

const (
	whole fate = iota
	undone
	touched
)

func (w *twin) find(e *twinEdit) (from, to int, f fate) {
	from, to = 0, len(w.bytes)
	if e.left != nil {
		if from = slices.Index(w.bytes, e.left) + 1; from == 0 {
			return 0, 0, touched
		}
	}
	if e.right != nil {
		if to = slices.Index(w.bytes, e.right); to < from {
			return 0, 0, touched
		}
	}
	switch between := w.bytes[from:to]; {
	case slices.Equal(between, e.data):
		return from, to, whole
	case slices.Equal(between, e.was):
		return from, to, undone
	}
	return 0, 0, touched
}

// undo computes the undo of c. conflicts is the number of edits that can't be undone.
func (w *twin) undo(c *twinChange) (list []splice, conflicts int) {
	for i := range c.edits {
		e := &c.edits[i]
		switch from, to, f := w.find(e); f {
		case whole:
			list = append(list, splice{from, to - from, e.was})
		case touched:
			conflicts++
		}
	}
	slices.SortFunc(list, func(a, b splice) int { return a.off - b.off })
	return list, conflicts
}

// history plays the same random history on a twin and on a real file.
type history struct {
	t      *testing.T
	rng    *rand.Rand
	w      *Changer
	file   *twin
	fresh  int
	counts map[string]int
}

func (h *history) disk() string { return filepath.Join(h.w.root.RealDir(), h.file.name) }

// token returns a text that occurs nowhere else.
func (h *history) token() string {
	h.fresh++
	return fmt.Sprintf("[%d]", h.fresh)
}

func (h *history) line() string { return h.token() + " " + h.token() + "\n" }

// edit makes one to three edits through Quarry, each of at most a line.
func (h *history) edit() error {
	var list []splice
	op := change.Op{Verb: change.EditFile, Path: h.file.name}
	text, at := h.file.text(), 0
	for range 1 + h.rng.IntN(3) {
		if len(text)-at < 3 {
			break
		}
		off := at + h.rng.IntN(len(text)-at)
		was := text[off:min(len(text), off+h.rng.IntN(14))]
		was, _, _ = strings.Cut(was, "\n")
		with := []string{"", "+" + h.token() + "+", "+" + h.token() + "\n" + h.token() + "+"}[h.rng.IntN(3)]
		for was != "" && with != "" && was[0] == with[0] { // an edit does not include unchanged bytes
			off, was, with = off+1, was[1:], with[1:]
		}
		for was != "" && with != "" && was[len(was)-1] == with[len(with)-1] {
			was, with = was[:len(was)-1], with[:len(with)-1]
		}
		if len(was)+len(with) == 0 {
			continue
		}
		op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: off, End: off + len(was), New: with, Verbatim: true})
		list = append(list, splice{off, len(was), pointers(with)})
		at = off + len(was) + 1
	}
	if len(list) == 0 {
		return nil
	}
	c, err := h.w.Apply(context.Background(), change.Set{Ops: []change.Op{op}})
	if err != nil {
		return err
	}
	made := h.file.make(list)
	made.id = c.ID
	h.file.changes = append(h.file.changes, made)
	h.counts["edits"]++
	return nil
}

// outside replaces a few lines without Quarry. No line occurs twice, so the twin knows
// which lines remain.
func (h *history) outside() error {
	lines := strings.SplitAfter(h.file.text(), "\n")
	i := h.rng.IntN(len(lines))
	j := min(len(lines), i+h.rng.IntN(3))
	var with string
	for range h.rng.IntN(3) {
		with += h.line()
	}
	off := len(strings.Join(lines[:i], ""))
	if n := len(strings.Join(lines[i:j], "")); n+len(with) > 0 {
		if i > 0 && !strings.HasSuffix(lines[i-1], "\n") {
			return nil
		}
		h.file.make([]splice{{off, n, pointers(with)}})
		h.counts["outside"]++
	}
	return os.WriteFile(h.disk(), []byte(h.file.text()), 0o644)
}

func (h *history) move() error {
	to := fmt.Sprintf("file%d.txt", h.rng.IntN(3))
	if to == h.file.name {
		return nil
	}
	_, err := h.w.Apply(context.Background(), change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: h.file.name, To: to}}})
	h.file.name = to
	h.counts["moves"]++
	return err
}

// undo undoes a random change or undo on both, and compares the results.
func (h *history) undo() error {
	var open []*twinChange
	over := map[*twinChange]bool{}
	for _, c := range slices.Backward(h.file.changes) {
		if !over[c] {
			open = append(open, c)
			over[c.undoes] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	c := open[h.rng.IntN(len(open))]
	before := h.file.text()
	list, conflicts := h.file.undo(c)
	exact := before == c.after // the content is as the change left it, whoever wrote it
	got, err := h.w.Undo(context.Background(), c.id, change.Options{})
	switch {
	case !exact && conflicts > 0:
		h.counts["conflicts"]++
		var conflict *change.UndoError
		if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || len(conflict.Paths[0].Touched) != conflicts {
			return fmt.Errorf("undo of %s: %w, the twin has %d conflicts", c.id, err, conflicts)
		}
		for _, t := range conflict.Paths[0].Touched {
			if t.First == 0 || t.NowFirst == 0 || !strings.Contains(c.after, t.Wrote) || !strings.Contains(before, t.Now) {
				return fmt.Errorf("undo of %s shows %+v", c.id, t)
			}
		}
		return nil
	case !exact && len(list) == 0:
		h.counts["nothing left"]++
		if !errors.Is(err, errNothingLeft) {
			return fmt.Errorf("undo of %s: %w, the twin has nothing left", c.id, err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("undo of %s, which the twin can undo: %w", c.id, err)
	}
	if exact {
		h.counts["exact"]++
	} else {
		h.counts["beneath"]++
	}
	if c.undoes != nil {
		h.counts["redo"]++
	}
	if exact && conflicts > 0 {
		return fmt.Errorf("the twin has %d conflicts in a file that is as the change left it", conflicts)
	}
	made := h.file.make(list)
	made.id, made.undoes = got.ID, c
	h.file.changes = append(h.file.changes, made)
	return nil
}

// Random histories of edits, foreign edits, moves, undos and redos give the same bytes as
// the twin, and a conflict exactly where the twin has one.
func TestUndoBeneathAgainstTwin(t *testing.T) {
	sequences := 150
	if stress.Long() {
		sequences = 10_000
	}
	counts := map[string]int{}
	var w *Changer
	for seed := range uint64(sequences) {
		if seed%100 == 0 { // each with its own log
			w = changing(t, map[string]string{"x": ""})
		}
		h := &history{t: t, rng: rand.New(rand.NewPCG(36, seed)), w: w, counts: counts}
		var text strings.Builder
		for range 6 + h.rng.IntN(10) {
			text.WriteString(h.line())
		}
		h.file = &twin{name: "file0.txt", bytes: pointers(text.String())}
		for _, name := range []string{"file0.txt", "file1.txt", "file2.txt"} {
			os.Remove(filepath.Join(w.root.RealDir(), name))
		}
		if err := os.WriteFile(h.disk(), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		steps := []func() error{h.edit, h.edit, h.outside, h.undo, h.undo, h.undo, h.move}
		if seed%3 == 0 {
			steps = []func() error{h.edit, h.undo}
		}
		for n := range 5 + h.rng.IntN(12) {
			err := steps[h.rng.IntN(len(steps))]()
			now, readErr := os.ReadFile(h.disk())
			if err := errors.Join(err, readErr); err != nil {
				t.Fatalf("seed %d, step %d: %v\n%s", seed, n, err, h.file.text())
			}
			if string(now) != h.file.text() {
				t.Fatalf("seed %d, step %d: the file is\n%s\nthe twin has\n%s", seed, n, now, h.file.text())
			}
		}
	}
	t.Logf("%d sequences: %v", sequences, counts)
	for _, what := range []string{"beneath", "conflicts", "exact", "outside", "moves", "redo"} {
		if counts[what] < sequences/10 {
			t.Errorf("only %d cases of %q", counts[what], what)
		}
	}
}

// numbered returns a text of n different lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func (w *Changer) mustEdit(t *testing.T, path string, edits ...change.Edit) string {
	t.Helper()
	c, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: path, Edits: edits}}})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// A hunk can be undone by number or by one of its lines, although the file was edited and
// moved since. Then the rest is undone. Undoing each undo restores the hunk.
func TestUndoHunk(t *testing.T) {
	text := numbered(60)
	w := changing(t, map[string]string{"a": text, "b": "b\n"})
	now := func(name string) string { return tree(t, w.root.RealDir())[name] }
	edit := func(old, new string) change.Edit { return change.Edit{Old: old + "\n", New: new + "\n"} }
	c, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "a", Edits: []change.Edit{edit("line 10", "TEN"), edit("line 30", "THIRTY\nand more"), edit("line 50", "FIFTY")}},
		{Verb: change.EditFile, Path: "b", Edits: []change.Edit{{Old: "b", New: "B"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.mustEdit(t, "a", edit("line 20", "twenty"))
	if _, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: "a", To: "c"}}}); err != nil {
		t.Fatal(err)
	}
	want := replaced(text, "line 10\n", "TEN\n", "line 30\n", "THIRTY\nand more\n", "line 50\n", "FIFTY\n", "line 20\n", "twenty\n")
	if now("c") != want {
		t.Fatalf("c is\n%s", now("c"))
	}
	undo := func(parts ...change.UndoPart) *change.Change {
		t.Helper()
		got, err := w.Undo(t.Context(), c.ID, change.Options{Parts: parts})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	middle := undo(change.UndoPart{Path: "a", Line: 31}) // the second hunk, by the file's name at that time
	if want = replaced(want, "THIRTY\nand more\n", "line 30\n"); now("c") != want || now("b") != "B\n" || middle.PartOf != c.ID || middle.Undoes != "" {
		t.Fatalf("after the second hunk: %+v\n%s", middle, now("c"))
	}
	if _, err := w.Undo(t.Context(), c.ID, change.Options{Parts: []change.UndoPart{{Path: "c", Hunk: 2}}}); !errors.Is(err, errNothingLeft) {
		t.Errorf("the second hunk again: %v", err)
	}
	undo(change.UndoPart{Path: "c", Hunk: 1}) // by its present name
	if want = replaced(want, "TEN\n", "line 10\n"); now("c") != want {
		t.Fatalf("after the first hunk:\n%s", now("c"))
	}
	if got, err := w.Undo(t.Context(), middle.ID, change.Options{}); err != nil || got.Undoes != middle.ID { // redoes the second hunk while the first remains undone
		t.Fatal(err)
	}
	if want = replaced(want, "line 30\n", "THIRTY\nand more\n"); now("c") != want {
		t.Fatalf("after the redo of the second hunk:\n%s", now("c"))
	}
	undo(change.UndoPart{Path: "b"})
	if now("b") != "b\n" || now("c") != want {
		t.Fatalf("after the file b: %q\n%s", now("b"), now("c"))
	}
	log, err := w.Log(0)
	if err != nil {
		t.Fatal(err)
	}
	if first := log.Changes[len(log.Changes)-1]; first.ID != c.ID || len(first.PartlyBy) != 2 || first.UndoneBy != "" {
		t.Errorf("the log says %+v", first)
	}
	all := undo() // the rest
	if want = replaced(want, "THIRTY\nand more\n", "line 30\n", "FIFTY\n", "line 50\n"); now("c") != want || all.Undoes != c.ID || now("b") != "b\n" {
		t.Fatalf("after all: %+v\n%s", all, now("c"))
	}
	if _, err := w.Undo(t.Context(), all.ID, change.Options{}); err != nil { // so that the change can be undone again
		t.Fatal(err)
	}
	for _, bad := range []struct {
		part change.UndoPart
		want string
	}{
		{change.UndoPart{Path: "c", Hunk: 4}, "has no hunk 4 of a"}, {change.UndoPart{Path: "c", Line: 20}, "no hunk that shows line 20"},
		{change.UndoPart{Path: "d"}, "has not changed d"}, {change.UndoPart{Path: "c", Hunk: 1, Line: 2}, "not by both"}, {change.UndoPart{Path: "../c"}, "../c"},
	} {
		if _, err := w.Undo(t.Context(), c.ID, change.Options{Parts: []change.UndoPart{bad.part}}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v, want %s", bad.part, err, bad.want)
		}
	}
}

// A conflict shows the lines of both sides and names the change that touched them.
func TestUndoConflictShowsBoth(t *testing.T) {
	w := changing(t, map[string]string{"a": numbered(20)})
	first := w.mustEdit(t, "a", change.Edit{Old: "line 5\n", New: "five\n"}, change.Edit{Old: "line 15", New: "fifteen"})
	later := w.mustEdit(t, "a", change.Edit{Old: "line 2\n", New: "two\nand a half\n"}, change.Edit{Old: "five", New: "FIVE"})
	_, err := w.Undo(t.Context(), first, change.Options{})
	var conflict *change.UndoError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || len(conflict.Paths[0].Touched) != 1 {
		t.Fatalf("undo: %v", err)
	}
	want := change.Touched{First: 5, Last: 5, Wrote: "five\n", By: later, NowFirst: 6, NowLast: 6, Now: "FIVE\n"}
	if got := conflict.Paths[0].Touched[0]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, part := range []string{"line 5 of the change", "by " + later, "now line 6"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
	if hint := conflict.Hint(); !strings.Contains(hint, "  five\n") || !strings.Contains(hint, "  FIVE") {
		t.Errorf("hint %q", hint)
	}
	if now := tree(t, w.root.RealDir())["a"]; !strings.Contains(now, "FIVE") || !strings.Contains(now, "fifteen") {
		t.Errorf("a is\n%s", now)
	}
}

// For a large file the journal keeps only the edited bytes. An undo succeeds after later
// edits through Quarry; after an edit by another program it is refused.
func TestUndoBeneathInLargeFile(t *testing.T) {
	text := strings.Repeat("a line of a large file that stands many times\n", 120_000) // over 5 MB
	w := changing(t, map[string]string{"big": "top\n" + text + "middle\n" + text + "end\n"})
	path := filepath.Join(w.root.RealDir(), "big")
	read := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := w.mustEdit(t, "big", change.Edit{Old: "middle\n", New: "MIDDLE\n"})
	w.mustEdit(t, "big", change.Edit{Old: "top\n", New: "the top\n"}, change.Edit{Old: "end\n", New: "END\n"})
	c, err := w.Undo(t.Context(), first, change.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if read() != "the top\n"+text+"middle\n"+text+"END\n" {
		t.Fatal("not the old middle beneath the later edits")
	}
	if _, err := w.Undo(t.Context(), c.ID, change.Options{}); err != nil {
		t.Fatal(err)
	}
	if read() != "the top\n"+text+"MIDDLE\n"+text+"END\n" {
		t.Fatal("not the new middle again")
	}
	if err := os.WriteFile(path, []byte("x\n"+read()), 0o644); err != nil {
		t.Fatal(err)
	}
	var conflict *change.UndoError
	if _, err := w.Undo(t.Context(), first, change.Options{}); !errors.As(err, &conflict) {
		t.Fatalf("undo after a change from outside: %v", err)
	}
}

// Files that were undone one by one are not undone again: undoing the change undoes the
// rest.
func TestUndoRestOfChange(t *testing.T) {
	w := changing(t, map[string]string{"a": "a\n", "d": "d\n", "f": "f\n", "p": "p\n"})
	before := tree(t, w.root.RealDir())
	c, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "a", Edits: []change.Edit{{Old: "a", New: "A"}}},
		{Verb: change.CreateFile, Path: "new/c", Content: []byte("c\n")},
		{Verb: change.MovePath, Path: "d", To: "moved/e", Edits: []change.Edit{{Old: "d", New: "D"}}},
		{Verb: change.DeletePath, Path: "f", Trash: change.TrashLocal},
		{Verb: change.DeletePath, Path: "p", Trash: change.TrashNone},
	}})
	if err != nil {
		t.Fatal(err)
	}
	after := tree(t, w.root.RealDir())
	var parts []string
	for _, name := range []string{"f", "new/c", "moved/e", "p"} {
		got, err := w.Undo(t.Context(), c.ID, change.Options{Parts: []change.UndoPart{{Path: name}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parts = append(parts, got.ID)
		if _, err := w.Undo(t.Context(), c.ID, change.Options{Parts: []change.UndoPart{{Path: name}}}); err == nil {
			t.Errorf("%s was undone twice", name)
		}
	}
	last, err := w.Undo(t.Context(), "", change.Options{}) // partial undos don't count, so the last change is the change itself
	if err != nil || last.Undoes != c.ID {
		t.Fatalf("undo of the rest: %+v, %v", last, err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, before) {
		t.Errorf("the tree is %q\nat first %q", now, before)
	}
	for _, id := range append([]string{last.ID}, parts...) { // redo everything
		if _, err := w.Undo(t.Context(), id, change.Options{}); err != nil {
			t.Fatalf("redo of %s: %v", id, err)
		}
	}
	if now := tree(t, w.root.RealDir()); !equal(now, after) {
		t.Errorf("after the redo the tree is %q\nit was %q", now, after)
	}
}

// Rolling back an interrupted change does not touch files that were changed since,
// because the user didn't ask for an undo.
func TestRecoveryIsNotBeneath(t *testing.T) {
	w := changing(t, map[string]string{"a": numbered(20), "b": "b\n"})
	c, err := w.Apply(t.Context(), change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "a", Edits: []change.Edit{{Old: "line 5\n", New: "five\n"}}},
		{Verb: change.EditFile, Path: "b", Edits: []change.Edit{{Old: "b", New: "B"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.root.RealDir(), "a")
	changed := tree(t, w.root.RealDir())["a"] + "from outside\n"
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := w.entry(c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.undoRest(t.Context(), e, false, "rolled back"); err != nil {
		t.Fatal(err)
	}
	if now := tree(t, w.root.RealDir()); now["a"] != changed || now["b"] != "b\n" {
		t.Errorf("after rolling back: %q", now)
	}
}
