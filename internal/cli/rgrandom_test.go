package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// rgRandomTree returns the files for TestRgRandom. Some names sort differently by bytes and by path
// elements. There are all line endings and encodings, NUL at the start, in the middle and late in a
// file, long lines, and files without a final line ending.
func rgRandomTree() map[string]string {
	long := strings.Repeat("lorem ipsum dolor foo ", 40)
	var numbered strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&numbered, "line %d of the text foo%d\n", i, i%7)
	}
	return map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "*.log\nout/\n", ".hidden": "foo hidden\n", "x.log": "foo ignored\n", "out/y.txt": "foo out\n",
		"a-b": "foo dash\n", "a/b": "foo slash\nbar\n", "a.go": "package a\n\nfunc Foo() { foo(1) }\n\n// bar baz\nvar x = foo\n", "a/c/d.txt": "one\ntwo foo\nthree\nfour\nfoo bar foo\nsix\n",
		"crlf.txt": "foo one\r\nbar\r\n\r\nbaz foo\r\nend", "cr.txt": "foo\rbar\rfoo\nbar\r\r\nfoo\r", "empty": "", "blank": "\n\n\nfoo\n\n", "last": "bar\nfoo", "spaces.txt": "   foo\n\tbar foo  \n \t \n",
		"long.txt": "short foo\n" + long + "\nbar\n" + long + long + "end\n", "utf8.txt": "é foo Ä\nfoo \u00e9\u0301 日本語\n\U0001F600 foo\nstraße\n", "bom.txt": "\ufefffoo bom\nbar\n",
		"bad.txt": "foo \xff\xfe bar\nok foo\n", "utf16.txt": "\xff\xfef\x00o\x00o\x00\n\x00", "nul.bin": "foo\x00bar\nfoo again\n", "late.bin": "foo first\nbar\nbaz\x00foo\nfoo last\n",
		"far.bin": numbered.String() + "foo\x00\nfoo end\n", "many.txt": numbered.String(), "same.txt": "foo foo foo\nfoofoo\nbar\nfoo\nfoo\nbar\nbar\nbar\nbar\nfoo\n",
	}
}

var rgRandomPatterns = []string{
	"foo", "foo", "bar", "o", "^", "$", "^$", "", "foo|bar", `\w+`, `\bfoo\b`, "(f)(o+)", "foo$", "^foo", `\s+$`, "[a-c]+", "b.r", "FOO", "(?i)FOO", "zzz", `\d+`, "é", `\S+ foo`, "o*", "x?",
	`foo\n?`, `o\s`, "[^\\x00-\\x7f]", `[^a]`, ".", ".*", `foo\r?$`, `(?P<n>ba)r`, `\p{Lu}`, "line 59", "three|four", `\x00`, "baz.", `(?-u:\xff)`, "lorem.*end",
}

func rgRandomCommand(rng *rand.Rand) (c rgCase) {
	var args []string
	maybe := func(n int, flags ...string) {
		if rng.IntN(n) == 0 {
			args = append(args, flags...)
		}
	}
	maybe(2, "-n")
	maybe(8, "-N")
	maybe(4, pick(rng, "-i", "-S", "-s"))
	maybe(6, pick(rng, "-w", "-x"))
	maybe(7, "-v")
	maybe(9, "-F")
	maybe(6, "-U")
	maybe(20, "--multiline-dotall")
	maybe(6, "--crlf")
	maybe(14, "--null-data")
	maybe(6, pick(rng, "-a", "--binary"))
	maybe(5, pick(rng, "--hidden", "--no-ignore", "-u", "-uu", "-uuu"))
	maybe(9, "-g", pick(rng, "*.txt", "!*.txt", "*.{go,bin}", "a*"))
	maybe(12, pick(rng, "-tgo", "-ttxt", "-Ttxt"))
	maybe(12, "--max-depth", pick(rng, "0", "1", "2"))
	maybe(6, pick(rng, "-m1", "-m2", "-m5"))
	maybe(14, "--stop-on-nonmatch")
	maybe(14, "--max-filesize", pick(rng, "20", "1K", "100K"))
	maybe(12, pick(rng, "--encoding=latin1", "--encoding=none", "--encoding=utf-16le"))
	maybe(10, pick(rng, "--mmap", "--no-mmap"))
	if rng.IntN(3) == 0 {
		args = append(args, pick(rng, "-c", "-l", "--count-matches", "--files-without-match", "-q", "--json", "--files", "--json", "--count"))
		maybe(4, "--include-zero")
		maybe(4, "-0")
		maybe(6, "-o")
	} else {
		maybe(4, "-o")
		maybe(6, "--passthru")
		maybe(8, "--vimgrep")
		maybe(6, "--column")
		maybe(6, "-b")
		maybe(4, "--heading")
		maybe(8, "--trim")
		maybe(4, "-M", pick(rng, "0", "5", "12", "40", "200"))
		maybe(6, "--max-columns-preview")
		maybe(4, "--color=always")
		maybe(12, "-0")
		maybe(12, "--context-separator", pick(rng, "", "==", `\t`))
		maybe(12, "--field-match-separator", pick(rng, "", "@@"))
	}
	maybe(3, "-"+pick(rng, "A", "B", "C")+pick(rng, "0", "1", "2", "4"))
	maybe(8, "-"+pick(rng, "A", "B", "C")+pick(rng, "1", "3"))
	maybe(6, "-r", pick(rng, "X", "<$0>", "${1}-$n", "$$", ""))
	maybe(5, pick(rng, "-H", "-I"))
	maybe(14, "--stats")
	args = append(args, pick(rng, "--sort=path", "--sort=path", "--sortr=path", "--sort=path"))
	if !slices.Contains(args, "--files") {
		for range pick(rng, 1, 1, 1, 2) {
			c.patterns = append(c.patterns, pick(rng, rgRandomPatterns...))
		}
	}
	c.flags, c.paths = args, pick(rng, []string{"."}, []string{"./"}, []string{"a", "a-b", "many.txt"}, []string{"late.bin"}, []string{"crlf.txt"}, []string{"missing", "a"}, []string{"nul.bin", "same.txt"}, []string{"a.go"})
	return c
}

// firstDifference returns the first lines in which two outputs differ.
func firstDifference(want, got outcome) string {
	w, g := strings.SplitAfter(want.out, "\n"), strings.SplitAfter(got.out, "\n")
	i := 0
	for i < min(len(w), len(g))-1 && w[i] == g[i] {
		i++
	}
	return fmt.Sprintf("ripgrep %d %.200q\nquarry  %d %.200q\nline %d of %d and %d; stderr %.200q (ripgrep's %.200q)", want.code, w[i:min(i+2, len(w))], got.code, g[i:min(i+2, len(g))], i+1, len(w), len(g), got.err, want.err)
}

type explanation struct {
	line    string
	applies func(c rgCase) bool
}

// rgExplained lists the deliberate differences from ripgrep, each with the line of
// docs/CONFORMANCE.md that describes it.
var rgExplained = []explanation{
	{"a glob narrows", func(c rgCase) bool { return c.has("-g") && c.has("-tgo", "-ttxt", "-Ttxt") }},
	{"ends of a record", func(c rgCase) bool { return c.has("--null-data") }},
	{"a carriage return alone", func(c rgCase) bool { return c.has("--crlf") && (c.reads("cr.txt") || c.asks(`\r`)) }},
	{"Windows-1252", func(c rgCase) bool {
		return c.reads("bad.txt") && c.asks("[^\\x00-\\x7f]", `(?-u:\xff)`, "[^a]", ".", ".*", `\p{Lu}`, `\w+`, `\S+ foo`) && !c.has("--encoding=latin1", "--encoding=utf-16le")
	}},
	{"inverted multiline search", func(c rgCase) bool { return c.has("-U") && c.has("-v") }},
	{"context after the last match of -m", func(c rgCase) bool { return c.has("-m1", "-m2", "-m5") && (c.contexts() > 0 || c.has("--passthru")) }},
	{"empty matches lie between characters", func(c rgCase) bool {
		return c.asks("^", "$", "^$", "", "o*", "x?", ".*") && (c.has("-o", "-r", "--vimgrep", "--count-matches", "--json", "--stats", "-U") || c.has("--max-columns-preview") && c.has("--color=always"))
	}},
	{"NUL after the first 64 KiB", func(c rgCase) bool {
		return c.reads("far.bin") && (c.has("--passthru", "-U", "--encoding=latin1", "--encoding=utf-16le", "--mmap") || c.has("-v") || c.contexts() > 0)
	}},
	{"--stop-on-nonmatch", func(c rgCase) bool {
		return c.has("--stop-on-nonmatch") && (c.contexts() > 0 || c.has("--passthru", "-v", "--crlf", "-U"))
	}},
	{"-U with ^ or $", func(c rgCase) bool { return c.has("-U") && strings.ContainsAny(strings.Join(c.patterns, ""), "^$") }},
	{"-uuu after -a", func(c rgCase) bool { return c.has("-a") && c.has("-uuu") }},
	{"are counted only as far as the answer needs", func(c rgCase) bool {
		return c.has("--stats") && c.has("-l", "-q", "--files-without-match", "--files", "-v")
	}},
	{"context of a binary file", func(c rgCase) bool { return (c.reads("late.bin") || c.reads("nul.bin")) && c.contexts() > 0 }},
	{"context that --crlf and colour show", func(c rgCase) bool { return c.has("--crlf") && c.has("--passthru") && c.has("--max-columns-preview") }},
	{"ripgrep doesn't say that a binary file matches", func(c rgCase) bool { return c.has("-U") && c.has("--passthru") && c.has("--binary") }},
	{"ends a line at a NUL", func(c rgCase) bool { return c.has("--binary") && c.has("--json", "--encoding=latin1") }},
	{"joins them to a class", func(c rgCase) bool { return len(c.patterns) > 1 && c.asks(`\x00`) }},
	{"replacement in multiline mode", func(c rgCase) bool { return c.has("-U") && c.has("-r") }},
}

// reads reports whether the command searches a file of the tree.
func (c rgCase) reads(name string) bool {
	return slices.Contains(c.paths, name) || strings.HasPrefix(c.paths[0], ".")
}

// asks reports whether one of texts occurs as a pattern, with or without \r.
func (c rgCase) asks(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool {
		return slices.Contains(c.patterns, s) || s == `\r` && strings.Contains(strings.Join(c.patterns, " "), s)
	})
}

// documented returns a function that checks that docs/CONFORMANCE.md contains the given lines. It
// reads the page at once, because tests change the current folder later.
func documented(t *testing.T) func(lines []string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "CONFORMANCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(doc), "`", "")
	return func(lines []string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(text, line) {
				t.Errorf("docs/CONFORMANCE.md doesn't say %q", line)
			}
		}
	}
}

// TestRgRandom compares random command lines of quarry rg with ripgrep's.
func TestRgRandom(t *testing.T) {
	stress.SkipShort(t)
	rg, version := ripgrep(t)
	if version < 15 {
		t.Skip("what is compared is ripgrep 15: install that, or set QUARRY_RG to it")
	}
	inDocs := documented(t)
	dir := t.TempDir()
	for name, text := range rgRandomTree() {
		writeTree(t, dir, map[string]string{filepath.FromSlash(name): text})
	}
	t.Chdir(dir)
	t.Setenv("RIPGREP_CONFIG_PATH", "")
	wrong, printed := 0, 0
	var endless [][]string
	explained := map[string]int{}
	n := *rgCases
	if n == 0 {
		n = stress.Size(100, 2000)
	}
	for seed := range n {
		c := rgRandomCommand(rand.New(rand.NewPCG(uint64(seed), 15)))
		args := c.args()
		want := runSuite(rg, append([]string{"--no-config"}, args...), &suiteCommand{dir: dir}, "")
		if want.err == errEndless.Error() {
			endless = append(endless, args)
			continue
		}
		got := runQuarry("", append([]string{"rg"}, args...)...)
		if want.out != "" {
			printed++
		}
		if d := suiteDiff(want, got, true); d != "" {
			if i := slices.IndexFunc(rgExplained, func(e explanation) bool { return e.applies(c) }); i >= 0 {
				explained[rgExplained[i].line]++
				continue
			}
			wrong++
			t.Errorf("seed %d: %q\n%s", seed, args, firstDifference(want, got))
		}
	}
	t.Logf("%d commands, %d print something, %d differ, explained %v; ripgrep's answer has no end: %q", n, printed, wrong, explained, endless)
	if printed < n/2 {
		t.Errorf("ripgrep printed something for %d of %d commands", printed, n)
	}
	for _, e := range rgExplained {
		inDocs([]string{e.line})
	}
}
