package value

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/internal/splice"
)

// BareKey reports whether a TOML key can be written without quotes.
func BareKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

func bareOrQuoted(s string) string {
	if BareKey(s) {
		return s
	}
	return quoteTOML(s)
}

// quoteTOML writes a basic string. Its escapes are the same as in JSON.
func quoteTOML(s string) string { return strings.ReplaceAll(quoteJSON(s), "\x7f", `\u007f`) }

var dateShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d\d-\d\d)?([T ]?)(\d\d:\d\d:\d\d)?(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$`)
})

// isDate reports whether a text is a TOML date, time or both. If such a text replaces a date,
// it is written as a date, without quotes.
func isDate(s string) bool {
	if !dateShape().MatchString(s) {
		return false
	}
	for _, layout := range []string{"2006-01-02", "15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00"} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}

// writeTOML returns a value on one line.
func writeTOML(v *Node) (string, error) {
	switch v.Kind {
	case Null:
		return "", refuse(Unwritable, "TOML has no null; delete the key instead")
	case Text:
		if v.form == single && !strings.ContainsFunc(v.Text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\'' || r == '\\' || r == '"' }) {
			return "'" + v.Text + "'", nil
		}
		return quoteTOML(v.Text), nil
	case Number:
		if _, err := strconv.ParseInt(v.Text, 10, 64); err != nil && json.Valid([]byte(v.Text)) && !strings.ContainsAny(v.Text, ".eE") {
			return "", refuse(Unwritable, "a number of TOML has at most 64 bits")
		}
		return v.Text, nil
	case List, Map:
		var parts []string
		for _, item := range v.Items {
			s, err := writeTOML(item)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		for _, m := range v.Members {
			s, err := writeTOML(m.Value)
			if err != nil {
				return "", err
			}
			parts = append(parts, bareOrQuoted(m.Key)+" = "+s)
		}
		switch list := strings.Join(parts, ", "); {
		case v.Kind == List:
			return "[" + list + "]", nil
		case list == "":
			return "{}", nil
		default:
			return "{ " + list + " }", nil
		}
	case Alias:
		return "", refuse(Unwritable, "TOML has no aliases")
	}
	return v.Text, nil
}

// pairs returns the members of a map as lines.
func (f *tomlText) pairs(v *Node) (string, error) {
	var b strings.Builder
	for _, m := range v.Members {
		s, err := writeTOML(m.Value)
		if err != nil {
			return "", err
		}
		b.WriteString(bareOrQuoted(m.Key) + " = " + s + f.d.eol)
	}
	return b.String(), nil
}

func (f *tomlText) replace(at place, v *Node) ([]splice.Splice, error) {
	old := at.node()
	if old.toml == nil {
		if old.Kind == Text && v.Kind == Text {
			v = &Node{Kind: Text, Text: v.Text, form: old.form}
		}
		s, err := writeTOML(v)
		return []splice.Splice{{Span: old.Span, New: s}}, err
	}
	// A table with a heading keeps the heading; only its pairs and the tables below it change.
	if old.Kind != Map || v.Kind != Map || !old.toml.named {
		return nil, refuse(Cramped, "it is a table of its own; set its keys one by one, or delete it first")
	}
	body, err := f.pairs(v)
	if err != nil {
		return nil, err
	}
	var out []splice.Splice
	done := false
	for i, l := range f.lines {
		if !slices.Contains(l.chain, old) {
			continue
		}
		if l.heading && !done && l.chain[len(l.chain)-1] == old {
			done = true
			if f.d.text[l.End-1] != '\n' {
				body = f.d.eol + strings.TrimSuffix(body, f.d.eol)
			}
			out = append(out, splice.Splice{Span: splice.Span{Start: l.End, End: f.bodyEnd(i)}, New: body})
			continue
		}
		if inside := slices.ContainsFunc(out, func(s splice.Splice) bool { return l.Start >= s.Start && l.End <= s.End }); !inside {
			out = append(out, splice.Splice{Span: l.Span})
		}
	}
	return out, nil
}

// bodyEnd returns the end of the last pair below heading i.
func (f *tomlText) bodyEnd(i int) int {
	for i+1 < len(f.lines) && !f.lines[i+1].heading {
		i++
	}
	return f.lines[i].End
}

// extent returns the span of a table from its first to its last line.
func (f *tomlText) extent(n *Node, span splice.Span) splice.Span {
	first := true
	for _, l := range f.lines {
		if slices.Contains(l.chain, n) {
			if first {
				span.Start, first = l.Start, false
			}
			span.End = l.End
		}
	}
	if first && n == f.d.Root {
		span.End = len(f.d.text)
	}
	return span
}

func (f *tomlText) bracketed(n *Node) *bracketed { return bracketedOf(f.d, n, hashes) }

func bracketedOf(d *Doc, n *Node, comment comments) *bracketed {
	b := &bracketed{text: d.text, span: n.Span, comment: comment, eol: d.eol}
	for _, m := range n.Members {
		if m.Value.toml != nil { // the table is written as a = { b = 1 }
			for _, inner := range m.Value.Members {
				b.parts = append(b.parts, splice.Span{Start: m.Place.Start, End: inner.Value.End})
			}
			continue
		}
		b.parts = append(b.parts, splice.Span{Start: m.Place.Start, End: m.Value.End})
	}
	for _, item := range n.Items {
		b.parts = append(b.parts, item.Span)
	}
	slices.SortFunc(b.parts, func(a, b splice.Span) int { return a.Start - b.Start })
	return b
}

// inValue returns the TOML value that contains a place, or nil if the place is directly in tables.
func inValue(p place) *Node {
	for _, n := range p.chain {
		if n.toml == nil {
			return n
		}
	}
	return nil
}

func (f *tomlText) add(in place, key string, v *Node) ([]splice.Splice, error) {
	n := in.node()
	switch {
	case inValue(in) != nil && n.toml != nil:
		return nil, refuse(Cramped, "it is made by keys with dots in braces")
	case n.toml == nil:
		return f.addInBrackets(n, key, v)
	case n.Kind == List:
		return f.addItem(in, v)
	}
	if v.Kind == Map && !f.inline(n) {
		return f.addTable(in, key, v)
	}
	s, err := writeTOML(v)
	if err != nil {
		return nil, err
	}
	line := bareOrQuoted(key) + " = " + s + f.d.eol
	if n == f.d.Root {
		return f.addAtTop(line), nil
	}
	if n.toml.named {
		for i, l := range f.lines {
			if l.heading && l.chain[len(l.chain)-1] == n {
				at := f.bodyEnd(i)
				if at > l.End { // indent the line like the preceding pair
					last := f.lines[i+1]
					indent, _ := lineIndent(f.d.text, last.Start+len(f.d.text[last.Start:last.End])-len(bytes.TrimLeft(f.d.text[last.Start:last.End], " \t")))
					line = indent + line
				}
				return f.insert(at, line), nil
			}
		}
	}
	if n.toml.by == byKey {
		for i := len(f.lines) - 1; i >= 0; i-- {
			l := f.lines[i]
			if depth := slices.Index(l.chain, n); !l.heading && depth >= l.table {
				return f.insert(l.End, f.keyBelow(in, l.table, depth)+line), nil
			}
		}
	}
	return f.addTable(in.up(), in.member().Key, MapOf(key, v))
}

// keyBelow returns the part of a dotted key that leads from the heading's table down to a
// node, with the following dot.
func (f *tomlText) keyBelow(in place, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		if m := (place{in.chain[:i+1], in.index[:i]}).member(); m != nil {
			b.WriteString(bareOrQuoted(m.Key) + ".")
		}
	}
	return b.String()
}

// inline reports whether a new map in table n is written as { a = 1 }. It is if the table's
// other maps are, or if the table has only pairs.
func (f *tomlText) inline(n *Node) bool {
	for _, m := range n.Members {
		if m.Value.Kind == Map {
			return m.Value.toml == nil
		}
		if m.Value.Kind == List && m.Value.toml != nil {
			return false
		}
	}
	return n.toml.named && len(n.Members) > 0 && n != f.d.Root
}

// insert inserts lines at offset at, which is the end of a line.
func (f *tomlText) insert(at int, lines string) []splice.Splice {
	if at > 0 && f.d.text[at-1] != '\n' {
		lines = f.d.eol + lines
	}
	return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: lines}}
}

// addAtTop inserts a pair after the other top-level pairs, or else before the first heading
// and the comment above it.
func (f *tomlText) addAtTop(line string) []splice.Splice {
	at := -1
	for _, l := range f.lines {
		if l.heading {
			break
		}
		at = l.End
	}
	if at >= 0 {
		return f.insert(at, line)
	}
	if len(f.lines) == 0 {
		return f.insert(len(f.d.text), line)
	}
	at = f.lines[0].Start
	for at > 0 {
		start := bytes.LastIndexByte(f.d.text[:at-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimLeft(f.d.text[start:at], " \t"), []byte("#")) {
			break
		}
		at = start
	}
	if at == 0 && bytes.HasPrefix(f.d.text, []byte(mark)) {
		at = len(mark)
	}
	return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: line + f.d.eol}}
}

// addTable appends a table with its own heading.
func (f *tomlText) addTable(in place, key string, v *Node) ([]splice.Splice, error) {
	name, ok := f.heading(in, key)
	if !ok {
		return nil, refuse(Cramped, "a table can't be added below this item of a list")
	}
	body, err := f.sections(name, v)
	if err != nil {
		return nil, err
	}
	text := f.d.text
	if len(bytes.TrimPrefix(text, []byte(mark))) > 0 {
		body = f.d.eol + body
	}
	return f.insert(len(text), body), nil
}

// sections returns a map as a table with a heading, followed by tables for the maps in it.
func (f *tomlText) sections(name string, v *Node) (string, error) {
	var own, below []*Member
	for _, m := range v.Members {
		if m.Value.Kind == Map && len(m.Value.Members) > 0 {
			below = append(below, m)
		} else {
			own = append(own, m)
		}
	}
	var b strings.Builder
	if len(own) > 0 || len(below) == 0 {
		body, err := f.pairs(&Node{Members: own})
		if err != nil {
			return "", err
		}
		b.WriteString("[" + name + "]" + f.d.eol + body)
	}
	for _, m := range below {
		if b.Len() > 0 {
			b.WriteString(f.d.eol)
		}
		body, err := f.sections(name+"."+bareOrQuoted(m.Key), m.Value)
		if err != nil {
			return "", err
		}
		b.WriteString(body)
	}
	return b.String(), nil
}

// heading returns the name for the heading of a new table. A heading at the end of the file
// can name it only if, for every list on the path, it refers to the last item.
func (f *tomlText) heading(in place, key string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(in.chain); i++ {
		switch up := in.chain[i-1]; {
		case up.Kind == Map:
			b.WriteString(bareOrQuoted(up.Members[in.index[i-1]].Key) + ".")
		case in.index[i-1] != len(up.Items)-1:
			return "", false
		}
	}
	return b.String() + bareOrQuoted(key), true
}

// addItem adds a table [[name]] after the last table of its list.
func (f *tomlText) addItem(in place, v *Node) ([]splice.Splice, error) {
	if v.Kind != Map {
		return nil, refuse(Unwritable, "the items of this list are tables, so a new one has to be a map")
	}
	name, _ := f.heading(in.up(), in.member().Key)
	body, err := f.pairs(v)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, l := range f.lines {
		if slices.Contains(l.chain, in.node()) {
			at = l.End
		}
	}
	return f.insert(at, f.d.eol+"[["+name+"]]"+f.d.eol+body), nil
}

func (f *tomlText) addInBrackets(n *Node, key string, v *Node) ([]splice.Splice, error) {
	s, err := writeTOML(v)
	if err != nil {
		return nil, err
	}
	if key != "" {
		s = bareOrQuoted(key) + " = " + s
	}
	b := f.bracketed(n)
	lined := !b.oneLine()
	indent := ""
	if len(b.parts) > 0 {
		own, alone := lineIndent(f.d.text, b.parts[len(b.parts)-1].Start)
		lined, indent = lined && alone, own
	} else if lined {
		outer, _ := lineIndent(f.d.text, n.Start)
		indent = outer + "    "
	}
	if n.Kind == Map && len(b.parts) == 0 && !lined {
		s = " " + s + " "
	}
	return b.add(s, indent, lined), nil
}

func (f *tomlText) remove(at place) ([]splice.Splice, error) {
	n := at.node()
	if v := inValue(at.up()); v != nil {
		if n.toml != nil || at.in().toml != nil {
			return nil, refuse(Cramped, "it is made by keys with dots in braces")
		}
		b := f.bracketed(v)
		if in := at.in(); in != v {
			b = f.bracketed(in)
		}
		span := n.Span
		i := slices.IndexFunc(b.parts, func(p splice.Span) bool { return p.Start <= span.Start && span.End <= p.End })
		out := b.remove(i)
		if len(b.parts) == 1 && at.in().Kind == Map && b.oneLine() {
			out = []splice.Splice{{Span: at.in().Span, New: "{}"}}
		}
		return out, nil
	}
	var out []splice.Splice
	headed := false
	for i, l := range f.lines {
		if !slices.Contains(l.chain, n) {
			continue
		}
		span := l.Span
		if l.heading {
			span.End, headed = f.bodyEnd(i), headed || out == nil
		}
		switch last := len(out) - 1; {
		case last >= 0 && span.Start <= out[last].End: // a pair below the heading, or the directly following table
			out[last].End = max(out[last].End, span.End)
		default:
			out = append(out, splice.Splice{Span: span})
		}
	}
	if len(out) == 0 {
		return nil, refuse(Cramped, "no line of it was found")
	}
	if headed {
		out[0].Start = f.blankBefore(out[0].Start, out[0].End)
	}
	return out, nil
}

// blankBefore returns where to begin removing a table: before the blank line that separates
// it, if another blank line or nothing follows the table.
func (f *tomlText) blankBefore(start, end int) int {
	text := f.d.text
	if end == len(text) || bytes.HasPrefix(bytes.TrimLeft(text[end:], "\r"), []byte("\n")) {
		for _, blank := range []string{"\r\n\r\n", "\n\n"} {
			if bytes.HasSuffix(text[:start], []byte(blank)) {
				return start - len(blank)/2
			}
		}
	}
	return start
}

func (f *tomlText) rename(at place, key string) ([]splice.Splice, error) {
	m := at.member()
	out := []splice.Splice{{Span: m.Place, New: bareOrQuoted(key)}}
	for _, s := range m.also {
		out = append(out, splice.Splice{Span: s, New: bareOrQuoted(key)})
	}
	return out, nil
}
