package cli

import (
	"strings"

	"quarry/change"
)

// paint puts colour on texts for people; false leaves them plain. Only colours
// of the terminal's own palette are used, and no background, so the theme keeps
// them readable on light and dark. As in search results, green is what can be
// named in the next command.
type paint bool

const (
	cGood  = "\x1b[0m\x1b[32m"
	cBad   = "\x1b[0m\x1b[31m"
	cAlert = "\x1b[0m\x1b[1m\x1b[31m"
	cPlace = "\x1b[0m\x1b[36m"
	cBold  = "\x1b[0m\x1b[1m"
)

// paint is for results, which may go to a terminal.
func (s Streams) paint() paint {
	return paint(useColour("auto", s.outTerminal(), s.getenv()))
}

func (p paint) in(code, text string) string {
	if !p || text == "" {
		return text
	}
	return code + text + cReset
}

// diff colours diffs: what went red, what came green, places cyan, names bold.
// safe makes text fit for a terminal.
func (p paint) diff(diffs []change.PathDiff, safe func(string) string) string {
	var b strings.Builder
	for _, d := range diffs {
		for line := range strings.Lines(safe(d.Header())) {
			p.line(&b, cBold, line)
		}
		for line := range strings.Lines(safe(d.Hunks)) {
			p.line(&b, map[byte]string{'@': cPlace, '-': cBad, '+': cGood, '[': cBold}[line[0]], line)
		}
	}
	return b.String()
}

func (p paint) line(b *strings.Builder, code, line string) {
	body, ended := strings.CutSuffix(line, "\n")
	if code != "" {
		body = p.in(code, body)
	}
	b.WriteString(body)
	if ended {
		b.WriteByte('\n')
	}
}
