package render

import (
	"fmt"
	"strings"

	"quarry/internal/notebook"
)

// Notes appends notes with their excerpts or content. fit is the number of notes that fit,
// and short is the number of those whose content was omitted for lack of space.
//
// If numbered is set, each line of a note is numbered, so that a note's text can't imitate
// other parts of the answer.
func Notes(dst []byte, notes []notebook.Found, content, numbered bool, lim Limits) (out []byte, fit, short int) {
	for i := range notes {
		n := &notes[i]
		mark := len(dst)
		dst = append(dst, "\n\n## "...)
		dst = AppendPath(dst, n.Path)
		head := len(dst)
		if content {
			if text := strings.TrimRight(n.Content, "\r\n"); numbered {
				dst = NumberedLines(append(dst, '\n'), text, 1)
			} else {
				dst = append(append(dst, '\n'), text...)
			}
			if n.ContentCut {
				dst = append(dst, "\n[Content truncated...]"...)
			}
			if lim.Full(len(dst)) {
				dst = dst[:head]
				short++
			}
		}
		if len(dst) == head {
			dst = appendQuotes(dst, n.Excerpts)
		}
		if lim.Full(len(dst)) {
			return dst[:mark], i, short
		}
	}
	return dst, len(notes), short
}

func appendQuotes(dst []byte, excerpts []string) []byte {
	if len(excerpts) == 0 {
		return dst
	}
	dst = append(dst, "\nExcerpts:"...)
	for _, e := range excerpts {
		dst = append(dst, "\n  \""...)
		dst = append(dst, e...)
		dst = append(dst, '"')
	}
	return dst
}

// NumberedLines appends the lines of a text, each with its number.
func NumberedLines(dst []byte, text string, first int) []byte {
	for i, line := range strings.Split(strings.TrimRight(text, "\r\n"), "\n") {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = fmt.Appendf(dst, "%d: %s", first+i, strings.TrimSuffix(line, "\r"))
	}
	return dst
}
