package trigram

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"quarry/internal/scan"
	"quarry/internal/stress"
	"quarry/match"
)

func gramsOf(x *Extractor, text string) map[Gram]bool {
	x.Add([]byte(text))
	set := map[Gram]bool{}
	for _, g := range x.Take(nil) {
		set[g] = true
	}
	return set
}

func TestGramsFoldAndBreak(t *testing.T) {
	for _, c := range []struct {
		name, literal, text string
		fold, want          bool
	}{
		{"same", "needle", "a needle here", false, true},
		{"another case", "NEEDLE", "a nEeDlE here", true, true},
		{"its case is minded", "NEEDLE", "a needle here", false, false},
		{"one capital is enough to tell", "neeDle", "needle", false, false},
		{"which one is a capital is not kept", "abC", "Abc", false, true},
		{"any case of a constant", "pm_resume", "PM_RESUME", true, true},
		{"any case, no letters", "123", "x123", true, true},
		{"Kelvin sign meets k", "kelvin", "\u212Aelvin", true, true},
		{"long s meets s", "süss", "ſüſſ", true, true},
		{"Greek sigmas meet", "ΟΔΟΣ", "οδος", true, true},
		{"supplementary case", "𐐀𐐁𐐂", "𐐨𐐩𐐪", true, true},
		{"absent", "needle", "nee dle", false, false},
		{"not over a line end", "abcd", "ab\ncd", false, false},
		{"a literal over lines asks for its lines", "abc\ndef", "def\nabc", false, true},
		{"too short to ask", "ab", "", false, true},
		{"bytes that aren't text ask for nothing", "a\xFFb", "", false, true},
		{"but their neighbours do", "a\xFFbcd", "a\xFFbxd", false, false},
		{"the rest of a character asks for nothing", "\x84\xAAab", "\u212Aab", false, true},
		{"the start of a character asks for nothing", "ab\xE2\x84", "ab\u212A", false, true},
		{"Windows-1252", "naïve", "na\xEFve\n", false, true},
		{"Windows-1252, its own characters", "“naïve”", "\x93na\xEFve\x94", false, true},
		{"valid parts of an odd line", "naïve", "naïve \xEF", false, true},
		{"tab is not space", "a\tb", "a b", false, false},
	} {
		f := literal(c.literal, c.fold)
		set := gramsOf(new(Extractor), c.text)
		if got := f.Holds(func(g Gram) bool { return set[g] }); got != c.want {
			t.Errorf("%s: %q in %q = %v, want %v", c.name, c.literal, c.text, got, c.want)
		}
	}
}

// Every character and its case variants share a class, and only the line feed is a break.
func TestClassesFollowFolding(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		c := class(r)
		if folded := class(match.FoldRune(r)); folded != c {
			t.Fatalf("class of %U is %d, of its fold %d", r, c, folded)
		}
		if (c == classBreak) != (r == '\n') || c > classMask {
			t.Fatalf("class of %U is %d", r, c)
		}
	}
}

// The fast loop agrees with the definition: the grams of all three adjacent characters of each line.
func TestExtractAgreesWithDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := new(Extractor)
	for range 400 {
		text := randomText(r, 1+r.IntN(400))
		if r.IntN(40) == 0 { // longer than a step
			text = strings.Repeat(text+"é", 1+step/len(text))
		}
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "?")
		}
		want := map[Gram]bool{}
		for _, line := range strings.Split(text, "\n") {
			var classes []uint8
			var capitals []bool
			for _, c := range line {
				classes = append(classes, class(c))
				capitals = append(capitals, 'A' <= c && c <= 'Z')
			}
			for i := 0; i+3 <= len(classes); i++ {
				g := Gram(classes[i])<<15 | Gram(classes[i+1])<<8 | Gram(classes[i+2])<<1
				if slices.Contains(capitals[i:i+3], true) {
					g |= capital
				}
				want[g] = true
			}
		}
		got := gramsOf(x, text)
		if len(got) != len(want) {
			t.Fatalf("%q: %d grams, want %d", text, len(got), len(want))
		}
		for g := range want {
			if !got[g] {
				t.Fatalf("%q: gram %x is missing", text, g)
			}
		}
	}
	if slices.ContainsFunc(x.seen[:], func(w uint64) bool { return w != 0 }) {
		t.Error("Take left bits set")
	}
}

var pieces = []string{
	"mutex_lock", "Kelvin", "\u212A", "ſ", "straße", "STRASSE", "Σ", "σ", "ς", "naïve", "na\xEFve", "\x93quote\x94",
	"日本語", "привет", "ПРИВЕТ", "\xFF\xFE", "\xE2\x84", "\n", "\r\n", "\t", " ", "0x1F", "foo(bar)", "a", "b", "I", "ı", "İ", "ǅ", "é", "\x00", "\uFFFD",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// randomPattern turns a part of the text into a more general pattern, so that it often matches.
func randomPattern(r *rand.Rand, text string) string {
	runes := []rune(text)
	from := r.IntN(len(runes))
	part := runes[from:min(len(runes), from+1+r.IntN(12))]
	var b strings.Builder
	for _, c := range part {
		s := regexp.QuoteMeta(string(c))
		switch r.IntN(12) {
		case 0:
			s = "."
		case 1:
			s = "(?:" + s + "|xyz)"
		case 2:
			s += "?"
		case 3:
			s += "+"
		case 4:
			s = `\w*` + s
		case 5:
			s = regexp.QuoteMeta(string(unicode.SimpleFold(c)))
		case 6:
			if c != '\n' && c != utf8.RuneError {
				s = "[" + s + "q]"
			}
		case 7:
			s = "(" + s + ")"
		}
		b.WriteString(s)
	}
	p := b.String()
	if r.IntN(6) == 0 {
		p += "|" + regexp.QuoteMeta(pieces[r.IntN(len(pieces))])
	}
	if r.IntN(8) == 0 {
		p = `\b` + p
	}
	return strings.ToValidUTF8(p, "")
}

// soundness checks that a text that matches satisfies the pattern's formula.
func soundness(t *testing.T, x *Extractor, text, expr string, opts match.Options) (matched, asked bool) {
	t.Helper()
	p, err := match.Compile(expr, opts)
	if err != nil {
		return false, false
	}
	res, err := scan.New(p.NewMatcher()).Bytes([]byte(text), &scan.Request{Detail: scan.Exists})
	if err != nil || res.Matched == 0 {
		return false, false
	}
	f := From(p.Need())
	set := gramsOf(x, text)
	if !f.Holds(func(g Gram) bool { return set[g] }) {
		t.Errorf("%q matches %q with %+v, but its formula does not hold: %+v", expr, text, opts, f)
	}
	return true, f.Op != Any
}

func TestMatchingTextsHaveTheGrams(t *testing.T) {
	x := new(Extractor)
	tried, matched, asked := 0, 0, 0
	for seed := range stress.Start(t, "gram soundness", 20_000, 100_000_000).Cases() {
		r := stress.Rand(seed)
		tried++
		text := randomText(r, 1+r.IntN(120))
		opts := match.Options{
			Syntax:    []match.Syntax{match.Rust, match.Rust, match.ECMAScript, match.Literal}[r.IntN(4)],
			Case:      match.Case(r.IntN(3)),
			Mode:      match.Mode(r.IntN(3)),
			WholeWord: r.IntN(8) == 0,
			DotAll:    r.IntN(4) == 0,
			Unicode:   r.IntN(2) == 0,
		}
		expr := randomPattern(r, text)
		if opts.Syntax == match.Literal {
			at := r.IntN(len(text))
			expr = text[at:min(len(text), at+1+r.IntN(10))]
		} else if opts.Syntax == match.Rust && r.IntN(6) == 0 {
			expr = "(?-u)" + expr
		}
		m, a := soundness(t, x, text, expr, opts)
		if m {
			matched++
		}
		if a {
			asked++
		}
	}
	if tried > 1000 && (matched < tried/4 || asked < tried/12) {
		t.Errorf("only %d patterns matched and %d of them asked for grams: the test shows nothing", matched, asked)
	}
}

func FuzzMatchingTextsHaveTheGrams(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 50 {
		text := randomText(r, 60)
		f.Add(text, randomPattern(r, text), uint8(r.IntN(256)))
	}
	x := new(Extractor)
	f.Fuzz(func(t *testing.T, text, expr string, how uint8) {
		soundness(t, x, text, expr, match.Options{
			Syntax: match.Syntax(how % 3), Case: match.Case(how / 3 % 3), Mode: match.Mode(how / 9 % 3), Unicode: how&128 != 0,
		})
	})
}

func TestFormulasOfPatterns(t *testing.T) {
	for _, c := range []struct {
		expr  string
		op    Op
		grams int
		subs  int
	}{
		{"mutex_lock", All, 8, 0},
		{"(?i)MUTEX", All, 0, 3},
		{"(?i)x_1_2", All, 2, 1},
		{"(?i)aaaaaa", Either, 0, 2},
		{"ab", Any, 0, 0},
		{"a.c", Any, 0, 0},
		{"abc|x", Any, 0, 0},
		{"foo.*bar", All, 2, 0},
		{"foobar|quux", Either, 0, 2},
	} {
		f := From(match.MustCompile(c.expr, match.Options{}).Need())
		if f.Op != c.op || len(f.Grams) != c.grams || len(f.Subs) != c.subs {
			t.Errorf("formula of %q: op %d with %d grams and %d parts, want %d with %d and %d",
				c.expr, f.Op, len(f.Grams), len(f.Subs), c.op, c.grams, c.subs)
		}
	}
}

// BenchmarkExtract extracts the grams of the Go toolchain's sources.
func BenchmarkExtract(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command, install Go: ", err)
	}
	root := strings.TrimSpace(string(out))
	var texts [][]byte
	total := 0
	for _, dir := range []string{"net/http", "go/types", "runtime", "crypto/tls", "cmd/compile/internal/ssa"} {
		entries, err := os.ReadDir(root + "/src/" + dir)
		if err != nil {
			b.Skip("no Go sources: ", err)
		}
		for _, e := range entries {
			if text, err := os.ReadFile(root + "/src/" + dir + "/" + e.Name()); err == nil {
				texts = append(texts, text)
				total += len(text)
			}
		}
	}
	x := new(Extractor)
	var grams []Gram
	b.SetBytes(int64(total))
	for b.Loop() {
		for _, text := range texts {
			x.Add(text)
			grams = x.Take(grams[:0])
		}
	}
}
