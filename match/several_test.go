package match

import (
	"fmt"
	"strings"
	"testing"
)

// Each of several joined expressions keeps its own groups and references.
func TestCompileAnyECMAScript(t *testing.T) {
	opts := Options{Syntax: ECMAScript}
	p, err := CompileAny([]string{`(a)x`, `(b)\1`, `(?<q>['"])c\k<q>`}, opts)
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMatcher()
	for text, want := range map[string]string{
		"ax":    "[0 2 0 1 -1 -1 -1 -1]",
		"bb":    "[0 2 -1 -1 0 1 -1 -1]",
		"ba":    "[]",
		"b":     "[]",
		`-"c"-`: "[1 4 -1 -1 -1 -1 1 2]",
		`"c'`:   "[]",
	} {
		slots, ok := m.Captures([]byte(text), 0, nil)
		if got := fmt.Sprint(slots); got != want || ok != (want != "[]") || ok != m.MatchLine([]byte(text)) {
			t.Errorf("groups in %q: %s %v, want %s", text, got, ok, want)
		}
	}
	if got := fmt.Sprintf("%q", p.GroupNames()); got != `["" "" "" "q"]` {
		t.Errorf("names %s", got)
	}
}

// Whole words and lines also work for patterns that backtrack.
func TestWholeECMAScript(t *testing.T) {
	for _, text := range []string{"foo", "éfoo", "xfoo foo", "éfoo foo", "foo\u2028foo", "a\nfoo\nb", "foo\rfoo", "foo\r\nfoo\r\n", "\n\rfoo\r", "\xfffoo", "foo_ (foo)", "foo\u0301 foo"} {
		for _, mode := range []Mode{Lines, Multiline, Text} {
			for _, opts := range []Options{{WholeWord: true}, {WholeLine: true}} {
				opts.Syntax, opts.Mode = ECMAScript, mode
				spans := func(expr string) string {
					m := MustCompile(expr, opts).NewMatcher()
					return lineList(func(yield func(int, int) bool) { m.Each([]byte(text), yield) })
				}
				want, got := spans("foo"), spans("(?=f)foo")
				if got != want {
					t.Errorf("%+v in %q: %s with look-around, %s without", opts, text, got, want)
				}
			}
		}
	}
}

// Groups count towards the size limit, so that every compiled pattern can also run.
func TestGroupsWithinLimit(t *testing.T) {
	for n := 1; n < 1<<13; n *= 2 {
		for _, limit := range []int{0, 1 << 12, 1 << 16, 1 << 20} {
			for _, mode := range []Mode{Lines, Text} {
				p, err := Compile(strings.Repeat("()", n)+"a", Options{SizeLimit: limit, Mode: mode})
				if err != nil {
					continue
				}
				if slots, ok := p.NewMatcher().Captures([]byte("xxa"), 0, nil); !ok || slots[2*n] != 2 {
					t.Errorf("%d groups, limit %d: %v, groups %v", n, limit, ok, slots[:min(len(slots), 8)])
				}
			}
		}
	}
}

// A byte that isn't UTF-8 may form a letter with its neighbours, so it can't be part of a
// case-insensitive string in a Need.
func TestNeedBrokenBytes(t *testing.T) {
	for _, c := range []struct{ expr, text string }{
		{`(?i:a)(?-u:\xC5)((?-u:\xBF))`, "a\u017f"},
		{`(?i:a)(?-u:\xC5)`, "A\u017f"},
		{`(?-u:\xBF)(?i:a)`, "\u017fA"},
		{`(?-u:\x84\xAA)(?i:ab)`, "\u212aAB"},
	} {
		p := MustCompile(c.expr, Options{})
		if !p.NewMatcher().MatchLine([]byte(c.text)) {
			t.Errorf("%s doesn't match %q", c.expr, c.text)
		}
		if !holds(p.Need(), []byte(c.text)) {
			t.Errorf("%s matches %q, but needs %v", c.expr, c.text, p.Need())
		}
	}
}
