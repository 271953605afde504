package rank

import (
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/match"
)

// MaxNamed is how many files with a name the query asks for are read to see
// whether they define it.
const MaxNamed = 200

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
		found = q.isAsked(text[start:end])
		return !found
	})
	return found
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
func (q *Query) Defines(path string, text []byte) bool {
	return slices.ContainsFunc(symbols.Of(path, text), func(s symbols.Symbol) bool {
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
