package printing

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"quarry/match"
)

// JSON printed on a terminal has the same value and only visible characters.
func TestJSONOnTerminal(t *testing.T) {
	value := "plain é 日 \x1b[2J \u009b \u202e \U000e0041 \x7f \ufeff 🙂"
	var b bytes.Buffer
	enc := json.NewEncoder(JSONWriter(&b, true))
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u009b\u202e\U000e0041\x7f\ufeff") || !strings.Contains(b.String(), "é 日") {
		t.Errorf("printed %q", b.String())
	}
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != value {
		t.Errorf("read back %q, %v", got, err)
	}
}

// Invisible characters are escaped, except where they belong to words or emoji.
func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"zero width space", "pass\u200bword", `pass\u{200b}word`},
		{"word joiner, soft hyphen", "a\u2060b\u00adc", `a\u{2060}b\u{ad}c`},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"filler that counts as a letter", "is\u3164Admin", `is\u{3164}Admin`},
		{"bytes hidden in variation selectors", "a\U000e0100", `a\u{e0100}`},
		{"joiner in a Latin name", "ad\u200dmin\u200c.go", `ad\u{200d}min\u{200c}.go`},
		{"joiner after the name", "名.go\u200d", `名.go\u{200d}`},
		{"variation selector in a Latin name", "a\ufe0fb", `a\u{fe0f}b`},
		{"emoji of several", "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
	} {
		if got := Escape(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The terminal and the page escape the same characters beyond ASCII.
func TestEscapeAsOnPage(t *testing.T) {
	script, err := os.ReadFile("../../page/assets/dom.js")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "const unsafe = /")
	pattern, _, ok := strings.Cut(rest, "/gu;")
	if !ok {
		t.Fatal("dom.js has no list of unsafe characters")
	}
	page, err := match.Compile(pattern, match.Options{Syntax: match.ECMAScript, Unicode: true})
	if err != nil {
		t.Fatal(err)
	}
	m := page.NewMatcher()
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && isTricky(r) != m.MatchLine([]byte(string(r))) {
			t.Errorf("%U: escaped on a terminal: %v, on the page: %v", r, isTricky(r), !isTricky(r))
		}
	}
}
