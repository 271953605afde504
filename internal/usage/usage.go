// Package usage finds where a name is used in code.
//
// It compares names, not types. Occurrences in comments and strings are counted but not
// listed. Definitions are distinguished from uses, and every use has its enclosing
// definition. If the query names a container (Store.Open), a use with another word before
// the dot is uncertain; it is listed with Sure unset.
package usage

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/colour"
	"quarry/internal/lookup"
	"quarry/internal/symbols"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// Query selects a name.
type Query struct {
	Name string // Open, Store.Open, Store::open
	search.Scope
	Limit int // maximum number of listed uses; 0 means 1000
}

// Use is a place where the name is used.
type Use struct {
	Path   string
	Line   int
	Text   string
	Symbol string // the enclosing definition, with its container
	Test   bool   // the file is a test
	Sure   bool   // for Store.Open: the container precedes the name, or contains the use
}

// Result contains the uses in path order, those in tests last.
type Result struct {
	Definitions []search.Symbol
	Uses        []Use
	Total       int // number of uses, including unlisted ones
	Comments    int // number of occurrences in comments
	Strings     int // in strings
	Texts       int // in files that are not code
	Unsure      int // number of uses with Sure unset
	search.Summary
}

// Source gives access to the files. Its searches set the enclosing definition of a line.
type Source interface {
	lookup.Source
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
}

// maxText is the size of the largest file in which comments and strings are recognized.
const maxText = 8 << 20

// Find answers a query.
func Find(ctx context.Context, from Source, q Query) (*Result, error) {
	container, name := split(q.Name)
	if name == "" {
		return nil, fault.New(fault.InvalidArgument, "the name is empty", "")
	}
	q.Limit = cmp.Or(q.Limit, 1000)
	// Definitions are searched everywhere, even if the scope for uses is limited.
	defined, err := from.Symbols(ctx, search.SymbolQuery{Name: q.Name, Limit: 200, Text: true})
	if err != nil {
		return nil, err
	}
	same, err := from.Symbols(ctx, search.SymbolQuery{Name: name, Scope: q.Scope, Limit: 2000})
	if err != nil {
		return nil, err
	}
	f := &finder{q: q, container: container, name: name, out: &Result{Definitions: defined.Symbols}, at: map[place]bool{}}
	for _, s := range same.Symbols {
		f.at[place{s.Path, s.Line}] = true
	}
	sq := search.Query{Pattern: wordOf(name), Match: match.Options{}, Scope: q.Scope, Spans: true, Symbols: true}
	sum, err := from.SearchEach(ctx, sq, func(m *search.FileMatch) error {
		f.file(ctx, from, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.out.Uses, func(a, b Use) int {
		switch {
		case a.Test != b.Test && b.Test:
			return -1
		case a.Test != b.Test:
			return 1
		}
		return 0
	})
	f.out.Total = len(f.out.Uses)
	f.out.Uses = f.out.Uses[:min(len(f.out.Uses), q.Limit)]
	f.out.Summary = *sum
	return f.out, nil
}

type place struct {
	path string
	line int
}

type finder struct {
	q               Query
	container, name string
	out             *Result
	at              map[place]bool // lines that define the name

	path  string
	spans []span // comments and strings of the file
}

type span struct {
	start, end int
	class      colour.Class
}

// split splits a name: Store.Open is Open in Store.
func split(name string) (container, last string) {
	name = strings.TrimSuffix(strings.TrimSpace(name), "()")
	name = strings.ReplaceAll(strings.ReplaceAll(name, "::", "."), "->", ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// wordOf returns a regular expression for name as a whole word.
func wordOf(name string) string {
	expr := regexp.QuoteMeta(name)
	if wordChar(name[:1]) {
		expr = `\b` + expr
	}
	if wordChar(name[len(name)-1:]) {
		expr += `\b`
	}
	return expr
}

func wordChar(s string) bool {
	c := s[0]
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// file adds the matches of one file.
func (f *finder) file(ctx context.Context, from Source, m *search.FileMatch) {
	if f.path != m.Path {
		f.path, f.spans = m.Path, nil
		if data, err := from.ReadBytes(ctx, m.Path, maxText); err == nil {
			f.spans = apart(m.Path, data)
		}
	}
	if l := symbols.Language(m.Path, nil); l == "" || strings.EqualFold(l, "markdown") {
		for i := range m.Lines {
			f.out.Texts += len(m.Lines[i].Spans)
		}
		return
	}
	test := IsTest(m.Path)
	for i := range m.Lines {
		l := &m.Lines[i]
		if !l.Hit {
			continue
		}
		text := string(l.Text)
		defines := f.at[place{m.Path, l.Number}]
		used, sure := 0, false
		for _, s := range l.Spans {
			switch f.class(int(l.Offset) + s.Start) {
			case colour.Comment:
				f.out.Comments++
				continue
			case colour.String:
				f.out.Strings++
				continue
			}
			if defines { // the first occurrence on the line is the definition itself
				defines = false
				continue
			}
			used++
			sure = sure || f.sure(text[:s.Start], l.Symbol)
		}
		if used == 0 {
			continue
		}
		u := Use{Path: m.Path, Line: l.Number, Text: text, Test: test, Sure: sure}
		if l.Symbol != nil {
			u.Symbol = l.Symbol.Name
			if l.Symbol.Container != "" {
				u.Symbol = l.Symbol.Container + "." + l.Symbol.Name
			}
		}
		if !sure {
			f.out.Unsure++
		}
		f.out.Uses = append(f.out.Uses, u)
	}
}

// apart finds the comments and strings of a file.
func apart(name string, data []byte) []span {
	doc, err := textfile.New(data)
	lang := colour.For(path.Base(name))
	if err != nil || lang == nil {
		return nil
	}
	var spans []span
	at := 0
	lang.Each(string(doc.Text()), func(piece string, c colour.Class) bool {
		if c == colour.Comment || c == colour.String {
			spans = append(spans, span{at, at + len(piece), c})
		}
		at += len(piece)
		return true
	})
	return spans
}

func (f *finder) class(at int) colour.Class {
	i, _ := slices.BinarySearchFunc(f.spans, at, func(s span, at int) int {
		if s.end <= at {
			return -1
		}
		return 1
	})
	if i < len(f.spans) && f.spans[i].start <= at {
		return f.spans[i].class
	}
	return colour.Plain
}

var qualifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\w)\]]+)\s*(?:\.|::|->|\?\.)\s*$`)
})

// sure reports whether a use is certainly of the query's container. before is the line's text
// before the use, and around its enclosing definition.
func (f *finder) sure(before string, around *search.Symbol) bool {
	if f.container == "" {
		return true
	}
	last := f.container[strings.LastIndexByte(f.container, '.')+1:]
	m := qualifier().FindStringSubmatch(before)
	inside := around != nil && (around.Container == f.container || strings.HasSuffix(around.Container, "."+last) || around.Container == last)
	switch {
	case m == nil: // members of the container omit the qualifier
		return inside
	case m[1] == last:
		return true
	case m[1] == "self" || m[1] == "this" || m[1] == "Self":
		return inside
	}
	return strings.EqualFold(m[1], last) // store.Open of a Store
}

var testPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(tests?|__tests__|testdata|spec|specs|fixtures?)/|_test\.\w+$|\.(test|spec)\.\w+$|(^|/)test_[^/]*\.py$|Tests?\.(java|kt|cs|swift)$`)
})

// IsTest reports whether a path looks like a test.
func IsTest(p string) bool { return testPath().MatchString(p) }
