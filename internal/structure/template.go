package structure

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/symbols"
)

// Template is what matches of a pattern are replaced by. It is safe for concurrent
// use.
type Template struct {
	*Pattern
	parts []part
}

// part is a text, or a hole if name is not "".
type part struct{ text, name string }

// HoleError refuses a template with a hole that the pattern does not have.
type HoleError struct {
	Name string
	Have []string
}

func (e *HoleError) Error() string {
	return fmt.Sprintf("unknown hole %s in the replacement", e.Name)
}

// Code is InvalidArgument.
func (e *HoleError) Code() fault.Code { return fault.InvalidArgument }

// Is makes errors.Is find the code.
func (e *HoleError) Is(target error) bool { return target == e.Code() }

// Hint says which holes there are.
func (e *HoleError) Hint() string {
	if len(e.Have) == 0 {
		return "the structure has no holes with a name"
	}
	return "the structure has " + strings.Join(e.Have, ", ") + "; another sign than $ for holes keeps $ as text"
}

// Template reads what matches are replaced by: code with the holes of the pattern.
func (p *Pattern) Template(body string, sign rune) (*Template, error) {
	if sign == 0 {
		sign = DefaultHole
	}
	t := &Template{Pattern: p}
	text := ""
	for rest := strings.ReplaceAll(body, "\r\n", "\n"); rest != ""; {
		h, size := readHole(rest, byte(sign))
		if size == 0 {
			text, rest = text+rest[:1], rest[1:]
			continue
		}
		if !slices.Contains(p.names, h.name) {
			return nil, &HoleError{rest[:size], p.names}
		}
		t.parts = append(t.parts, part{text: text}, part{name: h.name})
		text, rest = "", rest[size:]
	}
	t.parts = append(t.parts, part{text: text})
	return t, nil
}

// Edit replaces the bytes from Start to End.
type Edit struct {
	Start, End int
	New        string
}

// Refusal is a place that is not replaced, since tokens can't tell what is right.
type Refusal struct {
	Start, End int
	Why        Doubt
}

// Overlaps: two matches share a part, and neither is inside a hole of the other.
const Overlaps Doubt = "overlaps another match"

// Replace works out what replaces every match of a text: edits in order, and the
// places that are refused. A match inside a hole of another one is replaced there.
// count is how many matches are replaced.
func (t *Template) Replace(text *Text) (edits []Edit, refused []Refusal, count int, complete bool) {
	found, complete := t.Find(text)
	r := &rewriting{Template: t, source: text.source, text: text}
	for len(found) > 0 {
		m := found[0]
		n := 1
		for n < len(found) && found[n].Start < m.End {
			n++
		}
		inner := found[1:n]
		found = found[n:]
		if r.refuses(&m, inner) {
			// What is inside may stand by itself.
			found = append(slices.DeleteFunc(slices.Clone(inner), func(o Match) bool { return o.Start == m.Start && o.End == m.End }), found...)
			continue
		}
		edits = append(edits, Edit{m.Start, m.End, r.match(&m, inner)})
	}
	return edits, r.refused, r.count, complete
}

type rewriting struct {
	*Template
	*source
	text    *Text
	refused []Refusal
	count   int
}

// refuses reports that a match can't be replaced, and counts it. A match that
// reaches over the end of this one, or that has only a part of a hole, is counted as
// well.
func (r *rewriting) refuses(m *Match, inner []Match) bool {
	why := m.Doubt
	for i := range inner {
		if o := &inner[i]; why == "" && !inHole(m, o) && !(o.Start == m.Start && o.End == m.End) {
			if o.End > m.End || !r.nested(m, o) {
				why = Overlaps
			}
		}
	}
	if why == "" {
		return false
	}
	r.refused = append(r.refused, Refusal{m.Start, m.End, why})
	return true
}

// nested reports that o is whole inside of m, in code that the replacement drops.
func (r *rewriting) nested(m, o *Match) bool {
	for _, h := range m.Holes {
		if o.Start < h.End && o.End > h.Start && !(o.Start >= h.Start && o.End <= h.End) {
			return false
		}
	}
	return true
}

func inHole(m, o *Match) bool {
	for _, h := range m.Holes {
		if o.Start >= h.Start && o.End <= h.End {
			return true
		}
	}
	return false
}

// match is what replaces a match with those inside of it.
func (r *rewriting) match(m *Match, inner []Match) string {
	r.count++
	out, base, skip := "", r.indentAt(m.Start), ""
	for i, p := range r.parts {
		if p.name == "" {
			text := p.text
			if i > 0 && skip != "" {
				text, skip = skip, ""
			}
			if base != "" {
				text = strings.ReplaceAll(text, "\n", "\n"+base)
			}
			out += text
			continue
		}
		h := m.hole(p.name)
		if h == nil || h.Start == h.End {
			out, skip = dropComma(out, r.parts[i+1].text)
			continue
		}
		piece := r.reindent(r.hole(h, inner), h.Start, lastIndent(out, base))
		if r.loose(h, i) {
			piece = "(" + piece + ")"
		}
		out += piece
	}
	return r.whole(m, out)
}

func (m *Match) hole(name string) *Hole {
	for i := range m.Holes {
		if m.Holes[i].Name == name {
			return &m.Holes[i]
		}
	}
	return nil
}

// hole is the text of a hole, with the matches in it replaced.
func (r *rewriting) hole(h *Hole, inner []Match) string {
	var out strings.Builder
	at := h.Start
	for i := 0; i < len(inner); i++ {
		m := &inner[i]
		if m.Start < at || m.End > h.End {
			continue
		}
		rest := inner[i+1:]
		n := 0
		for n < len(rest) && rest[n].Start < m.End {
			n++
		}
		if r.refuses(m, rest[:n]) {
			continue
		}
		out.Write(r.source.text[at:m.Start])
		out.WriteString(r.match(m, rest[:n]))
		at = m.End
	}
	out.Write(r.source.text[at:h.End])
	return out.String()
}

// indentAt is the indentation of the line at an offset.
func (s *source) indentAt(at int) string {
	start := bytes.LastIndexByte(s.text[:at], '\n') + 1
	end := start
	for end < len(s.text) && (s.text[end] == ' ' || s.text[end] == '\t') {
		end++
	}
	return string(s.text[start:end])
}

// lastIndent is the indentation of the last line of a text whose first line is
// indented by base.
func lastIndent(text, base string) string {
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return base
	}
	line := text[i+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// reindent gives the lines of a piece, whose first line begins at an offset, the
// indentation of their new place. Lines of strings keep theirs.
func (r *rewriting) reindent(piece string, at int, to string) string {
	from := r.indentAt(at)
	if from == to || !strings.Contains(piece, "\n") {
		return piece
	}
	kept := r.inStrings(piece, at)
	lines := strings.SplitAfter(piece, "\n")
	offset := 0
	for i, l := range lines {
		if i > 0 && !kept[offset] && strings.TrimSpace(l) != "" {
			if rest, ok := strings.CutPrefix(l, from); ok {
				lines[i] = to + rest
			}
		}
		offset += len(l)
	}
	return strings.Join(lines, "")
}

// inStrings says which offsets of a piece are inside a string of several lines. A
// piece in which something was replaced has offsets of its own, so it is lexed.
func (r *rewriting) inStrings(piece string, _ int) map[int]bool {
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

// loose reports that the piece in a hole binds less tightly than what stands next to
// it in the template, so that it needs brackets.
func (r *rewriting) loose(h *Hole, i int) bool {
	level := r.levelOf(string(r.source.text[h.Start:h.End]))
	if level >= unary && level != unary {
		return false
	}
	before, after := strings.TrimRight(r.parts[i-1].text, " \t\n"), ""
	if i+1 < len(r.parts) {
		after = strings.TrimLeft(r.parts[i+1].text, " \t\n")
	}
	if before == "" && i > 1 || after == "" && i+2 < len(r.parts) && r.parts[i+1].text != "" {
		return false // another hole is next to it
	}
	next := neighbour(r.language, after, true)
	if next == 0 && startsCall(after) && r.parts[i+1].text == after {
		next = postfix
	}
	prev := neighbour(r.language, before, false)
	return next > level || prev > level || prev == level && prev > 0 && !rightFirst(prev)
}

func startsCall(s string) bool { return s != "" && (s[0] == '(' || s[0] == '[') }

// neighbour is how tightly the operator binds with which a text begins or ends; 0 if
// there is none.
func neighbour(language, s string, begins bool) int {
	code := symbols.LexAs(language, []byte("x "+s+" x"))
	if code == nil || len(code.Tokens) < 3 {
		return 0
	}
	src := newSource(code, []byte("x "+s+" x"), true)
	i := 1
	if !begins {
		i = len(src.toks) - 2
	}
	if src.kindAt(i) != op && !(src.kindAt(i) == word && src.words[src.str(i)] > 0) {
		return 0
	}
	switch {
	case src.memberOp(i) || begins && src.after(i):
		return postfix
	case src.is(i, ",") || src.is(i, ":"):
		return 0
	case !begins && (i == 1 || src.prefixAt(i)):
		return unary
	}
	return src.binary(i)
}

// levelOf is how tightly the loosest operator of some code binds.
func (r *rewriting) levelOf(code string) int {
	lexed := symbols.LexAs(r.language, []byte(code))
	if lexed == nil || len(lexed.Tokens) == 0 {
		return postfix
	}
	s := newSource(lexed, []byte(code), true)
	level := postfix
	for k := 0; k < len(s.toks); k = s.next(k) {
		if s.toks[k].kind != op && s.toks[k].kind != word {
			continue
		}
		switch {
		case k == 0 && s.prefix(k):
			level = min(level, unary)
		case s.memberOp(k) || s.after(k) || s.is(k, ":") || s.is(k, ","):
		case s.is(k, "<") && s.generic(k) > 0:
			k = s.generic(k) - 1
		case s.prefixAt(k):
		default:
			if l := s.binary(k); l > 0 {
				level = min(level, l)
			}
		}
	}
	return level
}

// whole puts brackets around what replaces a match if it binds less tightly than
// what the match stands next to.
func (r *rewriting) whole(m *Match, new string) string {
	c, err := r.in(r.language)
	if err != nil || c.level <= assign || strings.ContainsAny(new, ";\n") && !strings.HasPrefix(new, "(") && r.levelOf(new) <= assign {
		return new
	}
	level := r.levelOf(new)
	if level >= c.level {
		return new
	}
	// What begins and ends where the match does?
	first := slices.IndexFunc(r.toks, func(t token) bool { return int(t.start) >= m.Start && !t.virtual })
	last := first
	for last < len(r.toks) && int(r.toks[last].start) < m.End {
		last++
	}
	binds := func(k int, left bool) bool {
		s := r.source
		switch s.kindAt(k) {
		case op:
			if s.is(k, ",") || s.is(k, ":") {
				return false
			}
			if s.memberOp(k) || !left && s.after(k) {
				return true
			}
			if left && s.prefixAt(k) {
				return level < unary
			}
			return s.binary(k) > level || s.binary(k) == level && left
		case opening:
			return !left && !s.toks[k].virtual && !s.opens(k, '{')
		case word:
			return s.words[s.str(k)] > level || left && s.prefixes[s.str(k)] && s.str(k) != "yield"
		}
		return false
	}
	if level > level0 && (binds(first-1, true) || binds(last, false)) {
		return "(" + new + ")"
	}
	return new
}

// dropComma removes the comma before a hole that holds nothing, at the end of out,
// or the one after it, at the start of rest: f($A, $$REST) with no rest is f(a).
func dropComma(out, rest string) (string, string) {
	before, after := strings.TrimRight(out, " \t\n"), strings.TrimLeft(rest, " \t\n")
	switch {
	case strings.HasSuffix(before, ",") && after != "" && strings.ContainsRune(")]}", rune(after[0])):
		return strings.TrimSuffix(before, ","), rest
	case strings.HasPrefix(after, ",") && before != "" && strings.ContainsRune("([{", rune(before[len(before)-1])):
		return out, strings.TrimLeft(after[1:], " \t")
	}
	return out, rest
}
