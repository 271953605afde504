package quarry

import (
	"unicode/utf8"

	"quarry/internal/textfile"
	"quarry/search"
)

// Decoded returns a line of an answer as UTF-8. A line that is not valid UTF-8 is
// decoded as Windows-1252, as Read and Edit do, and its spans are adjusted.
func Decoded(l search.Line) search.Line {
	if utf8.Valid(l.Text) {
		return l
	}
	decode := func(b []byte) []byte {
		text, _ := textfile.Windows1252.AppendDecoded(nil, b, true)
		return text
	}
	spans := make([]search.Span, len(l.Spans))
	for i, s := range l.Spans {
		spans[i] = search.Span{Start: len(decode(l.Text[:s.Start])), End: len(decode(l.Text[:s.End]))}
	}
	l.Text, l.Spans = decode(l.Text), spans
	return l
}
