package staged_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/staged"
	"quarry/internal/stress"
	"quarry/search"
)

var tree = map[string]string{
	"a.go":           "package a\n\n// Open opens.\nfunc Open() error { return nil }\n\ntype Store struct{}\n\nfunc (s *Store) Close() { Open() }\n",
	"b/b.go":         "package b\n\nfunc Run() {\n\ta.Open()\n}\n",
	"b/crlf.txt":     "one\r\ntwo Open\r\nthree\r\n",
	"b/latin.txt":    "caf\xe9 Open\n",
	"bom.txt":        "\ufeffOpen with a mark\n",
	"c/deep/x.py":    "def run():\n    return Open()\n",
	"c/none.txt":     "no newline Open",
	"d.md":           "# Open\n\ntext ä Open é\n",
	"skip/gone.txt":  "Open ignored\n",
	".gitignore":     "skip/\n",
	"e/mixed.txt":    "Open\r\nOpen\nOpen\r\n",
	"e/empty.txt":    "",
	"f/[odd] {x}.go": "package f\n\nfunc Odd() { Open() }\n",
}

func open(t *testing.T) (*quarry.Workspace, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashNone})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws, dir
}

// source is what a View and a Workspace have in common.
type source interface {
	Search(ctx context.Context, q search.Query) (*search.Result, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
	EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error)
}

// seen is all that can be read of a source.
func seen(t *testing.T, s source) []string {
	t.Helper()
	ctx := t.Context()
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, scope := range []search.Scope{{}, {Globs: []string{"*.go"}}, {Paths: []string{"b"}}, {Globs: []string{"!*.txt"}}, {IncludeIgnored: true}, {Paths: []string{"c"}, Globs: []string{"*.txt", "*.new"}}} {
		for _, pattern := range []string{"Open", "new[0-9]", "^$", "é"} {
			r, err := s.Search(ctx, search.Query{Pattern: pattern, Scope: scope, Symbols: true, Spans: true, CountMatches: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Files {
				for _, l := range f.Lines {
					l = quarry.Decoded(l)
					add("%s %s:%d %q %v %v", pattern, f.Path, l.Number, l.Text, l.Spans, l.Symbol != nil)
				}
			}
			add("%s: %d files, %d lines", pattern, r.FilesMatched, r.LinesMatched)
		}
		found, err := s.Find(ctx, search.FindQuery{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Entries {
			add("found %s", e.Path)
			data, err := s.ReadBytes(ctx, e.Path, 0)
			if err != nil {
				t.Fatal(err)
			}
			add("bytes %q", data)
			text, err := s.Read(ctx, e.Path, &search.ReadOptions{Start: 2, End: 3})
			if err != nil {
				t.Fatal(err)
			}
			add("read %q %d %s %s %s", text.Lines, text.Total, text.Version, text.Encoding, text.Ending)
		}
		if _, err := s.EachText(ctx, search.TextQuery{Scope: scope}, func(_ string, text []byte) any { return string(text) }, func(path string, text any) { add("text %s %q", path, text) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Open", "Store.Close", "run", "new1", ""} {
		q := search.SymbolQuery{Name: name, Text: true}
		if name == "" {
			q.Paths = []string{"b"}
		}
		r, err := s.Symbols(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Symbols {
			add("symbol %s %s:%d-%d %q", d.Name, d.Path, d.StartLine, d.EndLine, d.Text)
		}
	}
	return out
}

// random stages a random change.
func random(t *testing.T, v *staged.View, r *rand.Rand) bool {
	t.Helper()
	ctx := t.Context()
	found, err := v.Find(ctx, search.FindQuery{})
	if err != nil {
		t.Fatal(err)
	}
	pick := found.Entries[r.IntN(len(found.Entries))].Path
	word := fmt.Sprintf("new%d", r.IntN(9))
	switch r.IntN(6) {
	case 0:
		err = v.Edit(ctx, pick, change.Edit{Old: "Open", New: word, Occurrence: change.First})
	case 1:
		err = v.Edit(ctx, pick, change.Edit{Verb: change.InsertAfter, First: r.IntN(2), New: "func " + word + "() { Open() }\n"})
	case 2:
		err = v.Write(ctx, fmt.Sprintf("%s/%s.%s", []string{"b", "c", "z"}[r.IntN(3)], word, []string{"go", "txt", "new"}[r.IntN(3)]), []byte("package x\n\nfunc "+word+"() {}\nOpen é\n"))
	case 3:
		_, err = v.Move(ctx, pick, fmt.Sprintf("%s/moved%d%s", []string{"b", "c", "z"}[r.IntN(3)], r.IntN(5), filepath.Ext(pick)), change.LinksDefault)
	case 4:
		err = v.Delete(ctx, pick)
	case 5:
		err = v.Edit(ctx, pick, change.Edit{Verb: change.AppendText, New: word + "\n"})
	}
	return err == nil
}

// Whatever is staged is read as it is after the changes are made.
func TestStagedEqualsApplied(t *testing.T) {
	changed, compared := 0, 0
	for seed := range uint64(stress.N(300)) {
		r := stress.Rand(seed)
		ws, dir := open(t)
		v := staged.New(ws)
		for range 1 + r.IntN(6) {
			if random(t, v, r) {
				changed++
			}
		}
		before := seen(t, v)
		set, err := v.Set()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(set.Ops) > 0 {
			if _, err := ws.Apply(t.Context(), set); err != nil {
				t.Fatalf("seed %d: %v\n%+v", seed, err, set.Ops)
			}
		}
		after := seen(t, ws)
		compared += len(after)
		if diff := cmp.Diff(after, before); diff != "" {
			t.Fatalf("seed %d, %s: staged (+) and applied (-) differ\n%s", seed, dir, diff)
		}
		ws.Close()
	}
	t.Logf("%d changes staged, %d answers compared", changed, compared)
	if changed < 10 || compared < 1000 {
		t.Errorf("only %d changes and %d answers: the test compares too little", changed, compared)
	}
}

// Bytes that no edit names stay, also where line endings are mixed and in other
// encodings.
func TestOnlyNamedBytesChange(t *testing.T) {
	ws, dir := open(t)
	v := staged.New(ws)
	ctx := t.Context()
	for _, e := range []struct {
		path string
		edit change.Edit
	}{
		{"e/mixed.txt", change.Edit{Verb: change.ReplaceLines, First: 2, Last: 2, New: "Close"}},
		{"e/mixed.txt", change.Edit{Verb: change.AppendText, New: "end\n"}},
		{"b/latin.txt", change.Edit{Old: "Open", New: "Cl\u00f6se"}},
		{"bom.txt", change.Edit{Old: "Open", New: "Close"}},
		{"bom.txt", change.Edit{Old: "mark", New: "m\u00e4rk"}},
	} {
		if err := v.Edit(ctx, e.path, e.edit); err != nil {
			t.Fatal(err)
		}
	}
	set, err := v.Set()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Apply(ctx, set); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"e/mixed.txt": "Open\r\nClose\nOpen\r\nend\r\n",
		"b/latin.txt": "caf\xe9 Cl\xf6se\n",
		"bom.txt":     "\ufeffClose with a m\u00e4rk\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// A file that was only read and has changed since is a conflict, and nothing is
// changed.
func TestReadFilesAreChecked(t *testing.T) {
	ws, dir := open(t)
	v := staged.New(ws)
	ctx := t.Context()
	if _, err := v.Read(ctx, "a.go", nil); err != nil {
		t.Fatal(err)
	}
	v.Note(ctx, "d.md")
	if err := v.Edit(ctx, "b/b.go", change.Edit{Old: "Run", New: "Go"}); err != nil {
		t.Fatal(err)
	}
	set, err := v.Set()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d.md"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ws.Apply(ctx, set)
	if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "d.md") {
		t.Errorf("apply after d.md changed: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "b", "b.go")); string(got) != tree["b/b.go"] {
		t.Errorf("b/b.go was changed: %q", got)
	}
}

// A path that leaves the root is refused by every way in.
func TestOutside(t *testing.T) {
	ws, _ := open(t)
	v := staged.New(ws)
	ctx := t.Context()
	for _, p := range []string{"../x", "/etc/passwd", "b/../../x"} {
		if _, err := v.Read(ctx, p, nil); err == nil {
			t.Errorf("read %s", p)
		}
		if err := v.Edit(ctx, p, change.Edit{Verb: change.AppendText, New: "x"}); err == nil {
			t.Errorf("edit %s", p)
		}
		if err := v.Write(ctx, p, []byte("x")); err == nil {
			set, err := v.Set()
			if err == nil {
				_, err = ws.Apply(ctx, set)
			}
			if !errors.Is(err, fault.OutsideRoot) {
				t.Errorf("write %s: %v", p, err)
			}
		}
	}
}
