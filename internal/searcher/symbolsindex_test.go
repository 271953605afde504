package searcher_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/search"
)

func symbolQuery(r *rand.Rand) search.SymbolQuery {
	q := search.SymbolQuery{Name: codeName(r), Fuzzy: r.IntN(2) == 0, Limit: r.IntN(20), Text: r.IntN(3) == 0}
	if n := len(q.Name); q.Fuzzy && n > 3 && r.IntN(2) == 0 { // drop a letter
		q.Name = q.Name[:n/2] + q.Name[n/2+1:]
	}
	if r.IntN(4) == 0 {
		q.Name = codeName(r) + []string{".", "::", "#"}[r.IntN(3)] + q.Name
	}
	if r.IntN(5) == 0 {
		q.Name = ""
	}
	if r.IntN(3) == 0 {
		q.Kind = []string{"function", "class", "method", "heading", "type"}[r.IntN(5)]
	}
	c := codeQuery(r)
	q.Scope = c.Scope
	return q
}

func symbolAnswer(ws *quarry.Workspace, q search.SymbolQuery) (answer string, byIndex bool, found int) {
	r, err := ws.Symbols(ctx, q)
	if err != nil {
		return "error: " + err.Error(), false, 0
	}
	var b strings.Builder
	for _, s := range r.Symbols {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	fmt.Fprintf(&b, "%d of %d, stopped %q, too large %d", len(r.Symbols), r.Total, r.Stopped, r.SkippedCount[search.TooLarge])
	return b.String(), r.Stats.Plan.Indexed(), len(r.Symbols)
}

// Lookups of definitions give the same results with and without the index while files
// change: exact and similar names, containers, kinds, outlines.
func TestSymbolsIndexEqualsScan(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "definitions: index = scan", 12, 600)
	indexed, found := 0, 0
	for seed := range run.Cases() {
		n, err := codeEqualsScan(t, seed, func(r *rand.Rand, with, without *quarry.Workspace) (bool, error) {
			q := symbolQuery(r)
			got, byIndex, some := symbolAnswer(with, q)
			if some > 0 && byIndex {
				found++
			}
			if want, _, _ := symbolAnswer(without, q); got != want {
				return byIndex, fmt.Errorf("%+v:\n%s", q, cmp.Diff(want, got))
			}
			return byIndex, nil
		})
		indexed += n
		run.Tried(n)
		if err != nil {
			run.Violation(seed, "%v", err)
		}
	}
	t.Logf("%d answers by the index, %d of them not empty", indexed, found)
	if found*4 < indexed && !t.Failed() {
		t.Errorf("only %d of %d answers of the index have definitions", found, indexed)
	}
}

// If a process doesn't own the index, the owner looks up definitions under that process's
// policy: names in a denied file are neither found nor suggested.
func TestSymbolsIndexIsShared(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package a\n\nfunc openFile() {}\n", "secret/c.go": "package c\n\nfunc openFile() {}\n\nfunc openVault() {}\n",
	} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	}
	place := &quarry.IndexOptions{Dir: state, Socket: filepath.Join(t.TempDir(), "s", "sock")}
	owner, err := quarry.Open(dir, &quarry.Options{Index: place})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if err := owner.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		deny, path, name string
		want             int
	}{
		{"", "", "openFile", 2}, {"secret/**", "", "openFile", 1}, {"", "", "openVaul", 1}, {"secret/**", "", "openVaul", 0},
		{"secret/**", "", "openVault", 0}, {"", "secret", "openFile", 1},
		{"", "", "makeVaultOpen", 1}, {"secret/**", "", "makeVaultOpen", 0}, // names with two words of it
	} {
		opts := &quarry.Options{Index: place}
		if c.deny != "" {
			opts.Deny = []string{c.deny}
		}
		client, err := quarry.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		q := search.SymbolQuery{Name: c.name, Fuzzy: true}
		if c.path != "" {
			q.Paths = []string{c.path}
		}
		r, err := client.Symbols(ctx, q)
		if err != nil || !r.Stats.Remote || !r.Stats.Plan.Indexed() || r.Total != c.want {
			t.Errorf("%+v: %+v %v", c, r, err)
		}
	}
}

// The index yields whole groups of names, whatever their words. A name that shares two words
// with the query is counted only once.
func TestSharedWordsCountOnce(t *testing.T) {
	ws := workspace(t, map[string]string{"a.go": "package a\n\nfunc conParseTheUser() {}\n"},
		&quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err := ws.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ConigParseUser", "UserConigParse", "ParseUserConig"} {
		r, err := ws.Symbols(ctx, search.SymbolQuery{Name: name, Fuzzy: true, Limit: 1})
		if err != nil || !r.Stats.Plan.Indexed() || r.Total != 1 {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// To find similar names, a large table of names is not read as a whole. The answers equal
// a scan's.
func TestManyNames(t *testing.T) {
	regime.SkipTiny(t)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("open read write device driver node page cache lock queue ring buffer frame clock reset probe map table entry index name text part group")
	name := func() string {
		out := words[r.IntN(len(words))]
		for range 1 + r.IntN(3) {
			w := words[r.IntN(len(words))]
			switch r.IntN(3) {
			case 0:
				out += "_" + w
			case 1:
				out += strings.ToUpper(w[:1]) + w[1:]
			default:
				out += fmt.Sprint(w, r.IntN(100))
			}
		}
		return out
	}
	var names []string
	for file := range 20 {
		text := "package a\n"
		for range 300 {
			names = append(names, name())
			text += "func " + names[len(names)-1] + "() {}\n"
		}
		os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", file)), []byte(text), 0o600)
	}
	os.WriteFile(filepath.Join(dir, "a.md"), []byte("# Use v1.openNode\n\n# Node.js and more\n\n# Node.js\n"), 0o600)
	without, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	with, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer with.Close()
	if err := with.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	queries := []search.SymbolQuery{{Name: "openNode"}, {Name: "Node.js"}}
	for range regime.Size(150, 2000) {
		n := names[r.IntN(len(names))]
		at := r.IntN(len(n) - 1)
		n = []string{n, n[:at] + n[at+1:], n[:at] + n[at:at+1] + n[at:], n[:at] + n[at+1:at+2] + n[at:at+1] + n[at+2:], strings.ReplaceAll(strings.ToUpper(n), "_", ""), n[:at+1], words[r.IntN(len(words))] + "SurelyNever_" + words[r.IntN(len(words))]}[r.IntN(7)]
		queries = append(queries, search.SymbolQuery{Name: n})
	}
	some := 0
	for _, q := range queries {
		for _, q.Fuzzy = range []bool{false, true} {
			got, byIndex, found := symbolAnswer(with, q)
			if want, _, _ := symbolAnswer(without, q); got != want || !byIndex {
				t.Errorf("%+v, by the index: %v\n%s", q, byIndex, cmp.Diff(want, got))
			}
			if found > 0 {
				some++
			}
		}
	}
	t.Logf("%d answers, %d not empty", 2*len(queries), some)
	if some < len(queries) {
		t.Errorf("only %d of %d answers have definitions", some, 2*len(queries))
	}
}
