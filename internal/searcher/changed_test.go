package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/fault"
	"quarry/internal/stress"
	"quarry/search"
)

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repository makes a workspace with a repository, a nested repository, and changes in
// both.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 20 {
		putFile(t, filepath.Join(dir, "src", fmt.Sprintf("f%02d.go", i)), fmt.Sprintf("package src\n\n// needle number %d\nfunc F%d() {\n\tcall()\n}\n", i, i))
	}
	putFile(t, filepath.Join(dir, ".gitignore"), "build\n")
	putFile(t, filepath.Join(dir, "inner", "a.go"), "package inner // needle\n")
	putFile(t, filepath.Join(dir, "inner", "b.go"), "package inner // needle\n")
	runGit(t, filepath.Join(dir, "inner"), "init", "-q")
	runGit(t, filepath.Join(dir, "inner"), "add", "-A")
	runGit(t, filepath.Join(dir, "inner"), "commit", "-q", "-m", "inner")
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", "src", ".gitignore")
	runGit(t, dir, "commit", "-q", "-m", "outer")
	putFile(t, filepath.Join(dir, "src", "f03.go"), "package src // needle, changed\n")
	putFile(t, filepath.Join(dir, "src", "f04.go"), "package src // without\n")
	putFile(t, filepath.Join(dir, "src", "f05.go"), "package src // staged needle\n")
	runGit(t, dir, "add", "src/f05.go")
	putFile(t, filepath.Join(dir, "src", "new.go"), "package src // new needle\n")
	putFile(t, filepath.Join(dir, "build", "x.go"), "package build // needle\n")
	putFile(t, filepath.Join(dir, "inner", "b.go"), "package inner // another needle\n")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "src", "f06.go"), old, old); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pathsOf returns the paths of the files that a query finds.
func pathsOf(t *testing.T, w *quarry.Workspace, q search.Query) []string {
	t.Helper()
	r, err := w.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range r.Files {
		list = append(list, f.Path)
	}
	return list
}

// TestChanged searches changed files with a scan, with the index, and as a client of the
// index owner.
func TestChanged(t *testing.T) {
	dir := repository(t)
	state := t.TempDir()
	scan, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	ways := map[string]*quarry.Workspace{"scan": scan}
	for _, name := range []string{"index", "client"} {
		w, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: state}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if name == "index" {
			if err := w.Index().Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		ways[name] = w
	}
	git := search.Scope{Changed: search.Changed{Git: true}}
	for name, w := range ways {
		want := []string{"inner/b.go", "src/f03.go", "src/f05.go", "src/new.go"}
		if got := pathsOf(t, w, search.Query{Pattern: "needle", Scope: git}); !slices.Equal(got, want) {
			t.Errorf("%s: changed files with a match %q, want %q", name, got, want)
		}
		found, err := w.Find(context.Background(), search.FindQuery{Scope: git})
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, e := range found.Entries {
			listed = append(listed, e.Path)
		}
		if all := []string{"inner/b.go", "src/f03.go", "src/f04.go", "src/f05.go", "src/new.go"}; !slices.Equal(listed, all) {
			t.Errorf("%s: changed files %q, want %q", name, listed, all)
		}
		ranked, err := w.SearchCode(context.Background(), search.CodeQuery{Query: "needle number", Scope: git})
		if err != nil {
			t.Fatal(err)
		}
		listed = nil
		for _, c := range ranked.Chunks {
			listed = append(listed, c.Path)
		}
		if slices.Sort(listed); !slices.Equal(listed, want) {
			t.Errorf("%s: ranked changed files %q, want %q", name, listed, want)
		}
		// An unchanged file is omitted even if named; a path may point into a nested
		// repository.
		if got := pathsOf(t, w, search.Query{Pattern: "needle", Scope: search.Scope{Paths: []string{"src/f01.go", "src/f03.go"}, Changed: git.Changed}}); !slices.Equal(got, []string{"src/f03.go"}) {
			t.Errorf("%s: named files %q, want src/f03.go", name, got)
		}
		since := search.Scope{Paths: []string{"src"}, Changed: search.Changed{Since: time.Now().Add(-24 * time.Hour)}}
		if got := pathsOf(t, w, search.Query{Pattern: "needle", Scope: since}); slices.Contains(got, "src/f06.go") || len(got) != 19 {
			t.Errorf("%s: files changed in a day %q, want all but f04 and f06", name, got)
		}
	}
	// A new change counts at once; a reverted one no longer does.
	putFile(t, filepath.Join(dir, "src", "f07.go"), "package src // needle, just now\n")
	putFile(t, filepath.Join(dir, "inner", "b.go"), "package inner // needle\n")
	for name, w := range ways {
		want := []string{"src/f03.go", "src/f05.go", "src/f07.go", "src/new.go"}
		if got := pathsOf(t, w, search.Query{Pattern: "needle", Scope: git}); !slices.Equal(got, want) {
			t.Errorf("%s, after a change: %q, want %q", name, got, want)
		}
	}
}

// TestChangedPlaces searches one workspace below the top of a repository, and one outside
// any repository.
func TestChangedPlaces(t *testing.T) {
	dir := repository(t)
	w, err := quarry.Open(filepath.Join(dir, "src"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	q := search.Query{Pattern: "needle", Scope: search.Scope{Changed: search.Changed{Git: true}}}
	if got, want := pathsOf(t, w, q), []string{"f03.go", "f05.go", "new.go"}; !slices.Equal(got, want) {
		t.Errorf("below the top: %q, want %q", got, want)
	}
	none := t.TempDir()
	putFile(t, filepath.Join(none, "a.go"), "needle\n")
	if v, err := quarry.Open(none, nil); err != nil {
		t.Fatal(err)
	} else {
		defer v.Close()
		if _, err := v.Search(context.Background(), q); fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), "no git repository") {
			t.Errorf("without a repository: %v, want an error that says so", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Search(context.Background(), q); err == nil || fault.CodeOf(err) != fault.IOError {
		t.Errorf("with a damaged repository: %v, want an I/O error", err)
	}
}

// TestEach finds files that contain each of several patterns.
func TestEach(t *testing.T) {
	stress.SkipWine(t, "whole workspaces")
	dir, state := t.TempDir(), t.TempDir()
	putFile(t, filepath.Join(dir, "both.txt"), "alpha\nx\nbeta\nBeta\n")
	putFile(t, filepath.Join(dir, "one.txt"), "alpha\nalpha\n")
	putFile(t, filepath.Join(dir, "line.txt"), "beta alpha\n")
	putFile(t, filepath.Join(dir, "large.txt"), "alpha\n"+strings.Repeat("filler filler\n", 20000)+"beta\n")
	putFile(t, filepath.Join(dir, "binary"), "alpha\x00beta\n")
	index, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: state}})
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	if err := index.Index().Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, noIndex := range []bool{true, false} {
		q := search.Query{Patterns: []string{"alpha", "beta"}, Each: true, Scope: search.Scope{NoIndex: noIndex}}
		r, err := index.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, fmt.Sprint(f.Path, len(f.Lines)))
		}
		if want := []string{"both.txt2", "large.txt2", "line.txt1"}; !slices.Equal(got, want) {
			t.Errorf("no index %v: files and lines %q, want %q", noIndex, got, want)
		}
		if !noIndex && r.Stats.Plan.Candidates != 4 { // including the binary file, which is reported
			t.Errorf("plan %q, want 4 candidates", r.Stats.Plan.Kind)
		}
		if r.SkippedCount[search.Binary] != 1 {
			t.Errorf("no index %v: %d binary files told, want 1", noIndex, r.SkippedCount[search.Binary])
		}
		q.Patterns, q.Each, q.Lacking = []string{"alpha"}, false, []string{"beta"}
		if got := pathsOf(t, index, q); !slices.Equal(got, []string{"one.txt"}) {
			t.Errorf("no index %v: alpha without beta in %q, want one.txt", noIndex, got)
		}
		q.Patterns, q.Each, q.Lacking = []string{"alpha", "beta"}, true, []string{"nowhere", "beta alpha"}
		if got := pathsOf(t, index, q); !slices.Equal(got, []string{"both.txt", "large.txt"}) {
			t.Errorf("no index %v: both, but not in a line: %q", noIndex, got)
		}
		q.Lacking = nil
		q.Paths = []string{"one.txt", "both.txt"}
		if got := pathsOf(t, index, q); !slices.Equal(got, []string{"both.txt"}) {
			t.Errorf("named files: %q, want both.txt", got)
		}
		q.Invert = true
		if _, err := index.Search(context.Background(), q); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("inverted: %v, want an invalid argument", err)
		}
	}
	_, err = quarry.SearchText(context.Background(), strings.NewReader("alpha"), search.Query{Patterns: []string{"a", "b"}, Each: true}, nil)
	if !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a text: %v, want an invalid argument", err)
	}
}

// TestEnclosing names the definitions around matching lines.
func TestEnclosing(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "a.go"), "package a\n\ntype T struct {\n\tn int\n}\n\nfunc (t *T) Call() {\n\tf := func() {\n\t\tneedle()\n\t}\n\tf()\n}\n\nfunc needle() {}\n\nvar x = needle\n")
	putFile(t, filepath.Join(dir, "b.md"), "# Heading\n\nneedle\n")
	w, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := w.Search(context.Background(), search.Query{Pattern: "needle", Symbols: true, Before: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Files {
		for _, l := range f.Lines {
			if l.Symbol != nil {
				got = append(got, fmt.Sprintf("%s:%d in %s.%s:%d", f.Path, l.Number, l.Symbol.Container, l.Symbol.Name, l.Symbol.Line))
			}
		}
	}
	if want := []string{"a.go:9 in T.Call:7"}; !slices.Equal(got, want) {
		t.Errorf("definitions around matches: %q, want %q", got, want)
	}
}
