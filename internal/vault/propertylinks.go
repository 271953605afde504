package vault

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/value"
)

// decoded is a decoded text with the original offset of each byte and of its end.
type decoded struct {
	text []byte
	from []int
}

func (d *decoded) add(at int, text ...byte) {
	for _, c := range text {
		d.text = append(d.text, c)
		d.from = append(d.from, at)
	}
}

// span converts a span in the decoded text to the original text. All bytes of a rune that
// was one escape map to the start of the escape.
func (d *decoded) span(s Span) Span { return Span{Start: d.from[s.Start], End: d.from[s.End]} }

// relocate converts a link found in the decoded text to the original text.
func (d *decoded) relocate(l *Link, q quoting) {
	l.Span, l.PathSpan = d.span(l.Span), d.span(l.PathSpan)
	l.SubpathSpan, l.AliasSpan = d.span(l.SubpathSpan), d.span(l.AliasSpan)
	l.quote = q
}

// decodeYAMLQuoted decodes the quoted scalar at offset at. It must be on a single line.
func decodeYAMLQuoted(yml []byte, at int) (decoded, int, bool) {
	var d decoded
	if at >= len(yml) || yml[at] != '"' && yml[at] != '\'' {
		return d, 0, false
	}
	quote := yml[at]
	for i := at + 1; i < len(yml); i++ {
		switch c := yml[i]; {
		case c == '\n' || c == '\r':
			return d, 0, false
		case c == quote && quote == '\'' && i+1 < len(yml) && yml[i+1] == '\'':
			d.add(i, '\'')
			i++
		case c == quote:
			d.from = append(d.from, i)
			return d, i + 1, true
		case c == '\\' && quote == '"':
			text, n, ok := yamlEscape(yml[i:])
			if !ok {
				return d, 0, false
			}
			d.add(i, text...)
			i += n - 1
		default:
			d.add(i, c)
		}
	}
	return d, 0, false
}

// yamlEscape decodes one backslash escape and returns its length.
func yamlEscape(s []byte) ([]byte, int, bool) {
	if len(s) < 2 {
		return nil, 0, false
	}
	const names = "0abtnvfre \"/\\N_LP\t"
	values := []string{"\x00", "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\x1b", " ", "\"", "/", "\\", "\u0085", "\u00a0", "\u2028", "\u2029", "\t"}
	if i := strings.IndexByte(names, s[1]); i >= 0 {
		return []byte(values[i]), 2, true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits == 0 || len(s) < 2+digits {
		return nil, 0, false
	}
	r, err := strconv.ParseUint(string(s[2:2+digits]), 16, 32)
	if err != nil || r > utf8.MaxRune {
		return nil, 0, false
	}
	return utf8.AppendRune(nil, rune(r)), 2 + digits, true
}

// frontMatterLinks finds the wikilinks in property values that are single-line strings. An
// unquoted [[x]] is a list in YAML, and Obsidian doesn't treat it as a link.
func frontMatterLinks(text []byte, fm FrontMatter) []Link {
	if !bytes.Contains(fm.YAML.In(text), []byte("[[")) {
		return nil
	}
	d, err := value.Parse(value.Header, text)
	if err != nil {
		return nil
	}
	var links []Link
	var visit func(n *value.Node)
	visit = func(n *value.Node) {
		for _, m := range n.Members {
			visit(m.Value)
		}
		for _, item := range n.Items {
			visit(item)
		}
		if n.Kind == value.Text && strings.Contains(n.Text, "[[") {
			links = append(links, scalarLinks(text, n)...)
		}
	}
	visit(d.Root)
	return links
}

func scalarLinks(text []byte, n *value.Node) []Link {
	var d decoded
	q := yamlPlain
	switch n.Quote() {
	case '"', '\'':
		q = yamlSingle
		if n.Quote() == '"' {
			q = yamlDouble
		}
		var ok bool
		if d, _, ok = decodeYAMLQuoted(text, n.Body); !ok || string(d.text) != n.Text {
			return nil
		}
	case 0:
		if string(text[n.Body:n.End]) != n.Text {
			return nil
		}
		for i := range len(n.Text) {
			d.add(n.Body+i, n.Text[i])
		}
		d.from = append(d.from, n.End)
	default:
		return nil
	}
	var note Note
	s := inlineScanner{p: d.text, note: &note, bang: -1}
	for s.i < len(s.p) {
		switch {
		case s.p[s.i] == '!':
			s.bang = s.i
		case s.p[s.i] == '[' && s.i+1 < len(s.p) && s.p[s.i+1] == '[' && s.wiki():
			continue
		}
		s.i++
	}
	for i := range note.Links {
		d.relocate(&note.Links[i], q)
	}
	return note.Links
}
