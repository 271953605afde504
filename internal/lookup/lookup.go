// Package lookup finds definitions in a workspace: by name, or of some files.
//
// Which definitions answer a name is decided by Name, from their names, kinds,
// containers and files alone, so answers are equal with and without an index.
// Describe then reads the lines and texts of the few that are shown from the
// current content of their files.
package lookup

import (
	"cmp"
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"quarry/internal/crew"
	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/match"
	"quarry/search"
)

// Source is where files are.
type Source interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

const (
	// If manyFiles contain a name, only those are read in which it is in a line
	// that may define it. Reading 300 files of the kernel takes 30 ms.
	manyFiles = 300
	// maxFiles are read at most.
	maxFiles = 3000
)

// Searched answers a query where there is no index of definitions: it reads the
// files that a search finds the name in. Names with typos are not found.
func Searched(ctx context.Context, from Source, q *search.SymbolQuery) (*search.SymbolResult, error) {
	name, err := Compile(q)
	if err != nil {
		return nil, err
	}
	l := &lookup{from: from, q: q, name: name}
	if name.All() {
		return l.outline(ctx)
	}
	files, likely, sum, err := l.having(ctx)
	if err != nil {
		return nil, err
	}
	out := &search.SymbolResult{Summary: *sum, LikelyOnly: likely}
	if len(files) > maxFiles {
		files, out.Stopped = files[:maxFiles], search.StopFiles
	}
	best := NewBest(name, cmp.Or(max(q.Limit, 0), 10))
	found := make([][]Found, len(files))
	err = l.each(ctx, files, &out.Summary, func(i int, text []byte) (whole bool) {
		names := symbols.Names{Stop: func() bool { return ctx.Err() != nil }}
		found[i], whole = name.File(&names, files[i], text)
		return whole
	})
	for _, list := range found {
		for _, f := range list {
			if best.Wants(f.Score, f.Reach) {
				best.Add(f)
			}
		}
	}
	best.Result(out)
	return out, err
}

type lookup struct {
	from Source
	q    *search.SymbolQuery
	name *Name
}

// outline lists the definitions of every file in scope.
func (l *lookup) outline(ctx context.Context) (*search.SymbolResult, error) {
	r, err := l.from.Find(ctx, search.FindQuery{Scope: l.q.Scope})
	if err != nil {
		return nil, err
	}
	out := &search.SymbolResult{Summary: r.Summary}
	var files []string
	for _, e := range r.Entries {
		if !e.Folder && symbols.Language(e.Path, nil) != "" {
			files = append(files, e.Path)
		}
	}
	if len(files) > maxFiles {
		files, out.Stopped = files[:maxFiles], search.StopFiles
	}
	found := make([][]search.Symbol, len(files))
	err = l.each(ctx, files, &out.Summary, func(i int, text []byte) (whole bool) {
		found[i], whole = l.name.Outline(ctx, files[i], text, l.q.Text)
		return whole
	})
	out.Symbols = slices.Concat(found...)
	limit := cmp.Or(max(l.q.Limit, 0), 1000)
	if out.Total = len(out.Symbols); out.Total > limit {
		out.Symbols, out.Stopped = out.Symbols[:limit], search.StopLines
	}
	return out, err
}

// each calls work with the texts of files, in parallel. sum gets those that
// could not be read, and those of which work says that they were not read whole.
func (l *lookup) each(ctx context.Context, files []string, sum *search.Summary, work func(i int, text []byte) (whole bool)) error {
	skips := make([]search.Skip, len(files))
	crew.Each(ctx, len(files), runtime.GOMAXPROCS(0), func(i int) {
		text, err := textOf(ctx, l.from, files[i])
		switch {
		case err == nil && !work(i, text):
			skips[i] = search.Skip{Path: files[i], Reason: search.TooLarge, Detail: InPart}
		case err != nil:
			skips[i] = skipOf(ctx, files[i], err)
		}
	})
	for _, s := range skips {
		if s.Reason == "" {
			continue
		}
		if sum.SkippedCount == nil {
			sum.SkippedCount = map[search.Reason]int{}
		}
		if sum.SkippedCount[s.Reason]++; len(sum.Skipped) < maxSkips {
			sum.Skipped = append(sum.Skipped, s)
		}
	}
	return ctx.Err()
}

// maxSkips is how many files that could not be read are named.
const maxSkips = 100

// having lists the files that have the name; if they are many, those in which it
// stands in a line that may define it. One search gives both: on the kernel, 5,000
// files have kmalloc, and 40 such a line. onlyLikely says that it was the second.
func (l *lookup) having(ctx context.Context) (list []string, onlyLikely bool, sum *search.Summary, err error) {
	defines, err := match.Compile(l.defining(), match.Options{})
	if err != nil {
		return nil, false, nil, err
	}
	matching := defines.NewSearch()
	defer matching.StopWith(ctx)()
	m := matching.NewMatcher()
	q := l.pattern()
	q.Scope, q.Parts, q.RawLines = l.q.Scope, true, true
	q.Limits.LineBytes = 4 << 10 // longer lines are data
	var all, likely []string
	sum, err = l.from.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if len(all) <= manyFiles && (len(all) == 0 || all[len(all)-1] != f.Path) {
			all = append(all, f.Path)
		}
		if n := len(likely); n > maxFiles || n > 0 && likely[n-1] == f.Path {
			return nil
		}
		for i := range f.Lines {
			if m.MatchLine(f.Lines[i].Text) {
				likely = append(likely, f.Path)
				break
			}
		}
		return nil
	})
	if len(all) <= manyFiles {
		return all, false, sum, err
	}
	return likely, true, sum, err
}

// pattern finds the name as a word, or anywhere and in any style.
func (l *lookup) pattern() search.Query {
	if l.q.Fuzzy {
		var parts []string
		terms.EachPart([]byte(l.name.text), func(s, e int, _ bool) { parts = append(parts, regexp.QuoteMeta(l.name.text[s:e])) })
		if len(parts) > 0 {
			return search.Query{Pattern: strings.Join(parts, "[_-]?"), Match: match.Options{Case: match.Insensitive}}
		}
	}
	return search.Query{Pattern: `(?:\b|^|\W)` + regexp.QuoteMeta(l.name.text) + `(?:\b|\W|$)`}
}

// defining finds the name where it may be defined: in lines with a keyword of a
// definition, or that begin at the margin and don't only mention it. It is for
// names that very many files have: of 3,797 candidates for sk_buff in the kernel,
// 76 have such a line.
func (l *lookup) defining() string {
	name := regexp.QuoteMeta(l.name.text)
	return strings.Join([]string{
		`^\S.*\b` + name + `\s*\(`, // a function, its type before it
		`^` + name + `\b`,          // at the very beginning
		`^[^\s(]*[\s.]` + name + `\s*(?::|=)`,
		`^\}.*\b` + name + `\b`, // a type named after its body
		`\b(?:struct|union|enum)\s+` + name + `\s*(?:[{<:(=]|$|where\b|extends\b|implements\b)`,
		`\bpub\b.*\bstruct\s+` + name + `\s*;`,
		`\b(?:class|interface|trait|protocol|module|object|record|type|typedef|namespace|impl|defmodule|newtype|data|extension|actor|package)\s(?:.*[\s.*])?` + name + `\b`,
		`\b(?:def|defp|defmacro|fun|func|fn|function|sub|macro|define|local|declare)\b[^(]*[\s.*&:]` + name + `\b`,
		`\bfunc\s*\([^)]*\)\s*` + name + `\b`,
		`\b(?:const|static|val|var|let|export|readonly)\s+(?:\w+\s+)*` + name + `\s*(?:[=:;,]|$)`,
		`^\s+(?:[\w<>\[\],.&*~:?@]+\s+)+[*&]*` + name + `\s*\(`, // a method, its type before it
		`^\s+` + name + `\s*\([^;]*\{\s*$`,
	}, "|")
}
