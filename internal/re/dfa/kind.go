package dfa

import (
	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
)

// kind is the information that assertions need about a neighbouring byte.
type kind uint8

const (
	kindEdge  kind = iota // no byte: the start or end of the text
	kindLF                // \n
	kindCR                // \r
	kindWord              // [0-9A-Za-z_]
	kindOther             // any other ASCII
	kindHigh              // over 0x7F
	numKinds
)

func kindOf(b byte) kind {
	switch {
	case b >= 0x80:
		return kindHigh
	case nfa.IsWordByte(b):
		return kindWord
	case b == '\n':
		return kindLF
	case b == '\r':
		return kindCR
	}
	return kindOther
}

// lookTable[x][y] is the set of assertions that hold between a byte of kind x that has been
// read and a next byte of kind y. (In a reversed machine the byte that has been read comes
// later in the text.)
//
// Next to a high byte the Unicode assertions are unknown. The table assumes that they hold,
// which can only add matches. Finder gives up before it relies on that.
type lookTable struct {
	holds [numKinds][numKinds]nfa.LookSet
	any   [numKinds]nfa.LookSet // hold before some next byte
	all   [numKinds]nfa.LookSet // hold before every next byte
}

func newLookTable(reverse bool) *lookTable {
	t := new(lookTable)
	for x := range numKinds {
		t.all[x] = ^nfa.LookSet(0)
		for y := range numKinds {
			before, after := x, y
			if reverse {
				before, after = y, x
			}
			set := holding(before, after)
			t.holds[x][y] = set
			t.any[x] |= set
			t.all[x] &= set
		}
	}
	return t
}

// holding returns the assertions that hold between bytes of the two kinds, by asking package
// nfa about a sample of two bytes.
func holding(before, after kind) nfa.LookSet {
	sample := [numKinds]string{"", "\n", "\r", "a", " ", "\xff"}
	hay := []byte(sample[before] + sample[after])
	var set nfa.LookSet
	for l := hir.LookNone + 1; int(l) < hir.NumLook; l++ {
		if nfa.Holds(l, hay, len(sample[before])) {
			set |= 1 << l
		}
	}
	if before == kindHigh || after == kindHigh {
		set |= nfa.LooksUnicode
	}
	return set
}

// canonical returns the first kind that no assertion in need distinguishes from k. This merges
// states that behave alike.
func (t *lookTable) canonical(k kind, need nfa.LookSet) kind {
	for c := range k {
		same := true
		for y := range numKinds {
			if (t.holds[c][y]^t.holds[k][y])&need != 0 {
				same = false
				break
			}
		}
		if same {
			return c
		}
	}
	return k
}
