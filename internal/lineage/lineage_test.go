package lineage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// twin implements Text with the bytes themselves: each byte is a separate pointer, whatever
// its value.
type twin struct {
	bytes []*byte
	steps []twinStep
}

type twinEdit struct {
	was, data   []*byte
	left, right *byte // nil means an end of the file
}

type twinStep struct {
	edits []twinEdit
}

func newTwin(text string) *twin { return &twin{bytes: fresh([]byte(text))} }

func fresh(text []byte) []*byte {
	out := make([]*byte, len(text))
	for i, c := range text {
		c := c
		out[i] = &c
	}
	return out
}

func (w *twin) text() []byte {
	out := make([]byte, len(w.bytes))
	for i, p := range w.bytes {
		out[i] = *p
	}
	return out
}

// put replaces bytes and returns the edit.
func (w *twin) put(off, n int, with []*byte) twinEdit {
	e := twinEdit{was: slices.Clone(w.bytes[off : off+n]), data: with}
	w.bytes = slices.Concat(w.bytes[:off], with, w.bytes[off+n:])
	return e
}

// around sets the neighbours of the edits of a step, which were made from back to front.
func (w *twin) around(edits []twinEdit, at []int) {
	for i := range edits {
		if edits[i].left = nil; at[i] > 0 {
			edits[i].left = w.bytes[at[i]-1]
		}
		if edits[i].right = nil; at[i]+len(edits[i].data) < len(w.bytes) {
			edits[i].right = w.bytes[at[i]+len(edits[i].data)]
		}
	}
}

// find locates an edit: the stretch between its neighbours, if they still exist, and
// whether it has the text that the edit inserted or replaced.
func (w *twin) find(e *twinEdit) (from, to int, state State) {
	from, to = 0, len(w.bytes)
	if e.left != nil {
		if from = slices.Index(w.bytes, e.left) + 1; from == 0 {
			return 0, 0, Touched
		}
	}
	if e.right != nil {
		if to = slices.Index(w.bytes, e.right); to < from {
			return 0, 0, Touched
		}
	}
	switch between := w.bytes[from:to]; {
	case slices.Equal(between, e.data):
		return from, to, Whole
	case slices.Equal(between, e.was):
		return from, to, Undone
	}
	return from, to, Touched
}

const letters = "abcdef\n"

func randomText(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

// Random histories of edits, undos and undos of undos, in whole and in part, give the same
// bytes, states and positions as the twin.
func TestAgainstTwin(t *testing.T) {
	histories := 4000
	if stress.Long() {
		histories = 100_000
	}
	counts := map[string]int{}
	for seed := range uint64(histories) {
		if !oneHistory(t, rand.New(rand.NewPCG(7, seed)), counts) {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d histories: %v", histories, counts)
	for _, what := range []string{"whole", "undone", "touched", "undo whole", "undo part", "revived"} {
		if counts[what] < histories/100 {
			t.Errorf("only %d cases of %q", counts[what], what)
		}
	}
}

func oneHistory(t *testing.T, rng *rand.Rand, counts map[string]int) bool {
	text := randomText(rng, 20+rng.IntN(60))
	w, l := newTwin(text), New(int64(len(text)))
	var steps []*Step
	for range 2 + rng.IntN(10) {
		if len(steps) > 0 && rng.IntN(3) == 0 {
			undoOne(rng, w, l, &steps, counts)
		} else {
			editSome(rng, w, l, &steps)
		}
		if l.Size() != int64(len(w.bytes)) {
			t.Errorf("%d bytes, the twin has %d", l.Size(), len(w.bytes))
			return false
		}
		for n, s := range steps {
			if s.Len() != len(w.steps[n].edits) {
				t.Errorf("step %d has %d edits, the twin %d", n, s.Len(), len(w.steps[n].edits))
				return false
			}
			for i := range s.Len() {
				e := &w.steps[n].edits[i]
				from, to, want := w.find(e)
				state, edit := l.Find(s, i)
				counts[[]string{"whole", "undone", "touched"}[state]]++
				if state != want || state == Whole && (edit.Off != int64(from) || edit.Len != int64(to-from)) {
					t.Errorf("step %d edit %d: %v at %d+%d, the twin says %v at %d-%d\n%q", n, i, state, edit.Off, edit.Len, want, from, to, w.text())
					return false
				}
			}
		}
	}
	return true
}

// editSome makes one to three edits that replace at most one line, so that none is split.
func editSome(rng *rand.Rand, w *twin, l *Text, steps *[]*Step) {
	var edits []Edit
	at := 0
	for range 1 + rng.IntN(3) {
		off := at + rng.IntN(12)
		n := rng.IntN(6)
		if off+n > len(w.bytes) {
			break
		}
		was := w.text()[off : off+n]
		if i := bytes.IndexByte(was, '\n'); i >= 0 {
			was = was[:i]
		}
		e := trimmed(Edit{int64(off), was, []byte(randomText(rng, rng.IntN(5)))})
		if len(e.Was)+len(e.Data) == 0 {
			continue
		}
		edits = append(edits, e)
		at = int(e.Off) + len(e.Was) + 1 // so that they aren't adjacent
	}
	record(w, l, steps, edits, nil, nil)
}

// record makes edits in both. with has the bytes of those that undo.
func record(w *twin, l *Text, steps *[]*Step, edits []Edit, with [][]*byte, undone *Step) {
	if len(edits) == 0 {
		return
	}
	step := twinStep{edits: make([]twinEdit, len(edits))}
	at, shift := make([]int, len(edits)), 0
	for i, e := range edits {
		data := fresh(e.Data)
		if with != nil {
			data = with[i]
		}
		at[i] = int(e.Off) + shift
		step.edits[i] = w.put(at[i], len(e.Was), data)
		shift += len(e.Data) - len(e.Was)
	}
	w.around(step.edits, at)
	w.steps = append(w.steps, step)
	if undone == nil {
		*steps = append(*steps, l.Apply(edits))
	} else {
		*steps = append(*steps, l.Apply(edits, undone))
	}
}

// undoOne undoes the whole edits of a step, all of them or some.
func undoOne(rng *rand.Rand, w *twin, l *Text, steps *[]*Step, counts map[string]int) {
	n := rng.IntN(len(*steps))
	s, all := (*steps)[n], rng.IntN(2) == 0
	type revert struct {
		Edit
		bytes []*byte
	}
	var list []revert
	for i := range s.Len() {
		state, edit := l.Find(s, i)
		if state != Whole || !all && rng.IntN(2) == 0 {
			continue
		}
		e := &w.steps[n].edits[i]
		list = append(list, revert{Edit{edit.Off, w.text()[edit.Off : edit.Off+edit.Len], edit.Data}, e.was})
	}
	slices.SortFunc(list, func(a, b revert) int { return int(a.Off - b.Off) })
	var edits []Edit
	var with [][]*byte
	for _, r := range list {
		edits, with = append(edits, r.Edit), append(with, r.bytes)
	}
	if len(edits) == s.Len() {
		counts["undo whole"]++
	} else if len(edits) > 0 {
		counts["undo part"]++
	}
	touched := func(n int) int {
		var sum int
		for i := range (*steps)[n].Len() {
			if state, _ := l.Find((*steps)[n], i); state == Touched {
				sum++
			}
		}
		return sum
	}
	before := make([]int, len(*steps))
	for n := range before {
		before[n] = touched(n)
	}
	record(w, l, steps, edits, with, s)
	for n := range before {
		if touched(n) < before[n] {
			counts["revived"]++
		}
	}
}

// Aligned texts keep stretches that occur once, and nothing else.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		edit                Edit // of before, applied first
		want                State
		result              string // with the edit reverted
	}{
		{"a line elsewhere", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\nx\ne\n", Edit{2, []byte("b"), []byte("B")}, Whole, "a\nb\nc\nd\nx\ne\n"},
		{"the line before", "a\nb\nc\nd\ne\n", "x\nB\nc\nd\ne\n", Edit{2, []byte("b"), []byte("B")}, Touched, ""},
		{"the line itself", "a\nb\nc\nd\n", "a\nBB\nc\nd\n", Edit{2, []byte("b"), []byte("B")}, Touched, ""},
		{"two equal places", "a\nb\nc\n", "a\nB\nc\na\nB\nc\n", Edit{2, []byte("b"), []byte("B")}, Touched, ""},
		{"lines before it", "a\nb\nc\n", "x\ny\na\nB\nc\n", Edit{2, []byte("b"), []byte("B")}, Whole, "x\ny\na\nb\nc\n"},
		{"nothing in common", "a\nb\nc\n", "x\ny\n", Edit{2, []byte("b"), []byte("B")}, Touched, ""},
		{"an empty file", "a\nb\nc\n", "", Edit{2, []byte("b"), []byte("B")}, Touched, ""},
	} {
		l := New(int64(len(c.before)))
		s := l.Apply([]Edit{c.edit})
		changed := strings.Replace(c.before, string(c.edit.Was), string(c.edit.Data), 1)
		l.Align([]byte(changed), []byte(c.after))
		state, edit := l.Find(s, 0)
		if state != c.want {
			t.Errorf("%s: %v, want %v", c.name, state, c.want)
			continue
		}
		if state == Whole {
			got := c.after[:edit.Off] + string(edit.Data) + c.after[edit.Off+edit.Len:]
			if got != c.result {
				t.Errorf("%s: %q, want %q", c.name, got, c.result)
			}
		}
	}
}

// Changes convert one text to the other, and keep only stretches that occur once. The texts
// are random, with few different lines.
func TestChangesLead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kept, dropped := 0, 0
	for range 5000 {
		a := randomLines(rng)
		b := a
		for range 1 + rng.IntN(3) {
			b = mutateLines(rng, b)
		}
		edits := Changes([]byte(a), []byte(b))
		var list []rootfs.Edit
		for _, e := range edits {
			if got := a[e.Off : int(e.Off)+len(e.Was)]; got != string(e.Was) {
				t.Fatalf("%q at %d is %q", e.Was, e.Off, got)
			}
			list = append(list, rootfs.Edit{Off: e.Off, Len: int64(len(e.Was)), Data: e.Data})
		}
		out, at := "", 0
		for _, e := range list {
			out += a[at:e.Off] + string(e.Data)
			at = int(e.Off + e.Len)
		}
		if out += a[at:]; out != b {
			t.Fatalf("%q became %q, want %q", a, out, b)
		}
		at = 0
		for _, e := range append(list, rootfs.Edit{Off: int64(len(a))}) {
			same := a[at:e.Off]
			at = int(e.Off + e.Len)
			if same == "" {
				continue
			}
			if kept++; places(a, same) != 1 || places(b, same) != 1 {
				t.Fatalf("%q occurs %d and %d times\n%q\n%q", same, places(a, same), places(b, same), a, b)
			}
		}
		if a != "" && b != "" && len(list) == 1 && list[0].Off == 0 && list[0].Len == int64(len(a)) {
			dropped++
		}
	}
	t.Logf("%d stretches kept, %d texts without any", kept, dropped)
	if kept < 1000 || dropped < 100 {
		t.Error("too few cases")
	}
}

// places counts the occurrences of whole lines in a text.
func places(text, lines string) int {
	n := 0
	for i := 0; i+len(lines) <= len(text); i++ {
		if (i == 0 || text[i-1] == '\n') && text[i:i+len(lines)] == lines && (strings.HasSuffix(lines, "\n") || i+len(lines) == len(text)) {
			n++
		}
	}
	return n
}

func randomLines(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(12) {
		fmt.Fprintf(&b, "%d\n", rng.IntN(8))
	}
	return b.String()
}

func mutateLines(rng *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	i := rng.IntN(len(lines))
	j := min(len(lines), i+rng.IntN(3))
	return strings.Join(lines[:i], "") + fmt.Sprintf("%d\n", rng.IntN(8)) + strings.Join(lines[j:], "")
}
