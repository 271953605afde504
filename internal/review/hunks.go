package review

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/textedit"
)

// Hunk is a part of a file's change that can be decided separately. A change that can't
// be split has one hunk.
type Hunk struct {
	OldStart int `json:"old_start"`
	OldCount int `json:"old_count"`
	NewStart int `json:"new_start"`
	NewCount int `json:"new_count"`
	// Text has the lines of a unified diff, without the header.
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict,omitempty"`
	Comment string  `json:"comment,omitempty"`
}

// Head returns the hunk's header line.
func (h *Hunk) Head() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldCount, h.NewStart, h.NewCount)
}

// maxSplit is the size of the largest file whose change can be accepted in parts.
const maxSplit = 1 << 20

// splittable reports whether single lines of data can be accepted, because it is text.
func splittable(data []byte) bool {
	return len(data) <= maxSplit && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// hunksOf splits the difference between two texts into hunks. Their lines have the exact
// bytes of the texts, so that merge can apply any subset of them.
func hunksOf(before, after []byte) []Hunk {
	return parseHunks(textedit.DiffTexts(before, after, &textedit.DiffOptions{MaxLine: -1, MaxLines: -1}))
}

// parseHunks parses the unified diff of one file. It counts lines, because a removed line
// may look like a header.
func parseHunks(text string) []Hunk {
	var list []Hunk
	old, now := 0, 0
	start, at := 0, 0 // start is the first line of the current hunk; at is the offset after the current line
	for line := range strings.Lines(text) {
		at += len(line)
		switch {
		case old > 0 || now > 0 || len(list) > 0 && line[0] == '\\':
			list[len(list)-1].Text = text[start:at]
			switch line[0] {
			case '-':
				old--
			case '+':
				now--
			case '\\':
			default:
				old, now = old-1, now-1
			}
		case strings.HasPrefix(line, "@@ "):
			var h Hunk
			fields := strings.Fields(line)
			if len(fields) < 3 {
				continue
			}
			h.OldStart, h.OldCount = span(fields[1])
			h.NewStart, h.NewCount = span(fields[2])
			old, now = h.OldCount, h.NewCount
			list, start = append(list, h), at
		}
	}
	return list
}

func span(s string) (start, count int) {
	a, b, two := strings.Cut(s[1:], ",")
	start, _ = strconv.Atoi(a)
	if count = 1; two {
		count, _ = strconv.Atoi(b)
	}
	return start, count
}

// merge applies the accepted hunks to the old text. If all are accepted, the result is
// the new text, byte for byte, and if none are, the old text.
func merge(old []byte, hunks []Hunk) []byte {
	lines := splitAfter(old)
	var out []byte
	at := 0 // number of old lines already copied
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldCount == 0 {
			start = h.OldStart // for an empty range, OldStart is the line before it
		}
		for ; at < start && at < len(lines); at++ {
			out = append(out, lines[at]...)
		}
		if h.Verdict != Yes {
			continue
		}
		out = append(out, h.newText()...)
		at = start + h.OldCount
	}
	for ; at < len(lines); at++ {
		out = append(out, lines[at]...)
	}
	return out
}

// newText returns a hunk's context and added lines.
func (h *Hunk) newText() []byte {
	var out []byte
	added := false // the last line read belongs to the new text
	for line := range strings.Lines(h.Text) {
		switch line[0] {
		case '\\':
			if added {
				out = bytes.TrimSuffix(out, []byte{'\n'})
			}
		case '-':
			added = false
		default:
			added = true
			out = append(out, line[1:]...)
		}
	}
	return out
}

func splitAfter(text []byte) [][]byte {
	if len(text) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}
