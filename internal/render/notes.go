package render

import (
	"strings"

	"quarry/internal/notebook"
)

// Notes appends notes with their excerpts or content, and says how many fit and
// of how many the content was left out for want of room.
func Notes(dst []byte, notes []notebook.Found, content bool, lim Limits) (out []byte, fit, short int) {
	for i := range notes {
		n := &notes[i]
		mark := len(dst)
		dst = append(dst, "\n\n## "...)
		dst = AppendPath(dst, n.Path)
		head := len(dst)
		if content {
			dst = append(dst, '\n')
			dst = append(dst, strings.TrimRight(n.Content, "\r\n")...)
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
