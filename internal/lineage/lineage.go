// Package lineage tracks the bytes of a file through its changes, so that an old change
// can be undone although later ones were made.
//
// A Text records for each byte of a file which edit inserted it. Exactly known edits are
// applied to it. For each edit it can then tell whether the bytes that the edit wrote are
// all there and still have the same neighbors. If so, the edit can be reverted at its
// current position. A byte that was restored by an undo counts as the original byte, so a
// change that was edited and then restored is whole again.
//
// Of a change by another program only the result is known. It is compared by lines; see
// Text.Align.
package lineage

import (
	"bytes"
	"slices"
	"sort"

	"quarry/internal/rootfs"
)

// run is a sequence of bytes that were inserted by the same edit.
type run struct {
	from   int   // number of the edit; 0 is the initial text
	off, n int64 // position in the text that the edit inserted
}

// at identifies a byte, or the start or end of the file.
type at struct {
	from int
	off  int64
}

var (
	start = at{from: -1}
	end   = at{from: -2}
)

// Text is a file at some point of its history.
type Text struct {
	runs []run
	size int64
	last int // number of the latest edit
}

// New returns a text of the given size.
func New(size int64) *Text {
	t := &Text{size: size}
	if size > 0 {
		t.runs = []run{{0, 0, size}}
	}
	return t
}

// Size returns the number of bytes.
func (t *Text) Size() int64 { return t.size }

// Edit is a past edit: it replaced the bytes Was at offset Off by Data.
type Edit struct {
	Off  int64
	Was  []byte // the replaced bytes
	Data []byte
}

// Step is a list of edits made at the same time, each with the bytes it removed and
// inserted.
type Step struct{ edits []made }

type made struct {
	Edit
	removed, brought []run
	left, right      at // the adjacent bytes after the edit
}

// Len returns the number of edits.
func (s *Step) Len() int { return len(s.edits) }

// Edit returns the i-th edit.
func (s *Step) Edit(i int) Edit { return s.edits[i].Edit }

// Apply makes edits, which must be in order and disjoint. Adjacent edits are joined, and
// large ones are split by Refine. If the edits undo another step, in whole or in part,
// undone must contain that step and any others that made the same change.
func (t *Text) Apply(edits []Edit, undone ...*Step) *Step {
	s := &Step{}
	for _, e := range joined(edits) {
		if back := t.reverting(e, undone); back != nil {
			s.edits = append(s.edits, back...)
			continue
		}
		for _, part := range Refine(e) {
			s.edits = append(s.edits, t.bringing(part))
		}
	}
	t.apply(s)
	return s
}

// bringing applies an edit whose bytes are new.
func (t *Text) bringing(e Edit) made {
	m := made{Edit: e}
	if len(e.Data) > 0 {
		t.last++
		m.brought = []run{{t.last, 0, int64(len(e.Data))}}
	}
	return m
}

func (t *Text) apply(s *Step) {
	shift := int64(0)
	for i := range s.edits {
		m := &s.edits[i]
		m.removed = t.cut(m.Off+shift, int64(len(m.Was)))
		t.insert(m.Off+shift, m.brought)
		shift += int64(len(m.Data) - len(m.Was))
	}
	shift = 0
	for i := range s.edits {
		m := &s.edits[i]
		place := m.Off + shift
		m.left, m.right = t.byteAt(place-1), t.byteAt(place+int64(len(m.Data)))
		shift += int64(len(m.Data) - len(m.Was))
	}
}

// reverting checks whether e exactly reverts edits of an undone step. If so, it applies them
// such that the inserted bytes count as the original ones, and returns these edits.
// Otherwise it returns nil.
func (t *Text) reverting(e Edit, undone []*Step) []made {
	var back []made
	for _, s := range undone {
		for i := range s.edits {
			state, edit := t.Find(s, i)
			if state != Whole || edit.Off < e.Off || edit.Off+edit.Len > e.Off+int64(len(e.Was)) {
				continue
			}
			u := &s.edits[i]
			m := made{Edit: Edit{edit.Off, u.Data, u.Was}, brought: slices.Clone(u.removed)}
			if !slices.ContainsFunc(back, func(o made) bool { return o.Off == m.Off && len(o.Was) == len(m.Was) }) {
				back = append(back, m)
			}
		}
	}
	sort.Slice(back, func(i, j int) bool { return back[i].Off < back[j].Off })
	var text []byte
	at := int64(0)
	for _, m := range back {
		off := m.Off - e.Off
		if off < at {
			return nil
		}
		text = append(append(text, e.Was[at:off]...), m.Data...)
		at = off + int64(len(m.Was))
	}
	if len(back) == 0 || !bytes.Equal(append(text, e.Was[at:]...), e.Data) {
		return nil
	}
	return back
}

// joined joins adjacent edits and drops empty ones.
func joined(edits []Edit) []Edit {
	var out []Edit
	for _, e := range edits {
		if len(e.Was)+len(e.Data) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Off+int64(len(out[n-1].Was)) == e.Off {
			last := &out[n-1]
			last.Was, last.Data = slices.Concat(last.Was, e.Was), slices.Concat(last.Data, e.Data)
			continue
		}
		out = append(out, e)
	}
	return out
}

// cut removes n bytes from the text and returns them.
func (t *Text) cut(off, n int64) []run {
	i, j := t.split(off), t.split(off+n)
	out := slices.Clone(t.runs[i:j])
	t.runs = slices.Delete(t.runs, i, j)
	t.size -= n
	return out
}

func (t *Text) insert(off int64, runs []run) {
	i := t.split(off)
	t.runs = slices.Insert(t.runs, i, runs...)
	for _, r := range runs {
		t.size += r.n
	}
}

// split splits a run so that another begins at off. It returns the index of the latter.
func (t *Text) split(off int64) int {
	pos := int64(0)
	for i, r := range t.runs {
		if off <= pos {
			return i
		}
		if off < pos+r.n {
			head := off - pos
			t.runs = slices.Insert(t.runs, i+1, run{r.from, r.off + head, r.n - head})
			t.runs[i].n = head
			return i + 1
		}
		pos += r.n
	}
	return len(t.runs)
}

// byteAt identifies the byte at an offset.
func (t *Text) byteAt(off int64) at {
	if off < 0 {
		return start
	}
	for _, r := range t.runs {
		if off < r.n {
			return at{r.from, r.off + off}
		}
		off -= r.n
	}
	return end
}

// joinRuns joins consecutive runs that were split.
func joinRuns(runs []run) []run {
	var out []run
	for _, r := range runs {
		if n := len(out); n > 0 && out[n-1].from == r.from && out[n-1].off+out[n-1].n == r.off {
			out[n-1].n += r.n
			continue
		}
		out = append(out, r)
	}
	return out
}

// State is the current state of an edit.
type State uint8

const (
	Whole   State = iota // the edit can be reverted
	Undone               // the replaced text was restored
	Touched              // the inserted text or an adjacent byte was changed
)

// Find returns the state of the i-th edit of a step. If it is Whole, the second result is
// the edit of the current text that reverts it.
func (t *Text) Find(s *Step, i int) (State, rootfs.Edit) {
	m := &s.edits[i]
	left, ok := t.after(m.left)
	if !ok {
		return Touched, rootfs.Edit{}
	}
	right, ok := t.before(m.right)
	if !ok || right < left {
		return Touched, rootfs.Edit{}
	}
	between := joinRuns(t.slice(left, right))
	switch {
	case slices.Equal(between, joinRuns(m.brought)):
		return Whole, rootfs.Edit{Off: left, Len: right - left, Data: m.Was}
	case slices.Equal(between, joinRuns(m.removed)):
		return Undone, rootfs.Edit{}
	}
	return Touched, rootfs.Edit{}
}

// Around returns the range of the current text that corresponds to the i-th edit of a step:
// from the last remaining byte before the edit to the first one after it. whole is the text
// directly after the step.
func (t *Text) Around(whole *Text, s *Step, i int) (from, to int64) {
	m := &s.edits[i]
	place, ok := whole.after(m.left)
	if !ok {
		return 0, t.size
	}
	from, to = 0, t.size
	pos := int64(0)
	for _, r := range whole.runs {
		for _, now := range t.places(r) {
			// now.pos is the current position of the bytes at now.off.
			first, last := pos+now.off-r.off, pos+now.off-r.off+now.n // range in the text after the step
			if first < place {
				from = max(from, now.pos+min(last, place)-first)
			}
			if after := place + int64(len(m.Data)); last > after {
				to = min(to, now.pos+max(0, after-first))
			}
		}
		pos += r.n
	}
	return from, max(from, to)
}

// Clone returns a copy.
func (t *Text) Clone() *Text {
	c := *t
	c.runs = slices.Clone(t.runs)
	return &c
}

// after returns the offset after a byte. It returns false if the byte no longer exists.
func (t *Text) after(a at) (int64, bool) {
	if a == start {
		return 0, true
	}
	off, ok := t.before(a)
	return off + 1, ok
}

func (t *Text) before(a at) (int64, bool) {
	if a == end {
		return t.size, true
	}
	pos := int64(0)
	for _, r := range t.runs {
		if r.from == a.from && r.off <= a.off && a.off < r.off+r.n {
			return pos + a.off - r.off, true
		}
		pos += r.n
	}
	return 0, false
}

// placed is a part of a run and its position.
type placed struct {
	run
	pos int64
}

// places returns the remaining parts of a run and their positions.
func (t *Text) places(r run) []placed {
	var out []placed
	pos := int64(0)
	for _, x := range t.runs {
		if x.from == r.from {
			lo, hi := max(x.off, r.off), min(x.off+x.n, r.off+r.n)
			if lo < hi {
				out = append(out, placed{run{r.from, lo, hi - lo}, pos + lo - x.off})
			}
		}
		pos += x.n
	}
	return out
}

// slice returns the part of the text between two offsets.
func (t *Text) slice(from, to int64) []run {
	var out []run
	pos := int64(0)
	for _, r := range t.runs {
		lo, hi := max(from, pos), min(to, pos+r.n)
		if lo < hi {
			out = append(out, run{r.from, r.off + lo - pos, hi - lo})
		}
		pos += r.n
	}
	return out
}
