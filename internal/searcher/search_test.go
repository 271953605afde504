package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/fault"
	regime "quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// lines formats a result as path:number:text.
func lines(r *search.Result) []string {
	var out []string
	for _, f := range r.Files {
		for _, l := range f.Lines {
			sep := "-"
			if l.Hit {
				sep = ":"
			}
			out = append(out, fmt.Sprintf("%s%s%d%s%s", f.Path, sep, l.Number, sep, l.Text))
		}
	}
	return out
}

var sample = map[string]string{
	"a.go":           "package a\n\nfunc foo() {}\nfunc bar() {}\n",
	"a/b.go":         "foo\n",
	"a-b.txt":        "foo\n",
	"docs/x.md":      "one\nfoo two\nthree\n",
	".hidden":        "foo\n",
	"build/out.txt":  "foo\n",
	".gitignore":     "/build/\n",
	"bin":            "foo\x00\n",
	".git/config":    "foo\n",
	".env":           "foo=1\n",
	"crlf.txt":       "foo\r\nbar\r\n",
	"vendor/v/v.go":  "foo\nfoo\nfoo\n",
	"empty":          "",
	".obsidian/a.md": "foo\n",
}

func TestSearchOrderAndScope(t *testing.T) {
	ws := workspace(t, sample, nil)
	for _, c := range []struct {
		name string
		q    search.Query
		want []string
	}{
		{"by path, a folder sorting as its slash", search.Query{Pattern: "^foo$"},
			[]string{"a-b.txt:1:foo", "a/b.go:1:foo", "crlf.txt:1:foo", "vendor/v/v.go:1:foo", "vendor/v/v.go:2:foo", "vendor/v/v.go:3:foo"}},
		{"a folder", search.Query{Pattern: "foo", Scope: search.Scope{Paths: []string{"docs"}}}, []string{"docs/x.md:2:foo two"}},
		{"a file", search.Query{Pattern: "foo", Scope: search.Scope{Paths: []string{"a.go"}}}, []string{"a.go:3:func foo() {}"}},
		{"a folder in another case", search.Query{Pattern: "foo", Scope: search.Scope{Paths: []string{"DOCS"}}}, []string{"docs/x.md:2:foo two"}},
		{"an ignored folder that is named", search.Query{Pattern: "foo", Scope: search.Scope{Paths: []string{"build"}}}, []string{"build/out.txt:1:foo"}},
		{"a glob", search.Query{Pattern: "foo", Scope: search.Scope{Globs: []string{"*.go", "!vendor/**"}}}, []string{"a.go:3:func foo() {}", "a/b.go:1:foo"}},
		{"types and globs", search.Query{Pattern: "foo", Scope: search.Scope{Globs: []string{"a*"}, Types: []string{"*.txt"}}}, []string{"a-b.txt:1:foo"}},
		{"hidden, but never protected or secret", search.Query{Pattern: "foo", Scope: search.Scope{IncludeHidden: true, Globs: []string{".*"}}}, []string{".hidden:1:foo"}},
		{"ignored", search.Query{Pattern: "foo", Scope: search.Scope{IncludeIgnored: true, Globs: []string{"out.txt"}}}, []string{"build/out.txt:1:foo"}},
		{"context", search.Query{Pattern: "two", Before: 1, After: 1}, []string{"docs/x.md-1-one", "docs/x.md:2:foo two", "docs/x.md-3-three"}},
		{"CRLF isn't text", search.Query{Pattern: "bar$", Scope: search.Scope{Paths: []string{"crlf.txt"}}}, []string{"crlf.txt:2:bar"}},
		{"inverted", search.Query{Pattern: "func", Invert: true, Scope: search.Scope{Paths: []string{"a.go"}}}, []string{"a.go:1:package a", "a.go:2:"}},
		{"several patterns", search.Query{Patterns: []string{"three", "bar\\("}}, []string{"a.go:4:func bar() {}", "docs/x.md:3:three"}},
	} {
		if diff := cmp.Diff(c.want, lines(mustSearch(t, ws, c.q))); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	ws := workspace(t, sample, nil)
	for _, c := range []struct {
		name    string
		q       search.Query
		want    []string
		stopped search.Stop
		total   int
		exact   bool
	}{
		{"lines", search.Query{Limits: search.Limits{Lines: 3}},
			[]string{"a-b.txt:1:foo", "a.go:3:func foo() {}", "a/b.go:1:foo"}, search.StopLines, 0, false},
		{"lines, counting on", search.Query{Limits: search.Limits{Lines: 3, CountTo: 1000}},
			[]string{"a-b.txt:1:foo", "a.go:3:func foo() {}", "a/b.go:1:foo"}, search.StopLines, 8, true},
		{"files", search.Query{Limits: search.Limits{Files: 1, CountTo: 1000}}, []string{"a-b.txt:1:foo"}, search.StopFiles, 8, true},
		{"within a file", search.Query{Limits: search.Limits{Lines: 7, CountTo: 1000}, Offset: 5}, []string{"vendor/v/v.go:1:foo", "vendor/v/v.go:2:foo", "vendor/v/v.go:3:foo"}, "", 8, true},
		{"offset", search.Query{Offset: 6}, []string{"vendor/v/v.go:2:foo", "vendor/v/v.go:3:foo"}, "", 8, true},
		{"a file's lines", search.Query{Limits: search.Limits{LinesPerFile: 1}, Scope: search.Scope{Paths: []string{"vendor"}}}, []string{"vendor/v/v.go:1:foo"}, "", 1, true},
	} {
		c.q.Pattern = "foo"
		r := mustSearch(t, ws, c.q)
		if diff := cmp.Diff(c.want, lines(r)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if r.Stopped != c.stopped || r.Exact != c.exact || c.exact && r.LinesMatched != c.total {
			t.Errorf("%s: stopped %q, exact %v, %d lines; want %q %v %d", c.name, r.Stopped, r.Exact, r.LinesMatched, c.stopped, c.exact, c.total)
		}
	}
}

func TestSearchSaysWhatItSkips(t *testing.T) {
	ws := workspace(t, sample, nil)
	r := mustSearch(t, ws, search.Query{Pattern: "zzz"})
	if len(r.Files) != 0 || !r.Exact || r.Stopped != "" {
		t.Errorf("zero answer: %+v", r)
	}
	want := map[search.Reason]int{search.Binary: 1, search.Hidden: 2, search.Ignored: 1, search.Protected: 3}
	if diff := cmp.Diff(want, r.SkippedCount); diff != "" {
		t.Error(diff)
	}
	if len(r.Skipped) != 1 || r.Skipped[0].Path != "bin" {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func TestSearchDetails(t *testing.T) {
	ws := workspace(t, sample, nil)
	r := mustSearch(t, ws, search.Query{Pattern: "o", Detail: search.Counts, CountMatches: true, Scope: search.Scope{Paths: []string{"docs"}}})
	if f := r.Files[0]; f.Matched != 2 || f.Matches != 4 || f.Lines != nil {
		t.Errorf("counts: %+v", f)
	}
	r = mustSearch(t, ws, search.Query{Pattern: "foo", Detail: search.Files, FilesWithoutMatch: true})
	if len(r.Files) != 1 || r.Files[0].Path != "empty" {
		t.Errorf("files without match: %+v", r.Files)
	}
	r = mustSearch(t, ws, search.Query{Pattern: "(f)oo", Spans: true, Scope: search.Scope{Paths: []string{"a.go"}}})
	if diff := cmp.Diff([]search.Span{{Start: 5, End: 8}}, r.Files[0].Lines[0].Spans); diff != "" {
		t.Error(diff)
	}
}

func TestSearchErrors(t *testing.T) {
	ws := workspace(t, sample, nil)
	for _, c := range []struct {
		name string
		q    search.Query
	}{
		{"a bad pattern", search.Query{Pattern: "("}},
		{"a bad glob", search.Query{Pattern: "x", Scope: search.Scope{Globs: []string{"[a"}}}},
		{"no such path", search.Query{Pattern: "x", Scope: search.Scope{Paths: []string{"nope"}}}},
		{"outside", search.Query{Pattern: "x", Scope: search.Scope{Paths: []string{"../"}}}},
		{"protected", search.Query{Pattern: "x", Scope: search.Scope{Paths: []string{".git"}}}},
	} {
		if r, err := ws.Search(context.Background(), c.q); err == nil {
			t.Errorf("%s: no error, %+v", c.name, r)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ws.Search(ctx, search.Query{Pattern: "foo"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSearchDeterministic(t *testing.T) {
	regime.SkipTiny(t)
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/e%d/f%d.txt", i%7, i%13, i)] = strings.Repeat("x\n", i%5) + "needle\n"
	}
	one := workspace(t, files, &quarry.Options{Workers: 1})
	q := search.Query{Pattern: "needle", Limits: search.Limits{Lines: 123}}
	want := lines(mustSearch(t, one, q))
	for range 20 {
		many, err := quarry.Open(one.Dir(), &quarry.Options{Workers: 8})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, lines(mustSearch(t, many, q))); diff != "" {
			t.Fatal(diff)
		}
		many.Close()
	}
}

func TestSearchTime(t *testing.T) {
	regime.SkipShort(t)
	// The limit of one nanosecond has passed before the first file is searched. A limit
	// of milliseconds would not do: on a busy machine a short search may end before its
	// timer fires.
	ws := workspace(t, sample, nil)
	r := mustSearch(t, ws, search.Query{Pattern: "never", Limits: search.Limits{Time: time.Nanosecond}})
	if r.Stopped != search.StopTime || r.Exact {
		t.Errorf("stopped %q exact %v", r.Stopped, r.Exact)
	}
	q := search.Query{Pattern: `(a*)*(?=c)\1b`, Match: match.Options{Syntax: match.ECMAScript}}
	ws = workspace(t, map[string]string{"x": strings.Repeat("a", 5000) + "b\n"}, nil)
	if r = mustSearch(t, ws, q); r.Stopped != search.StopBudget || r.Exact {
		t.Errorf("stopped %q exact %v", r.Stopped, r.Exact)
	}
}

func TestFind(t *testing.T) {
	ws := workspace(t, sample, nil)
	for _, c := range []struct {
		name string
		q    search.FindQuery
		want string
	}{
		{"files", search.FindQuery{}, "a-b.txt a.go a/b.go bin crlf.txt docs/x.md empty vendor/v/v.go"},
		{"a name at any depth", search.FindQuery{Scope: search.Scope{Globs: []string{"*.go"}}}, "a.go a/b.go vendor/v/v.go"},
		{"minimatch, only at the top", search.FindQuery{Scope: search.Scope{Globs: []string{"*.go"}, Dialect: search.Minimatch}}, "a.go"},
		{"vault, any case", search.FindQuery{Scope: search.Scope{Globs: []string{"DOCS/*"}, Dialect: search.Plain}}, "docs/x.md"},
		{"folders", search.FindQuery{Kind: search.OnlyFolders}, "a docs vendor vendor/v"},
		{"both, one deep", search.FindQuery{Kind: search.FilesAndFolders, Scope: search.Scope{MaxDepth: 1}}, "a a-b.txt a.go bin crlf.txt docs empty vendor"},
		{"largest first", search.FindQuery{Order: search.BySize, Limit: 2}, "a.go docs/x.md"},
		{"offset", search.FindQuery{Offset: 6}, "empty vendor/v/v.go"},
		{"below a folder", search.FindQuery{Scope: search.Scope{Paths: []string{"vendor"}, Globs: []string{"v/*"}}}, "vendor/v/v.go"},
	} {
		r, err := ws.Find(context.Background(), c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Path)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	ws := workspace(t, map[string]string{
		"a.txt": "one\r\ntwo\r\nthree\r\n", "long": strings.Repeat("é", 100) + "\n", "bin": "\x89PNG\r\n\x1a\n\x00", "latin": "caf\xe9\n",
	}, nil)
	ctx := context.Background()
	r, err := ws.Read(ctx, "A.TXT", &search.ReadOptions{Start: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"two", "three"}, r.Lines); diff != "" || r.Path != "a.txt" || r.Total != 3 || r.First != 2 || r.Ending != "crlf" || r.Version == "" {
		t.Errorf("%s\n%+v", diff, r)
	}
	if r, err = ws.Read(ctx, "a.txt", &search.ReadOptions{MaxLines: 1}); err != nil || !r.Cut || len(r.Lines) != 1 {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = ws.Read(ctx, "long", &search.ReadOptions{MaxBytes: 11}); err != nil || !r.CutLine || r.Lines[0] != "ééééé" {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = ws.Read(ctx, "latin", nil); err != nil || r.Lines[0] != "café" || r.Encoding != "windows-1252" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err = ws.Read(ctx, "bin", nil); !errors.Is(err, fault.ErrNotText) || !strings.Contains(err.Error(), "PNG") {
		t.Errorf("binary: %v", err)
	}
	if _, err = ws.Read(ctx, "a.txt", &search.ReadOptions{Start: 3, End: 2}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("range: %v", err)
	}
	info, err := ws.Stat(ctx, "a.txt")
	if err != nil || info.Size != 17 || info.Folder {
		t.Errorf("%+v %v", info, err)
	}
}
