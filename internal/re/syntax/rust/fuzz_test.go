package rust

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/hir/hirtest"
	resyntax "quarry/internal/re/syntax"
	"quarry/internal/stress"
)

// FuzzParse checks that any input is parsed to a valid tree or refused with a position in
// the pattern.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`a(?i)b|[^c-f&&[:alpha:]--\w]{2,3}?`, `(?x) a # b`, `\b{start-half}\p{sc!=Greek}\x{1F600}`,
		`(?P<n>a)(?<m>b)`, `(?-u)[\x80-\xFF]\W.`, `((a{3}){3}){3}`, `[[[a]]~~b]`, `a{,2}`, `\`, "\xff", `[]-a]`, `(?mR)^$`,
	} {
		f.Add(s, uint16(0))
		f.Add(s, uint16(0xFFFF))
	}
	f.Fuzz(func(t *testing.T, pattern string, bits uint16) {
		flags := Flags{
			CaseInsensitive: bits&1 != 0, MultiLine: bits&2 != 0, DotMatchesNewLine: bits&4 != 0, SwapGreed: bits&8 != 0,
			NoUnicode: bits&16 != 0, CRLF: bits&32 != 0, IgnoreWhitespace: bits&64 != 0, UTF8: bits&128 != 0,
		}
		got, err := Parse(pattern, flags)
		if err != nil {
			e, ok := err.(*resyntax.Error)
			if !ok || e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(pattern) || e.Reason == "" {
				t.Fatalf("Parse(%q): %#v", pattern, err)
			}
			return
		}
		if err := hirtest.Check(got.Root); err != nil {
			t.Fatalf("Parse(%q): %v", pattern, err)
		}
		checkGroups(t, pattern, got)
		line, err := hir.LineMode(got.Root)
		if err != nil {
			return
		}
		if err := hirtest.Check(line); err != nil {
			t.Fatalf("LineMode of %q: %v", pattern, err)
		}
		if strings.Contains(hirtest.Show(line), `\n`) && !strings.Contains(hirtest.Show(line), `\\n`) {
			t.Fatalf("LineMode of %q has a line feed: %s", pattern, hirtest.Show(line))
		}
	})
}

// checkGroups checks that every group is in the tree once and has its name.
func checkGroups(t *testing.T, pattern string, got *resyntax.Parsed) {
	t.Helper()
	seen := make([]bool, len(got.Names))
	seen[0] = true
	var walk func(n *hir.Node)
	walk = func(n *hir.Node) {
		if n.Op == hir.OpCapture {
			if n.Cap >= len(seen) || seen[n.Cap] || n.Name != got.Names[n.Cap] {
				t.Fatalf("Parse(%q): group %d %q of %q", pattern, n.Cap, n.Name, got.Names)
			}
			seen[n.Cap] = true
		}
		for _, s := range n.Subs {
			walk(s)
		}
	}
	walk(got.Root)
	for i, ok := range seen {
		if !ok {
			t.Fatalf("Parse(%q): group %d isn't in the tree", pattern, i)
		}
	}
}

// tokens are joined to patterns; about half of these are valid.
var tokens = strings.Split(`a b k é ☃ . ^ $ | | ( (?: (?i) (?i: (?s) (?-u) (?u) (?x) (?mR) (?U) (?P<n> (?<m> ) ) ) ) * + ? {2} {2,} {2,3} {3,2} {,3} { } `+
	`[ [^ [a [^a [a-z [[:alpha:] [[:^digit:] ] ] ] ] - -- && ~~ a-z z-a \d \D \s \w \W \b \B \A \z \< \> \b{start} \b{end-half} \b{foo} `+
	`\x41 \xFF \x{41} \x{110000} \u0041 \u{1F600} \U0001F600 \n \t \. \- \# \/ \y \1 \pL \p{Greek} \P{Lu} \p{sc=Grek} \p{gc!=Nd} \p{foo} # ~ & , : = ! < >`, " ")

func randomPattern(rng *rand.Rand, tokens []string) string {
	var b strings.Builder
	for range 1 + rng.IntN(9) {
		b.WriteString(tokens[rng.IntN(len(tokens))])
		if rng.IntN(12) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// ripgrep returns the path of ripgrep 14 or later, whose parser this package follows, and the number
// of patterns to try. QUARRY_RG overrides the program on PATH, QUARRY_RG_PATTERNS the number.
func ripgrep(t *testing.T, count int) (string, int) {
	t.Helper()
	rg := os.Getenv("QUARRY_RG")
	if rg == "" {
		rg, _ = exec.LookPath("rg")
	}
	out, err := exec.Command(rg, "--version").Output()
	if err != nil {
		t.Skip("ripgrep is not installed: install it or set QUARRY_RG")
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(out), "ripgrep "), ".")
	if n, _ := strconv.Atoi(version); n < 14 {
		t.Skipf("ripgrep is of version %s", version)
	}
	if n, err := strconv.Atoi(os.Getenv("QUARRY_RG_PATTERNS")); err == nil {
		count = n
	}
	return rg, count
}

// TestAgainstRipgrep checks that ripgrep accepts the same patterns.
func TestAgainstRipgrep(t *testing.T) {
	rg, count := ripgrep(t, 300)
	rng := rand.New(rand.NewPCG(7, 7))
	accepted := 0
	for range count {
		pattern := randomPattern(rng, tokens)
		// Outside of multiline mode ripgrep refuses \n.
		out, err := exec.Command(rg, "--no-config", "-U", "-q", "-e", pattern, os.DevNull).CombinedOutput()
		exit, isExit := err.(*exec.ExitError)
		if err != nil && !isExit {
			t.Fatal(err)
		}
		want := err == nil || exit.ExitCode() == 1
		// ripgrep puts (?:…) around every pattern before it parses.
		_, gotErr := Parse("(?:"+pattern+")", Flags{})
		if (gotErr == nil) != want {
			t.Errorf("Parse(%q): %v, ripgrep: %s", pattern, gotErr, out)
		}
		if want {
			accepted++
		}
	}
	t.Logf("ripgrep accepts %d of %d", accepted, count)
}

// TestClassesAgainstRipgrep compares the members of random classes, using a file with one
// character per line. It omits \p{sc!=Latin}, which ripgrep 15.0 reads like \p{sc=Latin};
// later versions of its parser fix that.
func TestClassesAgainstRipgrep(t *testing.T) {
	rg, count := ripgrep(t, 150)
	// ripgrep 15 knows Unicode 16, so characters that Unicode 17 added or changed are skipped.
	var newer func(rune) bool
	if err := exec.Command(rg, "--no-config", "-q", `\p{age=17.0}`, os.DevNull).Run(); err.(*exec.ExitError).ExitCode() == 1 {
		newer = func(rune) bool { return false }
	} else {
		in16, err := Parse(`[\p{age=16.0}\p{Cn}]`, Flags{})
		if err != nil {
			t.Fatal(err)
		}
		// Unicode 17 treats U+00B8 as a letter in word boundaries, and U+0295 has no case there.
		newer = func(r rune) bool { return r == 0xB8 || r == 0x295 || !in16.Root.Class.Contains(r) }
	}
	var text strings.Builder
	var chars []rune
	for r := rune(1); r < 0x30000; r++ {
		// All of Latin, Greek, Cyrillic and a sample of the rest.
		if r != '\n' && r != '\r' && utf8.ValidRune(r) && !newer(r) && (r < 0x600 || r%37 == 0 || 0x1E00 <= r && r < 0x2200) {
			chars = append(chars, r)
			text.WriteString(string(r) + "\n")
		}
	}
	file := filepath.Join(t.TempDir(), "chars")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	items := strings.Split(`a-z A-Z k s é-ö σ Ω -- && ~~ \d \D \s \S \w \W [:alpha:] [:^lower:] [^ [ ] ] \pL \p{Lu} \P{Ll} \p{Greek} \p{scx=Grek} `+
		`\p{gc=Nd} \P{sc=Latin} \p{age=5.0} \p{wb=ALetter} \p{Emoji} \p{Alphabetic} \P{XIDC} \x{100}-\x{17F} -`, " ")
	rng := rand.New(rand.NewPCG(9, 9))
	for compared := 0; compared < count; {
		var b strings.Builder
		b.WriteString([]string{"", "(?i)"}[rng.IntN(2)] + []string{"[", "[^"}[rng.IntN(2)])
		for range 1 + rng.IntN(6) {
			b.WriteString(items[rng.IntN(len(items))])
		}
		b.WriteString("]")
		got, err := Parse(b.String(), Flags{})
		if err != nil || got.Root.Op != hir.OpClass {
			continue
		}
		compared++
		out, err := exec.Command(rg, "--no-config", "-a", "-N", "-x", "-e", b.String(), file).Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatalf("%q: %v", b.String(), err)
		}
		in := map[rune]bool{}
		for line := range strings.Lines(string(out)) {
			r, _ := utf8.DecodeRuneInString(line)
			in[r] = true
		}
		for _, r := range chars {
			if got.Root.Class.Contains(r) != in[r] {
				t.Errorf("Parse(%q): %U is in: %v, in ripgrep: %v", b.String(), r, !in[r], in[r])
				break
			}
		}
	}
	t.Logf("%d classes, %d characters each", count, len(chars))
}

// TestAgainstGo checks that Go's parser accepts the same patterns of the common syntax.
func TestAgainstGo(t *testing.T) {
	stress.SkipTiny(t)
	common := strings.Split(`a b é ☃ . ^ $ | ( (?: (?i) (?s: ) ) * + ? {2} {2,} {2,3} [ab] [^a-z] [[:alpha:]] \d \W \b \A \z \x41 \x{41} \n \. \pL \p{Greek} \P{Lu}`, " ")
	rng := rand.New(rand.NewPCG(3, 3))
	accepted := 0
	for range 20_000 {
		pattern := randomPattern(rng, common)
		_, err := syntax.Parse(pattern, syntax.Perl)
		if e, ok := err.(*syntax.Error); ok && e.Code == syntax.ErrInvalidRepeatOp {
			continue // a** is fine in Rust
		}
		_, gotErr := Parse(pattern, Flags{})
		if (err == nil) != (gotErr == nil) && !onlyInGo(pattern) {
			t.Errorf("Parse(%q): %v, Go: %v", pattern, gotErr, err)
		}
		if err == nil {
			accepted++
		}
	}
	if t.Logf("Go accepts %d of 20,000", accepted); accepted < 2000 {
		t.Error("too few")
	}
}

// onlyInGo reports whether the pattern has (?) or an operator after (?i), which are errors
// only in Rust.
func onlyInGo(pattern string) bool {
	for _, s := range []string{"(?)", "(?i)*", "(?i)+", "(?i)?", "(?i){"} {
		if strings.Contains(pattern, s) {
			return true
		}
	}
	return false
}
