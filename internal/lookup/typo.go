package lookup

import (
	"bytes"
	"math/bits"
)

// typo compares names with the typed name: letters may be missing, doubled, wrong or
// swapped.
type typo struct {
	key  string
	most int    // maximum number of edits
	seen uint64 // set of letters in key
}

// LostGrams is the maximum number of three-letter substrings of a name that one edit
// changes: swapping two letters changes four.
const LostGrams = 4

// maxTypo is the length of the longest name that is compared.
const maxTypo = 120

// newTypo allows one edit in names of at least 3 letters, and two in names of at least 6
// whose first two letters are right.
func newTypo(key string) *typo {
	t := &typo{key: key, seen: letters([]byte(key))}
	switch n := len(key); {
	case n >= 6 && n <= maxTypo:
		t.most = 2
	case n >= 3 && n < 6:
		t.most = 1
	}
	return t
}

// letters returns the set of bytes in s, modulo 64, as bits.
func letters(s []byte) (set uint64) {
	for _, c := range s {
		set |= 1 << (c & 63)
	}
	return set
}

// likeness returns the likeness of a key and the number of edits. For one edit the likeness
// is between those of a prefix and an equal name; for two it is below that of a part of a
// word. If there are too many edits, it is 0.
func (t *typo) likeness(key []byte) (v float64, edits int) {
	if t.most == 0 || len(key) > len(t.key)+t.most || len(key)+t.most < len(t.key) {
		return 0, 0
	}
	// An edit changes at most two letters of the set.
	if bits.OnesCount64(t.seen^letters(key)) > 2*t.most {
		return 0, 0
	}
	d := t.distance(key)
	if d > t.most || d == 2 && string(key[:2]) != t.key[:2] {
		return 0, 0
	}
	v = 4.9
	if d == 2 {
		v = 2.9
	}
	if key[0] != t.key[0] { // the first letter is hardly ever mistyped
		v -= 0.4
	}
	if len(key) == len(t.key) && d == 1 && t.replaced(key) {
		v -= 0.2 // a wrong letter is less frequent than a missing or doubled one
	}
	return v, d
}

// replaced reports whether exactly one letter differs. Swapped letters are two
// differences.
func (t *typo) replaced(key []byte) bool {
	n := 0
	for i := range key {
		if key[i] != t.key[i] {
			n++
		}
	}
	return n == 1
}

// distance returns the number of edits, or a number above the maximum. Edits insert,
// delete or replace a letter, or swap two adjacent letters (optimal string alignment).
func (t *typo) distance(key []byte) int {
	var rows [3]typoRow
	before, last, row := &rows[0], &rows[1], &rows[2]
	*before, *last = farAway, firstRow
	prev := byte(0)
	for _, c := range key {
		if least := t.step(row, last, before, prev, c); int(least) > t.most {
			return int(least)
		}
		before, last, row, prev = last, row, before, c
	}
	return int(last[len(t.key)])
}

// typoRow holds the number of edits between a prefix of some key and each prefix of the
// typed key, indexed by the length of the latter.
type typoRow [maxTypo + 1]uint8

// firstRow is the row of the empty prefix; farAway is used as the row before it.
var firstRow, farAway = func() (first, far typoRow) {
	for j := range first {
		first[j], far[j] = uint8(j), maxTypo
	}
	return first, far
}()

// step computes the row of a prefix extended by one letter. c is the letter and prev the
// one before it. least is the smallest number in the row.
func (t *typo) step(row, last, before *typoRow, prev, c byte) (least uint8) {
	row[0] = last[0] + 1
	least = row[0]
	for j := 1; j <= len(t.key); j++ {
		cost := uint8(1)
		if c == t.key[j-1] {
			cost = 0
		}
		v := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
		if j > 1 && c == t.key[j-2] && prev == t.key[j-1] {
			v = min(v, before[j-2]+1)
		}
		row[j] = v
		least = min(least, v)
	}
	return least
}

// one reports whether any key from lo to hi, inclusive, differs from the typed key by at
// most one edit. A nil hi means no upper limit.
func (t *typo) one(lo, hi []byte) bool {
	if t.most == 0 {
		return false
	}
	r := typoRange{typo: t, most: 1, lo: lo, hi: hi}
	return r.reach(0, true, hi != nil, 0, &farAway, &firstRow)
}

// two does the same for two edits after the first two letters.
func (t *typo) two(lo, hi []byte) bool {
	if t.most < 2 {
		return false
	}
	first := []byte(t.key[:2])
	above, below := bytes.HasPrefix(lo, first), hi != nil && bytes.HasPrefix(hi, first)
	if !above && bytes.Compare(lo, first) > 0 || hi != nil && !below && bytes.Compare(hi, first) < 0 {
		return false
	}
	var before, row typoRow
	t.step(&before, &firstRow, &farAway, 0, first[0])
	t.step(&row, &before, &firstRow, first[0], first[1])
	r := typoRange{typo: t, most: 2, lo: lo, hi: hi}
	return r.reach(2, above, below, first[1], &before, &row)
}

// typoRange searches for a key from lo to hi.
type typoRange struct {
	*typo
	most   uint8
	lo, hi []byte
}

// reach reports whether a prefix of n letters can be extended to such a key. prev is its
// last letter. above reports whether the prefix is also a prefix of lo, and below whether
// it is one of hi; they then limit the next letter.
func (r *typoRange) reach(n int, above, below bool, prev byte, before, last *typoRow) bool {
	least := uint8(maxTypo)
	for j := range len(r.key) + 1 {
		least = min(least, last[j])
	}
	if least > r.most {
		return false
	}
	above = above && n < len(r.lo)
	if !above && (!below || last[len(r.key)] <= r.most) { // the key may end here
		return true
	}
	if below && n == len(r.hi) {
		return false
	}
	from, to := 0, 255 // letters that may follow and leave both limits behind
	if above {
		from = int(r.lo[n]) + 1
	}
	if below {
		to = int(r.hi[n]) - 1
	}
	if from <= to && (least < r.most || r.goesOn(from, to, prev, before, last)) {
		return true
	}
	along := func(c byte, above, below bool) bool {
		var row typoRow
		r.step(&row, last, before, prev, c)
		return r.reach(n+1, above, below, c, last, &row)
	}
	if above && below && r.lo[n] == r.hi[n] {
		return along(r.lo[n], true, true)
	}
	return above && along(r.lo[n], true, false) || below && along(r.hi[n], false, true)
}

// goesOn reports whether a letter in [from, to] may follow without another edit.
func (r *typoRange) goesOn(from, to int, prev byte, before, last *typoRow) bool {
	for j := range len(r.key) {
		if c := int(r.key[j]); c < from || c > to {
			continue
		}
		if last[j] <= r.most || j+1 < len(r.key) && prev == r.key[j+1] && before[j] < r.most {
			return true
		}
	}
	return false
}
