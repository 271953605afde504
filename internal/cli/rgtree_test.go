package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
)

// treePatterns lists the patterns searched in each tree.
var treePatterns = map[string][]string{
	"plain":     {"foo", "bar", `\bfo+\b`, "^foo", "bar$", "^$", `o\s+[fb]`, `foo\n?`, "(f)(o+)", "(?P<name>b.)r", "x*", ".", `\w+\s\w+`, "Foo", "zzz", "foo|baz", "é", "[^a-z]", `a.b`, `\d+`, "(?s)foo.bar"},
	"ignored":   {"foo", "bar", "Foo", "o b", "^", "zzz"},
	"crlf":      {"foo", "bar", "foo$", "^bar", "(f)oo", "zzz", `\bfoo\b`},
	"encodings": {"foo", "bar", "^foo", "zzz", "grün", "foo|bar"},
	"names":     {"foo", "bar", "zzz", "^foo"},
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// makeTrees creates the trees. Their names have the same order by bytes as by path elements.
func makeTrees(t *testing.T) map[string]string {
	t.Helper()
	top := t.TempDir()
	trees := map[string]string{}
	for name, files := range rgTrees() {
		trees[name] = filepath.Join(top, name)
		writeTree(t, trees[name], files)
	}
	if runtime.GOOS != "windows" {
		writeTree(t, trees["names"], map[string]string{"new\nline.txt": "foo\n", "qu\"ote'.txt": "foo bar\n"})
		for link, to := range map[string]string{"link.txt": "a.txt", "loop": ".", "nowhere": "missing"} {
			if err := os.Symlink(to, filepath.Join(trees["names"], link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return trees
}

func rgTrees() map[string]map[string]string {
	long := strings.Repeat("long foo line ", 400)
	plain := map[string]string{
		"a.txt":            "foo foo\nbar\nfoo\n\nbaz foo\nx\ny\nz\nFoo bar\n  indented foo\n\tfoo bar\n",
		"b.go":             "package foo\n\nfunc Foo() {\n\tbar()\n}\n",
		"c.md":             "# foo bar\n\nfoo\nbar\nfoo",
		"d.txt":            "nothing here\n1234 é foo-bar a.b foo_bar\n",
		"empty.txt":        "",
		"feeds.txt":        "\n\n\nfoo\n\n\n",
		"long.txt":         "short foo\n" + long + "\nend bar\n",
		"sub/a.txt":        "foo\nbar\nfoo bar\nxx x\n",
		"sub/deep/more.go": "bar foo\n\nfoo\nfoo\nbar\n",
		"sub/z.md":         "none\n",
	}
	return map[string]map[string]string{
		"plain": plain,
		"ignored": {
			".gitignore": "*.log\n/build\n!keep.log\ndeep/\n", ".ignore": "c.txt\n", ".hidden.txt": "foo\n",
			".config/x.txt": "foo bar\n", "a.txt": "foo bar\nFoo\n", "b.go": "foo\n", "c.txt": "foo\n", "d.log": "foo\n", "keep.log": "foo bar\n",
			"build/out.txt": "foo\n", "sub/.gitignore": "*.txt\n!a.txt\n", "sub/a.txt": "foo\n", "sub/b.txt": "foo\n",
			"sub/deep/x.go": "foo\n", "sub/nested/.rgignore": "y.*\n", "sub/nested/x.go": "foo\n", "sub/nested/y.go": "foo bar\n", "sub/build/in.go": "foo\n",
		},
		"crlf": {
			"a.txt": "foo\r\nbar foo\r\n\r\nfoo bar\r\n", "b.go": "foo\nbar\r\nfoo bar", "sub/a.txt": "one\r\ntwo foo\r\nthree\r\nbar\r\n",
		},
		"encodings": {
			"a.txt": "foo bar\nplain\n", "bom.txt": "\xEF\xBB\xBFfoo\nbar\n", "le.txt": encode16("foo\nbar grün\n", false), "be.txt": encode16("bar\nfoo grün\n", true),
			"latin.txt": "caf\xe9 foo\nbar\n", "sub/utf8.txt": "grün foo\n",
		},
		"names": {
			"bin.dat": "\x00\x01foo\nbar\n", "a.txt": "foo\nbar\n", "sp ace.txt": "foo\n", "sub/ü.txt": "foo bar\n", "sub/-dash.txt": "foo\n", "sub/a.txt": "bar\n",
		},
	}
}

func encode16(s string, big bool) string {
	out := []byte{0xFF, 0xFE}
	if big {
		out = []byte{0xFE, 0xFF}
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}
