package glob

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/internal/stress"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect Dialect
		glob    string
		yes, no []string
	}{
		{"plain: star stays in one folder", Plain, "*.md", []string{"a.md", ".md"}, []string{"x/a.md", "a.txt"}},
		{"plain: ** crosses folders", Plain, "**/*.md", []string{"a.md", "x/a.md", "x/y/a.MD"}, []string{"a.mdx"}},
		{"plain: any case", Plain, "projects/**", []string{"Projects/a.md", "PROJECTS/x/y"}, []string{"Projects", "Projectsx/a"}},
		{"plain: Unicode case", Plain, "ÜBER/Σ*.md", []string{"über/σa.md", "Über/ςa.md"}, []string{"uber/σ.md"}},
		{"plain: the Kelvin sign is a k", Plain, "k*", []string{"\u212Aelvin", "Kelvin"}, nil},
		{"plain: a star before a folded letter", Plain, "*st*Σ.md", []string{"xxSTσ.md", "a\u017Ft\u03C2.MD", "sst-sTΣ.md"}, []string{"xs/tσ.md", "xts.md"}},
		{"plain: letters however composed", Plain, "Cafe\u0301s/**/na\u00EFve*", []string{"cafe\u0301s/nai\u0308ve.md", "Caf\u00E9s/x/na\u00EFve"}, []string{"Cafes/naive"}},
		{"plain: ? is one character", Plain, "?.md", []string{"é.md", "a.md"}, []string{"/.md", "ab.md", "x/a.md"}},
		{"plain: all else is literal", Plain, "[a]{b,c}!(x).md", []string{"[a]{b,c}!(x).md"}, []string{"ab.md"}},
		{"plain: backslash is literal", Plain, `a\*`, []string{`a\x`}, []string{"a*"}},
		{"plain: ** inside a name crosses too", Plain, "**.md", []string{"a.md", "x/a.md"}, []string{"a.txt"}},
		{"plain: a**b", Plain, "a**b", []string{"ab", "a/x/b", "axb"}, []string{"abc"}},
		{"plain: **/x/**", Plain, "**/daily/**", []string{"daily/a", "x/Daily/a/b"}, []string{"daily", "xdaily/a"}},
		{"plain: * at the top only", Plain, "*", []string{"a"}, []string{"a/b"}},
		{"plain: ** is everything", Plain, "**", []string{"a", "a/b/c"}, nil},
		{"plain: slashes around", Plain, "/Folder/", []string{"folder"}, []string{"folder/x"}},

		{"gitignore: a name at any depth", Gitignore, "main.go", []string{"main.go", "cmd/x/main.go"}, []string{"domain.go", "main.go/x"}},
		{"gitignore: suffix at any depth", Gitignore, "*.go", []string{"a.go", "x/.go", "x/y/z.go"}, []string{"a.gox", "a.go/b"}},
		{"gitignore: prefix at any depth", Gitignore, "test*", []string{"test", "x/test_a.go"}, []string{"atest", "test/a"}},
		{"gitignore: a slash anchors", Gitignore, "src/*.ts", []string{"src/a.ts"}, []string{"x/src/a.ts", "src/x/a.ts"}},
		{"gitignore: a leading slash anchors", Gitignore, "/a", []string{"a"}, []string{"x/a"}},
		{"gitignore: dir/**", Gitignore, "src/**", []string{"src/a", "src/x/y"}, []string{"src", "xsrc/a", "x/src/a"}},
		{"gitignore: braces with **", Gitignore, "src/**/*.{ts,tsx}", []string{"src/auth.ts", "src/a/b.tsx"}, []string{"src/a.js", "a.ts"}},
		{"gitignore: nested braces", Gitignore, "{a,b{c,d}}.go", []string{"a.go", "bc.go", "x/bd.go"}, []string{"b.go", "c.go"}},
		{"gitignore: ** in a brace", Gitignore, "{src/**,lib}/x", []string{"src/x", "src/a/x", "lib/x"}, []string{"x", "lib/a/x"}},
		{"gitignore: class", Gitignore, "[a-c]?.go", []string{"ax.go", "bé.go"}, []string{"a.go", "dx.go"}},
		{"gitignore: negated classes", Gitignore, "[!a-c][^x].go", []string{"dy.go"}, []string{"ay.go", "dx.go"}},
		{"gitignore: class of characters", Gitignore, "[é-ü]", []string{"ö", "x/é"}, []string{"e"}},
		{"gitignore: POSIX class", Gitignore, "[[:upper:]]*", []string{"Make", "x/A"}, []string{"make"}},
		{"gitignore: ] first in a class", Gitignore, "[]a]", []string{"]", "a"}, []string{"b"}},
		{"gitignore: a class hides braces", Gitignore, "{[,],b}", []string{",", "b"}, []string{"["}},
		{"gitignore: escapes", Gitignore, `\*\{a\}\[`, []string{"*{a}["}, []string{"xa"}},
		{"gitignore: case counts", Gitignore, "Makefile", []string{"Makefile"}, []string{"makefile"}},
		{"gitignore: dot files match", Gitignore, "*", []string{".env", "a/.b"}, nil},
		{"gitignore: ** within a name stays in one folder", Gitignore, "/a**b", []string{"ab", "axb"}, []string{"a/b"}},
		{"gitignore: ** at the end of a name too", Gitignore, "a**/b", []string{"a/b", "ax/b"}, []string{"a/x/b", "ab"}},
		{"gitignore: folder and below", Gitignore, "build/", []string{"build/x", "a/build/x/y"}, []string{"build", "buildx/a"}},
		{"gitignore: letters however composed", Gitignore, "*.{caf\u00E9,u}", []string{"a.cafe\u0301", "x/a.caf\u00E9"}, []string{"a.cafe"}},
		{"gitignore: ! is kept apart", Gitignore, "!*.go", []string{"a.go"}, []string{"a.c"}},
		{"gitignore: escaped !", Gitignore, `\!a`, []string{"!a"}, []string{"a"}},
		{"gitignore: trailing ** of a name", Gitignore, "**", []string{"a", "a/b"}, nil},
	} {
		g, err := Compile(c.glob, c.dialect)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, p := range c.yes {
			if !g.Match(p) {
				t.Errorf("%s: Match(%q, %q) = false", c.name, c.glob, p)
			}
		}
		for _, p := range c.no {
			if g.Match(p) {
				t.Errorf("%s: Match(%q, %q) = true", c.name, c.glob, p)
			}
		}
		if g.Match("") || g.MatchDir("") {
			t.Errorf("%s: matches the empty path", c.name)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct {
		glob   string
		offset int
		reason string
	}{
		{"", 0, "empty"}, {"!", 1, "empty"}, {"/", 0, "empty"}, {"!//", 1, "empty"}, {" \t", 0, "empty"},
		{"a{b", 1, `"{" is never closed`},
		{"!/x/a{b,{c}", 5, `"{" is never closed`},
		{"a}", 1, `"}" without`},
		{"src/[a-", 4, `"[" is never closed`},
		{"{[a,b}", 1, `"[" is never closed`},
		{"[z-a]", 0, "reversed"},
		{"[[:nope:]]", 0, "unknown class [:nope:]"},
		{`a\`, 1, "escapes nothing"},
		{strings.Repeat("{a,b}", 40), 65, "more than 10000"},
		{strings.Repeat("{", 80) + strings.Repeat("}", 80), 64, "nested deeper"},
		{strings.Repeat("a", 70000), 65536, "longer than"},
	} {
		_, err := Compile(c.glob, Gitignore)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("Compile(%.40q) = %v, want offset %d, %q", c.glob, err, c.offset, c.reason)
		}
	}
	if _, err := Compile("a", Dialect(9)); err == nil || !strings.Contains(err.Error(), "unknown dialect") {
		t.Errorf("unknown dialect: %v", err)
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		name      string
		globs     []string
		yes, no   []string
		open, cut []string // folders to enter and to skip
	}{
		{"none", nil, []string{"a", "x/b"}, nil, []string{"x"}, nil},
		{"one include", []string{"*.go"}, []string{"a.go", "x/b.go"}, []string{"a.c"}, []string{"x"}, nil},
		{"only excludes", []string{"!*.go", "!vendor"}, []string{"a.c"}, []string{"a.go", "vendor/x", "x/vendor/y/z"}, []string{"x"}, []string{"vendor", "x/vendor"}},
		{"the last one decides", []string{"*.go", "!*_test.go", "a_test.go"}, []string{"b.go", "a_test.go"}, []string{"b_test.go", "x.c"}, nil, nil},
		{"an excluded folder hides included files", []string{"!x", "x/*.go"}, nil, []string{"x/a.go"}, nil, []string{"x", "y"}},
		{"anchored includes prune", []string{"src/*/a.go", "lib/**"}, []string{"src/b/a.go", "lib/x"}, []string{"src/a.go"},
			[]string{"src", "src/b", "lib", "lib/x/y"}, []string{"doc", "src/b/c", "srcx", "libx"}},
		{"excluded by a folder glob", []string{"!build/"}, []string{"build"}, []string{"build/x"}, nil, []string{"build"}},
	} {
		f, err := CompileFilter(Gitignore, c.globs...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, p := range c.yes {
			if !f.Match(p) {
				t.Errorf("%s: Match(%q) = false", c.name, p)
			}
		}
		for _, p := range c.no {
			if f.Match(p) {
				t.Errorf("%s: Match(%q) = true", c.name, p)
			}
		}
		for _, p := range c.open {
			if !f.Descend(p) {
				t.Errorf("%s: Descend(%q) = false", c.name, p)
			}
		}
		for _, p := range c.cut {
			if f.Descend(p) {
				t.Errorf("%s: Descend(%q) = true", c.name, p)
			}
		}
	}
	var none *Filter
	if !none.Match("a") || !none.Descend("x") || !none.MatchFile("a") || !none.MatchDir("a") {
		t.Error("the nil filter hides something")
	}
}

// TestPruningIsNeverWrong checks that pruning enters all folders above each match.
func TestPruningIsNeverWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	matched := 0
	for range stress.Fewer(4000) {
		p := randomPattern(rng)
		for _, d := range []Dialect{Plain, Gitignore, Minimatch} {
			g, err := Compile(p, d)
			if err != nil {
				continue
			}
			f := NewFilter(g)
			for range 30 {
				path := randomPath(rng)
				if !f.Match(path) {
					continue
				}
				matched++
				for i := range len(path) {
					if path[i] == '/' && !f.Descend(path[:i]) {
						t.Fatalf("%s %q: %q passes, but %q is pruned", d, p, path, path[:i])
					}
				}
			}
		}
	}
	if matched < stress.Fewer(1000) {
		t.Fatalf("only %d matches: the test shows nothing", matched)
	}
}

// TestShapesAgree compares the shortcuts with the engine that they replace.
func TestShapesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	seen := map[shape]int{}
	for range stress.Fewer(6000) {
		p := randomPattern(rng)
		if rng.IntN(2) == 0 {
			p = []string{"**", "a", "*.b", "a*", "a/**", "**/a", "**/*.b", "**/ab*", "/*.b", "a/b", "*a", "a/**/*b"}[rng.IntN(12)]
		}
		for _, d := range []Dialect{Gitignore, Minimatch} {
			g, err := Compile(p, d)
			if err != nil || g.exact != nil {
				continue
			}
			for _, r := range g.rows {
				slow := row{ops: slices.Clone(r.ops)} // neither shape nor need
				for i := range slow.ops {
					slow.ops[i].last = false
				}
				for range 10 {
					path := randomPath(rng)
					if got, want := r.match(path), slow.match(path); got != want {
						t.Fatalf("%s %q, %q: shape %d says %v, the engine %v", d, p, path, r.shape, got, want)
					}
				}
				seen[r.shape]++
			}
		}
	}
	for s := shapeOps; s <= shapeTop; s++ {
		if seen[s] == 0 {
			t.Errorf("shape %d never came up", s)
		}
	}
}

// TestPlainHurry checks that skipping ahead after a star doesn't change results.
func TestPlainHurry(t *testing.T) {
	stress.SkipTiny(t)
	rng := rand.New(rand.NewPCG(6, 6))
	atoms := []string{"*", "*", "?", "a", "K", "s", "é", "b", ".", "\u212A", "\u017F", "/", "**/", "É"}
	pick := func(n int) string {
		var s string
		for range 1 + rng.IntN(n) {
			s += atoms[rng.IntN(len(atoms))]
		}
		return s
	}
	matched := 0
	for range 60000 {
		p, path := strings.Trim(pick(6), "/"), strings.NewReplacer("*", "x", "?", "y").Replace(pick(8))
		rest := "/" + p
		for strings.Contains(rest, "/**/") {
			rest = strings.Replace(rest, "/**/", "/", 1)
		}
		g, err := Compile(p, Plain)
		if err != nil || strings.Contains(rest, "**") || !fs.ValidPath(strings.ToValidUTF8(path, "")) || strings.Contains(path, "..") {
			continue // slowPlain doesn't handle this
		}
		want := slowPlain(p, path)
		if g.Match(path) != want {
			t.Fatalf("Match(%q, %q) = %v, want %v", p, path, !want, want)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches", matched)
	}
}

// slowPlain defines the plain dialect: it tries everything.
func slowPlain(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case strings.HasPrefix(p, "**/"):
		for i := range len(s) {
			if s[i] == '/' && slowPlain(p[3:], s[i+1:]) {
				return true
			}
		}
		return slowPlain(p[3:], s)
	case p[0] == '*':
		for i := 0; ; {
			if slowPlain(p[1:], s[i:]) {
				return true
			}
			if i == len(s) || s[i] == '/' {
				return false
			}
			i += width(s[i:])
		}
	case s == "":
		return false
	}
	a, n := utf8.DecodeRuneInString(p)
	b, m := utf8.DecodeRuneInString(s)
	return (a == '?' && b != '/' || a != '?' && strings.EqualFold(string(a), string(b))) && slowPlain(p[n:], s[m:])
}

// TestAgainstRipgrep compares the gitignore dialect, and filters, with rg -g, on the common
// syntax. It omits POSIX classes, which rg lacks, and "dir/", which in rg matches only the
// folder and thus no file.
func TestAgainstRipgrep(t *testing.T) {
	stress.SkipTiny(t)
	rg := os.Getenv("QUARRY_RG")
	if rg == "" {
		rg = "rg"
	}
	if _, err := exec.LookPath(rg); err != nil {
		t.Skip("ripgrep is not installed: install it or set QUARRY_RG")
	}
	dir := t.TempDir()
	var files []string
	for _, a := range []string{"", "src/", "src/a/", "src/a/b/", "lib/", "lib/src/", ".x/", "test/x/y/"} {
		for _, b := range []string{"a.go", "b.ts", "c.tsx", "ab", "README.md", ".env", "a_test.go", "b.d.ts"} {
			files = append(files, a+b)
			if err := os.MkdirAll(filepath.Join(dir, a), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, a+b), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(files)
	rng := rand.New(rand.NewPCG(5, 5))
	atoms := []string{"*", "**", "a", "b", "src", "lib", "*.go", "*.ts", "*.{ts,tsx}", "a*", "[ab]*", "[!ab]*", "?.go", "test", "x", ".x", ".*", "{a,b}.*", "*_test.go", "README.md", "{src,lib}"}
	const cases = 150
	listed := 0
	for range cases {
		var globs []string
		for range 1 + rng.IntN(3) {
			var parts []string
			for range 1 + rng.IntN(3) {
				parts = append(parts, atoms[rng.IntN(len(atoms))])
			}
			g := strings.Join(parts, "/")
			if rng.IntN(6) == 0 {
				g = "/" + g
			}
			if rng.IntN(3) == 0 {
				g = "!" + g
			}
			globs = append(globs, g)
		}
		if checkRipgrep(t, rg, dir, files, globs) > 0 {
			listed++
		}
	}
	if t.Logf("%d filters compared, ripgrep lists something for %d", cases, listed); listed < cases/2 {
		t.Error("too few of them list something")
	}
}

// checkRipgrep compares the accepted files with ripgrep's, and returns how many ripgrep lists.
func checkRipgrep(t *testing.T, rg, dir string, files, globs []string) int {
	t.Helper()
	args := []string{"--files", "--hidden", "--no-ignore", "--no-config", "--sort", "path"}
	for _, g := range globs {
		args = append(args, "-g", g)
	}
	cmd := exec.Command(rg, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		t.Fatalf("rg %q: %v", globs, err)
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(out) == 0 {
		want = nil
	}
	slices.Sort(want)
	f, err := CompileFilter(Gitignore, globs...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range files {
		if f.Match(p) {
			got = append(got, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("-g %q: got %q\nrg says %q", globs, got, want)
	}
	return len(want)
}

func TestMatchDoesNotAllocate(t *testing.T) {
	for _, c := range []struct {
		d Dialect
		p string
	}{
		{Plain, "**/Daily *.md"}, {Gitignore, "src/**/*.{ts,tsx}"}, {Gitignore, "**/[a-z]?x*"}, {Minimatch, "**/!(*.test).@(ts|js)"},
		{Minimatch, "{1..50}/*.ts"}, {Minimatch, "**/+(a|b*(c|d))*.ts"},
	} {
		g, err := Compile(c.p, c.d)
		if err != nil {
			t.Fatal(err)
		}
		f := NewFilter(g)
		n := testing.AllocsPerRun(100, func() {
			f.Match("src/deep/folder/some.test.ts")
			f.Descend("src/deep/folder")
			g.Match("Notes/DAILY Ünïcode.md")
		})
		if n != 0 {
			t.Errorf("%s %q: %v allocations", c.d, c.p, n)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, p := range agentPatterns {
		f.Add(p, "src/a.ts")
	}
	f.Add("{a,b}[!x-z]\\", "é\xff/\xfe")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern) > 300 || len(path) > 300 {
			return
		}
		for _, d := range []Dialect{Plain, Gitignore, Minimatch} {
			g, err := Compile(pattern, d)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(pattern) {
					t.Fatalf("%s %q: %v", d, pattern, err)
				}
				continue
			}
			g.Match(path)
			g.MatchDir(path)
			g.CouldMatchBelow(path)
		}
		CompileWild(pattern, true).Match(path)
		CompileWild(pattern, false).Match(path)
	})
}

func BenchmarkMatch(b *testing.B) {
	path := "drivers/gpu/drm/amd/display/dc/dml/dcn20/display_mode_vba_20.c"
	for _, c := range []struct {
		d Dialect
		p string
	}{
		{Gitignore, "*.go"}, {Gitignore, "drivers/**"}, {Gitignore, "drivers/**/*.{c,h}"}, {Plain, "**/*.md"}, {Minimatch, "**/!(*.test).@(ts|c)"},
	} {
		b.Run(fmt.Sprintf("%s/%s", c.d, strings.ReplaceAll(c.p, "/", "_")), func(b *testing.B) {
			g, err := Compile(c.p, c.d)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				g.Match(path)
			}
		})
	}
}

// Long patterns compile in linear time: four times the length takes at most about eight times
// as long, and well under a second.
func TestLongPatternsCompileFast(t *testing.T) {
	stress.SkipShort(t)
	for _, unit := range []string{`\\`, `\a`, "a", "*", "?", "**/", "[a]", `\`, "é", "a/", "!", "("} {
		for _, d := range []Dialect{Plain, Gitignore, Minimatch} {
			cost := func(n, times int) time.Duration {
				best := time.Hour
				for range times {
					start := stress.CPU()
					_, _ = Compile(strings.Repeat(unit, n/len(unit)), d) // some are refused
					best = min(best, stress.CPU()-start)
				}
				return best
			}
			// Quadratic code took 370 ms and more.
			if cost(64_000, 1) <= 200*time.Millisecond {
				continue
			}
			// Quadratic code takes 16 times as long for four times the text. Linear code was
			// once seen to take 11 times as long, on a machine that moved it between processors.
			if small, large := cost(16_000, 10), cost(64_000, 10); large > 200*time.Millisecond && large > 12*small {
				t.Errorf("%v of %q: 16 KB cost %v, 64 KB %v", d, unit, small, large)
			}
		}
	}
}

// The globs of a filter have a common limit.
func TestFilterIsBounded(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Repeat("{a,b}", 9)
	}
	for _, d := range []Dialect{Gitignore, Minimatch} {
		if _, err := CompileFilter(d, many...); err == nil || !strings.Contains(err.Error(), "give fewer globs") {
			t.Errorf("%v: 1,000 globs of 512 alternatives: %v", d, err)
		}
		if _, err := CompileFilter(d, many[:30]...); err != nil {
			t.Errorf("%v: 30 globs of 512 alternatives: %v", d, err)
		}
	}
}
