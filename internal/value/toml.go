package value

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"quarry/internal/splice"
)

// tomlText edits TOML. A table may be written in several parts, so the text is represented as
// a list of headings and pairs.
type tomlText struct {
	d     *Doc
	lines []tomlLine
}

// tomlLine is a heading or a pair. It may span several lines of the text.
type tomlLine struct {
	splice.Span         // whole lines, including the last line ending
	heading     bool    // [a.b] or [[a.b]]
	items       bool    // [[a.b]]
	chain       []*Node // from the root to the table, or to the value of a pair
	table       int     // number of nodes in chain that belong to the heading above a pair
}

// table describes a map or a list that is made by headings or keys, and not written as a value.
type table struct {
	by    maker
	named bool // a heading or a pair names the table, so it exists even when empty
}

// maker is the construct that made a table or a list. It determines what may be added.
type maker uint8

const (
	byHeader maker = iota + 1 // [a.b] made b
	byPath                    // [a.b] made a
	byKey                     // a.b = 1 made a
	byItems                   // [[a]] made a, and its tables
)

var errSet = errors.New("it is set already")

// parseTOML parses a text with go-toml's parser, which yields expressions. It checks
// whether their order is valid.
func (d *Doc) parseTOML(start int) error {
	f := &tomlText{d: d}
	d.f = f
	d.Root = &Node{Kind: Map, toml: &table{by: byHeader, named: true}}
	var p unstable.Parser
	p.Reset(bytes.Clone(d.text[start:]))
	r := &tomlReader{f: f, off: start, at: []*Node{d.Root}, members: map[*Node]map[string]*Member{}}
	for p.NextExpression() {
		d.tick()
		n := p.Expression()
		if n.Kind != unstable.Table && n.Kind != unstable.ArrayTable && n.Kind != unstable.KeyValue {
			continue
		}
		if err := r.expression(n); err != nil {
			key := ""
			if first := r.keys(n.Key()); len(first) > 0 {
				var parts []string
				for _, k := range first {
					parts = append(parts, bareOrQuoted(k.Key))
				}
				key = strings.Join(parts, ".") + ": "
			}
			return &SyntaxError{Format: TOML, Line: r.line(n), Problem: key + err.Error()}
		}
	}
	if err := p.Error(); err != nil {
		e := &SyntaxError{Format: TOML, Line: 1, Problem: err.Error()}
		var pe *unstable.ParserError
		if errors.As(err, &pe) {
			at := min(int(p.Range(pe.Highlight[:0]).Offset), len(p.Data()))
			e.Line, e.Problem = 1+bytes.Count(p.Data()[:at], []byte("\n")), pe.Message
		}
		return e
	}
	return nil
}

// tomlReader makes nodes of the parser's expressions.
type tomlReader struct {
	f       *tomlText
	off     int
	at      []*Node // the table of the current heading, with its parents
	members map[*Node]map[string]*Member
}

func (r *tomlReader) line(n *unstable.Node) int {
	keys := r.keys(n.Key())
	return 1 + bytes.Count(r.f.d.text[:keys[0].Place.Start], []byte("\n"))
}

// keys returns the parts of a dotted key.
func (r *tomlReader) keys(it unstable.Iterator) (out []*Member) {
	for it.Next() {
		n := it.Node()
		start := r.off + int(n.Raw.Offset)
		out = append(out, &Member{Key: string(n.Data), Place: splice.Span{Start: start, End: start + int(n.Raw.Length)}})
	}
	return out
}

func (r *tomlReader) expression(n *unstable.Node) error {
	text := r.f.d.text
	keys := r.keys(n.Key())
	begin := bytes.LastIndexByte(text[:keys[0].Place.Start], '\n') + 1
	begin = max(begin, r.off)
	l := tomlLine{heading: n.Kind != unstable.KeyValue, items: n.Kind == unstable.ArrayTable, table: len(r.at)}
	end := keys[len(keys)-1].Place.End
	if l.heading {
		chain, err := r.header(keys, l.items)
		if err != nil {
			return err
		}
		r.at, l.chain, l.table = chain, chain, len(chain)
	} else {
		chain, last, err := r.pair(r.at, keys, n)
		if err != nil {
			return err
		}
		l.chain, end = chain, last
	}
	l.Span = splice.Span{Start: begin, End: lineEnd(text, end)}
	r.f.lines = append(r.f.lines, l)
	return nil
}

// lineEnd returns the offset after the first line feed at or after at, or the end of the text.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// enter returns the member with a key of the table in, and records this occurrence of the key.
func (r *tomlReader) enter(in *Node, key *Member) *Member {
	m := r.members[in][key.Key]
	if m != nil {
		m.also = append(m.also, key.Place)
	}
	return m
}

// add adds a member to a table.
func (r *tomlReader) add(in *Node, key *Member, v *Node) {
	key.Value = v
	in.Members = append(in.Members, key)
	if r.members[in] == nil {
		r.members[in] = map[string]*Member{}
	}
	r.members[in][key.Key] = key
}

func (r *tomlReader) newTable(in *Node, key *Member, kind Kind, by maker) *Node {
	n := &Node{Kind: kind, toml: &table{by: by}}
	r.add(in, key, n)
	return n
}

// header finds or creates the table that a heading names.
func (r *tomlReader) header(keys []*Member, item bool) ([]*Node, error) {
	chain := []*Node{r.f.d.Root}
	for _, key := range keys[:len(keys)-1] {
		in := chain[len(chain)-1]
		m := r.enter(in, key)
		switch {
		case m == nil:
			chain = append(chain, r.newTable(in, key, Map, byPath))
		case m.Value.toml == nil:
			return nil, errSet
		case m.Value.Kind == List:
			chain = append(chain, m.Value, m.Value.Items[len(m.Value.Items)-1])
		default:
			chain = append(chain, m.Value)
		}
	}
	in, key := chain[len(chain)-1], keys[len(keys)-1]
	m := r.enter(in, key)
	switch {
	case item && (m == nil || m.Value.Kind == List && m.Value.toml != nil):
		var list *Node
		if m == nil {
			list = r.newTable(in, key, List, byItems)
		} else {
			list = m.Value
		}
		next := &Node{Kind: Map, toml: &table{by: byItems, named: true}}
		list.Items = append(list.Items, next)
		return append(chain, list, next), nil
	case m == nil:
		next := r.newTable(in, key, Map, byHeader)
		next.toml.named = true
		return append(chain, next), nil
	case !item && m.Value.toml != nil && m.Value.toml.by == byPath:
		m.Value.toml.by, m.Value.toml.named = byHeader, true
		return append(chain, m.Value), nil
	}
	return nil, errSet
}

// pair sets a key, which may be dotted, in a table. It returns the nodes down to the value,
// and the offset after the value.
func (r *tomlReader) pair(at []*Node, keys []*Member, n *unstable.Node) ([]*Node, int, error) {
	chain := slices.Clone(at)
	for _, key := range keys[:len(keys)-1] {
		in := chain[len(chain)-1]
		m := r.enter(in, key)
		switch {
		case m == nil:
			chain = append(chain, r.newTable(in, key, Map, byKey))
		case m.Value.Kind != Map || m.Value.toml == nil || m.Value.toml.by != byKey:
			return nil, 0, errSet
		default:
			chain = append(chain, m.Value)
		}
	}
	in, key := chain[len(chain)-1], keys[len(keys)-1]
	if r.enter(in, key) != nil {
		return nil, 0, errSet
	}
	text := r.f.d.text
	key.colon = key.Place.End + bytes.IndexByte(text[key.Place.End:], '=') + 1
	start := key.colon
	for text[start] == ' ' || text[start] == '\t' {
		start++
	}
	v, err := r.value(n.Value(), start)
	if err != nil {
		return nil, 0, err
	}
	r.add(in, key, v)
	return append(chain, v), v.End, nil
}

// value parses the value at offset start.
func (r *tomlReader) value(n *unstable.Node, start int) (*Node, error) {
	text := r.f.d.text
	v := &Node{Span: splice.Span{Start: start}, Body: start, form: plain, Text: string(n.Data)}
	raw := func() int { return r.off + int(n.Raw.Offset) + int(n.Raw.Length) }
	switch n.Kind {
	case unstable.String:
		v.Kind, v.form, v.End = Text, double, raw()
		if text[start] == '\'' {
			v.form = single
		}
	case unstable.Bool:
		v.Kind, v.End = Bool, raw()
	case unstable.Integer, unstable.Float:
		v.Kind, v.End = Number, raw()
	case unstable.Array, unstable.InlineTable:
		v.Kind, v.form, v.Text = List, flow, ""
		if n.Kind == unstable.InlineTable {
			v.Kind = Map
		}
		at := start + 1
		for it := n.Children(); it.Next(); {
			child := it.Node()
			if child.Kind == unstable.Comment {
				continue
			}
			if at = hashes.skip(text, at); text[at] == ',' {
				at = hashes.skip(text, at+1)
			}
			if v.Kind == List {
				item, err := r.value(child, at)
				if err != nil {
					return nil, err
				}
				v.Items, at = append(v.Items, item), item.End
				continue
			}
			_, end, err := r.pair([]*Node{v}, r.keys(child.Key()), child)
			if err != nil {
				return nil, err
			}
			at = end
		}
		if at = hashes.skip(text, at); text[at] == ',' {
			at = hashes.skip(text, at+1)
		}
		v.End = at + 1
	default:
		v.Kind, v.End = Date, raw()
	}
	return v, nil
}
