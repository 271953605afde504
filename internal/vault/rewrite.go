package vault

import (
	"bytes"
	"cmp"
	"strings"
)

// writer rewrites one link.
type writer struct {
	pl     *planner
	link   Link
	text   []byte
	source string // path of the file with the link, before the move
	old    string // the file that the link resolves to before the move
	want   string // the path of that file after the move
}

// form is a way to write the path of a file in a link.
type form uint8

const (
	bare     form = iota // only the name
	tail                 // the name with as many folders as in the link
	fromHere             // relative to the source's folder, with "../" only if needed
	fromTop              // vault path
	dotted               // "./x" or "../x"
	rooted               // "/A/x"
)

// forms lists the forms to try: the link's own, the one for new links, and finally those
// that work for any file.
func (w *writer) forms() []form {
	own := w.ownForm()
	format := map[LinkFormat]form{Shortest: bare, Relative: fromHere, Absolute: fromTop}[w.pl.opts.Format]
	return []form{own, format, fromTop, dotted, rooted}
}

// ownForm returns the current form of the link. If it has several, such as a bare name of
// a note in the same folder, the form for new links is preferred.
func (w *writer) ownForm() form {
	p := w.link.Path
	switch {
	case w.link.Kind == CanvasFile:
		return fromTop
	case p[0] == '/':
		return rooted
	case isDotted(p):
		if w.pl.opts.Format == Relative && !strings.HasPrefix(p, "./") {
			return fromHere // "../x" also occurs in this form
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
		// A bare wikilink refers to a name in any folder, so it stays bare even if the file is
		// in the same folder as the note.
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

// path returns the new path in a form, including the extension.
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

// relative returns path relative to folder, beginning with "./" or "../".
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

// write finds a rewrite with which the link resolves to the new path. It returns false if
// there is none.
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
				r.other = w.asMarkdown() // a new $ or %% could close a formula or comment that was plain text before
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

// extensions returns the variants of a path to try: with ".md" if the link has it,
// otherwise first without and then with it.
func (w *writer) extensions(p string) []string {
	if !isNote(p) || w.link.Kind == CanvasFile || len(base(p)) == len(".md") {
		return []string{p}
	}
	if hasSuffixFold(w.link.Path, ".md") || !isNote(w.old) && w.link.Kind != Wiki {
		return []string{p}
	}
	return []string{p[:len(p)-len(".md")], p}
}

// splices writes path p into the link. It returns nil if the link's syntax can't express
// p.
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

// fitsWiki reports whether a wikilink can contain a path.
func fitsWiki(p string) bool {
	return !strings.ContainsAny(p, "[]|#\n\r") && strings.Trim(p, " \t") == p && !strings.HasSuffix(p, "\\") &&
		!strings.Contains(p, "://")
}

// asMarkdown replaces a wikilink by a Markdown link, which can express any path: no
// wikilink can express "C# notes.md". A property can't contain a Markdown link.
func (w *writer) asMarkdown() []Splice {
	l := w.link
	if l.quote != unquoted && l.quote != jsonString {
		return nil
	}
	shown := cmp.Or(l.Alias, stem(w.want))
	// A backslash doesn't prevent ` from closing a code span, but an entity does.
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

// stem returns a file's name as displayed: without ".md".
func stem(path string) string {
	name := base(path)
	if isNote(name) {
		name = name[:len(name)-len(".md")]
	}
	return name
}

// alias renames a displayed text if it is the file's old name, or the old path as
// written.
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
		return Splice{}, false // the displayed text may stay, but the link must not break
	}
	a, z := trim(w.text, l.AliasSpan.Start, l.AliasSpan.End)
	return Splice{Span: Span{Start: a, End: z}, New: quoted}, true
}

// encode encodes s for the kind of string that contains the link.
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

// encodeDestination writes a path as a Markdown destination, percent-encoded where
// required. Non-ASCII characters are encoded only if the old destination encoded them.
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

// balanced reports whether the parentheses in a destination may stay unencoded.
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
