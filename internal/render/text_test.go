package render

import (
	"strings"
	"testing"

	"quarry/search"
)

// A long line shows its start, unless the match is further on; it is cut between
// characters.
func TestCut(t *testing.T) {
	text := strings.Repeat("ä", 30) + "MATCH" + strings.Repeat("ö", 30)
	at := func(s string) search.Span {
		i := strings.Index(text, s)
		return search.Span{Start: i, End: i + len(s)}
	}
	for _, c := range []struct {
		name          string
		line          search.Line
		most          int
		want          string
		before, after bool
	}{
		{"short enough", search.Line{}, 65, text, false, false},
		{"no match: the beginning", search.Line{}, 10, strings.Repeat("ä", 10), false, true},
		{"a match in the beginning", search.Line{Spans: []search.Span{at("ä")}}, 10, strings.Repeat("ä", 10), false, true},
		{"a match further on", search.Line{Spans: []search.Span{at("MATCH")}}, 20, strings.Repeat("ä", 5) + "MATCH" + strings.Repeat("ö", 10), true, true},
		{"a match longer than the window", search.Line{Spans: []search.Span{at("MATCHöööööööööö")}}, 8, "MATCHööö", true, true},
		{"a match at the end", search.Line{Spans: []search.Span{{Start: len(text) - 2, End: len(text)}}}, 10, strings.Repeat("ö", 10), true, false},
		{"cut before already", search.Line{CutBefore: 9}, 65, text, true, false},
	} {
		w := cut(&c.line, []byte(text), c.most)
		if string(w.text) != c.want || w.before != c.before || w.after != c.after {
			t.Errorf("%s: %q %v %v, want %q %v %v", c.name, w.text, w.before, w.after, c.want, c.before, c.after)
		}
	}
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"notes/Käse 日本.md": "notes/Käse 日本.md",
		"a\nb":             `a\x0ab`,
		"\x1b[31m":         `\x1b[31m`,
		"a\u202eb":         `a\u{202e}b`,
		"bad\xffname":      `bad\xffname`,
		"real \ufffd":      "real \ufffd",
		"👩\u200d💻.md":      "👩\u200d💻.md", // a joined emoji is a single image
	} {
		if got := Name(path); got != want {
			t.Errorf("Name(%q) = %q, want %q", path, got, want)
		}
		encoded := EncodedName(path)
		if (encoded == "") != (Name(path) == path) {
			t.Errorf("EncodedName(%q) = %q", path, encoded)
		}
		if encoded != "" && ParseName(encoded) != path {
			t.Errorf("ParseName(%q) = %q, want %q", encoded, ParseName(encoded), path)
		}
	}
	// A file's name may equal the encoded form of another.
	shown := EncodedName("a\nb")
	if twice := EncodedName(shown); Path(shown) != twice || ParseName(twice) != shown || ParseName(shown) != "a\nb" {
		t.Errorf("a file called %q is shown as %q", shown, Path(shown))
	}
	for _, s := range []string{"base64:", "base64:!", "base64:YWJj", "plain"} {
		if got := ParseName(s); got != s {
			t.Errorf("ParseName(%q) = %q: a file may be called so", s, got)
		}
	}
}

func TestSizeExact(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 156: "156 bytes", 1023: "1023 bytes", 2456: "2.4 KB (2,456 bytes)", 1 << 20: "1.0 MB (1,048,576 bytes)",
	} {
		if got := SizeExact(n); got != want {
			t.Errorf("SizeExact(%d) = %s, want %s", n, got, want)
		}
	}
}
