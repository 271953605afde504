package lineage

import (
	"bytes"

	"quarry/internal/textedit"
)

// Align applies a change of which only the contents before and after are known. It compares
// them by lines. Unchanged lines are only recognized if they occur once in either text;
// otherwise they are ambiguous, and their bytes count as new. All bytes of a changed line
// count as new, because its unchanged bytes can't be identified if the edit is unknown.
func (t *Text) Align(before, after []byte) {
	s := &Step{}
	for _, e := range Changes(before, after) {
		s.edits = append(s.edits, t.bringing(e))
	}
	t.apply(s)
}

// Rewritten returns one of our own changes, which replaced lines by lines, as the edits in
// a diff of the two texts. The lines before the first and after the last edit are known to
// be unchanged. Unchanged lines in between must occur only once.
func Rewritten(before, after []byte) []Edit {
	edits := changes(before, after, true)
	for i := range edits {
		edits[i] = trimmed(edits[i])
	}
	return edits
}

// Changes returns the difference between two texts as edits of whole lines.
func Changes(before, after []byte) []Edit { return changes(before, after, false) }

// changes implements Changes. If ends is set, unchanged lines at the start and end of
// both texts count even if they also occur elsewhere.
func changes(before, after []byte, ends bool) []Edit {
	a, b := split(before), split(after)
	ids := map[string]int{}
	na, nb := textedit.NumberLines(a, ids), textedit.NumberLines(b, ids)
	var edits []Edit
	var x, y int         // number of lines already handled
	var offA, offB int64 // offsets after these lines
	upTo := func(endA, endB int) {
		e := Edit{Off: offA}
		e.Was, offA = lines(before, a[x:endA], offA)
		e.Data, offB = lines(after, b[y:endB], offB)
		edits = append(edits, e)
	}
	for _, same := range textedit.CommonLines(na, nb) {
		first, last := same.A == 0 && same.B == 0, same.A+same.N == len(na) && same.B+same.N == len(nb)
		if !(ends && (first || last)) && !once(na, nb, same) {
			continue
		}
		upTo(same.A, same.B)
		x, y = same.A+same.N, same.B+same.N
		_, offA = lines(before, a[same.A:x], offA)
		_, offB = lines(after, b[same.B:y], offB)
	}
	upTo(len(a), len(b))
	return joined(edits)
}

func split(text []byte) [][]byte {
	list := bytes.SplitAfter(text, []byte{'\n'})
	if n := len(list) - 1; len(list[n]) == 0 { // the empty rest after the last line feed is not a line
		list = list[:n]
	}
	return list
}

// lines returns the text of the lines in list, which begin at offset off, and the offset
// of its end.
func lines(text []byte, list [][]byte, off int64) ([]byte, int64) {
	to := off
	for _, l := range list {
		to += int64(len(l))
	}
	return text[off:to], to
}

// maxCompared limits the search for a second occurrence of a stretch. If the search would
// exceed it, the stretch counts as ambiguous.
const maxCompared = 1 << 22

// once reports whether a stretch of lines occurs once in either text.
func once(a, b []int, s textedit.Stretch) bool {
	want := a[s.A : s.A+s.N]
	left := maxCompared
	for _, text := range [...][]int{a, b} {
		found := 0
		for i := 0; i+len(want) <= len(text); i++ {
			n := 0
			for n < len(want) && text[i+n] == want[n] {
				n++
			}
			if left -= n + 1; left < 0 {
				return false
			}
			if n == len(want) {
				if found++; found > 1 {
					return false
				}
			}
		}
	}
	return true
}

// Refine splits an edit that replaces several lines by several lines. Lines that occur
// once before and once after the edit were not changed.
func Refine(e Edit) []Edit {
	if bytes.IndexByte(e.Was, '\n') < 0 || bytes.IndexByte(e.Data, '\n') < 0 {
		return []Edit{trimmed(e)}
	}
	var out []Edit
	for _, part := range Changes(e.Was, e.Data) {
		part.Off += e.Off
		out = append(out, trimmed(part))
	}
	return out
}

// trimmed removes the unchanged bytes at the start and end of an edit.
func trimmed(e Edit) Edit {
	n := 0
	for n < min(len(e.Was), len(e.Data)) && e.Was[n] == e.Data[n] {
		n++
	}
	e.Off, e.Was, e.Data = e.Off+int64(n), e.Was[n:], e.Data[n:]
	n = 0
	for n < min(len(e.Was), len(e.Data)) && e.Was[len(e.Was)-1-n] == e.Data[len(e.Data)-1-n] {
		n++
	}
	e.Was, e.Data = e.Was[:len(e.Was)-n], e.Data[:len(e.Data)-n]
	return e
}
