package searcher_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/search"
)

func TestSymbols(t *testing.T) {
	ws := workspace(t, map[string]string{
		"store/store.go":      "package store\n\n// Open opens.\nfunc Open() *Store { return nil }\n\ntype Store struct{}\n\nfunc (s *Store) Close() {}\n",
		"store/store_test.go": "package store\n\nfunc Open() {}\n",
		"conn.py":             "class Conn:\n    def close(self):\n        Open()\n",
		"use.go":              "package main\n\nfunc main() { store.Open() }\n",
		"README.md":           "# Open\n\ntext\n",
		"reader.go":           "package read\n\nfunc newIndexReader() {}\n\nfunc indexed() {}\n\nfunc indexReaders() {}\n",
	}, nil)
	names := func(q search.SymbolQuery) []string {
		t.Helper()
		r, err := ws.Symbols(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range r.Symbols {
			out = append(out, fmt.Sprintf("%s:%d %s %s", s.Path, s.Line, s.Kind, s.Name))
		}
		return out
	}
	for _, c := range []struct {
		q    search.SymbolQuery
		want []string
	}{
		{search.SymbolQuery{Name: "Open"}, []string{"store/store.go:4 function Open", "store/store_test.go:3 function Open", "README.md:1 heading Open"}},
		{search.SymbolQuery{Name: "Store.Close"}, []string{"store/store.go:8 method Close"}},
		{search.SymbolQuery{Name: "conn.close", Fuzzy: true}, []string{"conn.py:2 method close", "store/store.go:8 method Close"}},
		{search.SymbolQuery{Name: "clo", Fuzzy: true, Kind: "method", Limit: 1}, []string{"conn.py:2 method close"}},
		{search.SymbolQuery{Name: "main()"}, []string{"use.go:3 function main", "use.go:1 module main"}},
		{search.SymbolQuery{Name: "Lost"}, nil},
		{search.SymbolQuery{Scope: search.Scope{Paths: []string{"store/store.go"}}, Kind: "function"}, []string{"store/store.go:4 function Open", "store/store.go:8 method Close"}},
		{search.SymbolQuery{Name: "Store", Kind: "type"}, []string{"store/store.go:6 struct Store"}},
		{search.SymbolQuery{Name: "Opne", Fuzzy: true, Kind: "function"}, []string{"store/store.go:4 function Open", "store/store_test.go:3 function Open"}},
		{search.SymbolQuery{Name: "store::close", Fuzzy: true, Kind: "method"}, []string{"store/store.go:8 method Close", "conn.py:2 method close"}},
		{search.SymbolQuery{Name: "OpenReaderOfIndex", Fuzzy: true}, []string{"reader.go:7 function indexReaders", "reader.go:3 function newIndexReader"}}, // share two words
		{search.SymbolQuery{Name: "IndexLog", Fuzzy: true}, nil},
		{search.SymbolQuery{Scope: search.Scope{Globs: []string{"*.py"}}}, []string{"conn.py:1 class Conn", "conn.py:2 method close"}},
	} {
		if diff := cmp.Diff(c.want, names(c.q)); diff != "" {
			t.Errorf("%+v:\n%s", c.q, diff)
		}
	}
	r, err := ws.Symbols(context.Background(), search.SymbolQuery{Name: "Open", Text: true})
	if err != nil || r.Symbols[0].Text != "// Open opens.\nfunc Open() *Store { return nil }" || r.Symbols[0].StartLine != 3 {
		t.Errorf("%+v, %v", r.Symbols, err)
	}
}

// If a name occurs in many files, its definition is found by the lines that may define
// it.
func TestSymbolsOfACommonName(t *testing.T) {
	files := map[string]string{"include/base.h": "struct base {\n\tint x;\n};\n"}
	for i := range 400 {
		files[fmt.Sprintf("d/f%03d.c", i)] = strings.Replace("void fN(void)\n{\n\tuse((struct base *)0);\n}\n", "N", fmt.Sprint(i), 1)
	}
	ws := workspace(t, files, nil)
	r, err := ws.Symbols(context.Background(), search.SymbolQuery{Name: "base"})
	if err != nil || r.Total != 1 || r.Symbols[0].Path != "include/base.h" {
		t.Errorf("%+v, %v", r.Symbols, err)
	}
}

// TestSymbolsOfManyFiles looks up a name that occurs in more files than a lookup reads.
func TestSymbolsOfManyFiles(t *testing.T) {
	regime.SkipTiny(t)
	dir, state := t.TempDir(), t.TempDir()
	for i := range 400 {
		putFile(t, filepath.Join(dir, fmt.Sprintf("use%03d.c", i)), fmt.Sprintf("int f%d(void)\n{\n\treturn common(%d);\n}\n", i, i))
	}
	putFile(t, filepath.Join(dir, "lib", "common.c"), "/* common things */\nint common(int x)\n{\n\treturn x;\n}\n")
	putFile(t, filepath.Join(dir, "lib", "other.py"), "def unlike():\n    pass\n\nclass A:\n    def common(self):\n        pass\n")
	for _, options := range []*quarry.Options{nil, {Index: &quarry.IndexOptions{Dir: state}}} {
		w, err := quarry.Open(dir, options)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if options != nil {
			if err := w.Index().Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		r, err := w.Symbols(context.Background(), search.SymbolQuery{Name: "common"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range r.Symbols {
			got = append(got, fmt.Sprintf("%s:%d", s.Path, s.Line))
		}
		if want := []string{"lib/common.c:2", "lib/other.py:5"}; !slices.Equal(got, want) || r.Total != 2 {
			t.Errorf("definitions %q of %d, want %q", got, r.Total, want)
		}
	}
}

// However many files contain a name, those that define it are found, even as a member of
// a type.
func TestSymbolsOfANameInManyFiles(t *testing.T) {
	files := map[string]string{
		"drv/ops.h":  "struct ops {\n\tint (*probe)(struct dev *d);\n};\n",
		"drv/main.c": "int probe(void)\n{\n\treturn 0;\n}\n",
	}
	for i := range 301 {
		files[fmt.Sprintf("use/%d.c", i)] = fmt.Sprintf("struct drv d%d = {\n\t.probe = x,\n};\n", i)
	}
	ws := workspace(t, files, nil)
	r, err := ws.Symbols(context.Background(), search.SymbolQuery{Name: "probe"})
	if err != nil || r.Total != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
