package printing

import (
	"strings"

	"quarry/change"
)

// Paint colours texts for people; false leaves them plain. It uses only colours of the terminal's
// palette and no background, so that the terminal's theme keeps them readable. Green marks names
// that can be used in the next command, as in search results.
type Paint bool

// The codes that Paint puts around a text.
const (
	Good  = "\x1b[0m\x1b[32m"
	Bad   = "\x1b[0m\x1b[31m"
	Alert = "\x1b[0m\x1b[1m\x1b[31m"
	Place = "\x1b[0m\x1b[36m"
	Bold  = "\x1b[0m\x1b[1m"
)

// In adds the code before text and a reset after it.
func (p Paint) In(code, text string) string {
	if !p || text == "" {
		return text
	}
	return code + text + Reset
}

// Diff colours diffs: removed lines red, added lines green, positions cyan, names bold. safe
// escapes text for a terminal.
func (p Paint) Diff(diffs []change.PathDiff, safe func(string) string) string {
	var b strings.Builder
	for _, d := range diffs {
		for line := range strings.Lines(safe(d.Header())) {
			p.Line(&b, Bold, line)
		}
		for line := range strings.Lines(safe(d.Hunks)) {
			p.Line(&b, map[byte]string{'@': Place, '-': Bad, '+': Good, '[': Bold}[line[0]], line)
		}
	}
	return b.String()
}

// Line writes a line with a colour code; the reset comes before the line feed.
func (p Paint) Line(b *strings.Builder, code, line string) {
	body, ended := strings.CutSuffix(line, "\n")
	if code != "" {
		body = p.In(code, body)
	}
	b.WriteString(body)
	if ended {
		b.WriteByte('\n')
	}
}
