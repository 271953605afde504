package value

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"quarry/internal/splice"
)

// yamlText edits YAML: a whole text, or a header.
type yamlText struct {
	d     *Doc
	lines splice.Span // the lines of the text that are YAML
	front bool        // the YAML is a header
	found bool        // a header exists
}

// FindHeader finds a header: the lines from a first line "---" to a line "---" or "...". all
// includes these two lines, inner doesn't. Without the closing line the text has no header.
func FindHeader(text []byte) (all, inner splice.Span, found bool) {
	start := 0
	if bytes.HasPrefix(text, []byte(mark)) {
		start = len(mark)
	}
	none := splice.Span{Start: start, End: start}
	at := lineEnd(text, start)
	if !isFence(text[start:at], "---") || at == start || text[at-1] != '\n' {
		return none, none, false
	}
	inner = splice.Span{Start: at}
	for at < len(text) {
		next := lineEnd(text, at)
		if line := text[at:next]; isFence(line, "---") || isFence(line, "...") {
			inner.End = at
			return splice.Span{Start: start, End: next}, inner, true
		}
		at = next
	}
	return none, none, false
}

func isFence(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && len(bytes.TrimRight(rest, " \t\r\n")) == 0
}

// maxHeader is the largest header that is parsed.
const maxHeader = 1 << 20

func (d *Doc) parseHeader() error {
	_, inner, found := FindHeader(d.text)
	if inner.Len() > maxHeader {
		return &SyntaxError{Format: Header, Problem: fmt.Sprintf("it has %d KB, and at most %d are read", inner.Len()>>10, maxHeader>>10)}
	}
	if err := d.parseYAML(inner); err != nil {
		return err
	}
	f := d.f.(*yamlText)
	f.front, f.found = true, found
	if d.several || d.Root.Kind != Map {
		return &SyntaxError{Format: Header, Problem: "it is not a block of \"key: value\" lines"}
	}
	return nil
}

func (d *Doc) parseYAML(lines splice.Span) (err error) {
	f := &yamlText{d: d, lines: lines}
	d.f = f
	fail := func(err error) error {
		return yamlError(d.format, err, bytes.Count(d.text[:lines.Start], []byte("\n")))
	}
	// yaml.v3 turns its own panics into errors; recover from other panics here.
	defer func() {
		if r := recover(); r == any(ErrStopped) {
			panic(r)
		} else if r != nil {
			err = fail(fmt.Errorf("the parser failed: %v", r))
		}
	}()
	text := lines.In(d.text)
	if oddBreak().Match(text) {
		d.unsure = "line breaks other than \\n and \\r\\n"
	}
	dec := yaml.NewDecoder(&pieces{d, asVersion11(text)})
	r := &yamlReader{d: d, text: d.text[:lines.End], cur: yamlCursor{text: text, line: 1, col: 1}, off: lines.Start, anchors: map[*yaml.Node]*Node{}}
	var docs []*Node
	for {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fail(err)
		}
		root, err := r.document(&doc)
		if err != nil {
			return err
		}
		docs = append(docs, root)
	}
	for _, a := range r.aliases {
		if n := r.anchors[a]; n != nil {
			n.used = true
		}
	}
	switch len(docs) {
	case 0:
		d.Root = &Node{Kind: Map, Span: splice.Span{Start: lines.End, End: lines.End}}
	case 1:
		d.Root = docs[0]
		if d.Root.Kind == Null && d.Root.Len() == 0 && d.Root.Anchor == "" && d.Root.Tag == "" { // the text has only comments
			d.Root = &Node{Kind: Map, Span: splice.Span{Start: lines.End, End: lines.End}}
		}
	default:
		d.several = true
		d.Root = &Node{Kind: List, Items: docs, Span: lines}
	}
	return nil
}

// YAMLError returns the error of the YAML parser for a header.
func YAMLError(err error) error { return yamlError(Header, err, 1) }

// yamlError converts an error of the YAML parser. before is the number of lines before the YAML.
func yamlError(format Format, err error, before int) *SyntaxError {
	e := &SyntaxError{Format: format, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		e.Problem, _, _ = strings.Cut(all.Errors[0], " at line ") // which is not of the note
	} else if strings.HasPrefix(e.Problem, "invalid map key") { // it goes on with Go's syntax
		e.Problem = "a key is a list or a map, as in {{title}}"
	}
	if n, rest, ok := strings.Cut(strings.TrimPrefix(e.Problem, "line "), ": "); ok && e.Problem != n {
		if line, err := strconv.Atoi(n); err == nil {
			e.Line, e.Problem = line+before, rest
		}
	}
	return e
}

// asVersion11 replaces the version in a %YAML directive by 1.1, because the parser refuses
// other versions. The length of the text doesn't change.
func asVersion11(text []byte) []byte {
	header := true // directives are before "---", at the top or after "..."
	var out []byte
	for at, next := 0, 0; at < len(text); at = next {
		next = lineEnd(text, at)
		switch line := text[at:next]; {
		case isFence(line, "..."):
			header = true
		case !header:
		case versionDirective().Match(line):
			if out == nil {
				out = bytes.Clone(text)
			}
			out[at+bytes.IndexByte(line, '.')+1] = '1'
		case len(bytes.TrimSpace(line)) > 0 && line[0] != '#' && line[0] != '%':
			header = false
		}
	}
	if out == nil {
		return text
	}
	return out
}

var versionDirective = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^%YAML[ \t]+1\.[0-9][ \t\r\n]`)
})

// oddBreak matches the line breaks that are valid only in YAML 1.1, and a lone CR.
var oddBreak = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\r(?:[^\n]|$)|[\u0085\u2028\u2029]")
})

// yamlReader finds the spans of yaml.v3's nodes, which have only start positions.
type yamlReader struct {
	d       *Doc
	text    []byte // up to the end of the YAML
	cur     yamlCursor
	off     int
	end     int // offset of the end of the part read so far
	anchors map[*yaml.Node]*Node
	aliases []*yaml.Node
}

func (r *yamlReader) lost(n *yaml.Node) error {
	return &SyntaxError{Format: YAML, Line: 1 + bytes.Count(r.text[:r.end], []byte("\n")), Problem: "a form that is not understood: " + strconv.Quote(clip(n.Value)), Ours: true}
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40]
	}
	return s
}

func (r *yamlReader) document(doc *yaml.Node) (*Node, error) {
	if len(doc.Content) == 0 {
		return &Node{Kind: Null, Span: splice.Span{Start: r.end, End: r.end}}, nil
	}
	n := doc.Content[0]
	if empty(n) {
		at, _ := r.cur.seek(n.Line, n.Column)
		r.end = max(r.end, r.off+at)
		return &Node{Kind: Null, Span: splice.Span{Start: r.end, End: r.end}}, nil
	}
	return r.node(n, false)
}

// empty reports whether a node is implied, not written.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// node reads a node and all its children. It sets r.end to the node's end.
func (r *yamlReader) node(n *yaml.Node, inFlow bool) (*Node, error) {
	r.d.tick()
	at, ok := r.cur.seek(n.Line, n.Column)
	if at += r.off; !ok || at < r.end {
		return nil, r.lost(n)
	}
	out := &Node{Span: splice.Span{Start: at}, Anchor: n.Anchor}
	if n.Style&yaml.TaggedStyle != 0 {
		out.Tag = n.Tag
	}
	if n.Anchor != "" {
		r.anchors[n] = out
	}
	// Skip the anchor and the tag, in either order. The value may be on another line.
	r.end = at
	for n.Kind != yaml.AliasNode && r.end < len(r.text) && (r.text[r.end] == '&' && n.Anchor != "" || r.text[r.end] == '!' && (out.Tag != "" || r.end == at)) {
		to := r.end
		for to < len(r.text) && r.text[to] > ' ' && (!inFlow || !bytes.ContainsRune([]byte(",[]{}"), rune(r.text[to]))) {
			to++
		}
		r.end = to
		if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0 {
			if next := hashes.skip(r.text, to); next >= len(r.text) || r.text[next] != '&' && r.text[next] != '!' || n.Anchor == "" || out.Tag == "" {
				break
			}
		}
		r.end = hashes.skip(r.text, to)
	}
	out.Body = r.end
	var err error
	switch n.Kind {
	case yaml.AliasNode:
		out.Kind, out.Text = Alias, n.Value
		r.aliases = append(r.aliases, n.Alias)
		r.end += 1 + len(n.Value)
	case yaml.ScalarNode:
		err = r.scalar(n, out, inFlow)
	case yaml.SequenceNode:
		out.Kind = List
		if n.Style&yaml.FlowStyle != 0 {
			err = r.flow(n, out)
		} else {
			err = r.blockList(n, out)
		}
	case yaml.MappingNode:
		out.Kind = Map
		switch {
		case n.Style&yaml.FlowStyle != 0 && r.end < len(r.text) && r.text[r.end] == '{':
			err = r.flow(n, out)
		case n.Style&yaml.FlowStyle != 0:
			out.form = pair
			err = r.members(n, out, true)
		default:
			err = r.members(n, out, false)
		}
	default:
		return nil, r.lost(n)
	}
	out.End = r.end
	return out, err
}

// value reads the value of a key or an item, after the colon or dash.
func (r *yamlReader) value(n *yaml.Node, inFlow bool) (*Node, error) {
	if empty(n) {
		return &Node{Kind: Null, Span: splice.Span{Start: r.end, End: r.end}, Body: r.end, form: plain}, nil
	}
	return r.node(n, inFlow)
}

func (r *yamlReader) blockList(n *yaml.Node, out *Node) error {
	for i, item := range n.Content {
		at := r.end
		if i > 0 {
			at = r.mark(at, '-')
		}
		if at >= len(r.text) || r.text[at] != '-' {
			return r.lost(item)
		}
		r.end = at + 1
		v, err := r.value(item, false)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, v)
		out.dashes = append(out.dashes, at)
	}
	return nil
}

// mark returns the offset of c if only white space and comments are before it, otherwise the
// end of the text.
func (r *yamlReader) mark(at int, c byte) int {
	if at = hashes.skip(r.text, at); at < len(r.text) && r.text[at] == c {
		return at
	}
	return len(r.text)
}

// members reads the members of a map, without the map's brackets.
func (r *yamlReader) members(n *yaml.Node, out *Node, inFlow bool) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		m := &Member{Key: k.Value}
		if empty(k) { // ": value", or "? : value"
			m.odd = true
			m.Place = splice.Span{Start: r.end, End: r.end}
		} else {
			key, err := r.node(k, inFlow)
			if err != nil {
				return err
			}
			if m.Place = key.Span; !key.scalar() || key.Kind == Alias {
				m.Key = ""
			}
			m.odd = !key.scalar() || key.Kind == Alias || key.form == literal || key.Anchor != "" || key.Tag != "" || bytes.IndexByte(key.In(r.text), '\n') >= 0 || r.explicit(key.Start)
		}
		colon := r.mark(r.end, ':')
		if m.odd && colon < len(r.text) && r.text[colon] == '?' {
			return r.lost(k)
		}
		if colon < len(r.text) {
			m.colon, r.end = colon+1, colon+1
		} else if !empty(v) {
			return r.lost(v)
		}
		var err error
		if m.Value, err = r.value(v, inFlow); err != nil {
			return err
		}
		out.Members = append(out.Members, m)
	}
	return nil
}

// explicit reports whether a question mark introduces the key.
func (r *yamlReader) explicit(at int) bool {
	line := bytes.TrimRight(r.text[bytes.LastIndexByte(r.text[:at], '\n')+1:at], " \t")
	return bytes.HasSuffix(line, []byte("?"))
}

// flow reads a list or a map in brackets.
func (r *yamlReader) flow(n *yaml.Node, out *Node) error {
	out.form = flow
	r.end++
	if n.Kind == yaml.MappingNode {
		if err := r.flowMembers(n, out); err != nil {
			return err
		}
	} else {
		for _, item := range n.Content {
			v, err := r.value(item, true)
			if err != nil {
				return err
			}
			out.Items = append(out.Items, v)
			r.comma()
		}
	}
	at := hashes.skip(r.text, r.end)
	if at >= len(r.text) || r.text[at] != ']' && r.text[at] != '}' {
		return r.lost(n)
	}
	r.end = at + 1
	return nil
}

// comma skips a comma, if there is one.
func (r *yamlReader) comma() {
	if at := hashes.skip(r.text, r.end); at < len(r.text) && r.text[at] == ',' {
		r.end = at + 1
	}
}

func (r *yamlReader) flowMembers(n *yaml.Node, out *Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		m := &Member{Key: k.Value}
		if empty(k) {
			return r.lost(k)
		}
		key, err := r.node(k, true)
		if err != nil {
			return err
		}
		if m.Place = key.Span; !key.scalar() || key.Kind == Alias {
			m.Key = ""
		}
		m.odd = !key.scalar() || key.Kind == Alias || key.Anchor != "" || key.Tag != "" || bytes.IndexByte(key.In(r.text), '\n') >= 0 || r.explicit(key.Start)
		if at := r.mark(r.end, ':'); at < len(r.text) {
			m.colon, r.end = at+1, at+1
		} else if !empty(v) {
			return r.lost(v)
		}
		if m.Value, err = r.value(v, true); err != nil {
			return err
		}
		out.Members = append(out.Members, m)
		r.comma()
	}
	return nil
}
