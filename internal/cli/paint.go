package cli

import (
	"strings"

	"quarry/internal/textedit"
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

// diff colours a unified diff: what went red, what came green, places cyan,
// names bold.
func (p paint) diff(text string) string {
	if !p {
		return text
	}
	codes := map[textedit.DiffPart]string{textedit.DiffName: cBold, textedit.DiffHunk: cPlace, textedit.DiffOld: cBad, textedit.DiffNew: cGood}
	var b strings.Builder
	for part, line := range textedit.DiffLines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		if codes[part] != "" {
			body = p.in(codes[part], body)
		}
		b.WriteString(body)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
