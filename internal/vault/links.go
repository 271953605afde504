package vault

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// open handles "[": a wikilink, or the start of a markdown link's text.
func (s *inlineScanner) open() {
	if s.i+1 < len(s.p) && s.p[s.i+1] == '[' && s.wiki() {
		return
	}
	s.brackets = append(s.brackets, bracket{at: s.i, image: s.i > 0 && s.bang == s.i-1})
	s.i++
}

// wiki reads the wikilink at s.i. In a sequence of "[[" the innermost one opens the link.
func (s *inlineScanner) wiki() bool {
	from := s.i + 2
	end := s.wikiClose.next(s.p, from, "]]")
	if end == len(s.p) || s.newline.next(s.p, s.i, "\n") < end || s.wikiOpen.next(s.p, s.i+1, "[[") < end {
		return false
	}
	l, ok := parseWiki(s.p, from, end)
	if !ok {
		return false
	}
	start := s.i
	if s.i > 0 && s.bang == s.i-1 {
		l.Embed, start = true, s.i-1
	}
	l.Span, l.aside = Span{Start: start, End: end + 2}, s.aside
	l.move(s.off)
	s.note.Links = append(s.note.Links, l)
	s.i = end + 2
	return true
}

// parseWiki splits the inside of a wikilink, p[from:end], into its parts.
func parseWiki(p []byte, from, end int) (Link, bool) {
	var l Link
	targetEnd := end
	l.AliasSpan = Span{Start: end, End: end}
	if bar := bytes.IndexByte(p[from:end], '|'); bar >= 0 {
		targetEnd = from + bar
		l.AliasSpan = Span{Start: targetEnd + 1, End: end}
		if bar > 0 && p[targetEnd-1] == '\\' {
			targetEnd--
			l.table = true
		}
	}
	if bytes.ContainsAny(p[from:targetEnd], "[]") {
		return l, false
	}
	a, z := trim(p, from, targetEnd)
	if a == z && targetEnd < end { // [[|x]]: Obsidian treats the bar as part of the target
		a, z = trim(p, from, end)
		l.AliasSpan, l.table = Span{Start: end, End: end}, false
	}
	if a == z {
		return l, false
	}
	pathEnd := z
	if hash := bytes.IndexByte(p[a:z], '#'); hash >= 0 {
		pathEnd = a + hash
	}
	_, trimmed := trim(p, a, pathEnd)
	l.PathSpan, l.SubpathSpan = Span{Start: a, End: trimmed}, Span{Start: pathEnd, End: z}
	l.Path, l.Subpath = string(p[a:trimmed]), string(p[pathEnd:z])
	l.Alias = strings.TrimSpace(string(l.AliasSpan.In(p)))
	l.External = strings.Contains(l.Path, "://") && isExternal(l.Path) // "Meeting: x" is a file name
	return l, true
}

// move shifts all spans by an offset.
func (l *Link) move(by int) {
	for _, sp := range []*Span{&l.Span, &l.PathSpan, &l.SubpathSpan, &l.AliasSpan} {
		sp.Start += by
		sp.End += by
	}
}

func isExternal(path string) bool {
	return schemeLen([]byte(path)) > 0 && strings.IndexByte(path, ' ') < 0 || strings.HasPrefix(path, "//")
}

// close handles "]": the end of a markdown link's text, or just a bracket.
func (s *inlineScanner) close() {
	at := s.i
	s.i++
	n := len(s.brackets)
	if n == 0 {
		return
	}
	b := s.brackets[n-1]
	s.brackets = s.brackets[:n-1]
	active := b.image || n-1 >= s.inactive
	s.inactive = min(s.inactive, n-1)
	if !active {
		return
	}
	start := b.at
	if b.image {
		start--
	}
	var d destination
	ok := false
	if s.i < len(s.p) && s.p[s.i] == '(' {
		d, ok = parseInlineDestination(s.p, s.i+1)
	}
	if !ok {
		if s.use(b, start, at) && !b.image {
			s.inactive = n - 1
		}
		return
	}
	if !b.image {
		s.inactive = n - 1
	}
	l := d.link(s.p)
	l.Kind, l.Embed, l.aside = Markdown, b.image, s.aside
	l.Span, l.AliasSpan = Span{Start: start, End: d.end}, Span{Start: b.at + 1, End: at}
	l.Alias = string(l.AliasSpan.In(s.p))
	l.move(s.off)
	s.note.Links = append(s.note.Links, l)
	s.i = d.end
}

// use records a reference link whose text b ends with the bracket at offset at.
func (s *inlineScanner) use(b bracket, start, at int) bool {
	if len(s.refs) == 0 {
		return false
	}
	label, end := Span{Start: b.at + 1, End: at}, at+1
	if next, ok := labelEnd(s.p, at+1); ok {
		if end = next; len(bytes.TrimSpace(s.p[at+2:next-1])) > 0 {
			label = Span{Start: at + 2, End: next - 1}
		} else if next > at+3 {
			return false // [ ] isn't a valid label
		}
	}
	if closer, ok := labelEnd(s.p, label.Start-1); !ok || closer != label.End+1 {
		return false
	}
	def := s.refs[foldLabel(label.In(s.p))]
	if def == nil {
		return false
	}
	if s.aside {
		return false
	}
	s.note.Uses = append(s.note.Uses, Use{Span: s.shift(Span{Start: start, End: end}), Label: string(label.In(s.p)), Image: b.image, Path: def.Path})
	s.i = end
	return true
}

// labelEnd returns the offset after the label "[…]" at offset at. Brackets in a label
// must be escaped, and it has at most 999 characters.
func labelEnd(p []byte, at int) (int, bool) {
	if at >= len(p) || p[at] != '[' {
		return 0, false
	}
	for i := at + 1; i < len(p) && i-at < 1000; i++ {
		switch p[i] {
		case '[':
			return 0, false
		case ']':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return 0, false
}

// foldLabel normalizes a label: labels that match have the same result.
func foldLabel(label []byte) string {
	s := fold(string(bytes.Join(bytes.Fields(label), []byte(" "))))
	return strings.NewReplacer("ß", "ss", "ẞ", "ss").Replace(s)
}

func parseDefinition(p []byte, at int) (l Link, end int, ok bool) {
	for at < len(p) && (p[at] == ' ' || p[at] == '\t') {
		at++
	}
	if at+1 >= len(p) || p[at] != '[' || p[at+1] == '^' {
		return l, 0, false
	}
	i := at + 1
	for ; i < len(p) && i-at < 1000 && p[i] != ']'; i++ {
		if p[i] == '[' {
			return l, 0, false
		}
		if p[i] == '\\' {
			i++
		}
	}
	if i+1 >= len(p) || p[i] != ']' || p[i+1] != ':' || len(bytes.TrimSpace(p[at+1:i])) == 0 {
		return l, 0, false
	}
	d, ok := parseDestination(p, skipBlank(p, i+2))
	if !ok || d.raw.Len() == 0 && !d.angle {
		return l, 0, false
	}
	if end, ok = definitionEnd(p, d.end); !ok {
		return l, 0, false
	}
	l = d.link(p)
	l.Kind = Reference
	l.Span, l.AliasSpan = Span{Start: at, End: d.end}, Span{Start: at + 1, End: i}
	l.Alias = string(l.AliasSpan.In(p))
	return l, end, true
}

// definitionEnd returns the end of a link definition whose destination ends at i. Only a
// title may follow, possibly on the next line.
func definitionEnd(p []byte, i int) (int, bool) {
	line := i
	for line < len(p) && (p[line] == ' ' || p[line] == '\t' || p[line] == '\r') {
		line++
	}
	bare := line == len(p) || p[line] == '\n' // the definition is valid without the title
	t := skipBlank(p, i)
	if t > i {
		if e, ok := parseTitle(p, t); ok {
			for e < len(p) && (p[e] == ' ' || p[e] == '\t' || p[e] == '\r') {
				e++
			}
			if e == len(p) || p[e] == '\n' {
				return min(e+1, len(p)), true
			}
		}
	}
	return min(line+1, len(p)), bare
}

// destination is a link destination as written.
type destination struct {
	raw   Span // without angle brackets
	angle bool
	end   int
}

// parseInlineDestination reads the text after "](": a destination, a title, and ")".
func parseInlineDestination(p []byte, at int) (destination, bool) {
	d, ok := parseDestination(p, skipBlank(p, at))
	if !ok {
		return d, false
	}
	i := skipBlank(p, d.end)
	if i > d.end {
		if e, ok := parseTitle(p, i); ok {
			i = skipBlank(p, e)
		}
	}
	if i >= len(p) || p[i] != ')' {
		return d, false
	}
	d.end = i + 1
	return d, true
}

// maxParens is CommonMark's limit for nested parentheses. It also keeps repeated "[]("
// linear.
const maxParens = 32

func parseDestination(p []byte, i int) (destination, bool) {
	if i < len(p) && p[i] == '<' {
		for j := i + 1; j < len(p); j++ {
			switch p[j] {
			case '>':
				return destination{raw: Span{Start: i + 1, End: j}, angle: true, end: j + 1}, true
			case '<', '\n':
				return destination{}, false
			case '\\':
				if j+1 < len(p) && isPunct(p[j+1]) {
					j++
				}
			}
		}
		return destination{}, false
	}
	j, depth := i, 0
	for ; j < len(p); j++ {
		c := p[j]
		if c <= ' ' || c == 0x7f {
			break
		}
		if c == '\\' && j+1 < len(p) && isPunct(p[j+1]) {
			j++
			continue
		}
		if c == '(' {
			if depth++; depth > maxParens {
				return destination{}, false
			}
		}
		if c == ')' {
			if depth == 0 {
				break
			}
			depth--
		}
	}
	return destination{raw: Span{Start: i, End: j}, end: j}, depth == 0
}

// parseTitle reads a quoted title and returns where it ends.
func parseTitle(p []byte, i int) (int, bool) {
	if i >= len(p) {
		return 0, false
	}
	closer := p[i]
	switch p[i] {
	case '"', '\'':
	case '(':
		closer = ')'
	default:
		return 0, false
	}
	for j := i + 1; j < len(p); j++ {
		switch {
		case p[j] == closer:
			return j + 1, true
		case p[j] == '(' && closer == ')':
			return 0, false
		case p[j] == '\\' && j+1 < len(p) && isPunct(p[j+1]):
			j++
		}
	}
	return 0, false
}

func skipBlank(p []byte, i int) int {
	for i < len(p) && isBlank(p[i]) {
		i++
	}
	return i
}

// link splits the destination into path and subpath and decodes them.
func (d destination) link(p []byte) Link {
	raw := d.raw.In(p)
	pathEnd := d.raw.End
	if hash := fragmentStart(raw); hash >= 0 {
		pathEnd = d.raw.Start + hash
	}
	l := Link{angle: d.angle, PathSpan: Span{Start: d.raw.Start, End: pathEnd}, SubpathSpan: Span{Start: pathEnd, End: d.raw.End}}
	l.External = isExternal(string(unescapeMarkdown(raw)))
	if l.External {
		l.PathSpan, l.SubpathSpan = d.raw, Span{Start: d.raw.End, End: d.raw.End}
		l.Path = string(raw)
		return l
	}
	l.Path = decodeDestination(l.PathSpan.In(p))
	l.Subpath = decodeDestination(l.SubpathSpan.In(p))
	return l
}

// decodeDestination decodes backslash escapes, entities and percent-encoding. Invalid
// encodings, and those that don't result in UTF-8, are left unchanged.
func decodeDestination(raw []byte) string {
	s := unescapeMarkdown(raw)
	if bytes.IndexByte(s, '%') < 0 {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	if !utf8.Valid(out) && utf8.Valid(s) {
		return string(s)
	}
	return string(out)
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// unescapeMarkdown decodes backslash escapes and entities, such as \( and &amp;.
func unescapeMarkdown(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && isPunct(raw[i+1]):
			i++
		case raw[i] == '&':
			if e := entityLen(raw[i:]); e > 0 {
				if text := html.UnescapeString(string(raw[i : i+e])); text[0] != '&' || text == "&" {
					out = append(out, text...)
					i += e - 1
					continue
				}
			}
		}
		out = append(out, raw[i])
	}
	return out
}

// fragmentStart returns where the subpath of a destination begins, or -1. The # in &#32;
// doesn't count.
func fragmentStart(raw []byte) int {
	for i, c := range raw {
		if c == '#' && (i == 0 || raw[i-1] != '&' || entityLen(raw[i-1:]) == 0) {
			return i
		}
	}
	return -1
}

// entityLen returns the length of the entity at the start of s, or 0. It checks only the
// form. The longest name fits in 40 bytes.
func entityLen(s []byte) int {
	for i := 1; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == ';':
			if i == 1 {
				return 0
			}
			return i + 1
		case !isLetter(c) && (c < '0' || c > '9') && (c != '#' || i > 1):
			return 0
		}
	}
	return 0
}
