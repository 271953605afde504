package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestHabits runs typical commands, as taught by ripgrep's guide and fd's readme, with quarry rg
// and quarry fd. Output and exit code must be the same as those of ripgrep and fd. Other tests
// compare random commands.
func TestHabits(t *testing.T) {
	dir := t.TempDir()
	habitsTree(t, dir)
	t.Chdir(dir)
	t.Setenv("RIPGREP_CONFIG_PATH", "")
	t.Setenv("LS_COLORS", "")
	all := 0
	for _, c := range []struct {
		name, commands string
		program        func(t *testing.T) string
		flags          []string
		form           func(string) string
		planted        []string // a command with another result, to test the comparison
	}{
		{"rg", rgHabits, func(t *testing.T) string { path, _ := ripgrep(t); return path }, []string{"--sort", "path"}, strings.Clone, []string{"search", "fast", "README.md"}},
		{"fd", fdHabits, fdProgram, nil, sortedWords, []string{"find", "lesson"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := c.program(t)
			theirs := func(args []string) outcome {
				cmd := exec.Command(program, append(slices.Clone(c.flags), args...)...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
					t.Fatal(err)
				}
				return outcome{c.form(stdout.String()), cmd.ProcessState.ExitCode(), stderr.String()}
			}
			n, printed := 0, 0
			for line := range strings.Lines(c.commands) {
				args := commandWords(strings.TrimSpace(line))
				if len(args) == 0 {
					continue
				}
				if err := os.Chdir(dir); err != nil { // undoes the effect of --base-directory
					t.Fatal(err)
				}
				want := theirs(args[1:])
				if strings.Contains(want.err, "PCRE2 is not available") {
					continue // ripgrep was built without this feature
				}
				got := runQuarry("", append(append([]string{c.name}, c.flags...), args[1:]...)...)
				if n++; want.out != "" {
					printed++
				}
				if c.form(got.out) != want.out || got.code != want.code {
					t.Errorf("%s\n%s: exit code %d\n%s%s\nquarry: exit code %d\n%s%s", line, c.name, want.code, want.out, want.err, got.code, got.out, got.err)
				}
			}
			all += n
			t.Logf("%d commands of %s, %d of them print something", n, c.name, printed)
			if printed < n*4/5 {
				t.Errorf("%d of %d commands print something: the tree does not suit them", printed, n)
			}
			// The planted command's output must differ. If it doesn't, the comparison is broken.
			if want, got := theirs(c.planted[1:]), runQuarry("", c.planted...); c.form(got.out) == want.out {
				t.Errorf("quarry %q prints the same: nothing is compared", c.planted)
			}
		})
	}
	t.Logf("%d commands in all", all)
}

// sortedWords sorts the words of a listing, whose order varies. -X prints them in a single line.
func sortedWords(out string) string {
	words := strings.FieldsFunc(out, func(r rune) bool { return r == '\n' || r == ' ' || r == 0 })
	slices.Sort(words)
	return strings.Join(words, "\n")
}

// commandWords splits a command into words as a shell does; it supports single quotes.
func commandWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			if strings.HasSuffix(strings.Split(line, "'")[i-1], " ") {
				words = append(words, "")
			}
			words[len(words)-1] += part
			continue
		}
		fields := strings.Fields(part)
		if i > 0 && len(fields) > 0 && !strings.HasPrefix(part, " ") {
			words[len(words)-1] += fields[0]
			fields = fields[1:]
		}
		words = append(words, fields...)
	}
	return words
}

// habitsTree makes a project like those in the guides, with sources, notes, a web page, ignored and
// hidden files, other encodings and a binary file.
func habitsTree(t *testing.T, dir string) {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte("a fast archive\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	wide := "\xff\xfe"
	for _, u := range utf16.Encode([]rune("Шерлок Холмс\nfast too\n")) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	files := map[string]string{
		".git/HEAD":             "ref: refs/heads/main\n",
		".gitignore":            "target/\n*.log\n/local.*\n!keep.log\n",
		".hidden/notes.rs":      "fn hidden() {}\n",
		".pre-commit":           "hook\n",
		"src/readme.txt":        "In small letters.\n", // for commands that depend on letter case
		"README.md":             "A fast tool.\nIt is faster than most, and the fastest on Fridays.\nNot slow.\n\nFAST answers: fast  food, fast-track.\n",
		"Cargo.toml":            "[package]\nname = \"sample\"\n\n[dependencies]\nlexopt = \"0.3\"\n",
		"Makefile":              "all:\n\tcargo build\n",
		"src/main.rs":           "use lexopt::Parser;\n\nfn main() {\n    run();\n}\n\nfn run() {\n    write(1);\n    // TODO: lexopt errors\n}\n",
		"src/lib/mod.rs":        "pub fn write(n: u32) -> u32 {\n    n + 1\n}\n\npub fn run_all() {}\n",
		"src/lib/num_cpu.rs":    "pub fn num() -> usize { 4 }\n",
		"src/util.c":            "#include \"util.h\"\nint main(void) {\n  return 0;\n}\n",
		"src/util.h":            "int util(void);\nint main(void);\n",
		"web/index.html":        "<title>Sample</title>\n<p>fast</p>\n",
		"web/style.css":         ".title { color: red }\n",
		"web/app.js":            "const title = 'x'\nfunction run() { return title }\n",
		"tests/lesson-1/a.png":  "png\n",
		"tests/lesson-12/b.jpg": "jpg\n",
		"tests/test_one.py":     "def test_one():\n    assert True\n",
		"tests/data/X1":         "",
		"tests/data/-pattern":   "dash\n",
		"docs/guide.txt":        "alpha\nbeta\ngamma\ndelta\nepsilon\nbeta again\n",
		"docs/dos.txt":          "one\r\ntwo fast\r\n",
		"docs/words.txt":        "cat\ncategory\nbobcat\nthe cat sat\nCat\n",
		"docs/привет.txt":       "Шерлок и Ватсон\nпривет, мир\n",
		"docs/wide.txt":         wide,
		"docs/latin.txt":        "caf\xe9 fast\n",
		"docs/long.txt":         strings.Repeat("x", 300) + " fast " + strings.Repeat("y", 300) + "\n",
		"docs/old.bak":          "backup fast\n",
		"target/debug/out.rs":   "fn run() {} // fast\n",
		"debug.log":             "fast log\n",
		"keep.log":              "fast kept\n",
		"local.txt":             "fast local\n",
		"archive.gz":            zipped.String(),
		"patterns":              "beta\ngam\n",
		"image.bin":             "fast\x00\x01 binary fast\n",
	}
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

const rgHabits = `
rg fast README.md
rg 'fast\w+' README.md
rg 'fast\w*' README.md
rg 'fn write\('
rg 'fn write\(' src
rg 'fn run'
rg lexopt
rg lexopt -g '*.toml'
rg lexopt -g '!*.toml'
rg lexopt -g '!*.toml' -g '*.toml'
rg 'fn run' -g '*.rs'
rg 'fn run' --type rust
rg 'fn run' -trust
rg 'int main' -g '*.{c,h}'
rg 'int main' -tc
rg lexopt --type-not rust
rg lexopt -Trust
rg --type-add 'web:*.html' --type-add 'web:*.css' --type-add 'web:*.js' -tweb title
rg --type-add 'web:*.{html,css,js}' -tweb title
rg fast README.md --replace QUICK
rg fast README.md -r QUICK
rg '^.*fast.*$' README.md -r QUICK
rg fast README.md --only-matching --replace QUICK
rg fast README.md -or QUICK
rg 'fast\s+(\w+)' README.md -r 'fast-$1'
rg 'fast\s+(?P<word>\w+)' README.md -r 'fast-$word'
rg fast
rg -i fast README.md
rg -S FAST README.md
rg -s fast README.md
rg -w cat docs
rg -x cat docs/words.txt
rg -v cat docs/words.txt
rg -c fast
rg --count-matches fast README.md
rg -l fast
rg --files-without-match fast docs
rg -n fast README.md
rg -N fast README.md
rg --column fast README.md
rg -b fast README.md
rg -H fast README.md
rg -I 'fn run'
rg -A1 gamma docs/guide.txt
rg -B1 gamma docs/guide.txt
rg -C1 beta docs/guide.txt
rg -C1 beta docs/guide.txt --context-separator '==='
rg -m1 beta docs/guide.txt
rg --max-count 1 fast
rg -F 'fast-track.' README.md
rg -e alpha -e delta docs/guide.txt
rg -f patterns docs/guide.txt
rg -uu notes
rg -u fast
rg -uuu fast
rg --no-ignore fast
rg --hidden hidden
rg --files
rg --files -g '*.rs'
rg --files --hidden -g '!.git'
rg --max-depth 1 fast
rg --heading -n 'fn run'
rg --no-heading 'fn run'
rg --vimgrep 'fn run'
rg -0 -l fast
rg --trim write src
rg --max-columns 100 fast docs/long.txt
rg --max-columns 100 --max-columns-preview fast docs/long.txt
rg --passthru beta docs/guide.txt
rg -U 'beta\ngamma' docs/guide.txt
rg -U --multiline-dotall 'alpha.*delta' docs/guide.txt
rg -z archive archive.gz
rg -z fast
rg -a fast image.bin
rg fast image.bin
rg -E utf-16le 'fast too' docs/wide.txt
rg Шерлок docs/wide.txt
rg Шерлок
rg -E latin1 'caf.' docs/latin.txt
rg '(?-u:.)ast' docs/latin.txt
rg --crlf 'fast$' docs/dos.txt
rg 'two fast$' docs/dos.txt
rg '\p{Cyrillic}+' -o docs
rg -q fast
rg -q nowhere
rg nowhere
rg --null-data -l fast docs/dos.txt
rg --color always fast README.md
rg --color ansi --colors 'match:fg:blue' fast README.md
rg --sortr path -l fast
rg 'a{2,' README.md -q
rg -j1 'fn \w+\(' -o --no-filename
rg --pcre2 'fast(?!er)' README.md
rg -P '(\w)\1' README.md
rg --no-ignore-vcs -l fast
rg --glob-case-insensitive -g 'readme.*' fast
rg --iglob 'READ*' -l fast
rg --null-data -c fast docs/dos.txt
rg --debug nowhere README.md --no-messages
`

const fdHabits = `
fd
fd read
fd '^x.*'
fd main src
fd . tests
fd -e md
fd -e rs mod
fd -g main.rs
fd -g '*.{c,h}'
fd pre-commit
fd -H pre-commit
fd num_cpu
fd -I out
fd -HI out
fd -u log
fd -u -p -g '**/.git/HEAD'
fd -p 'lesson-\d+/[a-z]+\.(jpg|png)'
fd -e rs -x echo
fd -e rs -x echo {}
fd -e c -e h -x echo {.}
fd -e h -x echo {/} {//}
fd -e jpg -x echo {} {.}.png
fd -e py -x echo {/.}
fd -g 'test_*.py' -X echo
fd -e rs -X echo
fd -H -E .git
fd -E '*.bak'
fd -E docs
fd -H '^\.pre' -tf
fd -tf
fd -td
fd -t x
fd -t e
fd '^[A-Z][0-9]+$'
fd -- '-pattern'
fd '[-]pattern'
fd -0 -e rs
fd --max-depth 1
fd -d 2 -e rs
fd --min-depth 3
fd --exact-depth 2 -e rs
fd -i README
fd -s readme
fd README
fd -F 'a.png'
fd -a guide
fd -1 guide
fd -q guide
fd -q nowhere
fd nowhere
fd -S +200b -tf
fd -S -10b -tf
fd --changed-within 1d -e md
fd --changed-before 1d
fd --prune tests
fd --max-results 1 guide
fd --and '\.rs$' mod
fd --no-ignore-vcs log
fd --base-directory src
fd --search-path docs guide
fd привет
`
