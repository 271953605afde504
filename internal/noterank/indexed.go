package noterank

import (
	"context"

	"quarry/internal/terms"
	"quarry/internal/vault"
)

// An index counts the words of notes when it reads them. A word of a field has a key; words
// with equal keys count as one, in whichever field they are counted.

// spaces is the number of kinds of keys: those for fields, and from Others on those for
// other values counted in the same table.
const spaces = 8

// Others is the first kind of key that does not belong to a field.
const Others = fields

// KeyOf returns the key of a text of some kind: a term of a field, or another.
func KeyOf(text []byte, kind int) terms.Key {
	return terms.KeyOf(text)&^(spaces-1) | terms.Key(kind)
}

// Words holds the facts that an index keeps about the words of a note.
type Words struct {
	Names   []string    // the name, titles, and aliases
	Lengths [fields]int // words in each field
}

// Index counts the words of a note, as Count does, and calls count once for each
// key.
func Index(ctx context.Context, path string, text []byte, scan *vault.Note, head *vault.Head, count func(k terms.Key, n int)) *Words {
	n := takeApart(path, text, scan, head)
	w := &Words{Names: append(n.titles, n.aliases...)}
	counts := map[terms.Key]int{}
	for field := range fields {
		n.each(field, func(s []byte) {
			eachTerm(ctx, s, func(_, _ int, term []byte) {
				w.Lengths[field]++
				counts[KeyOf(term, field)]++
			})
		})
	}
	for k, n := range counts {
		count(k, n)
	}
	return w
}

// Keys returns the keys of a query's words in every field, for Found.
func (q *Query) Keys() []terms.Key {
	keys := make([]terms.Key, 0, len(q.terms)*fields)
	for _, term := range q.terms {
		for field := range fields {
			keys = append(keys, KeyOf([]byte(term), field))
		}
	}
	return keys
}

// Finder makes the Docs of indexed notes. It must be used by one goroutine at a time.
type Finder struct {
	q      *Query
	docs   []Doc // allocated together, as there are many
	counts [][fields]uint16
}

// Finder returns a Finder for the query.
func (q *Query) Finder() *Finder { return &Finder{q: q} }

// Found makes the Doc of a note from its count of each of the Keys, the number of words in
// each of its fields, and its names, which are rarely needed. Until Read, the places of
// words are unknown, and so is which of them are neighbours.
func (f *Finder) Found(counts []uint8, lengths [fields]int, names func() []string) *Doc {
	const many = 256
	q := f.q
	if len(f.docs) == 0 {
		f.docs, f.counts = make([]Doc, many), make([][fields]uint16, many*len(q.terms))
	}
	d := &f.docs[0]
	d.counts = f.counts[:len(q.terms):len(q.terms)]
	for field, n := range lengths {
		d.length[field] = int32(n)
	}
	f.docs, f.counts = f.docs[1:], f.counts[len(q.terms):]
	for t := range q.terms {
		for field := range fields {
			d.counts[t][field] = uint16(counts[t*fields+field])
		}
	}
	d.named = d.inNames() && q.calls(names())
	return d
}

// inNames reports whether all words occur in names of the note.
func (d *Doc) inNames() bool {
	for _, c := range d.counts {
		if c[title]+c[alias] == 0 {
			return false
		}
	}
	return true
}

// Read adds to the Doc of a note, from its text, the facts unknown to Found.
func (q *Query) Read(ctx context.Context, d *Doc, text []byte) {
	d.pairs, d.Near = 0, nil
	q.places(ctx, d, text, vault.FindFrontMatter(text).Body)
}
