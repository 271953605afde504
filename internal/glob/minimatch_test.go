package glob

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/stress"
)

var update = flag.Bool("update", false, "rewrite testdata/minimatch.json from npm's minimatch")

// oracleTable is the format of testdata/minimatch.json, which has minimatch's results.
type oracleTable struct {
	Paths []string          `json:"paths"`
	Match map[string]string `json:"match"` // pattern → one 0 or 1 per path
}

// agentPatterns are patterns that people and agents have used.
var agentPatterns = []string{
	"*", "**", "**/*", "*.ts", "**/*.ts", "src/**", "src/**/*", "src/**/*.ts", "src/*.ts", "src/*", "src",
	"**/auth*.ts", "**/*auth*", "src/**/*.{ts,tsx}", "**/*.{js,ts}", "{src,test}/**/*.ts", "*.{json,md}",
	"**/*.test.ts", "**/__tests__/**", "**/index.*", "!**/*.ts", "!src/**", "!!*.md", "README*", "read?e.md",
	"**/.*", ".*", ".*/**", "**/.env*", "[a-c]*", "[!a-c]*", "[^a-c]*", "**/[A-Z]*", "**/[[:upper:]]*",
	"**/*.@(ts|tsx)", "**/!(*.test).ts", "!(src)/**", "**/+(a|b).js", "**/*(a|b).js", "**/?(a)b.js",
	"src/{a,b}/{c,d}.ts", "file{1..3}.txt", "file{01..03}.txt", "file{a..c}.txt", "{a,b,{c,d}}.md",
	"a/**/b", "a/**/b/**/c", "**/a/**", "**/node_modules/**", "a**b", "a/**b", "**a/b", "a\\*b", "[*]", "a[*]b",
	"**/*.{test,spec}.{js,ts,jsx,tsx}", "#notes.md", "\\#notes.md", "\\!x", "./src/*.ts", "/src/*.ts", "src/", "a//b",
	"a/../b", "**/../b", "{a}", "{a}/b", "{,src/}*.md", "{}", "{},a", "${a,b}", "@(a|b)/c", "+()", "?()", "!()x",
	"*.md*", "[[:alpha:]]*", "[[:word:]-]*.md", "[[:print:]]*", "[^[:graph:]]*", "*(*)", "+(?)", "!(!(a))", "@(a|!(b))*",
	"**/é*", "[é-ü]*", "?.md", "日本*", "*(日|本)語.md",
}

var agentPaths = []string{
	"README.md", "readme.md", "a", "b", "c", "a/b", "a/b/c", "a/x/b", "a/x/y/b/z/c", "ab", "axb", "a*b", "*", "a.md", "b.md",
	"src", "src/a.ts", "src/a.tsx", "src/auth.ts", "src/auth/login.ts", "src/auth/auth.test.ts", "src/a/c.ts", "src/b/d.ts",
	"test/a.ts", "test/x/a.spec.js", "lib/node_modules/x/index.js", "node_modules/x/index.js", "index.ts", "x/index.test.tsx",
	".env", ".env.local", "x/.env", ".git/config", ".a/b", "file1.txt", "file02.txt", "file2.txt", "filec.txt", "a.js", "b.js",
	"aab.js", "x/ab.js", "x/b.js", "x/aabb.js", "#notes.md", "!x", "package.json", "x/__tests__/y.ts", "A", "x/Zed.go", "d.md",
	"{a}", "{a}/b", "{}", "+()", "é", "x/é.md", "é.md", "日本語.md", "a-b.md", "_x.md", "a b.md", "$a", "${a,b}", "...", ".x.", "x.",
}

func TestMinimatchTable(t *testing.T) {
	file := filepath.Join("testdata", "minimatch.json")
	if *update {
		writeOracleTable(t, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table oracleTable
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Match) < 500 {
		t.Fatalf("table holds %d patterns, want at least 500", len(table.Match))
	}
	for p, want := range table.Match {
		compareWithMinimatch(t, p, table.Paths, want)
	}
}

func writeOracleTable(t *testing.T, file string) {
	rng := rand.New(rand.NewPCG(1, 1))
	patterns := append([]string{}, agentPatterns...)
	for len(patterns) < 900 {
		patterns = append(patterns, randomPattern(rng))
	}
	patterns = compilable(patterns)
	table := oracleTable{Paths: agentPaths, Match: map[string]string{}}
	for i, line := range askMinimatch(t, patterns, table.Paths) {
		table.Match[patterns[i]] = line
	}
	data, err := json.MarshalIndent(table, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMinimatchLive compares with minimatch itself on patterns not in the table.
func TestMinimatchLive(t *testing.T) {
	stress.SkipTiny(t)
	if npmFolder() == "" {
		t.Skip("npm package minimatch not found; set QUARRY_NPM to the folder that holds it")
	}
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 77))
		var patterns, paths []string
		for range stress.N(1500) {
			patterns = append(patterns, randomPattern(rng))
		}
		for range 60 {
			paths = append(paths, randomPath(rng))
		}
		patterns = compilable(patterns)
		matched := 0
		for i, line := range askMinimatch(t, patterns, paths) {
			matched += strings.Count(line, "1")
			compareWithMinimatch(t, patterns[i], paths, line)
		}
		pairs := len(patterns) * len(paths)
		t.Logf("%d patterns, %d pairs, %d match", len(patterns), pairs, matched)
		if matched < pairs/200 || matched > pairs/2 {
			t.Errorf("%d of %d pairs match: the generator is too narrow", matched, pairs)
		}
	}
}

func compareWithMinimatch(t *testing.T, p string, paths []string, want string) {
	t.Helper()
	g, err := Compile(p, Minimatch)
	if err != nil {
		t.Errorf("Compile(%q): %v", p, err)
		return
	}
	for i, path := range paths {
		if got := g.Match(path); got != (want[i] == '1') {
			t.Errorf("Match(%q, %q) = %v, minimatch says %v", p, path, got, !got)
		}
	}
}

// compilable removes patterns that this package refuses and minimatch takes literally.
func compilable(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		if _, err := Compile(p, Minimatch); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func askMinimatch(t *testing.T, patterns, paths []string) []string {
	t.Helper()
	in, err := json.Marshal(map[string][]string{"paths": paths, "patterns": patterns})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", filepath.Join("testdata", "minimatch.js"), npmFolder())
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(patterns) {
		t.Fatalf("minimatch answered %d patterns of %d", len(lines), len(patterns))
	}
	return lines
}

// npmFolder returns the folder with the package minimatch, or "".
func npmFolder() string {
	if _, err := exec.LookPath("node"); err != nil {
		return ""
	}
	dirs := []string{os.Getenv("QUARRY_NPM"), "/usr/local/lib/node_modules", "/usr/lib/node_modules", "node_modules"}
	for _, d := range dirs {
		if d == "" {
			continue
		}
		// Older versions export the function itself, and differ in details.
		if _, err := os.Stat(filepath.Join(d, "minimatch", "dist", "commonjs", "index.js")); err == nil {
			return d
		}
	}
	return ""
}

func randomPath(rng *rand.Rand) string {
	atoms := []string{"a", "b", "c", "ab", "aa", "bc", ".a", "a.b", "abc", "é", "x1", "-", "12", "B", "a b", "ba", ".", "_"}
	var parts []string
	for range 1 + rng.IntN(4) {
		var s string
		for range 1 + rng.IntN(3) {
			s += atoms[rng.IntN(len(atoms))]
		}
		if strings.Trim(s, ".") == "" {
			s += "a"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "/")
}

func randomPattern(rng *rand.Rand) string {
	lits := []string{"a", "b", "c", "ab", ".", "é", "1", "-", "B", "a.b", "(", ")", "|", "$", "^", "+", "@", ",", "_"}
	classes := []string{"[ab]", "[!ab]", "[^b-z]", "[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[![:digit:]]", "[[:alnum:]_]", "[\\]a]",
		"[z-a]", "[a-[:alpha:]]", "[c-az]", "[[:graph:]a]", "[^[:print:]a]", "[.]", "[*]", "[a", "[!a", "[a-\\c]", "[[]", "[{]", "[a/b]"}
	var gen func(depth int) string
	seq := func(depth int) string {
		var s string
		for range rng.IntN(3) {
			s += gen(depth)
		}
		return s
	}
	gen = func(depth int) string {
		n := 16
		if depth > 2 {
			n = 10
		}
		switch rng.IntN(n) {
		case 0, 1, 2, 3:
			return lits[rng.IntN(len(lits))]
		case 4, 5:
			return "*"
		case 6:
			return "?"
		case 7:
			return classes[rng.IntN(len(classes))]
		case 8:
			return "/"
		case 9:
			return []string{"\\*", "\\a", "\\{", "\\\\", "\\,", "\\.", "**", "!", "//", "/../"}[rng.IntN(10)]
		case 10, 11, 12:
			op := string("?*+@!"[rng.IntN(5)])
			s := seq(depth + 1)
			for range rng.IntN(3) {
				s += "|" + seq(depth+1)
			}
			return op + "(" + s + ")"
		case 13, 14:
			s := seq(depth + 1)
			for range rng.IntN(3) {
				s += "," + seq(depth+1)
			}
			return "{" + s + "}"
		default:
			return []string{"{1..3}", "{a..c}", "{c..a..2}", "{01..12..5}", "{-2..2}", "{a..}"}[rng.IntN(6)]
		}
	}
	var parts []string
	for range 1 + rng.IntN(3) {
		if rng.IntN(4) == 0 {
			parts = append(parts, "**")
			continue
		}
		var s string
		for range 1 + rng.IntN(3) {
			s += gen(0)
		}
		parts = append(parts, s)
	}
	p := strings.Join(parts, "/")
	if strings.Contains(p, "{") {
		// A class that can't match anything ends its part. minimatch joins alternatives into
		// one part, so it loses the ones after such a class.
		p = strings.NewReplacer("[z-a]", "z", "[a-[:alpha:]]", "a").Replace(p)
	}
	if rng.IntN(15) == 0 {
		p = "!" + p
	}
	return p
}

func TestMinimatchRefuses(t *testing.T) {
	for _, c := range []struct {
		pattern string
		offset  int
		reason  string
	}{
		{"", 0, "empty pattern"},
		{"  ", 0, "empty pattern"},
		{"src/[a-z", 4, `"[" is never closed`},
		{"src/{a,b", 4, `"{" is never closed`},
		{"a}b", 1, `"}" without "{"`},
		{"{a,{b,c}", 0, `"{" is never closed`},
		{strings.Repeat("{a,b}", 30), 0, "more than 10000 patterns"},
		{"{1..100000}", 0, "more than 10000 patterns"},
		{strings.Repeat("{", 100) + "a,b" + strings.Repeat("}", 100), 0, "nested deeper"},
		{strings.Repeat("!(", 9) + "a" + strings.Repeat(")", 9), 0, ""},
		{"x" + strings.Repeat("!(", 9) + "a" + strings.Repeat(")", 9), 0, "nested too deep"},
	} {
		_, err := Compile(c.pattern, Minimatch)
		var e *Error
		if c.reason == "" {
			continue
		}
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("Compile(%.30q) = %v, want offset %d and %q", c.pattern, err, c.offset, c.reason)
		}
	}
	for _, p := range []string{`\[a`, `\{a`, `a\}`, "[{]", "[}]", "a]"} {
		if _, err := Compile(p, Minimatch); err != nil {
			t.Errorf("Compile(%q): %v, want none: escaped or in a class", p, err)
		}
	}
}

// TestNoBlowUp matches patterns on which a backtracking matcher takes practically forever. It
// must return quickly.
func TestNoBlowUp(t *testing.T) {
	name := strings.Repeat("a", 200)
	path := strings.Repeat("a/", 100) + name
	for _, p := range []string{
		strings.Repeat("a*", 60) + "b",
		strings.Repeat("**/a/", 60) + "b",
		strings.Repeat("*(a|aa)", 10) + "b",
		strings.Repeat("*(", 16) + "a" + strings.Repeat(")", 16) + "b",
		"x!(!(a*b))", strings.Repeat("**/*a*", 30) + "b", strings.Repeat("**/+(a|*)", 10) + "/b",
	} {
		for _, d := range []Dialect{Plain, Gitignore, Minimatch} {
			g, err := Compile(p, d)
			if err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			if g.Match(path) || g.Match(name) {
				t.Errorf("%s: %q matches", d, p)
			}
		}
	}
}

func ExampleCompile() {
	g, err := Compile("src/**/*.{ts,tsx}", Minimatch)
	fmt.Println(g.Match("src/auth.ts"), g.Match("src/a/b.tsx"), g.Match("lib/a.ts"), err)
	// Output: true true false <nil>
}
