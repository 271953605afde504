package cli

import (
	"quarry"
	"quarry/internal/replacer"
)

// replaced returns text with every match replaced, and where the replacements
// are.
func replaced(t *replacer.Template, text []byte, spans []quarry.Span) ([]byte, []quarry.Span) {
	var out []byte
	now := make([]quarry.Span, 0, len(spans))
	at := 0
	for _, s := range spans {
		out = append(out, text[at:s.Start]...)
		start := len(out)
		out = t.Append(out, text, s.Start, s.End)
		now = append(now, quarry.Span{Start: start, End: len(out)})
		at = s.End
	}
	return append(out, text[at:]...), now
}
