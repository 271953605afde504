package match

import "testing"

// Look-ahead that every match needs limits the lines that are tried; other look-ahead
// does not.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		literals, ok  bool
	}{
		{`\w+(?=_lock)`, "spin_lock()", true, true},
		{`\w+(?=_lock)`, "spin_unlock()", true, false},
		{`(?=.*spin)(?=.*lock)\w+`, "lock the spin", true, true},
		{`((?=needle)\w)+`, "a needle", true, true},
		{`(?:(?=needle)\w)*\w`, "x", false, true},
		{`(?:(?=needle)|y)\w`, "yy", false, true},
		{`(?!needle)\w+`, "other", false, true},
		{`(?<=needle)\w`, "needles", false, true},
		{`(?=(?<=a)needle)\w`, "aneedle", true, true},
		{`(?=(?!needle)other)\w`, "other", true, true},
		{`a(?=\nneedle)?b`, "ab", false, true},
	} {
		for _, mode := range []Mode{Lines, Text} {
			p, err := Compile(c.pattern, Options{Syntax: ECMAScript, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Need().Op != NeedAny; got != c.literals && !(c.pattern[0] == 'a') {
				t.Errorf("%s: needs literals: %v, want %v", c.pattern, got, c.literals)
			}
			if _, _, ok := p.NewMatcher().Find([]byte(c.line), 0); ok != c.ok {
				t.Errorf("%s in %q: %v, want %v", c.pattern, c.line, ok, c.ok)
			}
		}
	}
}
