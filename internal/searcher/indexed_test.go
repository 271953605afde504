package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// indexedPair opens a folder twice: with a complete index, and without one.
func indexedPair(t *testing.T, dir string, workers int) (with, without *quarry.Workspace) {
	t.Helper()
	with, err := quarry.Open(dir, &quarry.Options{Workers: workers, Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { with.Close() })
	if err := with.Index().Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if without, err = quarry.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { without.Close() })
	return with, without
}

// mutator makes random changes in a tree, like other programs.
type mutator struct {
	rng *rand.Rand
	dir string
}

var treeNames = []string{"a", "b", "c.txt", "d.go", ".hidden", "build", "sub", "x.md", "node_modules", "e.bin"}

func (m *mutator) path() string {
	p := m.dir
	for range 1 + m.rng.IntN(3) {
		p = filepath.Join(p, treeNames[m.rng.IntN(len(treeNames))])
	}
	return p
}

func (m *mutator) text() string {
	words := []string{"alpha", "beta", "Gamma", "needle", "foo_bar", "\u017fky", "x", "\xe9", "mutex_lock", "é", "\r", "call(alpha, needle(x))", "if beta == nil {\n\tcall(x)\n}"}
	var b strings.Builder
	for range m.rng.IntN(8) {
		for range m.rng.IntN(4) {
			b.WriteString(words[m.rng.IntN(len(words))] + " ")
		}
		b.WriteString("\n")
	}
	switch m.rng.IntN(12) {
	case 0:
		return "\x00" + b.String()
	case 1:
		return strings.Repeat("filler line\n", 3000) + b.String()
	case 2:
		if m.rng.IntN(3) == 0 {
			return m.large(words)
		}
	}
	return b.String()
}

// large returns a text of many index blocks in which a few words occur far apart.
func (m *mutator) large(words []string) string {
	var b strings.Builder
	if m.rng.IntN(3) == 0 {
		b.WriteString("\xEF\xBB\xBF")
	}
	ending := []string{"\n", "\r\n"}[m.rng.IntN(2)]
	size := 100<<10 + m.rng.IntN(300<<10)
	for b.Len() < size {
		b.WriteString(strings.Repeat(strings.Repeat("row upon row ", 20)+ending, m.rng.IntN(400)))
		switch m.rng.IntN(8) {
		case 0:
			b.WriteString(strings.Repeat("wide ", m.rng.IntN(10000)))
		case 1:
			b.WriteString("\xe9t\xe9 ")
		}
		b.WriteString(words[m.rng.IntN(len(words))] + " " + words[m.rng.IntN(len(words))] + ending)
	}
	return b.String()
}

func (m *mutator) step() {
	p := m.path()
	switch m.rng.IntN(16) {
	case 0:
		os.RemoveAll(p)
	case 1:
		os.Rename(p, m.path())
	case 2:
		os.MkdirAll(p, 0o755)
	case 3:
		rules := []string{"build/\n", "!.hidden\n", "*.txt\n", "!c.txt\nsub\n", "node_modules\n", "", "/a\n"}
		os.WriteFile(filepath.Join(filepath.Dir(p), ".gitignore"), []byte(rules[m.rng.IntN(len(rules))]), 0o644)
	case 4: // rewrite, keeping size and time
		if data, err := os.ReadFile(p); err == nil && len(data) > 0 {
			info, _ := os.Stat(p)
			data[m.rng.IntN(len(data))] ^= 1
			os.WriteFile(p, data, 0o644)
			os.Chtimes(p, info.ModTime(), info.ModTime())
		}
	case 6:
		os.Link(p, m.path())
	case 7:
		filters := []string{`["build/"]`, `["a"]`, `["/\\.txt$/"]`, `[]`}
		os.MkdirAll(filepath.Join(m.dir, ".obsidian"), 0o755)
		text := `{"userIgnoreFilters":` + filters[m.rng.IntN(len(filters))] + `}`
		os.WriteFile(filepath.Join(m.dir, ".obsidian/app.json"), []byte(text), 0o644)
	case 8: // save like many editors: a new file replaces the old one
		temp := p + ".tmp"
		if os.WriteFile(temp, []byte(m.text()), 0o644) == nil {
			if m.rng.IntN(3) == 0 {
				os.Remove(temp)
			} else {
				os.Rename(temp, p)
			}
		}
	case 5:
		if f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString(m.text())
			f.Close()
		}
	default:
		os.MkdirAll(filepath.Dir(p), 0o755)
		os.WriteFile(p, []byte(m.text()), 0o644)
	}
}

func (m *mutator) query() search.Query {
	patterns := []string{"needle", "alpha|beta", `\bfoo_\w+`, "gamma", "mutex_lock", "^x", "é", `\w+ \w+ needle`, "zzz", "sky", "a.*a", "", "filler", "\\r"}
	q := search.Query{Pattern: patterns[m.rng.IntN(len(patterns))]}
	q.Match.Case = match.Case(m.rng.IntN(3))
	if m.rng.IntN(15) == 0 {
		q.Pattern, q.Match.Syntax = "needle alpha", match.Words
	}
	q.IncludeHidden = m.rng.IntN(4) == 0
	q.IncludeIgnored = m.rng.IntN(5) == 0
	q.StrictHidden = m.rng.IntN(5) == 0
	q.Detail = search.Detail(m.rng.IntN(3))
	q.FilesWithoutMatch = q.Detail == search.Files && m.rng.IntN(2) == 0
	q.Invert = m.rng.IntN(12) == 0
	if m.rng.IntN(6) == 0 {
		q.Patterns = []string{patterns[m.rng.IntN(len(patterns))], patterns[m.rng.IntN(len(patterns))]}[m.rng.IntN(2):]
		q.Each = !q.Invert && !q.FilesWithoutMatch && m.rng.IntN(3) > 0
	}
	if m.rng.IntN(12) == 0 {
		q.Changed.Since = time.Now().Add(-time.Duration(m.rng.IntN(100)) * 20 * time.Millisecond)
	}
	q.Symbols = m.rng.IntN(8) == 0
	q.Spans = q.Detail == search.Lines && m.rng.IntN(2) == 0
	q.Before, q.After = m.rng.IntN(2), m.rng.IntN(2)
	if m.rng.IntN(3) == 0 {
		q.Globs = [][]string{{"*.txt"}, {"!sub"}, {"a/**"}, {"*.{go,md}"}}[m.rng.IntN(4)]
	}
	if m.rng.IntN(4) == 0 {
		q.Paths = []string{[]string{"a", "sub", ".hidden", "build", "a/b"}[m.rng.IntN(5)]}
	}
	if m.rng.IntN(4) == 0 {
		q.Limits.Lines = 1 + m.rng.IntN(5)
		q.Limits.CountTo = m.rng.IntN(2) * 100
	} else if m.rng.IntN(4) == 0 && q.Detail == search.Lines { // like agents' tools
		q.Limits.Blocks = 1 + m.rng.IntN(4)
		q.Limits.CountTo = []int{0, 20, 1 << 20}[m.rng.IntN(3)]
		q.Spans = true
	}
	if m.rng.IntN(10) == 0 {
		q.Match.Mode = match.Multiline
	}
	if m.rng.IntN(4) == 0 { // most matches first: such counts are cached in the index
		q.Order, q.Detail, q.FilesWithoutMatch, q.Spans = search.ByMatches, search.Counts, false, false
		q.Before, q.After = m.rng.IntN(6)/5, 0
		q.Limits = search.Limits{Files: m.rng.IntN(4)}
	}
	if m.rng.IntN(10) == 0 && !q.Invert && !q.FilesWithoutMatch {
		shapes := []string{"call($A, $B)", "call($$A)", "$A($B)", "if $A == nil { $$B }", "$A == $B", "needle(x)", "alpha beta", "zzz($A)"}
		q.Structure, q.Pattern, q.Patterns, q.Each = shapes[m.rng.IntN(len(shapes))], "", nil, false
	}
	return q
}

// The same call gives the same answer with and without the index, while other programs
// change the tree. Each tree is searched with an index that stays open, with one that was
// closed and reopened with changes in between, and with one under construction, using 1
// to 8 workers.
func TestIndexEqualsScan(t *testing.T) {
	regime.SkipShort(t)
	run := regime.Start(t, "index = scan", 10, 1000)
	var mu sync.Mutex
	total := map[string]int{}
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for seed := range run.Cases() {
				counts, err := equalsScan(t, seed)
				if err != nil {
					run.Violation(seed, "%v", err)
				}
				mu.Lock()
				for how, n := range counts {
					total[how] += n
					run.Tried(n)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	t.Logf("answered by: %v", total)
	if !t.Failed() && (total["index"] == 0 || total["index, reopened"] == 0 || total["scan, while building"] == 0) {
		t.Errorf("not all ways were tried: %v", total)
	}
}

// equalsScan makes 1,000 queries about a changing tree, and counts how they were
// answered.
func equalsScan(t *testing.T, seed uint64) (map[string]int, error) {
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir, state := filepath.Join(base, "ws"), filepath.Join(base, "index")
	m := &mutator{rng: regime.Rand(seed), dir: dir}
	os.Mkdir(dir, 0o700)
	os.Mkdir(state, 0o700)
	for range 40 {
		m.step()
	}
	without, err := quarry.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	defer without.Close()
	options := &quarry.Options{Workers: []int{1, 8, 2, 4}[seed%4], Index: &quarry.IndexOptions{Dir: state}}
	// The third build waits for the first search. Otherwise a fast build would end before
	// any search.
	var searched chan struct{}
	options.Index.Progress = func(search.Progress) {
		if searched != nil {
			<-searched
		}
	}
	var with *quarry.Workspace
	counts := map[string]int{}
	stage := ""
	for i := range 20 {
		if i%5 == 0 { // open the index, later with changes made while it was closed
			if with != nil {
				with.Close()
				stage = ", reopened"
			}
			if i == 10 { // start a new index, to be searched while it is built
				os.RemoveAll(state)
				os.Mkdir(state, 0o700)
				searched = make(chan struct{})
			}
			for range m.rng.IntN(5) {
				m.step()
			}
			if with, err = quarry.Open(dir, options); err != nil {
				return counts, err
			}
			defer with.Close()
			if i != 10 {
				if err := with.Index().Wait(ctx); err != nil {
					return counts, err
				}
			}
		}
		for range 1 + m.rng.IntN(4) {
			m.step()
		}
		for n := range 50 {
			q := m.query()
			r, err := with.Search(ctx, q)
			if i == 10 && n == 0 {
				close(searched)
			}
			if got, want := answerText(r, err), answer(t, without, q); got != want {
				return counts, fmt.Errorf("step %d%s, %+v:\n%s", i, stage, q, cmp.Diff(want, got))
			}
			counts[howAnswered(r, stage, i == 10)]++
		}
		if err := compareFind(with, without, m); err != nil {
			return counts, fmt.Errorf("step %d%s: %w", i, stage, err)
		}
	}
	return counts, nil
}

func howAnswered(r *search.Result, stage string, building bool) string {
	switch {
	case r == nil:
		return "error"
	case r.Stats.Plan.Indexed():
		return "index" + stage
	case building:
		return "scan, while building"
	}
	return "scan"
}

func compareFind(with, without *quarry.Workspace, m *mutator) error {
	q := search.FindQuery{}
	q.IncludeHidden = m.rng.IntN(2) == 0
	q.StrictHidden = m.rng.IntN(2) == 0
	if m.rng.IntN(2) == 0 {
		q.Globs = []string{"*.txt"}
	}
	a, err := with.Find(ctx, q)
	if err != nil {
		return err
	}
	b, err := without.Find(ctx, q)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(b.Entries, a.Entries); diff != "" {
		return fmt.Errorf("find %+v:\n%s", q, diff)
	}
	return nil
}

// Of a large file, only the blocks that may match are read, unless one matches and its
// lines are needed. In both cases the answer equals the scan's.
func TestLargeFilesAreReadInPart(t *testing.T) {
	regime.SkipWine(t, "whole workspaces")
	dir := t.TempDir()
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "row %d of a large file\n", i)
		switch i {
		case 5000:
			b.WriteString("only here: Zanzibar\n")
		case 15000:
			b.WriteString("barely: zanz anzi nzib ziba ibar\n") // contains all grams of zanzibar
		}
	}
	size := int64(b.Len())
	os.WriteFile(filepath.Join(dir, "large.txt"), []byte(b.String()), 0o644)
	with, without := indexedPair(t, dir, 1)
	for _, c := range []struct {
		name    string
		query   search.Query
		partial bool
	}{
		{"its grams are there", search.Query{Pattern: "zanzibar"}, true},
		{"files without", search.Query{Pattern: "zanzibar", Detail: search.Files, FilesWithoutMatch: true}, true},
		{"a match", search.Query{Pattern: "Zanzibar", Before: 1, After: 1}, false},
		{"counted", search.Query{Pattern: "Zanz", Detail: search.Counts}, true},
		{"in every block", search.Query{Pattern: "row 5 "}, false},
	} {
		if got, want := answer(t, with, c.query), answer(t, without, c.query); got != want {
			t.Errorf("%s: by index\n%s\nby scan\n%s", c.name, got, want)
		}
		r, err := with.Search(context.Background(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		if partial := r.Stats.Bytes < size/4; partial != c.partial || r.Stats.Searched != 1 {
			t.Errorf("%s: %d of %d bytes read in %d files", c.name, r.Stats.Bytes, size, r.Stats.Searched)
		}
	}
}

func TestIndexIsUsed(t *testing.T) {
	regime.SkipWine(t, "whole workspaces")
	dir := t.TempDir()
	for i := range 50 {
		os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(fmt.Sprintf("line %d\nword%d\n", i, i)), 0o644)
	}
	with, _ := indexedPair(t, dir, 2)
	r, err := with.Search(context.Background(), search.Query{Pattern: "word33"})
	if err != nil || len(r.Files) != 1 || r.Stats.Searched > 3 || !r.Stats.Plan.Indexed() {
		t.Errorf("%+v %v", r, err)
	}
	r, err = with.Search(context.Background(), search.Query{Pattern: "word33", Scope: search.Scope{NoIndex: true}})
	if err != nil || len(r.Files) != 1 || r.Stats.Plan.Kind != search.PlanScan || r.Stats.Searched != 50 {
		t.Errorf("%+v %v", r.Stats, err)
	}
	st, err := with.Index().Status(context.Background())
	if err != nil || st.State != "ready" || st.Files != 50 {
		t.Errorf("%+v %v", st, err)
	}
}

// A second process queries the index of the first, and takes over when the first ends.
func TestIndexIsShared(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644)
	place := &quarry.IndexOptions{Dir: state, Socket: filepath.Join(t.TempDir(), "s", "sock")}
	first, err := quarry.Open(dir, &quarry.Options{Index: place})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Index().Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	second, err := quarry.Open(dir, &quarry.Options{Index: place})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	q := search.Query{Pattern: "needle", Spans: true}
	r, err := second.Search(context.Background(), q)
	if err != nil || !r.Stats.Remote || len(r.Files) != 1 || len(r.Files[0].Lines[0].Spans) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	os.WriteFile(filepath.Join(dir, "b.txt"), []byte("needle\n"), 0o644)
	if got, want := answer(t, second, q), answer(t, first, q); got != want || !strings.Contains(got, "b.txt") {
		t.Errorf("second:\n%s\nfirst:\n%s", got, want)
	}
	paths, err := second.Find(context.Background(), search.FindQuery{})
	if err != nil || !paths.Stats.Remote || len(paths.Entries) != 2 {
		t.Errorf("%+v %v", paths, err)
	}
	if _, err := second.Search(context.Background(), search.Query{Pattern: "("}); err == nil {
		t.Error("a bad pattern is no error")
	}
	if _, err := second.Search(context.Background(), search.Query{Pattern: "x", Scope: search.Scope{Paths: []string{"nope"}}}); err == nil {
		t.Error("a missing path is no error")
	}
	first.Close()
	if r, err = second.Search(context.Background(), q); err != nil || len(r.Files) != 2 {
		t.Fatalf("after the owner ended: %+v %v", r, err)
	}
	if err := second.Index().Wait(context.Background()); err != nil {
		t.Errorf("the second didn't take over: %v", err)
	}
	if st, _ := second.Index().Status(context.Background()); st.State != "ready" || st.Remote {
		t.Errorf("%+v", st)
	}
}

// A repository's own exclude file applies at once, even if it changes after the index was
// built.
func TestIndexFollowsExclude(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/info/exclude", "# nothing\n")
	write("out/a.txt", "needle\n")
	write("b.txt", "needle\n")
	with, without := indexedPair(t, dir, 2)
	q := search.Query{Pattern: "needle"}
	for _, rules := range []string{"out\n", "*.txt\n", "# nothing\n", "/b.txt\n"} {
		write(".git/info/exclude", rules)
		if got, want := answer(t, with, q), answer(t, without, q); got != want {
			t.Errorf("rules %q: by index\n%s\nby scan\n%s", rules, got, want)
		}
		write("out/c"+fmt.Sprint(len(rules)), "needle\n")
		if got, want := answer(t, with, q), answer(t, without, q); got != want {
			t.Errorf("a new file under rules %q: by index\n%s\nby scan\n%s", rules, got, want)
		}
	}
}

// A write through a second hard link changes the contents of the first file, for which
// there is no event. This must work even for hard links created after the index was
// built.
func TestIndexFollowsHardLinks(t *testing.T) {
	dir := t.TempDir()
	full := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.txt", "c.txt"} {
		if err := os.WriteFile(full(name), []byte("plain\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(full("c.txt"), full("d.txt")); err != nil {
		t.Skip("no hard links here")
	}
	with, without := indexedPair(t, dir, 2)
	q := search.Query{Pattern: "needle"}
	check := func(step string) {
		t.Helper()
		if got, want := answer(t, with, q), answer(t, without, q); got != want {
			t.Errorf("%s: by index\n%s\nby scan\n%s", step, got, want)
		}
	}
	add := func(name string) {
		t.Helper()
		f, err := os.OpenFile(full(name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("needle\n")
		f.Close()
	}
	check("before")
	add("d.txt")
	check("a write through an old second name")
	if err := os.Link(full("a.txt"), full("b.txt")); err != nil {
		t.Fatal(err)
	}
	check("a new second name")
	add("b.txt")
	check("a write through the new second name")
	os.Remove(full("b.txt"))
	check("the second name is gone")
}

// A file was opened under a name that is now deleted. Writes through this handle change
// its other hard link, for which there is no event.
func TestIndexFollowsHandlesWithoutName(t *testing.T) {
	dir := t.TempDir()
	full := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(full("a.txt"), []byte("plain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	handle, err := os.OpenFile(full("a.txt"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	with, without := indexedPair(t, dir, 2)
	check := func(step, word string) {
		t.Helper()
		if got, want := answer(t, with, search.Query{Pattern: word}), answer(t, without, search.Query{Pattern: word}); got != want {
			t.Errorf("%s: by index\n%s\nby scan\n%s", step, got, want)
		}
	}
	if err := os.Link(full("a.txt"), full("b.txt")); err != nil {
		t.Skip("no hard links here")
	}
	os.Remove(full("a.txt"))
	check("one name for another", "plain")
	if err := with.Index().Wait(t.Context()); err != nil { // reads it as a file with a single name
		t.Fatal(err)
	}
	for _, word := range []string{"needle", "haystack", "thimble"} { // only the first of these writes is reported by an event
		handle.WriteString(word + "\n")
		check("a write through the name that is gone", word)
		if err := with.Index().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("read", word)
	}
}

// A renamed folder can bring rule files for which there are no events. A folder that they
// ignore is still searched if it is named, and one that they no longer ignore is watched.
func TestRulesThatComeWithAFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put := func(full, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(dir, "p/x/f"), "needle\n")
	put(filepath.Join(outside, "p/x/f"), "needle\n")
	put(filepath.Join(outside, "p/.gitignore"), "x/\n")
	with, without := indexedPair(t, dir, 2)
	compare := func(when string) {
		t.Helper()
		for _, paths := range [][]string{nil, {"p"}, {"p/x"}} {
			q := search.Query{Pattern: "needle", Scope: search.Scope{Paths: paths}}
			if got, want := answer(t, with, q), answer(t, without, q); got != want {
				t.Errorf("%s, in %q: by index\n%s\nby scan\n%s", when, paths, got, want)
			}
		}
	}
	swap := func() {
		t.Helper()
		in, out, aside := filepath.Join(dir, "p"), filepath.Join(outside, "p"), filepath.Join(outside, "aside")
		if err := errors.Join(os.Rename(in, aside), os.Rename(out, in), os.Rename(aside, out)); err != nil {
			t.Fatal(err)
		}
	}
	compare("as built")
	swap()
	compare("with rules")
	put(filepath.Join(dir, "p/x/g"), "needle\n")
	compare("a file in the ignored folder")
	swap()
	compare("without them")
	put(filepath.Join(dir, "p/x/h"), "needle\n")
	compare("a file in the folder that is ignored no more")
}
