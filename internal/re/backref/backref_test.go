package backref_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quarry/internal/re/backref"
	"quarry/internal/re/nfa"
	"quarry/internal/re/pike"
	"quarry/internal/re/syntax/ecma"
	"quarry/internal/stress"
)

// TestVectors compares with JavaScript's results: the byte spans of the match and its groups.
// The linear engines also run the patterns that they must match without help.
func TestVectors(t *testing.T) {
	for _, c := range []struct{ pattern, flags, text, want string }{
		// Look-around.
		{"a(?=b)", "", "aab", "1-2"},
		{"a(?!b)", "", "aba", "2-3"},
		{"(?<=a)b", "", "bab", "2-3"},
		{"(?<!a)b", "", "abb", "2-3"},
		{"(?=(a+))a*b\\1", "", "baaabac", "3-6 3-4"},
		{"(?!(a))b", "", "ab", "1-2 -"},
		{"(?<=([abc]+)([abc]+))$", "", "abc", "3-3 0-1 1-3"},
		{"(?<=\\1(a))b", "", "aab", "2-3 1-2"},
		{"(?<=é)x", "", "éx", "2-3"},
		{"(?=a)*b", "", "b", "0-1"},
		{"(?:(?=(a))){0,2}a", "", "a", "0-1 -"},
		{"(?=(a)){2}a", "", "a", "0-1 0-1"},
		{"(?=(b))\\1 ", "", "ab ", "1-3 1-2"},
		{"(?<=(?=(a)\\1).)b", "", "aab", "none"},

		// References.
		{"(a+)b\\1", "", "aabaa", "0-5 0-2"},
		{"(é)\\1", "i", "éÉ", "0-4 0-2"},
		{"(k)\\1", "iu", "k\u212a", "0-4 0-1"},
		{"(k)\\1", "i", "k\u212a", "none"},
		{"(?i:(a)\\1)", "", "aA", "0-2 0-1"},
		{"(a)(?i:\\1)", "", "aA", "0-2 0-1"},
		{"(?<n>a)\\k<n>", "", "aa", "0-2 0-1"},
		{"\\1(a)", "", "a", "0-1 0-1"},
		{"(a\\1)", "", "aa", "0-1 0-1"},
		{"(?:(a)|(b)){2}\\1", "", "ab", "0-2 - 1-2"},
		{"(?:(?<n>x)|(?<n>y))\\k<n>", "", "xyy", "1-3 - 1-2"},
		{"(.)\\1", "u", "😀😀", "0-8 0-4"},

		// Loops.
		{"(|a)+", "", "aaa", "0-3 2-3"},
		{"(?:|a)*", "", "aaa", "0-3"},
		{"(?:a*?)*", "", "aaa", "0-3"},
		{"(a*)*", "", "b", "0-0 -"},
		{"(a*)+", "", "b", "0-0 0-0"},
		{"(a*){2}", "", "a", "0-1 1-1"},
		{"(z)((a+)?(b+)?(c))*", "", "zaacbbbcac", "0-10 0-1 8-10 8-9 - 9-10"},
		{"(?:(a)|b)*", "", "ab", "0-2 -"},
		{"(?:a{2,3}){2,}?b", "", "aaaaab", "0-6"},
		{"(?:ab){2}?", "", "ababab", "0-4"},
		{"(?:ab){1,2}?", "", "abab", "0-2"},

		// Assertions and sets.
		{"^b", "", "a\nb", "none"},
		{"^b", "m", "a\u2028b", "4-5"},
		{"a$", "m", "a\rb", "0-1"},
		{".+", "", "a\u2029b", "0-1"},
		{".+", "s", "a\u2029b", "0-5"},
		{"a(?-s:.)b", "s", "a\nb", "none"},
		{"(?m:^b)|^c", "", "a\nc\nb", "4-5"},
		{"\\s+", "", "a\ufeff\u00a0\u3000b", "1-9"},
		{"\\d", "", "٣3", "2-3"},
		{"\\w", "i", "ſs", "2-3"},
		{"\\w", "iu", "ſs", "0-2"},
		{"\\W", "iu", "ſs-", "3-4"},
		{"a\\b", "i", "aſ", "0-1"},
		{"a\\b", "iu", "aſ", "none"},
		{"[^x]", "i", "Xa", "1-2"},
		{"\\P{Lu}", "iu", "A", "0-1"},
		{"\\P{Lu}", "iv", "A", "none"},
		{"\\p{Script_Extensions=Greek}", "u", "aΩ", "1-3"},
		{"[\\p{L}--[a-z]]", "v", "aé", "1-3"},
		{"[\\w&&\\d]+", "v", "ab12", "2-4"},
		{"[\\q{abc|d|}x]", "v", "abc", "0-3"},
		{"[\\q{abc|d|}x]", "v", "z", "0-0"},
		{"[A--a]", "iv", "aA", "none"}, // folded before the operation
		{"[A&&a]", "iv", "bA", "1-2"},
		{"[^a--b]", "iv", "Aab", "2-3"},
		{"[^[a-z]--b]", "v", "ab", "1-2"},
		{"ß", "i", "ẞ", "none"},
		{"ß", "iu", "ẞ", "0-3"},
		{"σ", "i", "ς", "0-2"},
		{"ᾀ", "i", "ᾈ", "none"},

		// Annex B.
		{"a{b", "", "a{b", "0-3"},
		{"]}{", "", "]}{", "0-3"},
		{"\\c", "", "\\c", "0-2"},
		{"[\\c1]", "", "\x11", "0-1"},
		{"[\\d-x]+", "", "1-x", "0-3"},
		{"\\1\\8\\141", "", "\x018a", "0-3"},
		{"\\u{2}", "", "uu", "0-2"},
		{"\\k<a>", "", "k<a>", "0-4"},

		// Text is characters, not code units, and not always valid.
		{"^.$", "", "😀", "0-4"},
		{"[😀]", "", "😀", "0-4"},
		{"\\ud83d\\ude00", "", "😀", "0-4"},
		{"\\ud83d", "", "😀", "none"},
		{"[^a]", "", "\xff\xe2\x82", "none"},
		{"(?<=.)b", "", "\xffb", "none"},
		{"(?<!.)b", "", "\xffb", "1-2"},
	} {
		tree, err := ecma.ParseTree(c.pattern, flagsOf(c.flags), nil)
		if err != nil {
			t.Errorf("/%s/%s: %v", c.pattern, c.flags, err)
			continue
		}
		caps := make([]int, 2*len(tree.Names))
		ok, err := backref.Compile(tree).NewMatcher(nil).Find([]byte(c.text), 0, caps)
		if got := spans(ok, caps); err != nil || got != c.want {
			t.Errorf("/%s/%s on %q: %s, %v, want %s", c.pattern, c.flags, c.text, got, err, c.want)
		}
		p := tree.Parsed()
		prog, err := nfa.Compile(p.Root, nfa.Options{UTF8: true})
		if err != nil {
			t.Fatal(err)
		}
		var cache pike.Cache
		ok = cache.Find(prog, pike.Input{Hay: []byte(c.text), To: len(c.text)}, caps) == pike.Match
		got, want := spans(ok, caps), c.want
		switch {
		case p.Superset:
			if !ok && want != "none" {
				t.Errorf("/%s/%s on %q: the tree is too narrow", c.pattern, c.flags, c.text)
			}
			continue
		case p.CapturesDiffer:
			got, want = strings.Fields(got)[0], strings.Fields(want)[0]
		}
		if got != want {
			t.Errorf("/%s/%s on %q: linear %s, want %s", c.pattern, c.flags, c.text, got, want)
		}
	}
}

func compile(t testing.TB, pattern string, flags ecma.Flags) *backref.Program {
	tree, err := ecma.ParseTree(pattern, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	return backref.Compile(tree)
}

func TestFindFrom(t *testing.T) {
	m := compile(t, "(?<=a)b|^c", 0).NewMatcher(nil)
	var caps [2]int
	for _, c := range []struct {
		text  string
		start int
		want  string
	}{
		{"abab", 0, "1-2"},
		{"abab", 1, "1-2"}, // the look-behind sees the text before the start
		{"abab", 2, "3-4"},
		{"abab", 4, "none"},
		{"cc", 1, "none"},
	} {
		ok, err := m.Find([]byte(c.text), c.start, caps[:])
		if got := spans(ok, caps[:]); err != nil || got != c.want {
			t.Errorf("Find(%q, %d) = %s, %v, want %s", c.text, c.start, got, err, c.want)
		}
	}
	if ok, _ := m.MatchAt([]byte("abab"), 2, nil); ok {
		t.Error("MatchAt looked further")
	}
	if ok, _ := m.MatchAt([]byte("abab"), 3, caps[:]); !ok || caps != [2]int{3, 4} {
		t.Errorf("MatchAt(3) = %v %v", ok, caps)
	}
}

// explosive has patterns that take exponential time, or a deep stack.
var explosive = []struct{ pattern, text string }{
	{`(a+)+$(?!b)`, strings.Repeat("a", 64) + "b"},
	{`(x+x+)+y\1`, strings.Repeat("x", 64)},
	{`(?=(a|aa)+$)a`, strings.Repeat("a", 64) + "b"},
	{`(.*)(.*)(.*)(.*)(.*)\1x`, strings.Repeat("é", 400)},
	{`(?:(?:a?){1000}){1000}(?=b)`, strings.Repeat("a", 40)},
	{`(?:){1000000000}(?:\b){1000000000}(?:a?){1000000000}`, "a"},
}

func TestBudgetEndsIt(t *testing.T) {
	for _, c := range explosive {
		b := backref.NewBudget(1 << 20)
		p := compile(t, c.pattern, 0)
		_, err := p.NewMatcher(b).Find([]byte(c.text), 0, nil)
		if !errors.Is(err, backref.ErrBudget) {
			t.Errorf("%s: %v, want ErrBudget", c.pattern, err)
		}
		if b.Left() != 0 {
			t.Errorf("%s: %d steps left", c.pattern, b.Left())
		}
		// A second matcher of the same query shares the spent budget.
		if _, err := p.NewMatcher(b).Find([]byte(c.text), 0, nil); !errors.Is(err, backref.ErrBudget) {
			t.Errorf("%s: the budget isn't shared: %v", c.pattern, err)
		}
	}
}

// A cancelled search ends within 50 ms of processor time. The best of three runs counts,
// because the cancelling timer may be late.
func TestCancelTakesEffect(t *testing.T) {
	for _, c := range explosive {
		p := compile(t, c.pattern, 0)
		late := time.Hour
		for try := 0; try < 3 && late > 50*time.Millisecond; try++ {
			budget := backref.NewBudget(1 << 60)
			cancelled := make(chan time.Duration, 1)
			time.AfterFunc(5*time.Millisecond, func() {
				cancelled <- stress.CPU()
				budget.Stop(context.Canceled)
			})
			_, err := p.NewMatcher(budget).Find([]byte(c.text), 0, nil)
			// A deep stack may end the search earlier.
			if !errors.Is(err, context.Canceled) && !errors.Is(err, backref.ErrBudget) {
				t.Errorf("%s: %v", c.pattern, err)
			}
			late = stress.CPU() - <-cancelled
		}
		if late > 50*time.Millisecond {
			t.Errorf("%s: spent %v after it was cancelled", c.pattern, late)
		}
	}
}

// TestLongLine checks that a loop over characters needs no stack, and that a loop over groups,
// which needs it, is refused before it takes too much.
func TestLongLine(t *testing.T) {
	stress.SkipTiny(t)
	text := []byte(strings.Repeat("ab ", 1<<20))
	if ok, err := compile(t, `^[ab ]*$(?<=\s)`, 0).NewMatcher(nil).Find(text, 0, nil); !ok || err != nil {
		t.Errorf("characters: %v, %v", ok, err)
	}
	if ok, err := compile(t, `^(?:(a)b\s)*$(?!x)`, 0).NewMatcher(nil).Find(text, 0, nil); ok || !errors.Is(err, backref.ErrBudget) {
		t.Errorf("groups: %v, %v", ok, err)
	}
	if ok, err := compile(t, `(?<=needle)x`, 0).NewMatcher(nil).Find(text, 0, nil); ok || err != nil {
		t.Errorf("absent: %v, %v", ok, err)
	}
}

// FuzzMatch compares the lowered tree with the exact engine. It must match wherever the exact
// engine does, and be equal where no exact engine is required.
func FuzzMatch(f *testing.F) {
	f.Add(`(a|b)*?\1(?=c)`, "abac", uint8(0))
	f.Add(`(?:|a)+(?<!b)`, "aab", uint8(ecma.IgnoreCase))
	f.Add(`[\q{ab|c}--c]\b`, "abc", uint8(ecma.UnicodeSets))
	f.Add(`(?:(a*)?|\B){2,}`, "aa\xff", uint8(ecma.Unicode))
	f.Add(`($){2000000000}`, "0", uint8(ecma.Unicode))
	f.Add(`(?:\b){2000000000}0`, " 0", uint8(0))
	f.Add(`(?:\b|a){2000000000}`, "aa a", uint8(0))
	f.Fuzz(func(t *testing.T, pattern, text string, flags uint8) {
		if len(pattern) > 60 || len(text) > 30 {
			return
		}
		tree, err := ecma.ParseTree(pattern, ecma.Flags(flags&31), nil)
		if err != nil {
			return
		}
		caps, linear := make([]int, 2*len(tree.Names)), make([]int, 2*len(tree.Names))
		exact, err := backref.Compile(tree).NewMatcher(backref.NewBudget(1<<18)).Find([]byte(text), 0, caps)
		if err != nil {
			return
		}
		p := tree.Parsed()
		prog, err := nfa.Compile(p.Root, nfa.Options{UTF8: true, SizeLimit: 1 << 20})
		if err != nil {
			return
		}
		var cache pike.Cache
		ok := cache.Find(prog, pike.Input{Hay: []byte(text), To: len(text)}, linear) == pike.Match
		switch {
		case exact && !ok:
			t.Errorf("/%s/ (%d) on %q: %s only exactly", pattern, flags&31, text, spans(exact, caps))
		case p.Superset:
		case exact != ok, ok && [2]int(caps) != [2]int(linear), ok && !p.CapturesDiffer && spans(true, caps) != spans(true, linear):
			t.Errorf("/%s/ (%d) on %q: exact %s, linear %s", pattern, flags&31, text, spans(exact, caps), spans(ok, linear))
		}
	})
}

// BenchmarkSteps measures the time of a million steps.
func BenchmarkSteps(b *testing.B) {
	for _, c := range explosive[:4] {
		p := compile(b, c.pattern, 0)
		b.Run(c.pattern, func(b *testing.B) {
			for b.Loop() {
				_, err := p.NewMatcher(backref.NewBudget(1<<20)).Find([]byte(c.text), 0, nil)
				if !errors.Is(err, backref.ErrBudget) {
					b.Fatal(err)
				}
			}
		})
	}
}
