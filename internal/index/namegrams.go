package index

import (
	"math/bits"

	"quarry/internal/symbols"
)

// The grams of names tell which groups may contain names with a given text. A gram is three
// consecutive bytes of a folded name, hashed to gramBits. Each hash has a row with one bit
// per group, which is set if the group contains the gram. For Linux 6.1 the rows take 0.5 %
// of the text, and a search for a name of six letters reads 2 of 100 groups. A table with few
// groups has no rows.

const (
	gramBits = 12
	gramRows = 1 << gramBits
	gramFrom = 16 // minimum number of groups
)

func nameGram(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 0x9E3779B1 >> (32 - gramBits)
}

// nameGrams collects the grams of all groups of a table.
type nameGrams struct {
	groups [][gramRows / 64]uint64
	folded []byte
}

// group begins the next group.
func (g *nameGrams) group() { g.groups = append(g.groups, [gramRows / 64]uint64{}) }

// add adds a name to the current group.
func (g *nameGrams) add(name []byte) {
	set := &g.groups[len(g.groups)-1]
	g.folded = symbols.AppendFolded(g.folded[:0], name)
	for i := 0; i+3 <= len(g.folded); i++ {
		h := nameGram(g.folded[i:])
		set[h/64] |= 1 << (h % 64)
	}
}

// write passes the rows to put, 64 at a time.
func (g *nameGrams) write(put func([]byte) error) error {
	size := rowSize(len(g.groups))
	if size == 0 {
		return nil
	}
	rows := make([]byte, 64*size)
	for word := range gramRows / 64 {
		clear(rows)
		for i := range g.groups {
			for bit, rest := 0, g.groups[i][word]; rest != 0; bit, rest = bit+1, rest>>1 {
				rows[bit*size+i/8] |= byte(rest&1) << (i % 8)
			}
		}
		if err := put(rows); err != nil {
			return err
		}
	}
	return nil
}

// rowSize returns the size of a row in bytes, or 0 if there are no rows.
func rowSize(groups int) int {
	if groups < gramFrom {
		return 0
	}
	return (groups + 7) / 8
}

func (t *defTable) rowSize() int { return rowSize(t.groups()) }

// wanted reports for each group whether it may contain a name that the query selects.
func (t *defTable) wanted(q NameQuery) []bool {
	out := make([]bool, t.groups())
	if len(q.Part) >= 3 {
		t.holding(q.Part, out)
	}
	if len(out) == 0 || q.Between == nil {
		return out
	}
	between := make([]bool, len(out))
	t.between(q.Between, 0, len(out), between)
	if least := len(q.Like) - 2 - q.Lost; least > 0 && t.rowSize() > 0 {
		t.atLeast(q.Like, least, between)
	}
	for i, may := range between {
		out[i] = out[i] || may
	}
	return out
}

// atLeast clears out for the groups that contain fewer than least grams of a text.
func (t *defTable) atLeast(text []byte, least int, out []bool) {
	counts := make([]uint16, 8*t.rowSize())
	for i := 0; i+3 <= len(text); i++ {
		for n, b := range t.row(nameGram(text[i:])) {
			for ; b != 0; b &= b - 1 {
				counts[8*n+bits.TrailingZeros8(b)]++
			}
		}
	}
	for i := range out {
		out[i] = out[i] && int(counts[i]) >= least
	}
}

// row returns the row of a gram.
func (t *defTable) row(gram uint32) []byte {
	size := t.rowSize()
	from := t.end() + int(gram)*size
	if !intact(t.file, t.sums, from, from+size) {
		panic("checksum of the grams of names")
	}
	return t.file[from : from+size]
}

// holding sets out for the groups that may have a name that contains part.
func (t *defTable) holding(part []byte, out []bool) {
	size := t.rowSize()
	if size == 0 {
		for i := range out {
			out[i] = true
		}
		return
	}
	all := make([]byte, size)
	for i := range all {
		all[i] = 0xFF
	}
	for i := 0; i+3 <= len(part); i++ {
		row := t.row(nameGram(part[i:]))
		for n := range all {
			all[n] &= row[n]
		}
	}
	for i := range out {
		out[i] = all[i/8]>>(i%8)&1 != 0
	}
}

// between sets out for the groups from lo to hi whose keys may be selected.
func (t *defTable) between(may func(lo, hi []byte) bool, lo, hi int, out []bool) {
	var least, most []byte
	_, first := t.head(lo)
	least = symbols.AppendKey(nil, first)
	if hi < t.groups() { // equal keys may be in consecutive groups
		_, first := t.head(hi)
		most = symbols.AppendKey(make([]byte, 0, len(first)), first)
	}
	switch {
	case !may(least, most):
	case hi-lo == 1:
		out[lo] = true
	default:
		mid := (lo + hi) / 2
		t.between(may, lo, mid, out)
		t.between(may, mid, hi, out)
	}
}
