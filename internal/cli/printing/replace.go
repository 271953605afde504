package printing

import (
	"quarry/internal/replacer"
	"quarry/search"
)

// replaced returns text with every match in spans replaced, and the positions of the replacements.
func replaced(t *replacer.Template, text []byte, spans []search.Span) ([]byte, []search.Span) {
	var out []byte
	now := make([]search.Span, 0, len(spans))
	at := 0
	for _, s := range spans {
		out = append(out, text[at:s.Start]...)
		start := len(out)
		out = t.Append(out, text, s.Start, s.End)
		now = append(now, search.Span{Start: start, End: len(out)})
		at = s.End
	}
	return append(out, text[at:]...), now
}
