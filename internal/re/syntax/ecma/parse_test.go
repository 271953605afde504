package ecma

import (
	"errors"
	"strings"
	"testing"
	"time"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
	"quarry/internal/stress"
)

func flagsOf(s string) (f Flags) {
	for _, c := range s {
		f |= map[rune]Flags{'i': IgnoreCase, 'm': Multiline, 's': DotAll, 'u': Unicode, 'v': UnicodeSets}[c]
	}
	return f
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		pattern, flags string
		offset         int
		reason         string
	}{
		{"(foo", "", 0, "Unterminated group"},
		{"a(b(c)", "", 1, "Unterminated group"},
		{"foo)", "", 3, "Unmatched ')'"},
		{"*a", "", 0, "Nothing to repeat"},
		{"a**", "", 2, "Nothing to repeat"},
		{"a|+", "", 2, "Nothing to repeat"},
		{"^*", "", 1, "Nothing to repeat"},
		{`\b+`, "", 2, "Nothing to repeat"},
		{"{1}", "", 0, "Nothing to repeat"},
		{"(?<=a)*", "", 6, "Invalid quantifier"},
		{"(?=a)*", "u", 5, "Invalid quantifier"},
		{"a{2,1}", "", 1, "numbers out of order in {} quantifier"},
		{"a{", "u", 1, "Incomplete quantifier"},
		{"{", "u", 0, "Lone quantifier brackets"},
		{"a}", "u", 1, "Lone quantifier brackets"},
		{"a]", "v", 1, "Lone quantifier brackets"},
		{`a\`, "", 1, `\ at end of pattern`},
		{"(?P<n>a)", "", 0, "Invalid group"},
		{"(?#a)", "", 0, "Invalid group"},
		{"(?>a)", "", 0, "Invalid group"},
		{"(?", "", 0, "Invalid group"},
		{"(?<1>a)", "", 3, "Invalid capture group name"},
		{"(?<>a)", "", 3, "Invalid capture group name"},
		{"(?<n", "", 3, "Invalid capture group name"},
		{`(?<\u{110000}>a)`, "", 3, "Invalid Unicode escape"},
		{"(?<n>a)(?<n>b)", "", 7, "Duplicate capture group name"},
		{"(?:(?<n>a)|b)(?<n>c)", "", 13, "Duplicate capture group name"},
		{`(?<n>a)\k<m>`, "", 7, "Invalid named capture referenced"},
		{`(?<n>a)\k`, "", 7, "Invalid named reference"},
		{`\k<n>`, "u", 0, "Invalid named capture referenced"},
		{"(?ii:a)", "", 3, "Repeated flag in flag group"},
		{"(?i-i:a)", "", 4, "Repeated flag in flag group"},
		{"(?i--s:a)", "", 4, "Multiple dashes in flag group"},
		{"(?-:a)", "", 0, "Invalid flag group"},
		{"(?iu:a)", "", 0, "Invalid flag group"},
		{"(?i)a", "", 0, "Invalid flag group"},
		{"[a", "", 0, "Unterminated character class"},
		{"x[^]", "v", -1, ""},
		{"[]", "", -1, ""},
		{"[z-a]", "", 1, "Range out of order in character class"},
		{`[\w-a]`, "u", 1, "Invalid character class"},
		{`[\w-a]`, "v", 1, "Invalid character class"},
		{`\1`, "u", 0, "Invalid escape"},
		{`\a`, "u", 0, "Invalid escape"},
		{`\-`, "u", 0, "Invalid escape"},
		{`\x1`, "u", 0, "Invalid escape"},
		{`\00`, "u", 0, "Invalid decimal escape"},
		{`[\1]`, "u", 1, "Invalid class escape"},
		{`\c1`, "u", 0, "Invalid Unicode escape"},
		{`\u12`, "u", 0, "Invalid Unicode escape"},
		{`\u{110000}`, "u", 0, "Invalid Unicode escape"},
		{`\p{Foo}`, "u", 0, "Invalid property name"},
		{`\p{lu}`, "u", 0, "Invalid property name"},
		{`\pL`, "u", 0, "Invalid property name"},
		{`[\p{Foo}]`, "u", 1, "Invalid property name in character class"},
		{"[a&&&b]", "v", 4, "Invalid character in character class"},
		{"[a-c&&b]", "v", 6, "Invalid set operation in character class"},
		{"[a&&b--c]", "v", 7, "Invalid set operation in character class"},
		{"[a!!b]", "v", 2, "Invalid set operation in character class"},
		{"[(]", "v", 1, "Invalid character in character class"},
		{`[^\q{ab}]`, "v", 0, "Negated character class may contain strings"},
		{`\P{RGI_Emoji}`, "v", 0, "Invalid property name"},
		{"a", "uv", 0, "Invalid regular expression flags"},
		{"a\xff", "", 1, "Invalid UTF-8 in pattern"},
		{strings.Repeat("(", 2000), "", 1000, "Regular expression too large"},
		{strings.Repeat("[", 2000), "v", 1000, "Regular expression too large"},
		{strings.Repeat("(?<n>a)|", 1001), "", 8000, "Too many captures"},
		{strings.Repeat("(a)", 1<<16), "", 3 * (1<<16 - 1), "Too many captures"},
		{strings.Repeat("a*", 300_000), "", -2, "Regular expression too large"},
	} {
		_, err := Parse(c.pattern, flagsOf(c.flags), nil)
		if c.offset == -1 {
			if err != nil {
				t.Errorf("Parse(%q, %s): %v, want none", c.pattern, c.flags, err)
			}
			continue
		}
		var e *syntax.Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%.40q, %s) = %v, want %s", c.pattern, c.flags, err, c.reason)
			continue
		}
		if e.Reason != c.reason || c.offset >= 0 && e.Offset != c.offset {
			t.Errorf("Parse(%.40q, %s): %q at %d, want %q at %d", c.pattern, c.flags, e.Reason, e.Offset, c.reason, c.offset)
		}
		if e.Pattern != c.pattern || e.Offset+e.Length > len(c.pattern) {
			t.Errorf("Parse(%.40q, %s): span %d+%d is outside", c.pattern, c.flags, e.Offset, e.Length)
		}
	}
}

// TestExactness checks which patterns the linear engines match completely, and which need the
// exact engine, for groups only or for spans too.
func TestExactness(t *testing.T) {
	for _, c := range []struct {
		pattern, flags     string
		superset, captures bool
	}{
		{"a(b|c)*d", "", false, false},
		{`\bfoo\b`, "i", false, false},
		{`\bfoo\b`, "iu", true, false}, // because ſ and K are word characters there
		{`\w+`, "iu", false, false},
		{"a(?=b)", "", true, false},
		{"(?<!a)b", "", true, false},
		{`(a)\1`, "", true, false},
		{`\1(a)`, "", false, false}, // the reference is always before its group: empty
		{`(a\1)`, "", false, false},
		{`(?:\1(a))*`, "", false, false},
		{`(?<=\1(a))b`, "", true, false}, // read leftwards
		{"(a)|b", "", false, false},
		{"(?:(a)|b)*", "", false, true},
		{"(?:(a)?b)+", "", false, true},
		{"(?:(a)b)+", "", false, false},
		{"(a*)*", "", false, true},
		{"(?:a*)*", "", false, false},
		{"(a*)?", "", false, true},
		{"(a*)+", "", false, true},
		{"(a*){2}", "", false, false},
		{"(?:|a)*", "", true, false},
		{"(?:a*?)*", "", true, false},
		{"(?:a?b?)*", "", false, false},
		{"(?:a*|b)+", "", true, false},
		{"(?:^|a)*", "", true, false},
		{"(?:a|^)*", "", false, false},
		{"(?:a|)?", "", false, false},
	} {
		p, err := Parse(c.pattern, flagsOf(c.flags), nil)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.pattern, err)
			continue
		}
		if p.Superset != c.superset || p.CapturesDiffer != c.captures {
			t.Errorf("Parse(%q, %s): Superset %v, CapturesDiffer %v, want %v, %v", c.pattern, c.flags, p.Superset, p.CapturesDiffer, c.superset, c.captures)
		}
	}
}

// TestTrees compares the trees of parsed patterns.
func TestTrees(t *testing.T) {
	for _, c := range []struct{ pattern, flags, want string }{
		{"abc", "", `abc`},
		{"a{1}b{0}c", "", `ac`},
		{`\ud83d\ude00`, "", "\U0001F600"},
		{`\u{1F600}`, "u", "\U0001F600"},
		{`\u{61}`, "", strings.Repeat("u", 61)},
		{`\101\x41\cJ\0`, "", "AA\n\x00"},
		{`\8\a\c`, "", `8a\c`},
		{"x{,3}", "", "x{,3}"},
		{`\d-]`, "", ""},
	} {
		p, err := Parse(c.pattern, flagsOf(c.flags), nil)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.pattern, err)
			continue
		}
		if c.want == "" {
			if p.Root.Op != hir.OpConcat {
				t.Errorf("Parse(%q) is not a sequence", c.pattern)
			}
			continue
		}
		if got := unrolled(p.Root); got != c.want {
			t.Errorf("Parse(%q, %s) is %q, want %q", c.pattern, c.flags, got, c.want)
		}
	}
}

// unrolled returns the only text that matches a tree of literals and fixed repetitions.
func unrolled(n *hir.Node) string {
	switch n.Op {
	case hir.OpLiteral:
		return string(n.Lit)
	case hir.OpRepeat:
		return strings.Repeat(unrolled(n.Subs[0]), n.Min)
	}
	var b strings.Builder
	for _, s := range n.Subs {
		b.WriteString(unrolled(s))
	}
	return b.String()
}

func TestNames(t *testing.T) {
	p, err := Parse(`(a)(?<é>b)(?:(?<n>c)|(?<n>d))(?<$_\u{61}\u0062>e)`, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(p.Names, ","), ",,é,n,n,$_ab"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

// TestLongPatterns checks that the parser takes linear time and modest memory.
func TestLongPatterns(t *testing.T) {
	stress.SkipShort(t)
	for _, c := range []struct{ name, pattern, flags string }{
		{"literal", strings.Repeat("abcdefgh", 1<<17), ""},
		{"class", "[" + strings.Repeat("一丁七", 1<<16) + "]", ""},
		{"class with v", "[" + strings.Repeat("一丁七", 1<<16) + "]", "v"},
		{"strings", `[\q{` + strings.Repeat("ab|cd|", 1<<15) + "}]", "v"},
		{"alternates", strings.Repeat("foo|bar|", 10_000), ""},
		{"references", "(a)" + strings.Repeat(`(\1\2\3)`, 2000), ""},
		{"references to a large group", "(" + strings.Repeat("a?", 20_000) + ")" + strings.Repeat(`\1`, 20_000), ""},
		{"subtractions", `[\p{L}` + strings.Repeat("--a--b", 10_000) + "]", "iv"},
		{"folded", strings.Repeat("Straße", 20_000), "i"},
		{"names", strings.Repeat("(?<n>a)|", 1_000), ""},
		{"nested", strings.Repeat("(?:", 900) + "a" + strings.Repeat(")*", 900), ""},
	} {
		if _, err := Parse(c.pattern, flagsOf(c.flags), nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`(?<n>a)\k<n>|[^\d-x]{2,3}?`, `[\p{L}--[a-z]&&\q{ab|c}]`, `(?i-m:\u{61}\c)`, "[", "(?<", `\u{`} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(UnicodeSets))
	}
	f.Fuzz(func(t *testing.T, pattern string, flags uint8) {
		begin := stress.CPU()
		p, err := Parse(pattern, Flags(flags&31), nil)
		if d := stress.CPU() - begin; d > 2*time.Second {
			t.Errorf("%d bytes took %v", len(pattern), d)
		}
		var e *syntax.Error
		switch {
		case err == nil && p.Root == nil:
			t.Error("neither tree nor error")
		case err != nil && !errors.As(err, &e):
			t.Errorf("error of type %T", err)
		case err != nil && (e.Offset < 0 || e.Offset+e.Length > len(pattern)):
			t.Errorf("span %d+%d of %q is outside", e.Offset, e.Length, pattern)
		}
	})
}
