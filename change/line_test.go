package change

import (
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"a  b", "a  b"}, {"a\nb\r\n\tc", "a b c"}, {strings.Repeat("é", 10), strings.Repeat("é", 10)},
		{strings.Repeat("é", 11), strings.Repeat("é", 10) + "… [cut: 11 characters]"}, {"\xff\xff", `\xff\xff`}, {"\x1b[2J", `\x1b[2J`}, {"\u202ex", `\u{202e}x`}, {"می\u200cخ", "می\u200cخ"},
		{strings.Repeat("x y\n", 5), "x y x y x … [cut: 19 characters]"}, {"\n\n", ""},
	} {
		if got := OneLine(c.text, 10); got != c.want {
			t.Errorf("OneLine(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
