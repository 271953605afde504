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

// codeText makes a small program from words that the queries use.
func codeText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		switch r.IntN(10) {
		case 8:
			fmt.Fprintf(&b, "int %s(int %s);\n", codeName(r), codeName(r))
		case 9:
			fmt.Fprintf(&b, "int %s(int %s)\n{\n\treturn 0;\n}\n", codeName(r), codeName(r))
		case 0:
			fmt.Fprintf(&b, "func %s(%s int) {\n\treturn %s\n}\n", codeName(r), codeName(r), codeName(r))
		case 1:
			fmt.Fprintf(&b, "class %s:\n    def %s(self):\n        pass\n", codeName(r), codeName(r))
		case 2:
			fmt.Fprintf(&b, "# %s and %s\n", codeName(r), codeName(r))
		case 3:
			b.WriteString(strings.Repeat(codeName(r)+" ", r.IntN(150)) + "\n")
		default:
			fmt.Fprintf(&b, "\t%s = __%s(%s_, \"%s\")\n", codeName(r), codeName(r), codeName(r), codeName(r))
		}
	}
	switch r.IntN(14) {
	case 0:
		return "\x00" + b.String()
	case 1:
		return b.String() + "\xe9t\xe9 " + codeName(r) + "\n" // Windows-1252
	case 2:
		return "\xEF\xBB\xBF" + b.String()
	case 3:
		var wide []byte
		for _, c := range []byte(b.String()) {
			wide = append(wide, c, 0)
		}
		return "\xFF\xFE" + string(wide)
	}
	return b.String()
}

// codeName makes an identifier of a few words, in one of the common styles.
func codeName(r *rand.Rand) string {
	words := []string{"user", "users", "name", "parse", "parser", "lock", "config", "cfg", "http", "index", "open", "file", "größe", "x9"}
	out := ""
	style := r.IntN(4)
	for i := range 1 + r.IntN(3) {
		w := words[r.IntN(len(words))]
		switch {
		case style == 0 && i > 0:
			w = "_" + w
		case style == 1 && i > 0, style == 2:
			w = strings.ToUpper(w[:1]) + w[1:]
		case style == 3:
			w = strings.ToUpper(w)
		}
		out += w
	}
	return out
}

func codeQuery(r *rand.Rand) search.CodeQuery {
	var words []string
	for range 1 + r.IntN(4) {
		words = append(words, codeName(r))
	}
	q := search.CodeQuery{Query: strings.Join(words, []string{" ", ".", " of "}[r.IntN(3)]), Limit: 1 + r.IntN(30)}
	q.IncludeHidden = r.IntN(4) == 0
	q.IncludeIgnored = r.IntN(6) == 0
	if r.IntN(3) == 0 {
		q.Globs = [][]string{{"*.go"}, {"!sub"}, {"user/**"}, {"*.{py,md}"}}[r.IntN(4)]
	}
	if r.IntN(5) == 0 {
		q.Paths = []string{[]string{"user", "sub", ".hidden", "lock"}[r.IntN(4)]}
	}
	return q
}

func codeAnswer(ws *quarry.Workspace, q search.CodeQuery) (answer string, byIndex bool) {
	r, err := ws.SearchCode(ctx, q)
	if err != nil {
		return "error: " + err.Error(), false
	}
	var b strings.Builder
	for _, c := range r.Chunks {
		fmt.Fprintf(&b, "%s:%d-%d %v %s %s\n%s\n", c.Path, c.StartLine, c.EndLine, c.Score, c.Kind, c.Symbol, c.Text)
	}
	fmt.Fprintf(&b, "%d of %d, %d files of %d, binary %d", len(r.Chunks), r.Total, r.FilesMatched, r.Stats.Searched, r.SkippedCount[search.Binary])
	return b.String(), r.Stats.Plan.Indexed()
}

// A ranked search gives the same order, scores and pieces with and without the index:
// right after files change, after they are read again, and after the index is merged and
// reopened.
func TestRankedIndexEqualsScan(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "ranked: index = scan", 12, 600)
	indexed := 0
	for seed := range run.Cases() {
		n, err := codeEqualsScan(t, seed, func(r *rand.Rand, with, without *quarry.Workspace) (bool, error) {
			q := codeQuery(r)
			got, byIndex := codeAnswer(with, q)
			if want, _ := codeAnswer(without, q); got != want {
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
	if indexed == 0 && !t.Failed() {
		t.Error("no query was answered by the index")
	}
}

// codeEqualsScan compares answers with and without an index while files change. compare
// makes and compares one pair of answers. The result counts those that the index gave.
func codeEqualsScan(t *testing.T, seed uint64, compare func(r *rand.Rand, with, without *quarry.Workspace) (byIndex bool, err error)) (indexed int, err error) {
	r := regime.Rand(seed)
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir, state := filepath.Join(base, "ws"), filepath.Join(base, "index")
	os.Mkdir(dir, 0o700)
	os.Mkdir(state, 0o700)
	m := &mutator{rng: r, dir: dir}
	step := func() {
		if r.IntN(4) == 0 {
			m.step()
			return
		}
		name := filepath.Join(dir, []string{"user", "sub", ".hidden", "lock", ""}[r.IntN(5)], codeName(r)+[]string{".go", ".py", ".h", ".c", ".md", ".txt", ""}[r.IntN(7)])
		os.MkdirAll(filepath.Dir(name), 0o700)
		if os.WriteFile(name, []byte(codeText(r)), 0o600) != nil || r.IntN(10) == 0 {
			os.RemoveAll(name)
		}
	}
	for range 60 {
		step()
	}
	without, err := quarry.Open(dir, nil)
	if err != nil {
		return 0, err
	}
	defer without.Close()
	for round := range 3 {
		with, err := quarry.Open(dir, &quarry.Options{Workers: 1 + r.IntN(4), Index: &quarry.IndexOptions{Dir: state}})
		if err == nil {
			err = with.Index().Wait(ctx)
		}
		if err != nil {
			return indexed, err
		}
		for range 40 {
			if r.IntN(3) == 0 {
				step()
			}
			byIndex, err := compare(r, with, without)
			if byIndex {
				indexed++
			}
			if err != nil {
				with.Close()
				return indexed, fmt.Errorf("round %d: %w", round, err)
			}
		}
		with.Close()
	}
	return indexed, nil
}

// If a process doesn't own the index, the owner ranks under that process's policy: a file
// denied to the client doesn't affect the answer.
func TestRankedIndexIsShared(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"a.go": "func openFile() {}\n", "b.go": "func close() { openFile() }\n", "secret/c.go": "func openFile() { openFile() }\n",
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
	q := search.CodeQuery{Query: "open file", Limit: 10}
	for _, deny := range [][]string{nil, {"secret/**"}} {
		client, err := quarry.Open(dir, &quarry.Options{Index: place, Deny: deny})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		alone, err := quarry.Open(dir, &quarry.Options{Deny: deny})
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		r, err := client.SearchCode(ctx, q)
		if err != nil || !r.Stats.Remote || !r.Stats.Plan.Indexed() {
			t.Fatalf("deny %v: %+v %v", deny, r, err)
		}
		got, _ := codeAnswer(client, q)
		want, _ := codeAnswer(alone, q)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("deny %v:\n%s", deny, diff)
		}
		if strings.Contains(got, "secret") != (deny == nil) {
			t.Errorf("deny %v: %s", deny, got)
		}
	}
	if _, err := owner.SearchCode(ctx, search.CodeQuery{Query: "..."}); err == nil {
		t.Error("a query without words is no error")
	}
}
