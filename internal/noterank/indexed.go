package noterank

import (
	"context"

	"quarry/internal/terms"
	"quarry/internal/vault"
)

// An index counts the words of notes when it reads them. The key of a word includes its
// field. Words with the same key are counted together.

// spaces is the number of kinds of keys. The first ones are for fields. Those from Others
// on are for other values counted in the same table.
const spaces = 8

// Others is the first kind of key that does not belong to a field.
const Others = fields

// KeyOf returns the key of a text. kind is a field, or Others and above.
func KeyOf(text []byte, kind int) terms.Key {
	return terms.KeyOf(text)&^(spaces-1) | terms.Key(kind)
}

// Words holds the facts about a note's words that an index stores.
type Words struct {
	Names   []string    // the name, titles, and aliases
	Lengths [fields]int // number of words in each field
}

// Index counts all words of a note, and calls count once for each key with its number of
// occurrences.
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

// Keys returns the keys of a query's words in every field, for Finder.Found.
func (q *Query) Keys() []terms.Key {
	keys := make([]terms.Key, 0, len(q.terms)*fields)
	for _, term := range q.terms {
		for field := range fields {
			keys = append(keys, KeyOf([]byte(term), field))
		}
	}
	return keys
}

// Finder makes the Docs of indexed notes. It is not safe for concurrent use.
type Finder struct {
	q      *Query
	docs   []Doc // allocated in chunks, since there are many
	counts [][fields]uint16
}

// Finder returns a Finder for the query.
func (q *Query) Finder() *Finder { return &Finder{q: q} }

// Found makes the Doc of a note from its counts of the query's Keys, the number of words
// in each field, and its names, which are rarely needed. The positions of words, and
// therefore which of them are adjacent, are unknown until Read is called.
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

// Read adds the facts to a Doc that Found couldn't know, from the note's text.
func (q *Query) Read(ctx context.Context, d *Doc, text []byte) {
	d.pairs, d.Near = 0, nil
	q.places(ctx, d, text, vault.FindFrontMatter(text).Body)
}
