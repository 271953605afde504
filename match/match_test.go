package match

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/re/backref"
	"quarry/internal/stress"
)

func found(t *testing.T, expr, text string, opts Options) string {
	t.Helper()
	p, err := Compile(expr, opts)
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	var got []string
	p.NewMatcher().Each([]byte(text), func(start, end int) bool {
		got = append(got, text[start:end])
		return true
	})
	return strings.Join(got, "|")
}

// One vector for each documented feature, so that these are tested even without the suites.
func TestFeatures(t *testing.T) {
	js := Options{Syntax: ECMAScript}
	fold := Options{Case: Insensitive}
	for _, c := range []struct {
		name, expr, text, want string
		opts                   Options
	}{
		{"dot stops at the line", "a.b", "a\nb axb", "axb", Options{}},
		{"class set operations", `[a-z&&[^aeiou]]+`, "banana", "b|n|n", Options{}},
		{"difference", `[a-z--aeiou]+`, "banana", "b|n|n", Options{}},
		{"symmetric difference", `[a-c~~b-d]+`, "abcd", "a|d", Options{}},
		{"ASCII class", `[[:upper:]]+`, "aBCdÉ", "BC", Options{}},
		{"Unicode digits", `\d+`, "1٣४", "1٣४", Options{}},
		{"without Unicode", `(?-u:\w)+`, "aéb", "a|b", Options{}},
		{"script", `\p{Greek}+`, "abc λόγος", "λόγος", Options{}},
		{"script by key", `\p{sc=Cyrillic}+`, "да no", "да", Options{}},
		{"negated property", `\P{L}+`, "ab12", "12", Options{}},
		{"one letter property", `\pN+`, "ab12", "12", Options{}},
		{"lazy", `a+?`, "aaa", "a|a|a", Options{}},
		{"counted", `a{2,3}`, "aaaaa", "aaa|aa", Options{}},
		{"swapped greed", `(?U)a+`, "aa", "a|a", Options{}},
		{"verbose", "(?x) a b # both", "ab", "ab", Options{}},
		{"word boundary", `\bfoo\b`, "foo éfoo foo_", "foo", Options{}},
		{"not a boundary", `\Boo`, "foo oo", "oo", Options{}},
		{"word start and end", `\b{start}\w|\w\b{end}`, "ab cd", "a|b|c|d", Options{}},
		{"angle brackets", `\<o|o\>`, "oko", "o|o", Options{}},
		{"half boundaries", `\b{start-half}-\b{end-half}`, "a-b - c", "-", Options{}},
		{"escapes", `\x41\x{42}\u0043\u{44}\U00000045`, "ABCDE", "ABCDE", Options{}},
		{"lines end before \\r\\n", `b$`, "ab\r\nb\r\n", "b|b", Options{}},
		{"a blank CRLF line", `^$`, "x\r\n\r\n", "", Options{}},
		{"text ends are line ends", `\A.|.\z`, "ab\ncd", "a|b|c|d", Options{}},
		{"multiline", `b\nc`, "ab\ncd", "b\nc", Options{Mode: Multiline}},
		{"multiline anchors", `^c$`, "b\nc\nd", "c", Options{Mode: Multiline}},
		{"multiline anchors before \\r\\n", `a$`, "xa\r\na\n", "a|a", Options{Mode: Multiline}},
		{"multiline dot before \\r\\n", `.+`, "xa\r\na\n", "xa|a", Options{Mode: Multiline}},
		{"multiline over \\r\\n", `a$\s^b`, "xa\r\nb\n", "", Options{Mode: Multiline}},
		{"whole lines before \\r\\n", `xa`, "xa\r\nxa\nxab\r\n", "xa|xa", Options{Mode: Multiline, WholeLine: true}},
		{"multiline dot", `b.c`, "b\nc", "b\nc", Options{Mode: Multiline, DotAll: true}},
		{"text anchors", `^c`, "b\nc", "", Options{Mode: Text}},
		{"CRLF flag", `(?Rm)^b$`, "a\r\nb\r\n", "b", Options{Mode: Text}},
		{"whole words", "foo", "foo foob -foo-", "foo|foo", Options{WholeWord: true}},
		{"whole lines", "foo|foob", "foob\nxfoo\n", "foob", Options{WholeLine: true}},
		{"any case", "straße", "STRAßE", "STRAßE", fold},
		{"Kelvin and long s", "sky", "\u017f\u212ay", "\u017f\u212ay", fold},
		{"the replacement character has no case", "x|\ufffd", "a\ufffdb", "\ufffd", Options{Case: Insensitive}},
		{"the replacement character in a word", "é\ufffd", "\xff É\ufffdb", "É\ufffd", Options{Case: Insensitive}},
		{"smart case folds", "foo", "FOO", "FOO", Options{Case: Smart}},
		{"smart case keeps", "Foo", "FOO Foo", "Foo", Options{Case: Smart}},
		{"smart case ignores escapes", `\Wfoo\p{Lu}`, " FOOX", " FOOX", Options{Case: Smart}},
		{"literal", "a.b*", "a.b* axb", "a.b*", Options{Syntax: Literal}},
		{"words", "Lock mutex", "a mutex, a LOCK", "mutex|LOCK", Options{Syntax: Words}},
		{"JavaScript look-behind", `(?<=\$)\d+`, "$10 20", "10", js},
		{"JavaScript look-ahead", `foo(?!bar)`, "foobar foo", "foo", js},
		{"JavaScript backreference", `(\w)\1`, "aabb ab", "aa|bb", js},
		{"JavaScript digits are ASCII", `\d+`, "1٣", "1", js},
		{"JavaScript empty iterations", `(|a)+`, "aa", "aa", js},
		{"JavaScript literal brace", `a{`, "a{", "a{", js},
		{"JavaScript named group", `(?<y>\d)\k<y>`, "11 12", "11", js},
		{"JavaScript count no text has", `x{2147483648}|(y){3000000000}|b`, "xxyyb", "b", js},
		{"JavaScript bound no text has", `x{0,2147483648}y`, "xxy", "xxy", js},
		{"JavaScript count of what may be empty", `(?:x?){2147483648}y`, "xxy", "xxy", js},
		{"JavaScript white space", `\s`, "\ufeff", "\ufeff", js},
		{"invalid UTF-8 is passed over", `.`, "\xffa", "a", Options{}},
		{"bytes", `(?-u:\xff)`, "\xff", "\xff", Options{}},
	} {
		if got := found(t, c.expr, c.text, c.opts); got != c.want {
			t.Errorf("%s: %q in %q: %q, want %q", c.name, c.expr, c.text, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	js := Options{Syntax: ECMAScript}
	for _, c := range []struct {
		name, expr string
		opts       Options
		offset     int
		reason     string // a part of it
		hint       string // a part of it
	}{
		{"unclosed group", "a(b", Options{}, 1, "group", ""},
		{"unopened group", "ab)", Options{}, 2, "group", ""},
		{"unclosed class", "x[a", Options{}, 1, "class", ""},
		{"nothing to repeat", "a|*", Options{}, 2, "repetition", ""},
		{"a glob", "*.go", Options{}, 0, "repetition", "glob"},
		{"a deep glob", "**/*.ts", Options{}, 0, "repetition", "glob"},
		{"look-ahead", "foo(?=bar)", Options{}, 3, "look-around", "JavaScript"},
		{"look-behind", "(?<!a)b", Options{}, 0, "look-around", "JavaScript"},
		{"backreference", `(a)\1`, Options{}, 3, "backreference", "JavaScript"},
		{"unescaped brace", "if {", Options{}, 3, "", "{"},
		{"bad range", "[z-a]", Options{}, 1, "range", ""},
		{"unknown property", `\p{Klingon}`, Options{}, 0, "property", ""},
		{"unknown escape", `\y`, Options{}, 0, "escape", ""},
		{"bad flag", "(?q)", Options{}, 2, "flag", ""},
		{"bad count", "a{3,2}", Options{}, 1, "repetition", ""},
		{"same name twice", "(?<a>x)(?<a>y)", Options{}, 10, "name", ""},
		{"a line feed in a line", `a\nb`, Options{}, 1, "line feed", "multiline"},
		{"too large", `(\w{1000}){1000}`, Options{}, 0, "too large", "smaller"},
		{"JavaScript group", "(foo", js, 0, "Unterminated group", ""},
		{"JavaScript repeat", "a**", js, 2, "Nothing to repeat", ""},
		{"JavaScript class", "[b-a]", js, 1, "out of order", ""},
		{"no word", "  ", Options{Syntax: Words}, 0, "no word", ""},
	} {
		_, err := Compile(c.expr, c.opts)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %q: %v, want an *Error", c.name, c.expr, err)
			continue
		}
		if e.Offset != c.offset || !strings.Contains(e.Reason, c.reason) || !strings.Contains(e.Hint, c.hint) || (c.hint != "") != (e.Hint != "") && c.hint != "" {
			t.Errorf("%s: %q: offset %d %q, hint %q; want %d %q %q", c.name, c.expr, e.Offset, e.Reason, e.Hint, c.offset, c.reason, c.hint)
		}
	}
}

// Patterns that hang other engines stay within their time and memory limits.
func TestCatastrophic(t *testing.T) {
	stress.SkipTiny(t)
	alternates := make([]string, 10_000)
	for i := range alternates {
		alternates[i] = fmt.Sprintf("w%dx", i*7)
	}
	long := strings.Repeat("a", 100_000)
	for _, c := range []struct {
		name, expr, text string
		opts             Options
		want             int // matching lines, -1 for a refused pattern
	}{
		{"nested plus", "(a+)+$", long + "b", Options{}, 0},
		{"nested plus, hit", "(a+)+$", long, Options{}, 1},
		{"two pluses", "(x+x+)+y", strings.Repeat("x", 100_000), Options{}, 0},
		{"overlapping alternatives", "(a|aa)+$", long + "b", Options{}, 0},
		{"a million copies", "(x{1000}){1000}", "x", Options{}, -1},
		{"states explode", "[a-q][^u-z]{13}x", strings.Repeat("abcdefghijklmnopqrst", 5000), Options{}, 0},
		{"many dots", strings.Repeat(".*", 50) + "z", long, Options{}, 0},
		{"a megabyte of pattern", strings.Repeat("abcdefghij", 100_000), "abc", Options{}, 0},
		{"many alternatives", strings.Join(alternates, "|"), "w70x\nw71x\nw69993x\n", Options{}, 2},
		{"many alternatives, any case", strings.Join(alternates, "|"), "W70X\nw71x\nw69993x\n", Options{Case: Insensitive}, 2},
		{"Unicode counts", `\w{50}\s\w{50}`, strings.Repeat("é", 50_000), Options{}, 0},
	} {
		start := stress.CPU()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := Compile(c.expr, c.opts)
		if err != nil {
			if c.want >= 0 {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		n := 0
		p.NewMatcher().Lines([]byte(c.text), func(int, int) bool { n++; return true })
		if n != c.want {
			t.Errorf("%s: %d lines, want %d", c.name, n, c.want)
		}
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 256 {
			t.Errorf("%s allocated %d MB", c.name, mb)
		}
		if d := stress.CPU() - start; d > 20*time.Second {
			t.Errorf("%s took %v", c.name, d)
		}
	}
}

// A backtracking pattern that would run for years ends with ErrBudget.
func TestBudget(t *testing.T) {
	stress.SkipShort(t)
	p := MustCompile(`^(a+)+$(?!x)`, Options{Syntax: ECMAScript})
	m := p.NewMatcher()
	m.Lines([]byte(strings.Repeat("a", 60)+"b\n"), func(int, int) bool { return true })
	if m.Err() != nil {
		t.Errorf("the widened pattern doesn't match, yet %v", m.Err())
	}
	p = MustCompile(`(a*)*(?=c)\1b`, Options{Syntax: ECMAScript})
	m = p.NewMatcher()
	m.Lines([]byte(strings.Repeat("a", 5000)+"b\n"), func(int, int) bool { return true })
	if !errors.Is(m.Err(), ErrBudget) {
		t.Errorf("err %v, want ErrBudget", m.Err())
	}
}

// pollLimit is the processor time within which a matcher must notice that it should stop.
const pollLimit = 50 * time.Millisecond

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name, expr string
		opts       Options
		text       string
		endless    bool
	}{
		{"automaton that refills its cache", "[a-q][^u-z]{13}x", Options{}, strings.Repeat("abcdefghijklmnopqrst", 100_000), false},
		{"backtracking", `(a*)*(?=c)\1b`, Options{Syntax: ECMAScript}, strings.Repeat("a", 3000) + "b\n", true},
		{"many lines", `\w{5}\s+\w{5}\s+\w{5}x`, Options{}, strings.Repeat("hello there world again\n", 1_000_000), true},
	} {
		s := MustCompile(c.expr, c.opts).NewSearch()
		m := s.NewMatcher()
		text := []byte(c.text) // outside of the measurement: copying 24 MB takes as long as the limit
		s.Stop(context.Canceled)
		start := stress.CPU()
		m.Lines(text, func(int, int) bool { return true })
		d := stress.CPU() - start
		if m.Err() == nil && c.endless {
			t.Errorf("%s: not stopped", c.name)
		}
		if d > pollLimit {
			t.Errorf("%s: took %v to stop", c.name, d)
		}
	}
}

// A context stops a search, even if it is done from the start, but not after release.
func TestStopWith(t *testing.T) {
	text := []byte(strings.Repeat("hello there\n", 200_000))
	lines := func(s *Search) error {
		m := s.NewMatcher()
		m.Lines(text, func(int, int) bool { return true })
		return m.Err()
	}
	p := MustCompile(`[a-z]+x`, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	running, released := p.NewSearch(), p.NewSearch()
	defer running.StopWith(ctx)()
	released.StopWith(ctx)()
	cancel()
	for running.stop.Load() == nil { // set by another goroutine
		runtime.Gosched()
	}
	late := p.NewSearch()
	defer late.StopWith(ctx)()
	for name, s := range map[string]*Search{"running": running, "late": late} {
		if err := lines(s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := lines(released); err != nil {
		t.Errorf("released: %v", err)
	}
}

// A normal look-around stays within its budget on any amount of text.
func TestBudgetGrowsWithText(t *testing.T) {
	const lines = 20_000
	text := strings.Repeat("static int value = compute(first, second);\n", lines)
	for _, expr := range []string{`\w+(?!\w)\s*=`, `(?=.*int)(?=.*static).*`} {
		s := MustCompile(expr, Options{Syntax: ECMAScript}).NewSearch()
		s.budget = backref.NewBudget(maxSteps / 256) // so that a short text exhausts it
		m := s.NewMatcher()
		n := m.CountLines([]byte(text))
		if m.Err() != nil || n != lines {
			t.Errorf("%s: %d lines, %v", expr, n, m.Err())
		}
	}
}
