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
	if n := len(q.Name); q.Fuzzy && n > 3 && r.IntN(2) == 0 { // a letter is missing
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

// Definitions are the same with the index and without, while files change: exact
// and similar names, containers, kinds, outlines.
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

// A process that doesn't own the index has its owner look up definitions, by the
// client's policy: names in a denied file are neither found nor suggested.
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
