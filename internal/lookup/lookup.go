// Package lookup finds definitions in a workspace: by name, or of some files.
//
// It asks a backend which files contain a name, and reads the definitions from
// the current content of those files. So an answer is as fresh as a search, and
// equal with and without an index.
package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/rank"
	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/match"
	"quarry/search"
)

// Source is where files are.
type Source interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

const (
	// If manyFiles contain a name, only those are read in which it is in a line
	// that may define it. Reading 300 files of the kernel takes 30 ms.
	manyFiles = 300
	// maxFiles are read at most.
	maxFiles = 3000
	// maxBytes is the largest file that is read for its definitions.
	maxBytes = 8 << 20
)

// Symbols answers a query.
func Symbols(ctx context.Context, from Source, q search.SymbolQuery) (*search.SymbolResult, error) {
	l := &lookup{from: from, q: q, kind: symbols.ParseKind(q.Kind)}
	if q.Kind != "" && l.kind == 0 {
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("unknown kind of definition %q", q.Kind), "the kinds are "+strings.Join(symbols.Kinds(), ", "))
	}
	l.container, l.name = splitName(q.Name)
	l.key = rank.NameKey(l.name)
	files, out, err := l.files(ctx)
	if err != nil {
		return nil, err
	}
	found, err := l.read(ctx, files, &out.Summary)
	if err != nil {
		return nil, err
	}
	limit := max(q.Limit, 0)
	if l.name != "" {
		slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
		limit = cmp.Or(limit, 10)
	}
	limit = cmp.Or(limit, 1000)
	out.Total = len(found)
	if len(found) > limit {
		found = found[:limit]
		out.Stopped = search.StopLines
	}
	for _, s := range found {
		out.Symbols = append(out.Symbols, s.Symbol)
	}
	return out, nil
}

type lookup struct {
	from      Source
	q         search.SymbolQuery
	container string // folded, before the name
	name      string
	key       string
	kind      symbols.Kind
}

type scored struct {
	search.Symbol
	score float64
}

// splitName parts A.b, A::b and A#b at the last separator.
func splitName(name string) (container, short string) {
	name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "()"))
	i := strings.LastIndexAny(name, ".:#\\")
	if i < 0 || i == len(name)-1 {
		return "", name
	}
	return rank.NameKey(strings.Trim(strings.NewReplacer("::", ".", "#", ".", "\\", ".").Replace(name[:i]), ".:#")), name[i+1:]
}

// files lists the files whose definitions are to be read, in path order.
func (l *lookup) files(ctx context.Context) ([]string, *search.SymbolResult, error) {
	if l.name == "" {
		return l.all(ctx)
	}
	list, likely, sum, err := l.having(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := &search.SymbolResult{Summary: *sum, LikelyOnly: likely}
	if len(list) > maxFiles {
		list, out.Stopped = list[:maxFiles], search.StopFiles
	}
	return list, out, nil
}

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
	q.Scope, q.Parts = l.q.Scope, true
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
		terms.EachPart([]byte(l.name), func(s, e int, _ bool) { parts = append(parts, regexp.QuoteMeta(l.name[s:e])) })
		if len(parts) > 0 {
			return search.Query{Pattern: strings.Join(parts, "[_-]?"), Match: match.Options{Case: match.Insensitive}}
		}
	}
	return search.Query{Pattern: `(?:\b|^|\W)` + regexp.QuoteMeta(l.name) + `(?:\b|\W|$)`}
}

// defining finds the name where it may be defined: in lines with a keyword of a
// definition, or that begin at the margin and don't only mention it. It is for
// names that very many files have: of 3,797 candidates for sk_buff in the kernel,
// 76 have such a line.
func (l *lookup) defining() string {
	name := regexp.QuoteMeta(l.name)
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

// all lists every file in scope.
func (l *lookup) all(ctx context.Context) ([]string, *search.SymbolResult, error) {
	r, err := l.from.Find(ctx, search.FindQuery{Scope: l.q.Scope})
	if err != nil {
		return nil, nil, err
	}
	out := &search.SymbolResult{Summary: r.Summary}
	var list []string
	for _, e := range r.Entries {
		if e.Folder || e.Size > maxBytes {
			continue
		}
		if len(list) == maxFiles {
			out.Stopped = search.StopFiles
			break
		}
		list = append(list, e.Path)
	}
	return list, out, nil
}

// read reads files in parallel and collects what answers the query, in order. sum
// gets the files that could not be read.
func (l *lookup) read(ctx context.Context, files []string, sum *search.Summary) ([]scored, error) {
	results, skips := make([][]scored, len(files)), make([]search.Skip, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(files), 1)) {
		wg.Go(func() {
			for i := range next {
				results[i], skips[i] = l.file(ctx, files[i])
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
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
	return slices.Concat(results...), ctx.Err()
}

// maxSkips is how many files that could not be read are named.
const maxSkips = 100

// file returns the definitions of one file that answer the query, or why it could
// not be looked at. A file that is gone by now, or is not text, has none.
func (l *lookup) file(ctx context.Context, path string) ([]scored, search.Skip) {
	t, err := l.from.Read(ctx, path, &search.ReadOptions{MaxBytes: maxBytes})
	switch code := fault.CodeOf(err); {
	case err == nil && t.Cut, err != nil && code == fault.TooLarge:
		return nil, search.Skip{Path: path, Reason: search.TooLarge}
	case err == nil:
	case code == fault.NotFound, code == fault.NotText, ctx.Err() != nil:
		return nil, search.Skip{}
	default:
		detail := err.Error()
		if at, ok := errors.AsType[*fault.PathError](err); ok {
			detail = at.Kind.Words() // the path is said already
		}
		return nil, search.Skip{Path: path, Reason: search.Unreadable, Detail: detail}
	}
	text := []byte(strings.Join(t.Lines, "\n") + "\n")
	list := symbols.Of(path, text)
	// Among equals, the one nearer to the top is likelier.
	weight := rank.PathWeight(path) * (1 - 0.01*float64(min(strings.Count(path, "/"), 20)))
	var out []scored
	for i := range list {
		s := &list[i]
		if l.kind != 0 && s.Kind != l.kind {
			continue
		}
		score := 0.0
		if l.name != "" {
			if score = l.score(s) * weight; score == 0 {
				continue
			}
		}
		out = append(out, scored{l.symbol(s, path, text, t.Lines), score})
	}
	return out, search.Skip{}
}

func (l *lookup) symbol(s *symbols.Symbol, path string, text []byte, lines []string) search.Symbol {
	out := symbolOf(s, path, text, len(lines))
	if l.q.Text {
		out.Text = strings.Join(lines[out.StartLine-1:out.EndLine], "\n")
	}
	return out
}

// symbolOf is a definition in a text of some lines.
func symbolOf(s *symbols.Symbol, path string, text []byte, lines int) search.Symbol {
	out := search.Symbol{
		Path: path, Name: s.Name, Container: s.Container, Kind: s.Kind.String(), Line: s.Line,
		StartLine: s.DocFirst(), EndLine: min(s.Last, lines), Level: s.Level, Signature: s.Signature(text),
	}
	if s.Kind != symbols.Heading && s.Container != "" {
		out.Level = strings.Count(s.Container, ".") + 1
	}
	return out
}

// score tells how likely a definition is the one that is asked for; 0 is not
// at all.
func (l *lookup) score(s *symbols.Symbol) float64 {
	short := s.Name
	if i := strings.LastIndexByte(short, '.'); i >= 0 && i < len(short)-1 {
		short = short[i+1:]
	}
	v := 0.0
	switch key := rank.NameKey(s.Name); {
	case short == l.name || s.Name == l.name:
		v = 10
	case !l.q.Fuzzy:
		return 0
	case key == l.key:
		v = 6
	case strings.HasPrefix(key, l.key):
		v = 3 + float64(len(l.key))/float64(len(key))
	case strings.Contains(key, l.key):
		v = 2 + float64(len(l.key))/float64(len(key))
	default:
		return 0
	}
	if l.container != "" {
		in := rank.NameKey(s.Container)
		switch {
		case in == l.container:
			v += 5
		case strings.Contains(rank.NameKey(strings.ReplaceAll(s.Container, ".", "")), l.container):
			v += 3
		default:
			v -= 3
		}
	}
	v += 2 * rank.KindWeight(s.Kind)
	if s.Kind == symbols.Module { // a package clause is in every file
		v--
	}
	if s.Container == "" {
		v++
	}
	return max(v, 0.1)
}
