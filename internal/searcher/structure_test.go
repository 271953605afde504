package searcher_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"quarry"
	"quarry/search"
)

// A search by structure gives the same with an index and without, and its holes are
// what the text has there.
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
