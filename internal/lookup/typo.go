package lookup

import "math/bits"

// typo measures how far names are from the one that was typed: letters missing,
// doubled, wrong or swapped.
type typo struct {
	key  string
	most int    // edits at most
	seen uint64 // letters of the key
}

// maxTypo is the longest name that is compared.
const maxTypo = 120

// newTypo allows one edit from 3 letters on, two from 6 on.
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

// letters has a bit for each byte that occurs, modulo 64.
func letters(s []byte) (set uint64) {
	for _, c := range s {
		set |= 1 << (c & 63)
	}
	return set
}

// likeness is between prefix and equality for one edit, and below a part of a
// word for two. 0 is too far.
func (t *typo) likeness(key []byte) float64 {
	if t.most == 0 || len(key) > len(t.key)+t.most || len(key)+t.most < len(t.key) {
		return 0
	}
	// An edit changes at most two letters of the set.
	if bits.OnesCount64(t.seen^letters(key)) > 2*t.most {
		return 0
	}
	d := t.distance(key)
	if d > t.most {
		return 0
	}
	v := 4.9
	if d == 2 {
		v = 2.9
	}
	if key[0] != t.key[0] { // people know how a name begins
		v -= 0.4
	}
	if len(key) == len(t.key) && d == 1 && t.replaced(key) {
		v -= 0.2 // a wrong letter is rarer than a missing or doubled one
	}
	return v
}

// replaced reports that one letter differs, so none was swapped.
func (t *typo) replaced(key []byte) bool {
	n := 0
	for i := range key {
		if key[i] != t.key[i] {
			n++
		}
	}
	return n == 1
}

// distance is the number of edits, or more than allowed: letters inserted,
// deleted, replaced, or two neighbours swapped (optimal string alignment).
func (t *typo) distance(key []byte) int {
	var rows [3][maxTypo + 1]uint8
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range last {
		last[j] = uint8(j)
	}
	for i := 1; i <= len(key); i++ {
		row[0] = uint8(i)
		least := uint8(i)
		for j := 1; j <= len(t.key); j++ {
			cost := uint8(1)
			if key[i-1] == t.key[j-1] {
				cost = 0
			}
			v := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && key[i-1] == t.key[j-2] && key[i-2] == t.key[j-1] {
				v = min(v, before[j-2]+1)
			}
			row[j] = v
			least = min(least, v)
		}
		if int(least) > t.most {
			return int(least)
		}
		before, last, row = last, row, before
	}
	return int(last[len(t.key)])
}
