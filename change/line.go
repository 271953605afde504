package change

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A caller's remarks about a change are limited to this many characters.
const (
	MaxSummary = 300
	MaxName    = 100 // of a client or a tool
)

// OneLine returns a caller's text as it is stored: one line of at most max characters, with escapes for
// characters that would control a terminal or be invisible. A cut is marked.
func OneLine(text string, max int) string {
	if len(text) <= max && !strings.ContainsFunc(text, unshown) {
		return text
	}
	text = escaped(strings.Join(strings.Fields(text), " "))
	count := utf8.RuneCountInString(text)
	if count <= max {
		return text
	}
	end := 0
	for range max {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s… [cut: %d characters]", text[:end], count)
}

// unshown reports characters without a visible shape, except the two joiners used in words and emoji, and
// bytes that are not UTF-8.
func unshown(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' || unicode.IsSpace(r) && r != ' ' || r == utf8.RuneError
}

func escaped(text string) string {
	if !strings.ContainsFunc(text, unshown) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError || !unshown(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// OneLine returns the client with its names as stored.
func (c Client) OneLine() Client {
	return Client{Name: OneLine(c.Name, MaxName), Version: OneLine(c.Version, MaxName), Session: OneLine(c.Session, MaxName)}
}
