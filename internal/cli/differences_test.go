package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every difference from ripgrep that the comparison excludes is documented.
func TestDifferencesDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "SEARCH.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("`", "", "*", "", "\n  ", " ").Replace(strings.ToLower(string(doc)))
	for _, d := range differences {
		if !strings.Contains(text, strings.ToLower(d.name)) {
			t.Errorf("docs/SEARCH.md lacks %q: %s", d.name, d.reason)
		}
	}
}

// TestDifferences demonstrates each difference from ripgrep.
func TestDifferences(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{
		"dos.txt": "foo\r\nbar\r\n", "ord/b": "ord\n", "ord.txt": "ord\n", ".gitignore": "*.log\n", "x.log": "foo\n",
		"bin": "foo\x00\n", "latin": "gr\xfcn\n", "az": "begin\nmiddle\nend\n", "multi": "o f\nb\n", "char": "\u00e9",
		"deep/in/c.txt": "deep\n",
	})
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
	}{
		{"\\r\\n is one line ending", []string{"foo$", "dos.txt"}, exitFound, "1:foo\n"},
		{"order by the bytes of the path", []string{"-l", "ord"}, exitFound, "ord.txt\nord/b\n"},
		{"ignore files count outside git repositories", []string{"-l", "^foo$"}, exitFound, "dos.txt\n"},
		{"binary files are skipped", []string{"-g", "bin", "foo"}, exitNone, ""},
		{"lines that are not UTF-8 are also read as Windows-1252", []string{"gr\u00fcn", "latin"}, exitFound, "1:gr\u00fcn\n"},
		{"line numbers also in a pipe", []string{"end", "az"}, exitFound, "3:end\n"},
		{"\\A and \\z by lines", []string{"-c", `\A\w+\z`, "az"}, exitFound, "3\n"},
		{"stdin that is a socket or device only as -", []string{"-c", "standard", "-"}, exitFound, "1\n"},
		{"a limit in multiline mode counts matches", []string{"-U", "-m1", "-o", `\w\s`, "multi"}, exitFound, "1:o \n"},
		{"a glob narrows", []string{"-g", "*.log", "foo", "."}, exitNone, ""},
		{"a glob with a slash is anchored at the searched path", []string{"-l", "-g", "in/*", "deep", "deep"}, exitFound, "deep/in/c.txt\n"},
		{"empty matches lie between characters", []string{"--count-matches", "x*", "char"}, exitFound, "2\n"},
		{"inverted multiline search", []string{"-Uv", `o\s|f\nb`, "multi"}, exitNone, ""},
		{"an empty replacement in multiline mode", []string{"-U", "-r", "", `\S\z`, "char"}, exitFound, "1:\n"},
		{"context after the last match of -m", []string{"-m1", "-A2", "i", "az"}, exitFound, "1:begin\n2-middle\n3-end\n"},
	} {
		got := runQuarry("standard input\n", append([]string{"search"}, c.args...)...)
		if got.code != c.code || got.out != c.out {
			t.Errorf("%s: exit code %d, want %d; %q, want %q", c.name, got.code, c.code, got.out, c.out)
		}
	}
}
