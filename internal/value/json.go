package value

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"

	"quarry/internal/splice"
)

// maxDepth limits the nesting of values, because parsers recurse.
const maxDepth = 1000

// jsonText edits JSON. It accepts comments and trailing commas.
type jsonText struct {
	d    *Doc
	unit string // indentation unit
}

func (d *Doc) parseJSON(start int) error {
	f := &jsonText{d: d, unit: "  "}
	d.f = f
	body := d.text[start:]
	if len(bytes.TrimSpace(body)) == 0 {
		d.Root = &Node{Kind: Map, form: flow, Span: splice.Span{Start: len(d.text), End: len(d.text)}}
		return nil
	}
	if tooDeep(body) {
		return &SyntaxError{Format: JSON, Problem: "values nest too deep"}
	}
	top, err := hujson.Parse(body)
	if err != nil {
		line, problem, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
		e := &SyntaxError{Format: JSON, Problem: problem}
		if _, after, ok := strings.Cut(line, "line "); ok {
			for _, c := range after {
				if c < '0' || c > '9' {
					break
				}
				e.Line = e.Line*10 + int(c-'0')
			}
		}
		if e.Line == 0 {
			e.Problem = strings.TrimPrefix(err.Error(), "hujson: ")
		}
		return e
	}
	d.tick()
	d.Root = d.jsonNode(&top, start)
	if len(d.Root.Members) > 0 {
		if indent, alone := lineIndent(d.text, d.Root.Members[0].Place.Start); alone && indent != "" {
			f.unit = indent
		}
	}
	return nil
}

func (d *Doc) jsonNode(v *hujson.Value, off int) *Node {
	d.tick()
	n := &Node{Span: splice.Span{Start: v.StartOffset + off, End: v.EndOffset + off}, Body: v.StartOffset + off, form: flow}
	switch x := v.Value.(type) {
	case *hujson.Object:
		n.Kind = Map
		for i := range x.Members {
			m := &x.Members[i]
			place := splice.Span{Start: m.Name.StartOffset + off, End: m.Name.EndOffset + off}
			n.Members = append(n.Members, &Member{Key: m.Name.Value.(hujson.Literal).String(), Place: place, Value: d.jsonNode(&m.Value, off)})
		}
	case *hujson.Array:
		n.Kind = List
		for i := range x.Elements {
			n.Items = append(n.Items, d.jsonNode(&x.Elements[i], off))
		}
	case hujson.Literal:
		n.Text = string(x)
		switch x.Kind() {
		case 'n':
			n.Kind = Null
			n.Text = ""
		case 't', 'f':
			n.Kind = Bool
		case '"':
			n.Kind, n.Text, n.form = Text, x.String(), double
		default:
			n.Kind = Number
		}
	}
	return n
}

// FromJSON parses a value that is given as JSON.
func FromJSON(text []byte) (*Node, error) {
	d, err := Parse(JSON, text)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &SyntaxError{Format: JSON, Problem: "the value is empty"}
	}
	if _, err := d.Root.Go(); err != nil {
		return nil, err
	}
	unplaced(d.Root)
	return d.Root, nil
}

// unplaced clears positions and styles, so that the value is written in the file's style.
func unplaced(n *Node) {
	n.Span, n.Body, n.form = splice.Span{}, 0, block
	for _, item := range n.Items {
		unplaced(item)
	}
	for _, m := range n.Members {
		m.Place, m.colon = splice.Span{}, 0
		unplaced(m.Value)
	}
}

// tooDeep reports whether brackets, outside of strings and comments, are nested too deep. Up
// to the first syntax error it agrees with the parser.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if n := slashes.comment(text[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return false
}

func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// JSON writes the value as JSON. With an indentation unit it takes several lines, all but the
// first beginning with indent. Without a unit it takes one line. A value that JSON can't
// express becomes a string.
func (n *Node) JSON(indent, unit string) string {
	var b strings.Builder
	n.writeJSON(&b, indent, unit)
	return b.String()
}

func (n *Node) writeJSON(b *strings.Builder, indent, unit string) {
	brackets := "[]"
	switch n.Kind {
	case Null:
		b.WriteString("null")
		return
	case Bool:
		b.WriteString(strings.ToLower(n.Text))
		return
	case Number:
		if !json.Valid([]byte(n.Text)) {
			b.WriteString(quoteJSON(n.Text))
			return
		}
		b.WriteString(n.Text)
		return
	case Text, Date:
		b.WriteString(quoteJSON(n.Text))
		return
	case Alias:
		b.WriteString(quoteJSON("*" + n.Text))
		return
	case Map:
		brackets = "{}"
	}
	b.WriteByte(brackets[0])
	inner := indent + unit
	for i := range len(n.Items) + len(n.Members) {
		if i > 0 {
			b.WriteByte(',')
		}
		if unit != "" {
			b.WriteString("\n" + inner)
		} else if i > 0 {
			b.WriteByte(' ')
		}
		if n.Kind == List {
			n.Items[i].writeJSON(b, inner, unit)
			continue
		}
		b.WriteString(quoteJSON(n.Members[i].Key) + ": ")
		n.Members[i].Value.writeJSON(b, inner, unit)
	}
	if unit != "" && len(n.Items)+len(n.Members) > 0 {
		b.WriteString("\n" + indent)
	}
	b.WriteByte(brackets[1])
}

func (f *jsonText) bracketed(n *Node) *bracketed {
	return bracketedOf(f.d, n, slashes)
}

// indent returns the indentation of the parts of a map or list.
func (f *jsonText) indent(in place) string {
	b := f.bracketed(in.node())
	if len(b.parts) > 0 {
		if own, alone := lineIndent(f.d.text, b.parts[0].Start); alone {
			return own
		}
	}
	return strings.Repeat(f.unit, len(in.chain))
}

func (f *jsonText) render(v *Node, indent string, lined bool) string {
	if !lined {
		return v.JSON("", "")
	}
	return strings.ReplaceAll(v.JSON(indent, f.unit), "\n", f.d.eol)
}

func (f *jsonText) replace(at place, v *Node) ([]splice.Splice, error) {
	old := at.node()
	// A list written on one line stays on one line.
	lined := v.Kind == Map || v.Kind == List && (old.Kind != List || len(old.Items) == 0 || bytes.IndexByte(old.In(f.d.text), '\n') >= 0)
	return []splice.Splice{{Span: old.Span, New: f.render(v, f.indent(at.up()), lined)}}, nil
}

func (f *jsonText) add(in place, key string, v *Node) ([]splice.Splice, error) {
	n := in.node()
	if n.Len() == 0 { // the text is empty
		return []splice.Splice{{Span: n.Span, New: strings.ReplaceAll(MapOf(key, v).JSON("", f.unit), "\n", f.d.eol) + f.d.eol}}, nil
	}
	b := f.bracketed(n)
	indent := f.indent(in)
	lined := !b.oneLine() || len(b.parts) == 0 && key != "" || key != "" && !v.scalar()
	part := f.render(v, indent, lined)
	if key != "" {
		colon := ": "
		if !lined && len(n.Members) > 0 && f.d.text[n.Members[0].Value.Start-1] == ':' {
			colon = ":"
		}
		part = quoteJSON(key) + colon + part
	}
	return b.add(part, indent, lined), nil
}

func (f *jsonText) remove(at place) ([]splice.Splice, error) {
	return f.bracketed(at.in()).remove(at.last()), nil
}

func (f *jsonText) rename(at place, key string) ([]splice.Splice, error) {
	return []splice.Splice{{Span: at.member().Place, New: quoteJSON(key)}}, nil
}
