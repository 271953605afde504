package symbols

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
)

var update = flag.Bool("update", false, "write testdata/symbols.golden anew")

// ofSamples lists the definitions of every sample, by line. When the golden file changes,
// check it manually: names that must not be listed, in strings and comments, contain "no".
func ofSamples(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d files in testdata: %v", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s: %s\n", filepath.Base(file), Language(file, data))
		for _, s := range Of(file, data) {
			fmt.Fprintf(&got, "%4d-%-4d %s %s\n", s.First, s.Last, s.Kind, s.Qualified())
		}
	}
	return got.String()
}

func TestLanguages(t *testing.T) {
	golden, got := "testdata/symbols.golden", ofSamples(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// The documents state the number of languages.
func TestLanguagesAreCounted(t *testing.T) {
	names := map[string]bool{}
	for _, l := range byExtension() {
		names[l.name] = true
	}
	for file, text := range map[string]string{
		"../../README.md": "definitions of files in %d languages", "../../docs/FORMAT.md": "one of the %d languages",
		"../../docs/RELIABILITY.md": "| %d languages × ", "../stress/shapes_test.go": "const languages = %d\n",
	} {
		data, err := os.ReadFile(file)
		if text = fmt.Sprintf(text, len(names)); err != nil || !strings.Contains(string(data), text) {
			t.Errorf("%s does not say %q: %v", file, text, err)
		}
	}
}

func TestSpans(t *testing.T) {
	text := "package a\n\n// Open opens.\n// It may fail.\nfunc Open() {\n\tif x {\n\t}\n}\n\nvar y = 1 // not of z\nvar z = 2\n"
	var got []string
	for _, s := range Of("a.go", []byte(text)) {
		got = append(got, fmt.Sprintf("%s %d %d-%d", s.Name, s.DocLine, s.First, s.Last))
	}
	if diff := cmp.Diff([]string{"a 0 1-1", "Open 3 5-8", "y 0 10-10", "z 0 11-11"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSignature(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "func (w *W) Open(name string) error {\n}\n", "func (w *W) Open(name string) error"},
		{"a.py", "@cache\ndef f(a,\n      b):\n    pass\n", "def f(a,"},
		{"a.c", "static int\nf(void)\n{\n}\n", "f(void)"},
	} {
		list := Of(c.file, []byte(c.text))
		if len(list) != 1 || list[0].Signature([]byte(c.text)) != c.want {
			t.Errorf("%s: %+v", c.file, list)
		}
	}
}

func TestLanguageByFirstLine(t *testing.T) {
	for first, want := range map[string]string{
		"#!/bin/sh": "Shell", "#!/usr/bin/env python3": "Python", "#!/usr/bin/env -S node --x": "JavaScript", "#!/usr/bin/perl -w": "Perl", "hello": "",
	} {
		if got := Language("bin/tool", []byte(first+"\n")); got != want {
			t.Errorf("%s: %q, want %q", first, got, want)
		}
	}
}

// hostile texts that made lexers slow: each must take time linear in its length.
var hostile = []string{
	"{", "}", "(", "((((", "[", "<", "\"", "\\\"", "'", "`", "/", "/[", "/*", "//", "#", "#if X\n", "#else\n", "`${", "$(", "\"$(", "\"#{", "a(", "a()", "a<",
	"def f\n", "class A {", "class A\n", "function f(", "fn f(", "x = function(", "template <", "struct s {", "enum e {", "R\"(", "r#\"", "<<A\n", "<<~A\n", "%w(", "q{", "s{", "~s(",
	"const x = ", "type x = ", "let x: ", "operator", "::", "a::", "-- ", "--[[", "{-", "@a(", "@", "=> ", "->", "?", ": ", ", ", "end\n", "do\n", "create table ", "a, ", "\n ", "\n\t",
	"impl ", "impl<", "typedef ", "using ", "friend ", "namespace ", "public ", "static ", "#define a \\\n", "case ", "a\n===\n", "```\n", "~A::", "a=", "= (", "export ", "pub(",
}

// TestLinear measures processor time, which other programs hardly affect.
func TestLinear(t *testing.T) {
	stress.SkipShort(t)
	seen := map[*language]bool{}
	share := stress.Size(16, 1) // without STRESS, each language reads a part of the texts
	for _, ext := range slices.Sorted(maps.Keys(byExtension())) {
		l := byExtension()[ext]
		if seen[l] {
			continue
		}
		seen[l] = true
		for i, h := range hostile {
			if i%share != len(seen)%share {
				continue
			}
			took := func(n int) time.Duration {
				text := []byte(strings.Repeat(h, n/len(h)))
				start := stress.CPU()
				Of("a"+ext, text)
				return stress.CPU() - start
			}
			// 4 KB take under a millisecond. For 128 KB, linear work takes 32 times that,
			// quadratic work takes seconds.
			if took(4<<10) < 8*time.Millisecond {
				continue
			}
			if d := min(took(128<<10), took(128<<10)); d > time.Second {
				t.Errorf("%s, %q: %v for 128 KB", ext, h, d)
			}
		}
	}
}

func FuzzOf(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(filepath.Ext(file), data)
		}
	}
	for _, h := range hostile {
		f.Add(".cpp", []byte(strings.Repeat(h, 9)))
	}
	f.Add(".go", []byte("type!struct{A"))
	f.Add(".php", []byte("<?ClAss A0{ private $"))
	f.Add(".rb", []byte(":\"000"))
	f.Add(".scala", []byte("def``"))
	f.Fuzz(func(t *testing.T, ext string, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		lines := strings.Count(string(text), "\n") + 1
		prev := -1
		p := readText(nil, "a"+ext, text)
		if p.failed != nil {
			t.Fatalf("the reader panicked: %v", p.failed)
		}
		for _, s := range p.out {
			if s.Name == "" || s.Kind == 0 || s.NameAt < prev || s.Start > s.NameAt || s.End <= s.NameAt || s.End > len(text)+1 ||
				s.First < 1 || s.First > s.Line || s.Line > s.Last || s.Last > lines || s.DocLine >= s.First && s.DocLine != 0 {
				t.Fatalf("%+v in %d bytes, %d lines", s, len(text), lines)
			}
			s.Signature(text)
			prev = s.NameAt
		}
	})
}
