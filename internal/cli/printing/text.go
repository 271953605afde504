package printing

import (
	"strings"
)

// Width is the width of help texts. It fits the narrowest usual terminal, and longer lines are
// harder to read.
const Width = 80

// Wrap breaks a text between words into indented lines of at most Width columns.
func Wrap(text, indent string) string { return WrapTo(text, indent, Width) }

// WrapTo breaks a text between words into indented lines of at most width columns.
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

// SwapNUL exchanges NUL and line feed in b.
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
