package structure

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"quarry/internal/symbols"
)

// Edit replaces the bytes from Start to End with New.
type Edit struct {
	Start, End int
	New        string
}

// Refusal is a match that is not replaced, because tokens can't tell the right
// replacement or the replacement is not valid there.
type Refusal struct {
	Start, End int
	Why        Doubt
}

const (
	// Overlaps: two matches share a part, and neither is inside a hole of the other.
	Overlaps Doubt = "overlaps another match"
	// Comment: the match has a comment that is in none of the used holes.
	Comment Doubt = "a comment would be lost"
	// Directive: the match has a preprocessor line that is in none of the used holes,
	// or a hole has an #if without its #endif.
	Directive Doubt = "a preprocessor line is inside"
	// Unknown: the language of the file is unknown.
	Unknown Doubt = "not code of a known language"
	// Assigned: the match is assigned to, and its replacement can't be.
	Assigned Doubt = "is assigned to"
	// Statement: the replacement is a statement, and the match an expression or part of
	// a header.
	Statement Doubt = "no statement is allowed here"
	// NotExpression: a hole holds *args, key=value, super or a function body, where the
	// template needs an expression.
	NotExpression Doubt = "a hole holds no expression"
)

// Replace returns the edits that replace every match of a text, in order, and the refused matches. A
// match inside a hole of another match is replaced within that hole. count is the number of replaced
// matches. complete is false if the work limit was reached or the text's stop function returned true.
func (t *Template) Replace(text *Text) (edits []Edit, refused []Refusal, count int, complete bool) {
	found, complete := t.Find(text)
	if text.language == "" {
		for _, m := range found {
			refused = append(refused, Refusal{m.Start, m.End, Unknown})
		}
		return nil, refused, 0, complete
	}
	c, err := t.in(text.language)
	if err != nil {
		return nil, nil, 0, true
	}
	r := &rewriting{Template: t, source: text.source, pattern: c, form: t.form(text.language), left: maxWritten + 4*len(text.text)}
	for len(found) > 0 && r.left > 0 {
		m := found[0]
		n := 1
		for n < len(found) && found[n].Start < m.End {
			n++
		}
		inner := found[1:n]
		found = found[n:]
		r.spend(len(inner))
		if new, ok := r.replaced(&m, inner); ok {
			edits = append(edits, Edit{m.Start, m.End, new})
			continue
		}
		// The outer match was refused, but the inner ones may be replaced.
		found = append(slices.DeleteFunc(slices.Clone(inner), func(o Match) bool { return o.Start == m.Start && o.End == m.End }), found...)
	}
	return edits, r.refused, r.count, complete && r.left > 0
}

// maxWritten limits the bytes written and tokenized again for one text, in addition to four
// times its length. The text of a match includes all inner matches, so 6,000 nested calls (60
// KB) took minutes without a limit.
const maxWritten = 8 << 20

// spend subtracts n from the remaining work, and sets it to 0 after a stop.
func (r *rewriting) spend(n int) {
	if r.left -= n; r.left > 0 && r.stop != nil && r.stop() {
		r.left = 0
	}
}

// rewriting replaces the matches of one text.
type rewriting struct {
	*Template
	*source
	pattern *compiled
	form    *form
	refused []Refusal
	count   int
	left    int // remaining work
}

// replaced returns the replacement of a match with its inner matches, or false if the match is refused.
func (r *rewriting) replaced(m *Match, inner []Match) (string, bool) {
	if r.spend(m.End - m.Start + 4*len(inner)); r.left <= 0 {
		return "", false
	}
	why := r.doubted(m, inner)
	if why == "" {
		count, refused := r.count, len(r.refused)
		var new string
		if new, why = r.match(m, inner); why == "" {
			return new, true
		}
		r.count, r.refused = count, r.refused[:refused]
	}
	r.refused = append(r.refused, Refusal{m.Start, m.End, why})
	return "", false
}

// doubted returns why no template can replace a match, or "": tokens can't decide what it is,
// or another match crosses its end or overlaps a part of a hole.
func (r *rewriting) doubted(m *Match, inner []Match) Doubt {
	for i := range inner {
		if o := &inner[i]; m.Doubt == "" && !inHole(m, o) && !(o.Start == m.Start && o.End == m.End) && (o.End > m.End || !nested(m, o)) {
			return Overlaps
		}
	}
	return m.Doubt
}

// nested reports whether o is inside each hole of m that it overlaps.
func nested(m, o *Match) bool {
	for _, h := range m.Holes {
		if o.Start < h.End && o.End > h.Start && !(o.Start >= h.Start && o.End <= h.End) {
			return false
		}
	}
	return true
}

func inHole(m, o *Match) bool {
	return slices.ContainsFunc(m.Holes, func(h Hole) bool { return o.Start >= h.Start && o.End <= h.End })
}

// written is the text of a replacement so far.
type written struct {
	text   []byte
	line   int // start of its last line
	pieces map[[2]int]*held
}

// held is the text of a hole with its inner matches replaced.
type held struct {
	text string
	code *source // nil before first use, and if text has no tokens
	read bool
}

func (w *written) add(text string) {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		w.line = len(w.text) + i + 1
	}
	w.text = append(w.text, text...)
}

// trim removes trailing bytes that are in cut.
func (w *written) trim(cut string) {
	w.text = bytes.TrimRight(w.text, cut)
	if w.line > len(w.text) {
		w.line = bytes.LastIndexByte(w.text, '\n') + 1
	}
}

// indent returns the indentation of the last line; base is the first line's.
func (w *written) indent(base string) string {
	if w.line == 0 {
		return base
	}
	line := w.text[w.line:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// match returns the replacement of a match with its inner matches, or the reason why it
// is refused.
func (r *rewriting) match(m *Match, inner []Match) (string, Doubt) {
	first, last := r.tokenAt(m.Start), r.endAt(m.End)
	base := r.indentAt(m.Start)
	out := &written{pieces: map[[2]int]*held{}}
	out.add(r.indented(r.texts[0], base))
	var kept []Hole
	for i, name := range r.used {
		before := len(out.text)
		next, slot := r.texts[i+1], &r.form.slots[i]
		h := m.hole(name)
		switch o, block := r.around(h, slot.bracket), r.block(h); {
		case o >= 0: // the whole content of the brackets, with white space and comments
			h.Start, h.End = int(r.toks[o].end), int(r.toks[r.toks[o].mate].start)
			out.trim(" \t\n")
			next = strings.TrimLeft(next, " \t\n")
			out.add(r.reindented(r.held(h, inner, out).text, int(r.toks[o].start), out.indent(base)))
		case h.Start == h.End:
			next = out.dropComma(next)
		case block >= 0 && bytes.HasSuffix(bytes.TrimRight(out.text, " \t"), []byte{':'}):
			h.Start = block
			out.trim(" \t")
			out.add(r.reindented(r.held(h, inner, out).text, m.Start, out.indent(base)))
		default:
			piece, why := r.piece(h, slot, r.held(h, inner, out), out.text, first)
			if why != "" {
				return "", why
			}
			out.add(r.reindented(piece, h.Start, out.indent(base)))
		}
		if !slices.Contains(kept, h) {
			kept = append(kept, h)
		}
		out.add(r.indented(next, base))
		if r.spend(2*max(len(out.text)-before, 0) + 64); r.left <= 0 { // the new text is written, then tokenized
			return "", Comment // the work limit was reached; any reason will do
		}
	}
	switch {
	case r.pattern.comment == nil && r.losesComment(m, kept):
		return "", Comment
	case r.lines && r.cutsDirective(m, kept):
		return "", Directive
	}
	r.count++
	return r.placed(m, first, last, string(out.text))
}

// held returns the text of a hole with its inner matches replaced. out caches it, because a
// template may use a hole twice.
func (r *rewriting) held(h Hole, inner []Match, out *written) *held {
	key := [2]int{h.Start, h.End}
	p := out.pieces[key]
	if p == nil {
		p = &held{text: r.hole(h, inner)}
		out.pieces[key] = p
	}
	return p
}

func (r *rewriting) indented(text, base string) string {
	if base == "" {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\n"+base)
}

// hole returns the content of the hole called name.
func (m *Match) hole(name string) Hole {
	for _, h := range m.Holes {
		if h.Name == name {
			return h
		}
	}
	return Hole{Name: name}
}

// endAt returns the first token at or after an offset; it may be the empty token at the end of
// a line or block.
func (s *source) endAt(at int) int {
	return sort.Search(len(s.toks), func(i int) bool { return int(s.toks[i].start) >= at })
}

// tokenAt returns the first non-empty token at or after an offset.
func (s *source) tokenAt(at int) int {
	k := s.endAt(at)
	for k < len(s.toks) && s.toks[k].virtual {
		k++
	}
	return k
}

// around returns the token of the opening bracket directly before a hole's content, if the
// hole fills these brackets and they are the template's (bracket), or -1.
func (r *rewriting) around(h Hole, bracket byte) int {
	after := r.tokenAt(h.End)
	if bracket == 0 || r.kindAt(after) != closing {
		return -1
	}
	o := int(r.toks[after].mate)
	if r.alone(o, after) != bracket || int(r.toks[o].end) > h.Start || r.tokenAt(int(r.toks[o].end)) != r.tokenAt(h.Start) {
		return -1
	}
	return o
}

// block returns the offset after the : if a hole holds the indented block after it, or -1.
func (r *rewriting) block(h Hole) int {
	if k := r.tokenAt(h.Start); r.newlines == indented && k > 1 && r.toks[k-1].virtual && r.toks[k-1].kind == opening && r.is(k-2, ":") {
		return int(r.toks[k-2].end)
	}
	return -1
}

// losesComment reports whether a comment of a match is in none of the kept pieces.
func (r *rewriting) losesComment(m *Match, kept []Hole) bool {
	for i := sort.Search(len(r.comments), func(i int) bool { return r.comments[i][0] >= m.Start }); i < len(r.comments) && r.comments[i][0] < m.End; i++ {
		if c := r.comments[i]; !slices.ContainsFunc(kept, func(h Hole) bool { return h.Start <= c[0] && c[1] <= h.End }) {
			return true
		}
	}
	return false
}

// cutsDirective reports whether a preprocessor line of a match is in none of the kept
// pieces, or an #if, #else or #endif is separated from its partners.
func (r *rewriting) cutsDirective(m *Match, kept []Hole) bool {
	open := map[int]int{} // #if lines not yet closed, by the start of their hole
	for at := m.Start; ; {
		i := bytes.IndexByte(r.text[at:m.End], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		line, _, _ := bytes.Cut(bytes.TrimLeft(r.text[at:m.End], " \t"), []byte("\n"))
		if !bytes.HasPrefix(line, []byte("#")) || r.covered(at) {
			continue
		}
		h := slices.IndexFunc(kept, func(h Hole) bool { return h.Start <= at && at < h.End })
		if h < 0 {
			return true
		}
		switch word := bytes.TrimLeft(line[1:], " \t"); {
		case bytes.HasPrefix(word, []byte("if")):
			open[kept[h].Start]++
		case bytes.HasPrefix(word, []byte("endif")):
			open[kept[h].Start]--
		case !bytes.HasPrefix(word, []byte("el")):
			continue
		}
		if open[kept[h].Start] < 0 || bytes.HasPrefix(bytes.TrimLeft(line[1:], " \t"), []byte("el")) && open[kept[h].Start] == 0 {
			return true
		}
	}
	for _, n := range open {
		if n != 0 {
			return true
		}
	}
	return false
}

// covered reports whether an offset is inside a comment or a token.
func (s *source) covered(at int) bool {
	i := sort.Search(len(s.comments), func(i int) bool { return s.comments[i][1] > at })
	k := sort.Search(len(s.toks), func(k int) bool { return int(s.toks[k].end) > at })
	return i < len(s.comments) && s.comments[i][0] < at || k < len(s.toks) && int(s.toks[k].start) < at
}

// hole returns the text of a hole with its inner matches replaced.
func (r *rewriting) hole(h Hole, inner []Match) string {
	var out strings.Builder
	at := h.Start
	for i := range inner {
		m := &inner[i]
		if m.Start < at || m.End > h.End {
			continue
		}
		rest := inner[i+1:]
		n := 0
		for n < len(rest) && rest[n].Start < m.End {
			n++
		}
		if new, ok := r.replaced(m, rest[:n]); ok {
			out.Write(r.text[at:m.Start])
			out.WriteString(new)
			at = m.End
		}
	}
	out.Write(r.text[at:h.End])
	return out.String()
}

// indentAt returns the indentation of the line at an offset.
func (s *source) indentAt(at int) string {
	start := bytes.LastIndexByte(s.text[:at], '\n') + 1
	end := start
	for end < len(s.text) && (s.text[end] == ' ' || s.text[end] == '\t') {
		end++
	}
	return string(s.text[start:end])
}

// reindented replaces the indentation of the lines of piece, which is that of the line at
// offset at, by to. Lines inside strings stay unchanged.
func (r *rewriting) reindented(piece string, at int, to string) string {
	from := r.indentAt(at)
	if from == to || !strings.Contains(piece, "\n") {
		return piece
	}
	kept := r.inStrings(piece)
	lines := strings.SplitAfter(piece, "\n")
	offset := 0
	for i, l := range lines {
		if i > 0 && !kept[offset] && (strings.TrimSpace(l) != "" || i == len(lines)-1) {
			if rest, ok := strings.CutPrefix(l, from); ok {
				lines[i] = to + rest
			}
		}
		offset += len(l)
	}
	return strings.Join(lines, "")
}

// inStrings returns the offsets of a piece at which a line inside a string begins.
func (r *rewriting) inStrings(piece string) map[int]bool {
	kept := map[int]bool{}
	code := symbols.LexAs(r.language, []byte(piece))
	if code == nil {
		return kept
	}
	for _, t := range code.Tokens {
		if t.Kind != symbols.Text {
			continue
		}
		for k := t.Start; k < t.End; k++ {
			if piece[k] == '\n' {
				kept[k+1] = true
			}
		}
	}
	return kept
}

// dropComma removes the comma next to an empty hole: before it, at the end of the text, or
// after it, at the start of rest. So f($A, $$REST) with an empty REST gives f(a).
func (w *written) dropComma(rest string) string {
	before, after := bytes.TrimRight(w.text, " \t\n"), strings.TrimLeft(rest, " \t\n")
	switch {
	case bytes.HasSuffix(before, []byte{','}) && after != "" && strings.ContainsRune(")]}", rune(after[0])):
		w.trim(" \t\n")
		w.text = w.text[:len(w.text)-1]
	case strings.HasPrefix(after, ",") && len(before) > 0 && strings.ContainsRune("([{", rune(before[len(before)-1])):
		return strings.TrimLeft(after[1:], " \t")
	}
	return rest
}
