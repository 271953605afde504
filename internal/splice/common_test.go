package splice

import "testing"

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		prefix, suffix int
	}{
		{"", "", 0, 0}, {"", "a", 0, 0}, {"abc", "abc", 3, 0}, {"abc", "xyz", 0, 0},
		{"abcd", "abxd", 2, 1}, {"aa", "aaa", 2, 0}, {"xab", "yab", 0, 2}, {"aba", "aba-aba", 3, 0},
	} {
		if p, s := Ends(c.a, c.b); p != c.prefix || s != c.suffix {
			t.Errorf("Ends(%q, %q) = %d, %d, want %d, %d", c.a, c.b, p, s, c.prefix, c.suffix)
		}
		if p, s := Ends([]byte(c.b), []byte(c.a)); p != c.prefix || s != c.suffix {
			t.Errorf("Ends(%q, %q) = %d, %d, want %d, %d", c.b, c.a, p, s, c.prefix, c.suffix)
		}
	}
}
