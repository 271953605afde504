package searcher_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/internal/structure"
	"quarry/search"
)

// A structural search gives the same results with and without an index, and the holes of
// a match are the captured texts.
func TestStructure(t *testing.T) {
	files := map[string]string{
		"a.go":     "package a\n\nfunc f() {\n\tif err := g(1, 2); err != nil {\n\t\treturn wrap(err, g(3,\n\t\t\t4))\n\t}\n}\n",
		"b.go":     "package b // g(5, 6)\n\nvar s = \"g(7, 8)\"\n",
		"c.py":     "x = g(a, b)\n",
		"d.txt":    "g(9, 10)\n",
		"sub/e.ts": "g(f(1), [2, 3]); h.g(1, 2);\n",
	}
	want := map[string][]string{
		"a.go": {"4 A=1 B=2", "5 A=3 B=4"}, "c.py": {"1 A=a B=b"}, "d.txt": {"1 A=9 B=10"}, "sub/e.ts": {"1 A=f(1) B=[2, 3]"},
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	with, without := indexedPair(t, dir, 2)
	for name, ws := range map[string]*quarry.Workspace{"scan": without, "index": with} {
		got := map[string][]string{}
		sum, err := ws.SearchEach(t.Context(), search.Query{Structure: "g($A, $B)"}, func(f *search.FileMatch) error {
			for i := range f.Lines {
				text := ""
				for _, l := range f.Lines[i:] {
					text += string(l.Text) + l.Ending
				}
				for _, holes := range f.Lines[i].Holes {
					row := fmt.Sprint(f.Lines[i].Number)
					for _, h := range holes {
						row += fmt.Sprintf(" %s=%s", h.Name, text[h.Start:h.End])
					}
					got[f.Path] = append(got[f.Path], row)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || sum.FilesMatched != len(want) {
			t.Errorf("%s: %v, want %v; %d files", name, got, want, sum.FilesMatched)
		}
		if planned := sum.Stats.Plan.Indexed(); planned != (name == "index") {
			t.Errorf("%s: %+v", name, sum.Stats.Plan)
		}
	}
}

// The words of a structural pattern narrow a search, with and without an index. Random
// patterns in random code find the same files in all three ways: with the index, with a
// scan, and by matching the pattern alone.
func TestStructureIndexEqualsScan(t *testing.T) {
	rng := regime.Rand(40)
	names := []string{"open", "read", "café", "x", "Store", "is_ok", "v2", "größe"}
	name := func() string { return names[rng.IntN(len(names))] }
	expr := func() string {
		switch rng.IntN(5) {
		case 0:
			return fmt.Sprintf("%s(%s, %d)", name(), name(), rng.IntN(3))
		case 1:
			return name() + "." + name() + "()"
		case 2:
			return name() + " == " + name()
		case 3:
			return fmt.Sprintf("%q", name()+" "+name())
		}
		return name()
	}
	dir, texts := t.TempDir(), map[string][]byte{}
	for i := range 100 {
		text := ""
		for range 1 + rng.IntN(4) {
			text += []string{"", "// " + expr() + "\n", "\n"}[rng.IntN(3)]
			text += name() + "(" + expr() + ")" + []string{"\n", ";\n"}[rng.IntN(2)]
		}
		file := fmt.Sprint(i, []string{".go", ".py", ".ts", ".rs", ".java", ".c", ".txt"}[rng.IntN(7)])
		texts[file] = []byte(text)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	with, without := indexedPair(t, dir, 2)
	cases, found, indexed := 0, 0, 0
	for range 150 {
		pattern := strings.Replace(expr(), name(), "$A", rng.IntN(2))
		if rng.IntN(2) == 0 {
			pattern = name() + "(" + pattern + ")"
		}
		if pattern == "$A" {
			continue
		}
		q := search.Query{Structure: pattern}
		r, err := with.Search(t.Context(), q)
		got, want := answerText(r, err), answer(t, without, q)
		if got != want {
			t.Fatalf("%s:\n%s", pattern, cmp.Diff(want, got))
		}
		p, compiled := structure.Compile(pattern, 0)
		if err != nil || compiled != nil {
			t.Fatal(pattern, err, compiled)
		}
		matched := map[string]bool{}
		for _, f := range r.Files {
			matched[f.Path] = true
		}
		for file, text := range texts {
			if list, _ := p.Find(structure.NewText(nil, file, text)); len(list) > 0 != matched[file] {
				t.Fatalf("%s in %s: %d by the pattern alone, found by the search: %v\n%s", pattern, file, len(list), matched[file], text)
			}
		}
		cases++
		if len(r.Files) > 0 {
			found++
			if r.Stats.Plan.Indexed() {
				indexed++
			}
		}
	}
	t.Logf("%d patterns, %d with a match, %d of them by the index", cases, found, indexed)
	if indexed < cases/4 {
		t.Errorf("%d patterns, %d with a match, %d by the index: too few", cases, found, indexed)
	}
}
