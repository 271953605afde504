package vault

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlCursor turns the line and column of YAML nodes into offsets. The parser
// counts characters and ends lines also at a lone CR, NEL, LS and PS. Asked in
// document order it reads the text once, so one long line stays linear.
type yamlCursor struct {
	text      []byte
	line, col int // line of at, counted from 1
	at        int
}

func newYAMLCursor(text []byte) *yamlCursor { return &yamlCursor{text: text, line: 1, col: 1} }

// seek returns the offset of a position, false if there is none.
func (c *yamlCursor) seek(line, col int) (int, bool) {
	if line < c.line || line == c.line && col < c.col {
		c.line, c.col, c.at = 1, 1, 0
	}
	for c.at < len(c.text) && (c.line < line || c.line == line && c.col < col) {
		if n := yamlBreak(c.text[c.at:]); n > 0 {
			if c.line == line {
				break
			}
			c.at, c.line, c.col = c.at+n, c.line+1, 1
			continue
		}
		_, n := utf8.DecodeRune(c.text[c.at:])
		c.at += n
		c.col++
	}
	return c.at, c.line == line && c.col == col
}

// yamlBreak returns the length of the line break s starts with, 0 for none.
func yamlBreak(s []byte) int {
	switch {
	case bytes.HasPrefix(s, []byte("\r\n")):
		return 2
	case s[0] == '\n' || s[0] == '\r':
		return 1
	case bytes.HasPrefix(s, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(s, []byte("\u2028")) || bytes.HasPrefix(s, []byte("\u2029")):
		return 3
	}
	return 0
}

// keyPlace is where an entry of the root mapping stands, as offsets.
type keyPlace struct {
	line  int  // start of the key's line
	colon int  // after the colon
	value Span // a value on one line; empty if it has none or is longer
	end   int  // end of the entry's last line, without line ending
	next  int  // start of the line after it
}

// findKey locates an entry of a block mapping.
func findKey(yml []byte, root *yaml.Node, key string) (keyPlace, bool, error) {
	var place keyPlace
	if root == nil {
		return place, false, nil
	}
	if root.Style&yaml.FlowStyle != 0 {
		return place, false, ErrNotMapping
	}
	at := -1
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != key {
			continue
		}
		if at >= 0 {
			return place, false, fmt.Errorf("%w: %s occurs twice", ErrUnsafeSplice, key)
		}
		at = i
	}
	if at < 0 {
		return place, false, nil
	}
	cur := newYAMLCursor(yml)
	k, v := root.Content[at], root.Content[at+1]
	start, ok := cur.seek(k.Line, k.Column)
	keyEnd, ok2 := scalarEnd(yml, start, k)
	if !ok || !ok2 || keyEnd >= len(yml) || yml[keyEnd] != ':' {
		return place, false, fmt.Errorf("%w: %s: the key has an unusual form", ErrUnsafeSplice, key)
	}
	place.line = bytes.LastIndexByte(yml[:start], '\n') + 1
	place.colon = keyEnd + 1
	limit := len(yml)
	if at+2 < len(root.Content) {
		n := root.Content[at+2]
		o, ok := cur.seek(n.Line, n.Column)
		if !ok {
			return place, false, fmt.Errorf("%w: %s", ErrUnsafeSplice, key)
		}
		limit = bytes.LastIndexByte(yml[:o], '\n') + 1
	}
	if limit <= place.line {
		return place, false, fmt.Errorf("%w: %s shares its line", ErrUnsafeSplice, key)
	}
	place.end, place.next = lastContentLine(yml, place.colon, limit)
	if v.Line == k.Line && v.Kind != yaml.AliasNode && v.Anchor == "" {
		if o, ok := newYAMLCursor(yml).seek(v.Line, v.Column); ok && o >= place.colon {
			if e, ok := valueEnd(yml, o, v); ok && e <= place.end {
				place.value = Span{o, e}
			}
		}
	}
	return place, true, nil
}

// lastContentLine finds the last line before limit that is not blank or a
// comment at the left margin: those belong to what follows.
func lastContentLine(yml []byte, from, limit int) (end, next int) {
	end, next = lineEnd(yml[:limit], from)
	for at := next; at < limit; {
		e, n := lineEnd(yml[:limit], at)
		if line := yml[at:e]; len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			end, next = e, n
		}
		at = n
	}
	return end, next
}

// replace puts a rendered entry ("key: value" without line ending) in the
// entry's place. If both are on one line, only the bytes of the value change,
// so a comment after it stays.
func (k keyPlace) replace(yml []byte, entry, eol string) Splice {
	oneLine := !strings.Contains(entry, eol)
	written := entry[entryColon(entry):] // " value", or line ending and lines
	value := strings.TrimPrefix(written, " ")
	switch {
	case oneLine && k.value.Len() > 0:
		return Splice{k.value, value}
	case k.value.Len() == 0 && len(bytes.TrimSpace(yml[k.colon:k.end])) == 0:
		return Splice{Span{k.colon, k.end}, written}
	case oneLine && bytes.HasPrefix(bytes.TrimLeft(yml[k.colon:k.end], " \t"), []byte("#")) && bytes.IndexByte(yml[k.colon:k.end], '\n') < 0:
		return Splice{Span{k.colon, k.colon}, written} // an empty value with a comment
	}
	return Splice{Span{k.colon, k.end}, written}
}

// entryColon returns the offset after the colon of a rendered entry.
func entryColon(entry string) int {
	if _, end, ok := decodeYAMLQuoted([]byte(entry), 0); ok {
		return end + 1
	}
	return strings.IndexByte(entry, ':') + 1
}

// valueEnd finds the end of a value that stands on one line.
func valueEnd(yml []byte, at int, v *yaml.Node) (int, bool) {
	if v.Kind == yaml.ScalarNode {
		return scalarEnd(yml, at, v)
	}
	if v.Style&yaml.FlowStyle == 0 {
		return 0, false
	}
	depth := 0
	for i := at; i < len(yml) && yml[i] != '\n'; i++ {
		switch yml[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"', '\'':
			_, end, ok := decodeYAMLQuoted(yml, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		}
	}
	return 0, false
}

// scalarEnd finds the end of a scalar on one line; false if it is longer, or if
// its text differs from its value.
func scalarEnd(yml []byte, at int, n *yaml.Node) (int, bool) {
	switch {
	case n.Kind != yaml.ScalarNode || at >= len(yml):
		return 0, false
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		s, end, ok := decodeYAMLQuoted(yml, at)
		return end, ok && string(s.text) == n.Value
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	}
	return at + len(n.Value), n.Value != "" && bytes.HasPrefix(yml[at:], []byte(n.Value))
}

// decoded is text with, for each byte and the end, the offset it came from.
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

// span maps a span of the decoded text back. A rune written as one escape maps
// all its bytes to the start of the escape.
func (d *decoded) span(s Span) Span { return Span{d.from[s.Start], d.from[s.End]} }

// relocate maps a link found in decoded text back to the text it came from.
func (d *decoded) relocate(l *Link, q quoting) {
	l.Span, l.PathSpan = d.span(l.Span), d.span(l.PathSpan)
	l.SubpathSpan, l.AliasSpan = d.span(l.SubpathSpan), d.span(l.AliasSpan)
	l.quote = q
}

// decodeYAMLQuoted decodes the quoted scalar at an offset of a single line.
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

// frontMatterLinks finds the wikilinks in the property values that are strings
// on one line. An unquoted [[x]] is a list in YAML and no link to Obsidian.
func frontMatterLinks(text []byte, fm FrontMatter) []Link {
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil || root == nil {
		return nil
	}
	var links []Link
	cur := newYAMLCursor(yml)
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				visit(n.Content[i])
			}
		case yaml.SequenceNode:
			for _, c := range n.Content {
				visit(c)
			}
		case yaml.ScalarNode:
			if strings.Contains(n.Value, "[[") {
				links = append(links, scalarLinks(yml, cur, n)...)
			}
		}
	}
	visit(root)
	for i := range links {
		links[i].move(fm.YAML.Start)
	}
	return links
}

func scalarLinks(yml []byte, cur *yamlCursor, n *yaml.Node) []Link {
	at, ok := cur.seek(n.Line, n.Column)
	if !ok {
		return nil
	}
	// An anchor or a tag is before the value, on the same line.
	for at < len(yml) && (yml[at] == '&' || yml[at] == '!') {
		at += len(yml[at:]) - len(bytes.TrimLeft(bytes.TrimLeftFunc(yml[at:], func(r rune) bool { return r > ' ' }), " \t"))
	}
	if at >= len(yml) {
		return nil
	}
	var d decoded
	q := yamlPlain
	switch {
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		q = yamlSingle
		if yml[at] == '"' {
			q = yamlDouble
		}
		if d, _, ok = decodeYAMLQuoted(yml, at); !ok || string(d.text) != n.Value {
			return nil
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || !bytes.HasPrefix(yml[at:], []byte(n.Value)):
		return nil
	default:
		for i := range len(n.Value) {
			d.add(at+i, n.Value[i])
		}
		d.from = append(d.from, at+len(n.Value))
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
