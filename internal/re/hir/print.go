package hir

import (
	"fmt"
	"strings"
)

var lookNames = [NumLook]string{
	"none", "start", "end", "start-line", "end-line", "start-crlf", "end-crlf",
	"start-line-js", "end-line-js", "word-ascii", "not-word-ascii", "word", "not-word",
	"word-start-ascii", "word-end-ascii", "word-start", "word-end",
	"word-start-half-ascii", "word-end-half-ascii", "word-start-half", "word-end-half",
}

func (l Look) String() string {
	if int(l) < len(lookNames) {
		return lookNames[l]
	}
	return fmt.Sprintf("look(%d)", uint8(l))
}

// String lists the ranges in brackets, with values that aren't plain ASCII as \x{…}, or in a
// byte class as \xNN.
func (c *Class) String() string {
	var b strings.Builder
	if c.Bytes {
		b.WriteByte('b')
	}
	b.WriteByte('[')
	for _, r := range c.Ranges {
		c.printValue(&b, r.Lo)
		if r.Hi > r.Lo {
			if r.Hi > r.Lo+1 {
				b.WriteByte('-')
			}
			c.printValue(&b, r.Hi)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func (c *Class) printValue(b *strings.Builder, r rune) {
	switch {
	case r == '-' || r == '[' || r == ']' || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r > ' ' && r < 0x7F:
		b.WriteRune(r)
	case r <= 0xFF:
		fmt.Fprintf(b, `\x%02X`, r)
	default:
		fmt.Fprintf(b, `\x{%X}`, r)
	}
}
