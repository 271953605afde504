package rank

import (
	"slices"
	"sync/atomic"

	"quarry/internal/symbols"
)

// Seen counts what the first stage saw. It may be used from several goroutines.
type Seen struct {
	files, parts atomic.Int64
}

// Add counts a file with so many parts. One without any is no text to rank.
func (s *Seen) Add(parts int) {
	if parts > 0 {
		s.files.Add(1)
		s.parts.Add(int64(parts))
	}
}

// Corpus sums up the first stage.
func (q *Query) Corpus(s *Seen, list []Candidate) *Corpus {
	c := &Corpus{Files: int(s.files.Load()), Parts: s.parts.Load(), With: make([]int, len(q.terms))}
	for i := range list {
		if list[i].Counts == nil {
			continue
		}
		for t, tf := range list[i].Counts.TF {
			if tf > 0 {
				c.With[t]++
			}
		}
	}
	return c
}

// Look is the first stage for one file: nil when neither its text nor its path
// has anything of the query.
func (q *Query) Look(path string, text []byte, seen *Seen) *Candidate {
	counts, parts := q.count(text)
	seen.Add(parts)
	if parts == 0 || counts == nil && !q.ByPath(path) {
		return nil
	}
	k := &Candidate{Path: path, Counts: counts}
	if counts != nil && counts.named {
		k.Defines = q.definesAny(symbols.Of(path, text))
	}
	return k
}

// definesAny reports whether one of the symbols is a name the query asks for.
func (q *Query) definesAny(syms []symbols.Symbol) bool {
	return slices.ContainsFunc(syms, func(s symbols.Symbol) bool {
		return Defining(s.Kind) && slices.Contains(q.asked, NameKey(s.Name))
	})
}

// Defining reports the kinds of definitions a query by name is about.
func Defining(k symbols.Kind) bool {
	switch k {
	case symbols.Field, symbols.Member, symbols.Prototype, symbols.Impl, symbols.Test, symbols.Heading:
		return false
	}
	return true
}

// NameKey is what a definition is known by: its last component in lower case
// without underscores.
func NameKey(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' && i+1 < len(name) {
			name = name[i+1:]
			break
		}
	}
	return foldName(name)
}

// Asked are the keys of the names the query asks for: the whole query if it is
// one identifier, and words that look like identifiers.
func (q *Query) Asked() []string { return q.asked }
