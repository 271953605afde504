package value

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"quarry/internal/splice"
)

// FromGo converts a Go value to the value that YAML would encode.
func FromGo(v any) (n *Node, err error) {
	defer func() {
		if r := recover(); r != nil { // Encode panics on channels and functions
			n, err = nil, fmt.Errorf("%v", r)
		}
	}()
	var y yaml.Node
	if err := y.Encode(v); err != nil {
		return nil, err
	}
	return fromYAML(&y), nil
}

func fromYAML(y *yaml.Node) *Node {
	n := &Node{Text: y.Value, Anchor: y.Anchor}
	switch y.Kind {
	case yaml.DocumentNode:
		return fromYAML(y.Content[0])
	case yaml.MappingNode:
		n.Kind = Map
		for i := 0; i+1 < len(y.Content); i += 2 {
			n.Members = append(n.Members, &Member{Key: y.Content[i].Value, Value: fromYAML(y.Content[i+1])})
		}
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, fromYAML(item))
		}
	case yaml.AliasNode:
		n.Kind = Alias
	default:
		switch y.ShortTag() {
		case "!!null":
			n.Kind, n.Text = Null, ""
		case "!!bool":
			n.Kind = Bool
		case "!!int", "!!float":
			n.Kind = Number
		case "!!timestamp":
			n.Kind, n.Plain = Text, true
		default:
			n.Kind = Text
		}
	}
	return n
}

// toYAML converts a value to a node for yaml.v3's encoder. inFlow is set if it will be in brackets.
func toYAML(n *Node, inFlow bool) *yaml.Node {
	y := &yaml.Node{Kind: yaml.ScalarNode, Value: n.Text, Tag: "!!str"}
	switch n.Kind {
	case Null:
		y.Tag, y.Value = "!!null", "null"
	case Bool:
		y.Tag = "!!bool"
	case Number:
		y.Tag = "!!float"
		if strings.Trim(n.Text, "+-0123456789") == "" {
			y.Tag = "!!int"
		}
	case List, Map:
		*y = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if n.Kind == Map {
			*y = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		inFlow = inFlow || n.Flow || n.form == flow
		if inFlow {
			y.Style = yaml.FlowStyle
		}
		for _, item := range n.Items {
			y.Content = append(y.Content, toYAML(item, inFlow))
		}
		for _, m := range n.Members {
			y.Content = append(y.Content, toYAML(Str(m.Key), true), toYAML(m.Value, inFlow))
		}
	case Alias:
		*y = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: n.Text}
	default:
		switch {
		case n.Plain:
			y.Tag = ""
		case strings.ContainsAny(n.Text, "\r\u0085\u2028\u2029\ufeff"): // line breaks of YAML 1.1 must be escaped
			y.Style = yaml.DoubleQuotedStyle
		case n.form == single:
			y.Style = yaml.SingleQuotedStyle
		case n.form == double, ambiguous(n.Text), inFlow && strings.Contains(n.Text, "\n"):
			y.Style = yaml.DoubleQuotedStyle
		}
	}
	if n.Tag != "" && n.Tag != "!!str" {
		y.Tag = n.Tag
	}
	return y
}

// encode returns a node as YAML with the line endings of the text, without the last line ending.
func (f *yamlText) encode(y *yaml.Node) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refuse(Unwritable, "YAML can't write it: %v", r)
		}
	}()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(y); err != nil {
		return "", refuse(Unwritable, "YAML can't write it: %v", err)
	}
	if err := enc.Close(); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// indented indents all non-empty lines of s except the first.
func (f *yamlText) indented(s, indent string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		if i > 0 && lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, f.d.eol)
}

// pairText returns "key: value" as YAML.
func (f *yamlText) pairText(key string, v *Node, indent string) (string, error) {
	s, err := f.encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{toYAML(Str(key), true), toYAML(v, false)}})
	return f.indented(s, indent), err
}

// flowText returns a value as YAML for use in brackets.
func (f *yamlText) flowText(v *Node) (string, error) {
	s, err := f.encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: []*yaml.Node{toYAML(v, true)}})
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if strings.Contains(s, "\n") {
		return "", refuse(Unwritable, "it would take several lines in brackets")
	}
	return s, err
}

// keyText returns a key as YAML.
func (f *yamlText) keyText(key string) (string, error) {
	s, err := f.pairText(key, &Node{Kind: Number, Text: "0"}, "")
	if err != nil || strings.HasPrefix(s, "?") || strings.Contains(s, "\n") {
		return "", refuse(Unwritable, "%q can't be a key on one line", clip(key))
	}
	return strings.TrimSuffix(s, ": 0"), nil
}

// inBrackets reports whether a place is inside of brackets.
func inBrackets(p place) bool {
	for _, n := range p.chain[:len(p.chain)-1] {
		if n.form == flow || n.form == pair {
			return true
		}
	}
	return false
}

// column returns as many blanks as there are characters before offset at on its line.
func (f *yamlText) column(at int) string {
	start := max(bytes.LastIndexByte(f.d.text[:at], '\n')+1, f.lines.Start)
	return strings.Repeat(" ", utf8.RuneCount(f.d.text[start:at]))
}

// markOf returns the offset after the colon or dash before a value. indent is blanks up to the
// column of the key or dash; the value's lines must be indented at least as much.
func (f *yamlText) markOf(at place) (mark int, indent string, ok bool) {
	in := at.in()
	switch {
	case in == nil || in.form == pair:
		return 0, "", false
	case in.Kind == Map:
		m := in.Members[at.last()]
		return m.colon, f.column(m.Place.Start), m.colon > 0 && !m.odd
	case len(in.dashes) > at.last():
		dash := in.dashes[at.last()]
		return dash + 1, f.column(dash), true
	}
	return 0, "", false
}

func (f *yamlText) end(at int) int {
	if i := bytes.IndexAny(f.d.text[at:f.lines.End], "\r\n"); i >= 0 {
		return at + i
	}
	return f.lines.End
}

func (f *yamlText) replace(at place, v *Node) ([]splice.Splice, error) {
	old, text := at.node(), f.d.text
	if old.Kind == Text && v.Kind == Text && (old.form == single || old.form == double) && !v.Plain && !strings.Contains(v.Text, "\n") {
		v = &Node{Kind: Text, Text: v.Text, form: old.form}
	}
	if inBrackets(at) {
		s, err := f.flowText(v)
		if err == nil && old.Len() == 0 {
			s = " " + s
		}
		return []splice.Splice{{Span: old.Span, New: s}}, err
	}
	mark, indent, ok := f.markOf(at)
	if !ok {
		return nil, refuse(Cramped, "its key has an unusual form")
	}
	s, err := f.pairText("k", v, indent)
	if err != nil {
		return nil, err
	}
	written := strings.TrimPrefix(s, "k:") // " value", or a line ending and lines
	lined := strings.Contains(written, f.d.eol)
	short := bytes.IndexByte(old.In(text), '\n') < 0 && bytes.IndexByte(text[mark:old.Start], '\n') < 0
	lineEnd := f.end(mark)
	switch {
	case !lined && old.Len() > 0 && (short || old.scalar() && bytes.IndexByte(old.In(text), '\n') < 0):
		return []splice.Splice{{Span: old.Span, New: strings.TrimPrefix(written, " ")}}, nil
	case old.Len() == 0 && len(bytes.TrimSpace(text[mark:lineEnd])) == 0:
		return []splice.Splice{{Span: splice.Span{Start: mark, End: lineEnd}, New: written}}, nil
	case old.Len() == 0 && !lined:
		return []splice.Splice{{Span: splice.Span{Start: mark, End: mark}, New: written}}, nil
	}
	rest := splice.Span{Start: mark, End: max(old.End, mark)}
	after := splice.Splice{Span: splice.Span{Start: lineEnd, End: lineEnd}, New: written}
	onLine := len(bytes.TrimSpace(text[min(rest.End, lineEnd):lineEnd])) > 0
	switch {
	case short && onLine && lined && !strings.HasPrefix(written, f.d.eol):
		return nil, refuse(Cramped, "the comment after it would become a part of the text") // in a block scalar
	case short && onLine: // a comment after the key remains after it
		return []splice.Splice{{Span: rest}, after}, nil
	case bytes.IndexByte(text[mark:max(old.Start, mark)], '#') >= 0: // and so do comments before the value
		rest.Start = len(bytes.TrimSuffix(text[:bytes.LastIndexByte(text[:old.Start], '\n')], []byte("\r")))
		if !lined {
			return []splice.Splice{{Span: splice.Span{Start: mark, End: mark}, New: written}, {Span: rest}}, nil
		}
		if !strings.HasPrefix(written, f.d.eol) {
			return nil, refuse(Cramped, "a comment precedes it")
		}
	}
	return []splice.Splice{{Span: rest, New: written}}, nil
}

func (f *yamlText) bracketed(n *Node) *bracketed {
	b := &bracketed{text: f.d.text, span: splice.Span{Start: n.Body, End: n.End}, comment: hashes, eol: f.d.eol}
	for _, m := range n.Members {
		b.parts = append(b.parts, splice.Span{Start: m.Place.Start, End: max(m.Value.End, m.Place.End)})
	}
	for _, item := range n.Items {
		b.parts = append(b.parts, item.Span)
	}
	return b
}

const tomlHeader = "it has a header of TOML, between lines of +++"

// tomlHeader reports whether the text has a TOML header, which is not supported.
func (f *yamlText) tomlHeader() bool {
	return f.front && !f.found && bytes.HasPrefix(f.d.text[f.lines.Start:], []byte("+++"))
}

func (f *yamlText) add(in place, key string, v *Node) ([]splice.Splice, error) {
	n := in.node()
	if key == "" && n.Kind == Map {
		return nil, refuse(Unwritable, "the key is empty")
	}
	switch {
	case f.tomlHeader():
		return nil, refuse(Cramped, tomlHeader)
	case f.front && !f.found:
		s, err := f.pairText(key, v, "")
		eol := f.d.eol
		return []splice.Splice{{Span: f.lines, New: "---" + eol + s + eol + "---" + eol}}, err
	case n.form == pair:
		return nil, refuse(Cramped, "it is a pair without braces")
	case n.form == flow && f.front && len(in.chain) == 1:
		return nil, refuse(Cramped, "the header is written in braces")
	case n.form == flow:
		return f.addInBrackets(in, key, v)
	case n.Kind == Map && len(n.Members) == 0 || f.front && len(in.chain) == 1: // the new entry comes after all comments
		s, err := f.pairText(key, v, "")
		at := f.lines.End
		if at > f.lines.Start && f.d.text[at-1] != '\n' {
			s = f.d.eol + s
		}
		return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: s + f.d.eol}}, err
	}
	at := f.end(n.End)
	var indent, s string
	var err error
	if n.Kind == List {
		indent = f.column(n.dashes[0])
		s, err = f.encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{toYAML(v, false)}})
		s = f.indented(s, indent)
	} else {
		if n.Members[0].odd {
			return nil, refuse(Cramped, "its first key has an unusual form")
		}
		indent = f.column(n.Members[0].Place.Start)
		s, err = f.pairText(key, v, indent)
	}
	return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: f.d.eol + indent + s}}, err
}

func (f *yamlText) addInBrackets(in place, key string, v *Node) ([]splice.Splice, error) {
	n := in.node()
	s, err := f.flowText(v)
	if err != nil {
		return nil, err
	}
	if key != "" {
		k, err := f.keyText(key)
		if err != nil {
			return nil, err
		}
		s = k + ": " + s
	}
	b := f.bracketed(n)
	lined, indent := false, ""
	if len(b.parts) > 0 && !b.oneLine() {
		indent, lined = lineIndent(f.d.text, b.parts[len(b.parts)-1].Start)
	}
	return b.add(s, indent, lined), nil
}

func (f *yamlText) remove(at place) ([]splice.Splice, error) {
	in, i := at.in(), at.last()
	switch {
	case in.form == pair:
		return nil, refuse(Cramped, "it is a pair without braces")
	case in.form == flow && f.front && len(at.chain) == 2:
		return nil, refuse(Cramped, "the header is written in braces")
	case in.form == flow:
		return f.bracketed(in).remove(i), nil
	}
	_, indent, ok := f.markOf(at)
	if !ok {
		return nil, refuse(Cramped, "its key has an unusual form")
	}
	start := func(i int) int {
		if in.Kind == List {
			return in.dashes[i]
		}
		return in.Members[i].Place.Start
	}
	count := len(in.Members) + len(in.Items)
	top := len(at.chain) == 2 || f.d.several && len(at.chain) == 3
	left := "" // text that replaces the only entry
	if count == 1 && (!top || !f.front) {
		if in.Anchor != "" || in.Tag != "" {
			return nil, refuse(Cramped, "the rest has an anchor or a tag")
		}
		if !top {
			return f.replace(at.up(), &Node{Kind: in.Kind, form: flow})
		}
		if left = "{}"; in.Kind == List {
			left = "[]"
		}
	}
	from := start(i)
	text := f.d.text
	line := max(bytes.LastIndexByte(text[:from], '\n')+1, f.lines.Start)
	end, limit := max(at.node().End, at.node().Start), f.lines.End
	if i+1 < count {
		limit = max(bytes.LastIndexByte(text[:start(i+1)], '\n')+1, f.lines.Start)
	}
	if len(bytes.TrimSpace(text[line:from])) > 0 { // the entry begins after a dash
		if i+1 == count {
			return nil, refuse(Cramped, "it shares its line")
		}
		next := start(i + 1)
		if hashes.skip(text, end) < next || bytes.IndexByte(text[end:next], '#') >= 0 {
			return nil, refuse(Cramped, "a comment is between it and the next entry")
		}
		return []splice.Splice{{Span: splice.Span{Start: from, End: next}}}, nil
	}
	if limit <= line {
		return nil, refuse(Cramped, "it shares its line")
	}
	to := f.lastLine(end, limit, len(indent))
	if left != "" && text[to-1] == '\n' {
		left += f.d.eol
	}
	return []splice.Splice{{Span: splice.Span{Start: line, End: to}, New: left}}, nil
}

// lastLine returns the end of an entry's last line. It includes the following comments that
// are indented deeper than the entry's key; other comments belong to the next entry.
func (f *yamlText) lastLine(end, limit, deep int) int {
	to := min(lineEnd(f.d.text, end), f.lines.End)
	for at := to; at < limit; {
		next := min(lineEnd(f.d.text, at), limit)
		line := bytes.TrimRight(f.d.text[at:next], "\r\n")
		body := bytes.TrimLeft(line, " \t")
		if len(body) > 0 && (body[0] != '#' || len(line)-len(body) <= deep) {
			break
		}
		if at = next; len(body) > 0 {
			to = next
		}
	}
	return to
}

func (f *yamlText) rename(at place, key string) ([]splice.Splice, error) {
	m := at.member()
	if m.odd {
		return nil, refuse(Cramped, "its key has an unusual form")
	}
	if f.front && len(at.chain) == 2 && at.in().form == flow {
		return nil, refuse(Cramped, "the header is written in braces")
	}
	k, err := f.keyText(key)
	return []splice.Splice{{Span: m.Place, New: k}}, err
}

// Entries returns the spans of the top-level entries in order, in whole lines without the last
// line ending. An entry is a key, its value, and comments indented deeper than the key. A span
// is empty if its entry shares lines with another.
func (d *Doc) Entries() []splice.Span {
	out := make([]splice.Span, len(d.Root.Members))
	f, ok := d.f.(*yamlText)
	if !ok || d.Root.form != block {
		return out
	}
	for i, m := range d.Root.Members {
		start := max(bytes.LastIndexByte(d.text[:m.Place.Start], '\n')+1, f.lines.Start)
		limit := f.lines.End
		if i+1 < len(d.Root.Members) {
			limit = max(bytes.LastIndexByte(d.text[:d.Root.Members[i+1].Place.Start], '\n')+1, f.lines.Start)
		}
		if limit <= start {
			continue
		}
		end := f.lastLine(max(m.Value.End, m.Place.End), limit, len(f.column(m.Place.Start)))
		out[i] = splice.Span{Start: start, End: start + len(bytes.TrimRight(d.text[start:end], "\r\n"))}
	}
	return out
}
