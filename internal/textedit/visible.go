package textedit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
)

const (
	nearLines    = 12  // maximum number of lines of the closest text to show
	nearLineRune = 200 // maximum number of characters of a line
)

// Visible returns s with invisible and easily confused characters made visible: tabs as →,
// spaces at the ends of lines as ·, and carriage returns as ␍. Other spaces, invisible and
// control characters and combining marks become codes such as <U+00A0>. Non-ASCII quotes and
// dashes are followed by their code. Line breaks are kept.
func Visible(s string) string { return visible(s, false) }

// visible is Visible, and also marks the spaces of the indentation if indent is set.
func visible(s string, indent bool) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		trail := len(strings.TrimRight(line, " \t\r"))
		lead := len(line) - len(strings.TrimLeft(line, " \t"))
		for at, r := range line {
			if r == ' ' && (at >= trail || indent && at < lead) {
				b.WriteRune('·')
				continue
			}
			writeVisible(&b, r)
		}
	}
	return b.String()
}

func writeVisible(b *strings.Builder, r rune) {
	_, quote := quoteOf(r)
	switch {
	case r == '\t':
		b.WriteRune('→')
	case r == '\r':
		b.WriteRune('␍')
	case r < utf8.RuneSelf && !unicode.IsControl(r):
		b.WriteRune(r)
	case isInvisible(r), isOddSpace(r), unicode.IsControl(r), unicode.Is(unicode.Mn, r), r == utf8.RuneError:
		fmt.Fprintf(b, "<U+%04X>", r)
	case quote, isDash(r), r == 0x2026:
		fmt.Fprintf(b, "%c<U+%04X>", r, r)
	default:
		b.WriteRune(r)
	}
}

// Shown returns the lines that contain the span, made visible and numbered as in read_file: at most
// 12 lines of 200 characters. Carriage returns are shown only if the given text has line breaks too.
func (n *Near) Shown() string {
	var b strings.Builder
	indent := n.folds&(foldIndent|foldWhite) != 0
	for i, line := range n.doc.LinesFrom(n.First) {
		if i > n.Last {
			break
		}
		if i-n.First == nearLines {
			fmt.Fprintf(&b, "[%d more lines]\n", n.Last-i+1)
			break
		}
		end := line.Content
		if strings.Contains(n.given, "\n") && line.End-line.Content == 2 {
			end++ // the \r of \r\n
		}
		fmt.Fprintf(&b, "%d: %s\n", i, n.window(line.Start, end, indent))
	}
	return b.String()
}

// window returns the line from start to end as shown. It returns only the part of a long
// line around the span.
func (n *Near) window(start, end int, indent bool) string {
	if end-start <= nearLineRune {
		return visible(string(n.doc.Slice(start, end)), indent)
	}
	from := max(0, min(n.Start, end)-start-nearLineRune/4)
	to := min(end-start, from+nearLineRune)
	cut := strings.ToValidUTF8(string(n.doc.Slice(start+from, start+to)), "")
	out := visible(cut, indent && from == 0)
	if from > 0 {
		out = "…" + out
	}
	if to < end-start {
		out += "…"
	}
	return out
}

// Given returns the beginning of the wanted text, made visible like Shown.
func (n *Near) Given() string {
	lines := strings.Split(strings.TrimSuffix(n.given, "\n"), "\n")
	more := len(lines) - nearLines
	if more > 0 {
		lines = lines[:nearLines]
	}
	for i, l := range lines {
		lines[i] = visible(fault.Clip(l, nearLineRune), n.folds&(foldIndent|foldWhite) != 0)
	}
	out := strings.Join(lines, "\n") + "\n"
	if more > 0 {
		out += fmt.Sprintf("[%d more lines]\n", more)
	}
	return out
}

// Contract converts n to its public type; nil remains nil.
func (n *Near) Contract() *change.Near {
	if n == nil {
		return nil
	}
	return &change.Near{First: n.First, Last: n.Last, Reason: n.Reason, Shown: n.Shown(), Given: n.Given()}
}
