package lookup

import (
	"cmp"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/search"
)

// Reach is the kind of similarity between a defined name and the wanted one.
type Reach uint8

const (
	Same    Reach = iota // equal, possibly in another style
	Begins               // begins with the name
	Typo                 // one edit away
	Far                  // two edits away
	Part                 // contains the name
	Shares               // shares two words with the name
	reaches = iota
)

// Best keeps the best definitions of a name and counts all. Which ones it keeps doesn't
// depend on the order in which they are added.
type Best struct {
	name  *Name
	limit int
	lists [reaches]bestList
}

type bestList struct {
	found []Found
	total int
	floor float64 // definitions with a lower score are only counted
}

// Found is a definition whose lines are not yet known.
type Found struct {
	Path, Name, Container string
	Kind                  symbols.Kind
	Nth                   int // number, starting at 1, among definitions with the same path, name, container and kind
	Score                 float64
	Reach                 Reach
}

// NewBest returns a Best that keeps at most limit definitions.
func NewBest(name *Name, limit int) *Best { return &Best{name: name, limit: limit} }

// Wants counts a definition, and reports whether with this score it may be among the best.
func (b *Best) Wants(score float64, of Reach) bool {
	l := &b.lists[of]
	l.total++
	return score >= l.floor
}

// MayWant reports whether a definition with at most this score may be among the best. If
// not, MayWant counts it.
func (b *Best) MayWant(most float64, of Reach) bool {
	l := &b.lists[of]
	if most >= l.floor {
		return true
	}
	l.total++
	return false
}

// Add adds a definition for which Wants returned true.
func (b *Best) Add(f Found) {
	l := &b.lists[f.Reach]
	l.found = append(l.found, f)
	if len(l.found) >= 4*b.limit+1000 {
		l.cut(b.limit + 1) // Alone needs one more
		l.floor = l.found[len(l.found)-1].Score
	}
}

// Counts reports whether definitions of a reach are part of the answer. Those of all
// closer reaches must have been added before. If the exact name is defined, only names
// that begin with it also count. If names one edit away are defined, less similar names
// don't count. Names that share words with the name count if there are no others.
func (b *Best) Counts(of Reach) bool {
	begin := b.lists[Begins].total
	switch {
	case of <= Begins:
		return true
	case b.lists[Same].total > 0:
		return false
	case of == Typo:
		return true
	case b.lists[Typo].total > 0:
		return false
	case of == Shares:
		return begin+b.lists[Far].total+b.lists[Part].total == 0
	case of == Far:
		return begin == 0
	case begin == 0:
		return b.lists[Far].total < b.limit
	}
	return begin < b.limit
}

func (b *bestList) cut(n int) {
	slices.SortFunc(b.found, func(x, y Found) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Container, y.Container), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Nth, y.Nth))
	})
	b.found = b.found[:min(len(b.found), n)]
}

// Result copies the definitions to out, best first. Their lines and texts are added by
// Describe.
func (b *Best) Result(out *search.SymbolResult) {
	var all bestList
	for of := range Reach(reaches) {
		if b.Counts(of) {
			all.found, all.total = slices.Concat(all.found, b.lists[of].found), all.total+b.lists[of].total
		}
	}
	all.cut(b.limit + 1)
	if n := len(all.found); n > 1 && b.name.Alone(all.found[0].Score, all.found[1].Score) {
		all.found, all.total = all.found[:1], 1
	}
	out.Total = all.total
	if len(all.found) > b.limit {
		all.found, out.Stopped = all.found[:b.limit], cmp.Or(out.Stopped, search.StopLines)
	}
	for i := range all.found {
		f := &all.found[i]
		out.Symbols = append(out.Symbols, search.Symbol{Path: f.Path, Name: f.Name, Container: f.Container, Kind: f.Kind.String(), Line: f.Nth, Score: f.Score})
	}
}

// Reader reads the definitions in a text, like symbols.Names.
type Reader interface {
	Read(path string, text []byte) (whole bool)
	Each(yield func(name string, kind symbols.Kind, container string))
}

// File returns the definitions in a text whose names are similar to n. whole reports
// whether the text was parsed to its end.
func (n *Name) File(names Reader, path string, text []byte) (found []Found, whole bool) {
	weight := 0.0
	type same struct {
		name, container string
		kind            symbols.Kind
	}
	var nth map[same]int
	var key []byte
	whole = names.Read(path, text)
	names.Each(func(name string, kind symbols.Kind, container string) {
		if !n.Takes(kind) {
			return
		}
		key = symbols.AppendKey(key[:0], []byte(name))
		like, reach := n.Likeness([]byte(name), key)
		if like == 0 {
			return
		}
		if nth == nil {
			nth, weight = map[same]int{}, Weight(path)
		}
		of := same{strings.Clone(name), strings.Clone(container), kind} // copies, because the originals are parts of the text
		nth[of]++
		found = append(found, Found{Path: path, Name: of.name, Container: of.container, Kind: kind, Nth: nth[of],
			Score: n.Score(like, kind, container, path, weight), Reach: reach})
	})
	return found, whole
}

// Rank sorts the definitions of several answers to one query and applies the query's
// limit.
func Rank(q *search.SymbolQuery, r *search.SymbolResult) error {
	limit := cmp.Or(max(q.Limit, 0), 1000)
	if q.Name != "" {
		name, err := Compile(q)
		if err != nil {
			return err
		}
		limit = cmp.Or(max(q.Limit, 0), 10)
		slices.SortStableFunc(r.Symbols, func(a, b search.Symbol) int { return cmp.Compare(b.Score, a.Score) })
		if len(r.Symbols) > 1 && name.Alone(r.Symbols[0].Score, r.Symbols[1].Score) {
			r.Symbols, r.Total = r.Symbols[:1], 1
		}
	}
	if len(r.Symbols) > limit {
		r.Symbols, r.Stopped = r.Symbols[:limit], cmp.Or(r.Stopped, search.StopLines)
	}
	return nil
}
