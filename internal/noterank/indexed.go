package noterank

import (
	"context"
	"math"

	"quarry/internal/terms"
	"quarry/internal/vault"
)

// An index counts the words of notes when it reads them. A word of a field has a
// key; words with equal keys are one, wherever they are counted.

// spaces is how many kinds of keys there are: those of the fields, and those of
// others that count in the same table, from Others on.
const spaces = 8

// Others is the first kind of key that is not that of a field.
const Others = fields

// KeyOf is the key of a text of some kind: a term of a field, or another.
func KeyOf(text []byte, kind int) terms.Key {
	return terms.KeyOf(text)&^(spaces-1) | terms.Key(kind)
}

// Words is what an index keeps of the words of a note.
type Words struct {
	Names   func() []string // the name, titles, and aliases
	Lengths [fields]int     // words in each field
}

// Index counts the words of a note, as Count does, and calls count once for each
// key.
func Index(ctx context.Context, path string, text []byte, scan *vault.Note, head *vault.Head, count func(k terms.Key, n int)) *Words {
	n := takeApart(path, text, scan, head)
	w := &Words{Names: func() []string { return append(n.titles, n.aliases...) }}
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

// Keys are those of the words of a query in every field, for Found.
func (q *Query) Keys() []terms.Key {
	keys := make([]terms.Key, 0, len(q.terms)*fields)
	for _, term := range q.terms {
		for field := range fields {
			keys = append(keys, KeyOf([]byte(term), field))
		}
	}
	return keys
}

// Found makes the Doc of a note from how often it has each of the Keys. Places of
// words are unknown, and so is which of them are neighbours: its score is the
// most it can be until Read.
func (q *Query) Found(counts []uint8, w *Words) *Doc {
	d := &Doc{counts: make([][fields]int, len(q.terms)), length: w.Lengths}
	for t := range q.terms {
		for field := range fields {
			d.counts[t][field] = int(counts[t*fields+field])
		}
	}
	for t := range len(q.terms) - 1 {
		if most := min(d.counts[t][body], d.counts[t+1][body]); most < terms.MaxCount {
			d.pairs += most
		} else {
			d.pairs += math.MaxInt32 // nobody counts more
		}
	}
	d.named = d.inNames() && q.calls(w.Names())
	return d
}

// inNames reports whether all words are in names of the note.
func (d *Doc) inNames() bool {
	for _, c := range d.counts {
		if c[title]+c[alias] == 0 {
			return false
		}
	}
	return true
}

// Read adds to the Doc of a note what Found doesn't know, by its text.
func (q *Query) Read(ctx context.Context, d *Doc, text []byte) {
	d.pairs, d.Near = 0, nil
	q.places(ctx, d, text, vault.FindFrontMatter(text).Body)
}
