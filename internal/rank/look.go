package rank

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/match"
)

// Of the files that have a name the query asks for, the best are read to see
// whether they define it: maxNamed at most, and of these as many as have
// namedParts together are searched for definitions.
const (
	maxNamed   = 400
	namedParts = 300_000
)

// Search is a bounded look for the definitions of names. The zero value is at its
// beginning.
type Search struct{ named, parts int }

// Add counts a file that has a name; read says that it was searched for its
// definition. It reports whether that is enough.
func (s *Search) Add(k *Candidate, read bool) (enough bool) {
	s.named++
	if read {
		s.parts += min(k.parts, maxExamined/4)
	}
	return s.named >= maxNamed || s.parts >= namedParts
}

// asks reports whether an identifier is one the query asks for: the whole query,
// or a word that looks like an identifier.
func (q *Query) asks(id *ident) bool { return q.symbol || id.exact }

// Asks reports whether the query asks for a name.
func (q *Query) Asks() bool { return len(q.asked) > 0 }

// Names returns a pattern that matches wherever a name the query asks for stands,
// and in some other places: [Query.Named] tells.
func (q *Query) Names() (*match.Pattern, error) {
	var names []string
	for i := range q.idents {
		if q.asks(&q.idents[i]) {
			names = append(names, strings.Join(q.idents[i].parts, "_*"))
		}
	}
	return match.Compile(strings.Join(names, "|"), match.Options{Case: match.Insensitive, Mode: match.Text})
}

// Named reports whether a text has a name the query asks for, as a word of its
// own. m is a matcher of Names.
func (q *Query) Named(m *match.Matcher, text []byte) bool {
	found := false
	q.eachName(m, text, func(int) bool {
		found = true
		return false
	})
	return found
}

// MayDefine reports whether a text has a name the query asks for where it may be
// defined. In C, what is not at the margin is not defined there.
func (q *Query) MayDefine(m *match.Matcher, path string, text []byte) bool {
	if !strings.HasSuffix(path, ".c") {
		return true
	}
	found := false
	q.eachName(m, text, func(at int) bool {
		line := bytes.LastIndexByte(text[:at], '\n') + 1
		found = text[line] != ' ' && text[line] != '\t'
		return !found
	})
	return found
}

// eachName passes the places of names the query asks for until f returns false.
func (q *Query) eachName(m *match.Matcher, text []byte, f func(at int) bool) {
	m.Each(text, func(start, end int) bool {
		if end < len(text) && terms.InWord(text[end]) {
			return true
		}
		for start > 0 && terms.InWord(text[start-1]) {
			start--
		}
		for text[start] == '_' {
			start++
		}
		return !q.isAsked(text[start:end]) || f(start)
	})
}

// isAsked reports whether a word has the parts of a name the query asks for: in
// whatever style, it is that name.
func (q *Query) isAsked(word []byte) bool {
	var buf [2 * terms.MaxPart]byte
	for i := range q.idents {
		id := &q.idents[i]
		if !q.asks(id) {
			continue
		}
		n, same := 0, true
		terms.EachPart(word, func(start, end int, _ bool) {
			same = same && n < len(id.parts) && end-start <= len(buf) && id.parts[n] == string(terms.AppendFolded(buf[:0], word[start:end]))
			n++
		})
		if same && n == len(id.parts) {
			return true
		}
	}
	return false
}

// Defines reports whether a text defines a name the query asks for.
func (q *Query) Defines(ctx context.Context, path string, text []byte) bool {
	all, _ := symbols.Until(func() bool { return ctx.Err() != nil }, path, text)
	return slices.ContainsFunc(all, func(s symbols.Symbol) bool {
		return Defining(s.Kind) && slices.Contains(q.asked, symbols.Key(s.Name))
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
