package usage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/usage"
)

// Uses are only in code and have their enclosing definition; those in tests come last.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package a\n\nfunc TestOpen() { Open() }\n",
		"a.go":      "package a\n\n// Open is spoken of: Open.\nfunc Open() { println(\"Open\") }\n\nvar f = Open\n",
		"b.go":      "package b\n\ntype Store struct{}\n\nfunc (s *Store) Open() {}\n\nfunc use(s *Store, x *Other) {\n\tstore.Open()\n\tx.Open() // Open\n\tReopen()\n}\n",
		"README.md": "Call Open.\n",
		"c.c":       "int Open(void);\nint g(void) { return Open (); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, c := range []struct {
		name, want string
	}{
		{"Open", "a.go:6  sure; b.go:8 use sure; b.go:9 use sure; c.c:2  sure; a_test.go:3  sure test"},
		{"Store.Open", "a.go:6 ; b.go:8 use sure; b.go:9 use; c.c:2 ; a_test.go:3  test"},
		{"Nowhere", ""},
	} {
		r, err := usage.Find(t.Context(), ws, usage.Query{Name: c.name})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range r.Uses {
			s := fmt.Sprintf("%s:%d %s", u.Path, u.Line, u.Symbol)
			if u.Sure {
				s += " sure"
			}
			if u.Test {
				s += " test"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
		if c.name == "Open" && (r.Comments != 3 || r.Strings != 1 || r.Texts != 1 || len(r.Definitions) != 3) {
			t.Errorf("%d in comments, %d in strings, %d in texts, %d definitions", r.Comments, r.Strings, r.Texts, len(r.Definitions))
		}
	}
}
