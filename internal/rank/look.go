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

// Of the files that contain a name the query asks for, only the best are read: at most
// maxNamed, and definitions are looked for only in the first namedParts parts of them.
const (
	maxNamed   = 400
	namedParts = 300_000
)

// Search limits the search for definitions of names. The zero value is ready to use.
type Search struct{ named, parts int }

// Add counts a file that contains a name. read says that its definitions were searched.
// Add reports whether the limit is reached.
func (s *Search) Add(k *Candidate, read bool) (enough bool) {
	s.named++
	if read {
		s.parts += min(k.parts, maxExamined/4)
	}
	return s.named >= maxNamed || s.parts >= namedParts
}

// asks reports whether the query asks for an identifier: if it is the whole query, or a
// word in the form of an identifier.
func (q *Query) asks(id *ident) bool { return q.symbol || id.exact }

// Asks reports whether the query asks for a name.
func (q *Query) Asks() bool { return len(q.asked) > 0 }

// Names returns a pattern that matches every occurrence of a name the query asks for. It
// has false positives; [Query.Named] filters them.
func (q *Query) Names() (*match.Pattern, error) {
	var names []string
	for i := range q.idents {
		if q.asks(&q.idents[i]) {
			names = append(names, strings.Join(q.idents[i].parts, "_*"))
		}
	}
	return match.Compile(strings.Join(names, "|"), match.Options{Case: match.Insensitive, Mode: match.Text})
}

// Named reports whether a text contains a name the query asks for as a whole word. m is a
// matcher of Names.
func (q *Query) Named(m *match.Matcher, text []byte) bool {
	found := false
	q.eachName(m, text, func(int) bool {
		found = true
		return false
	})
	return found
}

// MayDefine reports whether an asked name occurs in a text where it may be defined. In C,
// definitions begin at the margin.
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

// eachName passes the offsets of asked names to f until it returns false.
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

// isAsked reports whether a word is a name the query asks for, in any naming style.
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

// Defining reports whether definitions of a kind answer a query by name.
func Defining(k symbols.Kind) bool {
	switch k {
	case symbols.Field, symbols.Member, symbols.Prototype, symbols.Impl, symbols.Test, symbols.Heading:
		return false
	}
	return true
}
