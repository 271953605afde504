package printing

import (
	"strings"
)

// Width is the width of help texts: they fit the narrowest usual terminal, and longer lines
// are harder to read anyway.
const Width = 80

// Wrap breaks a text between words into indented lines of Width.
func Wrap(text, indent string) string { return WrapTo(text, indent, Width) }

// WrapTo breaks a text between words into indented lines of a width.
func WrapTo(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		switch {
		case len(line) == len(indent):
			line += word
		case len([]rune(line))+1+len([]rune(word)) > width:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}

// SwapNUL exchanges NUL and line feed.
func SwapNUL(b []byte) {
	for i, c := range b {
		switch c {
		case 0:
			b[i] = '\n'
		case '\n':
			b[i] = 0
		}
	}
}
