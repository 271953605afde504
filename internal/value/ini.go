package value

import (
	"bytes"
	"strings"

	"quarry/internal/splice"
)

// iniText edits ini files: sections in brackets, "key = value" or "key: value", and comments
// that begin with ; or #. All values are literal texts, including quotes, because programs
// differ on quotes and on a ; within a line.
type iniText struct {
	d     *Doc
	lines []iniLine
}

// iniLine is a heading or a pair.
type iniLine struct {
	splice.Span       // whole lines, including the last line ending
	section     *Node // for a heading, its own section; otherwise the enclosing one
	member      *Member
	sep         string // the equals sign or colon with the blanks around it
	indent      string
}

func (d *Doc) parseINI(start int) error {
	f := &iniText{d: d}
	d.f, d.Root = f, &Node{Kind: Map}
	section := d.Root
	var last *Member // the pair that is continued by more deeply indented lines
	deep, blank := 0, 0
	for at, number := start, 1; at < len(d.text); number++ {
		d.tick()
		end := lineEnd(d.text, at)
		raw := bytes.TrimRight(d.text[at:end], "\r\n")
		line := bytes.TrimSpace(raw)
		indent := len(raw) - len(bytes.TrimLeft(raw, " \t"))
		switch {
		case len(line) == 0:
			blank++
		case line[0] == ';' || line[0] == '#':
		case last != nil && indent > deep:
			if last.Value.Kind == Null {
				return &SyntaxError{Format: INI, Line: number, Problem: "a continuation line without a value"}
			}
			v := last.Value
			v.End = at + indent + len(line)
			v.Text += strings.Repeat("\n", blank+1) + string(line)
			f.lines[len(f.lines)-1].End, blank = end, 0
		case line[0] == '[':
			name := line[1:]
			to := bytes.LastIndexByte(name, ']')
			if to < 0 || len(bytes.TrimLeft(name[to+1:], " \t")) > 0 && !strings.ContainsAny(string(bytes.TrimLeft(name[to+1:], " \t")[:1]), ";#") {
				return &SyntaxError{Format: INI, Line: number, Problem: "a heading ends with a bracket"}
			}
			s := at + indent + 1
			m := &Member{Key: string(name[:to]), Place: splice.Span{Start: s, End: s + to}, Value: &Node{Kind: Map}}
			d.Root.Members = append(d.Root.Members, m)
			section, last, blank = m.Value, nil, 0
			f.lines = append(f.lines, iniLine{Span: splice.Span{Start: at, End: end}, section: section, member: m})
		default:
			eq := bytes.IndexAny(raw, "=:")
			if eq == indent {
				return &SyntaxError{Format: INI, Line: number, Problem: "a key is missing"}
			}
			if eq < 0 && bytes.ContainsAny(line, " \t{}<>;") {
				return &SyntaxError{Format: INI, Line: number, Problem: "neither a heading nor \"key = value\""}
			}
			last, deep, blank = iniPair(raw, at, indent, eq), indent, 0
			section.Members = append(section.Members, last)
			l := iniLine{Span: splice.Span{Start: at, End: end}, section: section, member: last, indent: string(raw[:indent])}
			if eq >= 0 {
				l.sep = string(d.text[last.Place.End:max(last.Value.Start, last.colon)])
			}
			f.lines = append(f.lines, l)
		}
		at = end
	}
	return nil
}

// iniPair parses a line with a key, and a value unless eq is negative.
func iniPair(raw []byte, at, indent, eq int) *Member {
	if eq < 0 { // a key without a value
		key := bytes.TrimSpace(raw)
		end := at + indent + len(key)
		return &Member{Key: string(key), Place: splice.Span{Start: at + indent, End: end}, Value: &Node{Kind: Null, Span: splice.Span{Start: end, End: end}}}
	}
	key := bytes.TrimSpace(raw[:eq])
	m := &Member{Key: string(key), Place: splice.Span{Start: at + indent, End: at + indent + len(key)}, colon: at + eq + 1}
	text := bytes.TrimSpace(raw[eq+1:])
	start := at + eq + 1 + len(raw[eq+1:]) - len(bytes.TrimLeft(raw[eq+1:], " \t"))
	if len(text) == 0 {
		start = at + eq + 1
	}
	m.Value = &Node{Kind: Text, Text: string(text), Span: splice.Span{Start: start, End: start + len(text)}, Body: start, form: plain}
	return m
}

// asTexts converts all scalars of a value to texts, because ini files have no other type.
func asTexts(v *Node) *Node {
	if v.scalar() && v.Kind != Null && v.Kind != Alias {
		return Str(v.Text)
	}
	out := &Node{Kind: v.Kind, Items: v.Items}
	for _, m := range v.Members {
		out.Members = append(out.Members, &Member{Key: m.Key, Value: asTexts(m.Value)})
	}
	return out
}

// iniValue returns a value as text on one line.
func iniValue(v *Node) (string, error) {
	switch {
	case !v.scalar() || v.Kind == Alias:
		return "", refuse(Unwritable, "a value of an ini file is a text")
	case v.Kind == Null:
		return "", refuse(Unwritable, "an ini file has no null; delete the key instead")
	case strings.ContainsAny(v.Text, "\r\n"):
		return "", refuse(Unwritable, "a value of an ini file must be on one line")
	case strings.TrimSpace(v.Text) != v.Text:
		return "", refuse(Unwritable, "blanks at the ends of a value of an ini file are not kept")
	}
	return v.Text, nil
}

// iniMember checks a key, and returns its value as text on one line.
func iniMember(key string, v *Node) (string, error) {
	if key == "" || strings.TrimSpace(key) != key || strings.ContainsAny(key, "=:\r\n") || strings.ContainsAny(key[:1], "[;#") {
		return "", refuse(Unwritable, "%q can't be a key of an ini file", key)
	}
	return iniValue(v)
}

// refuseComment refuses a value that may contain a comment, because programs read it
// differently.
func refuseComment(v *Node) error {
	for _, mark := range []string{" ;", " #", "\t;", "\t#"} {
		if strings.Contains(v.Text, mark) {
			return refuse(Cramped, "whether %q in the value begins a comment differs between programs", strings.TrimSpace(mark))
		}
	}
	return nil
}

// continued refuses changes next to a line that ends with a backslash, because some programs
// treat the next line as its continuation.
func (f *iniText) continued(spans ...splice.Span) error {
	for _, s := range spans {
		before := bytes.TrimRight(f.d.text[:max(bytes.LastIndexByte(f.d.text[:s.Start], '\n'), 0)], "\r")
		last := bytes.TrimRight(f.d.text[:lineEnd(f.d.text, max(s.End-1, s.Start))], " \t\r\n")
		if bytes.HasSuffix(before, []byte("\\")) || bytes.HasSuffix(last, []byte("\\")) {
			return refuse(Cramped, "a line there ends with a backslash, which some programs take as a continuation")
		}
	}
	return nil
}

func (f *iniText) replace(at place, v *Node) ([]splice.Splice, error) {
	old := at.node()
	if err := f.continued(old.Span); err != nil {
		return nil, err
	}
	if old.Kind == Map {
		return nil, refuse(Cramped, "it is a section; set its keys one by one")
	}
	s, err := iniMember(at.member().Key, v)
	if err != nil {
		return nil, err
	}
	if err := refuseComment(old); err != nil {
		return nil, err
	}
	if old.Kind == Null {
		s = " = " + s
	} else if old.Len() == 0 && f.spaced() {
		s = " " + s
		return []splice.Splice{{Span: splice.Span{Start: old.Start, End: len(bytes.TrimRight(f.d.text[:lineEnd(f.d.text, old.Start)], "\r\n"))}, New: s}}, nil
	}
	return []splice.Splice{{Span: old.Span, New: s}}, nil
}

// spaced reports whether the file has blanks around its equals signs.
func (f *iniText) spaced() bool {
	for _, l := range f.lines {
		if l.sep != "" && l.member.Value.Len() > 0 {
			return strings.HasSuffix(l.sep, " ")
		}
	}
	return true
}

func (f *iniText) add(in place, key string, v *Node) ([]splice.Splice, error) {
	n := in.node()
	if v.Kind == Map && n == f.d.Root {
		return f.addSection(key, v)
	}
	s, err := iniMember(key, v)
	if err != nil {
		return nil, err
	}
	// Add the pair after the last pair of the section and in its style, otherwise after the heading.
	at, sep, indent := -1, "", ""
	for _, l := range f.lines {
		if l.section != n {
			continue
		}
		at, indent = l.End, l.indent
		if l.sep != "" {
			sep = l.sep
		}
	}
	if sep == "" || strings.TrimSpace(sep) == "" {
		sep = "="
		if f.spaced() {
			sep = " = "
		}
	}
	if !strings.HasSuffix(sep, " ") && s != "" && f.spaced() {
		sep += " "
	}
	line := indent + key + sep + s + f.d.eol
	if at > 0 {
		if err := f.continued(splice.Span{Start: at - 1, End: at - 1}); err != nil {
			return nil, err
		}
	}
	if at < 0 { // at the top of the file, before the first section
		line += f.d.eol
		if at = len(f.d.text); len(f.lines) > 0 {
			at = f.lines[0].Start
			return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: line}}, nil
		}
		line = strings.TrimSuffix(line, f.d.eol)
	}
	if at > 0 && f.d.text[at-1] != '\n' && string(f.d.text[:at]) != mark {
		line = f.d.eol + line
	}
	return []splice.Splice{{Span: splice.Span{Start: at, End: at}, New: line}}, nil
}

func (f *iniText) addSection(name string, v *Node) ([]splice.Splice, error) {
	if strings.TrimSpace(name) != name || name == "" || strings.ContainsAny(name, "\r\n") {
		return nil, refuse(Unwritable, "%q can't be the name of a section", name)
	}
	sep := "="
	if f.spaced() {
		sep = " = "
	}
	text := "[" + name + "]" + f.d.eol
	for _, m := range v.Members {
		s, err := iniMember(m.Key, m.Value)
		if err != nil {
			return nil, err
		}
		text += m.Key + sep + s + f.d.eol
	}
	if body := bytes.TrimPrefix(f.d.text, []byte(mark)); len(body) > 0 {
		text = f.d.eol + text
		if body[len(body)-1] != '\n' {
			text = f.d.eol + text
		}
	}
	return []splice.Splice{{Span: splice.Span{Start: len(f.d.text), End: len(f.d.text)}, New: text}}, nil
}

func (f *iniText) remove(at place) ([]splice.Splice, error) {
	m := at.member()
	for i, l := range f.lines {
		if l.member != m {
			continue
		}
		span := l.Span
		if m.Value.Kind == Map { // up to the section's last pair
			for _, next := range f.lines[i+1:] {
				if next.section == m.Value {
					span.End = next.End
				}
			}
		}
		return []splice.Splice{{Span: span}}, f.continued(span)
	}
	return nil, refuse(Cramped, "no line of it was found")
}

func (f *iniText) rename(at place, key string) ([]splice.Splice, error) {
	m := at.member()
	if m.Value.Kind == Map {
		if strings.TrimSpace(key) != key || key == "" || strings.ContainsAny(key, "\r\n") {
			return nil, refuse(Unwritable, "%q can't be the name of a section", key)
		}
	} else if _, err := iniMember(key, Str("")); err != nil {
		return nil, err
	}
	return []splice.Splice{{Span: m.Place, New: key}}, nil
}
