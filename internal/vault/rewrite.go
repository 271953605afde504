package vault

import (
	"bytes"
	"strings"
)

// writer computes the new text of one link.
type writer struct {
	pl     *planner
	link   Link
	text   []byte
	source string // the linking file, before
	old    string // the file the link means, before the move
	want   string // and its path afterwards
}

// form is a way to name a file in a link.
type form uint8

const (
	bare     form = iota // the name alone
	tail                 // as many folders as in the link
	fromHere             // from the source's folder, "../" only where needed
	fromTop              // the vault path
	dotted               // "./x" or "../x"
	rooted               // "/A/x"
)

// forms lists the forms to try: the link's own, the form for new links, then those that
// work for any file.
func (w *writer) forms() []form {
	own := w.ownForm()
	format := map[LinkFormat]form{Shortest: bare, Relative: fromHere, Absolute: fromTop}[w.pl.opts.Format]
	return []form{own, format, fromTop, dotted, rooted}
}

// ownForm returns the form of the link. If several forms fit, as for a bare name in a note
// beside its target, the form for new links decides.
func (w *writer) ownForm() form {
	p := w.link.Path
	switch {
	case w.link.Kind == CanvasFile:
		return fromTop
	case p[0] == '/':
		return rooted
	case isDotted(p):
		if w.pl.opts.Format == Relative && !strings.HasPrefix(p, "./") {
			return fromHere // "../x", which this format writes too
		}
		return dotted
	}
	fits := func(path string) bool {
		for _, s := range spellings(path) {
			if fold(s) == fold(w.old) {
				return true
			}
		}
		return false
	}
	top, here := fits(p), fits(join(dir(w.source), p))
	plain := !strings.Contains(p, "/")
	switch {
	case plain && (w.pl.opts.Format == Shortest || w.link.Kind == Wiki && (w.pl.opts.Format == Relative || !top)):
		// A bare wikilink means a name anywhere, also in a note beside the file: it is written
		// like the same link in other folders.
		return bare
	case top && w.pl.opts.Format == Absolute:
		return fromTop
	case here && w.pl.opts.Format == Relative:
		return fromHere
	case plain:
		return bare
	case top:
		return fromTop
	case here:
		return fromHere
	}
	return tail
}

// path writes the wanted file in a form, as a path with its extension.
func (w *writer) path(f form) string {
	switch f {
	case bare:
		return base(w.want)
	case tail:
		parts := strings.Split(w.want, "/")
		n := min(len(parts), strings.Count(w.link.Path, "/")+1)
		return strings.Join(parts[len(parts)-n:], "/")
	case fromHere:
		return strings.TrimPrefix(relative(dir(w.pl.now(w.source)), w.want), "./")
	case dotted:
		return relative(dir(w.pl.now(w.source)), w.want)
	case rooted:
		return "/" + w.want
	}
	return w.want
}

// relative returns the path of a file from a folder, with "./" or "../".
func relative(folder, path string) string {
	var from []string
	if folder != "" {
		from = strings.Split(folder, "/")
	}
	to := strings.Split(path, "/")
	same := 0
	for same < len(from) && same < len(to)-1 && from[same] == to[same] {
		same++
	}
	if same == len(from) {
		return "./" + strings.Join(to[same:], "/")
	}
	return strings.Repeat("../", len(from)-same) + strings.Join(to[same:], "/")
}

// write finds the change with which the link finds its file; false if there is none.
func (w *writer) write() (rewrite, bool) {
	for _, f := range w.forms() {
		for _, p := range w.extensions(w.path(f)) {
			if got, ok := w.pl.after.resolveTarget(w.pl.now(w.source), p, w.link.Kind); !ok || got != w.want {
				continue
			}
			splices := w.splices(p)
			if splices == nil {
				continue
			}
			r := rewrite{splices: splices}
			if w.link.Kind == Wiki && strings.ContainsAny(p, "`$%<\\") {
				r.other = w.asMarkdown() // could close a formula or comment that was plain text before
			}
			return r, true
		}
	}
	if w.link.Kind == Wiki {
		if s := w.asMarkdown(); s != nil {
			return rewrite{splices: s}, true
		}
	}
	return rewrite{}, false
}

// extensions returns the spellings of a path to try: with ".md" if the link has it, else
// without and then with.
func (w *writer) extensions(p string) []string {
	if !isNote(p) || w.link.Kind == CanvasFile || len(base(p)) == len(".md") {
		return []string{p}
	}
	if hasSuffixFold(w.link.Path, ".md") || !isNote(w.old) && w.link.Kind != Wiki {
		return []string{p}
	}
	return []string{p[:len(p)-len(".md")], p}
}

// splices writes path p into the link, nil if its syntax can't hold it.
func (w *writer) splices(p string) []Splice {
	l := w.link
	var raw string
	switch l.Kind {
	case Wiki:
		if !fitsWiki(p) {
			return nil
		}
		raw = p
	case Markdown, Reference:
		raw = encodeDestination(p, l.angle, l.PathSpan.In(w.text))
	default:
		raw = p
	}
	quoted, ok := l.quote.encode(raw)
	if !ok {
		return nil
	}
	out := []Splice{{Span: l.PathSpan, New: quoted}}
	if s, ok := w.alias(p); ok && !w.pl.opts.KeepTexts {
		out = append(out, s)
	}
	return out
}

// fitsWiki reports whether a wikilink can hold a path.
func fitsWiki(p string) bool {
	return !strings.ContainsAny(p, "[]|#\n\r") && strings.Trim(p, " \t") == p && !strings.HasSuffix(p, "\\") &&
		!strings.Contains(p, "://")
}

// asMarkdown replaces a wikilink by a markdown link, which can name any file:
// no wikilink can name "C# notes.md". A property can't contain a markdown link.
func (w *writer) asMarkdown() []Splice {
	l := w.link
	if l.quote != unquoted && l.quote != jsonString {
		return nil
	}
	shown := l.Alias
	if shown == "" {
		shown = stem(w.want)
	}
	// A backslash doesn't prevent ` from ending a code span; an entity does.
	text := strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "`", "&#96;", "$", "&#36;", "%%", "&#37;%").Replace(shown)
	p := relative(dir(w.pl.now(w.source)), w.want)
	if w.pl.opts.Format != Relative {
		p = w.want
	}
	if got, ok := w.pl.after.resolveTarget(w.pl.now(w.source), p, Markdown); !ok || got != w.want {
		return nil
	}
	out := "[" + text + "](" + encodeDestination(p, false, nil)
	if l.Subpath != "" {
		out += "#" + encodeDestination(l.Subpath[1:], false, nil)
	}
	out += ")"
	if l.Embed {
		out = "!" + out
	}
	quoted, ok := l.quote.encode(out)
	if !ok {
		return nil
	}
	return []Splice{{Span: l.Span, New: quoted}}
}

// stem returns a file's name as shown: without ".md".
func stem(path string) string {
	name := base(path)
	if isNote(name) {
		name = name[:len(name)-len(".md")]
	}
	return name
}

// alias renames a shown text that is the file's old name, or the old path as
// written, to the new one.
func (w *writer) alias(p string) (Splice, bool) {
	l := w.link
	if l.Alias == "" || l.Kind != Wiki && l.Kind != Markdown || base(w.old) == base(w.want) {
		return Splice{}, false
	}
	var to string
	switch l.Alias {
	case stem(w.old):
		to = stem(w.want)
	case base(w.old):
		to = base(w.want)
	case l.Path:
		to = p
	default:
		return Splice{}, false
	}
	quoted, ok := l.quote.encode(to)
	if !ok || to == "" || strings.ContainsAny(to, "[]|`\\\n\r") {
		return Splice{}, false // the shown text may stay the same, but the link must not break
	}
	a, z := trim(w.text, l.AliasSpan.Start, l.AliasSpan.End)
	return Splice{Span: Span{Start: a, End: z}, New: quoted}, true
}

// encode encodes text for the quotes around a link.
func (q quoting) encode(s string) (string, bool) {
	switch q {
	case yamlPlain:
		return s, !strings.ContainsAny(s, "\n\r\t") && !strings.Contains(s, ": ") && !strings.Contains(s, " #")
	case yamlSingle:
		return strings.ReplaceAll(s, "'", "''"), !strings.ContainsAny(s, "\n\r\x00")
	case yamlDouble:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s), !strings.ContainsAny(s, "\n\r\x00")
	case jsonString:
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ':
				const hex = "0123456789abcdef"
				b.WriteString(`\u00`)
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			default:
				b.WriteByte(c)
			}
		}
		return b.String(), true
	}
	return s, true
}

// encodeDestination writes a path as a markdown destination, percent-encoded where
// required. Non-ASCII characters are encoded where the old destination encoded them.
func encodeDestination(p string, angle bool, old []byte) string {
	beyondASCII := false
	for i := 0; i+2 < len(old); i++ {
		beyondASCII = beyondASCII || old[i] == '%' && unhex(old[i+1]) >= 8 && unhex(old[i+2]) >= 0
	}
	parens := !balanced(p)
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		escape := c < ' ' || c == 0x7f || c >= 0x80 && beyondASCII
		switch c {
		case '%', '#', '<', '>', '\\', '`', '|', '[', ']', '"', '&', '$':
			escape = true
		case ' ', '?', '^', '{', '}':
			escape = !angle
		case '(', ')':
			escape = !angle && parens
		case ':':
			escape = schemeLen([]byte(p)) > 0
		}
		if !escape {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// balanced reports whether parentheses may be in a destination unencoded.
func balanced(p string) bool {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth > maxParens {
			return false
		}
	}
	return depth == 0 && !bytes.HasPrefix([]byte(p), []byte("("))
}
