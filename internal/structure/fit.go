package structure

import (
	"bytes"
	"strings"

	"quarry/internal/symbols"
)

// piece returns the text that replaces a hole of the template, in brackets if it binds less
// tightly than its neighbours in the template. before is the replacement text so far; first is
// the first token of the match.
func (r *rewriting) piece(h Hole, slot *slot, held *held, before []byte, first int) (string, Doubt) {
	if !held.read {
		held.code, held.read = lexed(r.language, held.text), true
	}
	text, s := held.text, held.code
	switch {
	case s != nil && r.closures && (s.is(0, "mut") || s.is(0, "'")) && !bytes.HasSuffix(bytes.TrimRight(before, " "), []byte{'&'}):
		return "", NotExpression // mut a and 'a T are valid only after &
	case slot.glued || s == nil:
		return text, ""
	case r.takesMany(h.Name):
		if r.newlines == indented && slot.bracket != '(' && s.generator() {
			text = "(" + text + ")"
		}
		return text, ""
	}
	body := r.tokenAt(h.Start)
	switch {
	case !slot.argument && s.spread(), !(slot.argument && slot.last) && s.named(), s.assigns(),
		!slot.arrow && r.opens(body, '{') && (r.is(body-1, "=>") || r.is(body-1, "->")),
		slot.right < postfix && len(s.toks) == 1 && s.is(0, "super"):
		return "", NotExpression
	}
	if slot.kept && !sticks(before, text) {
		return text, ""
	}
	level := s.loosest()
	same := slot.left == level && !rightFirst(level) || slot.right == level && (rightFirst(level) || r.chains(level))
	switch {
	case slot.left > level, slot.right > level, level < postfix && same,
		slot.dot && len(s.toks) == 1 && s.kindAt(0) == number,
		r.newlines == indented && s.pythonBrackets(slot, slot.bare && r.bare(first)),
		r.elseIf && slot.bare && s.hasLiteral() && r.openHeader(first),
		r.script() && slot.start && s.declaration() && r.statementAt(first):
		return "(" + text + ")", ""
	}
	return text, ""
}

// sticks reports whether the end of before and the start of text would join to one operator,
// as - and -a would.
func sticks(before []byte, text string) bool {
	return len(before) > 0 && text != "" && before[len(before)-1] == text[0] && strings.IndexByte("+-&|<>*", text[0]) >= 0
}

// script reports whether the language is JavaScript or TypeScript.
func (s *source) script() bool { return s.dollar && s.newlines == loose && s.language != "Scala" }

// declaration reports whether the code, although an expression elsewhere, would be a
// declaration or a block at the start of a statement.
func (s *source) declaration() bool {
	return s.opens(0, '{') || s.is(0, "function") || s.is(0, "class") || s.is(0, "async") && s.is(1, "function")
}

// hasLiteral reports whether the code has a T{…} outside of brackets. In the header of an if,
// its brace would begin the body.
func (s *source) hasLiteral() bool {
	for k := 0; k < len(s.toks); k = s.next(k) {
		if k > 0 && s.opens(k, '{') && (s.kindAt(k-1) == word || s.closes(k-1, ']')) {
			return true
		}
	}
	return false
}

// openHeader reports whether token k is in the header of an if, for or switch, outside of
// brackets.
func (s *source) openHeader(k int) bool {
	for in := s.toks[k].in; k > 0 && s.step(); {
		if k--; s.kindAt(k) == closing && s.toks[k].mate >= 0 {
			k = int(s.toks[k].mate)
			continue
		}
		if s.toks[k].in != in || s.virtualAt(k) {
			return false
		}
		if s.kindAt(k) == word && (headers[s.str(k)] || s.is(k, "match")) {
			return true
		}
	}
	return false
}

// takesMany reports whether a hole of the pattern is $$NAME.
func (r *rewriting) takesMany(name string) bool {
	for _, h := range r.Pattern.holes {
		if h.name == name {
			return h.many
		}
	}
	return false
}

// lexed tokenizes a piece of code, or returns nil if it is empty.
func lexed(language, code string) *source {
	c := symbols.LexAs(language, []byte(code))
	if c == nil || len(c.Tokens) == 0 {
		return nil
	}
	return newSource(c, []byte(code), true)
}

// chains reports whether operators of a level change their meaning side by side: Python's
// a < b == c is a < b and b == c.
func (d *dialect) chains(level int) bool { return d.newlines == indented && level == comparison }

// bare reports whether token k is outside of all brackets.
func (s *source) bare(k int) bool {
	return k >= len(s.toks) || s.toks[k].in < 0 || s.toks[s.toks[k].in].virtual
}

// loosest returns the level of the code's loosest operator.
func (s *source) loosest() int {
	level := postfix
	for k := 0; k < len(s.toks); k = s.next(k) {
		if s.toks[k].kind != op && s.toks[k].kind != word {
			continue
		}
		switch {
		case k == 0 && s.kindAt(k) == word && s.prefix(k) && !s.is(k, "new"):
			level = min(level, wordLevel(s.str(k)))
		case k == 0 && s.is(k, "lambda"):
			level = min(level, ternary)
		case k == 0 && s.kindAt(k) == op && s.prefix(k):
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

// spread reports whether the code is a..., ...a or Python's *a, which can only be arguments.
func (s *source) spread() bool {
	return s.is(0, "...") || s.is(len(s.toks)-1, "...") || s.newlines == indented && s.is(0, "*")
}

// named reports whether the code is Python's **a or key=value, which can only be later arguments.
func (s *source) named() bool {
	return s.newlines == indented && (s.is(0, "**") || s.kindAt(0) == word && s.is(1, "="))
}

// generator reports whether the code is Python's a for a in b.
func (s *source) generator() bool {
	for k := 0; k < len(s.toks) && !s.is(k, ","); k = s.next(k) {
		if s.is(k, "for") {
			return true
		}
	}
	return false
}

// assigns reports whether the code is a Python assignment or (a as b), neither of which is an
// expression.
func (s *source) assigns() bool {
	for k := 1; s.newlines == indented && s.opens(0, '(') && k < len(s.toks); k = s.next(k) {
		if s.is(k, "as") {
			return true
		}
	}
	for k := 0; s.newlines == indented && !s.named() && k < len(s.toks); k = s.next(k) {
		if s.kindAt(k) == op && s.binary(k) == assign && !s.is(k, ":=") {
			return true
		}
	}
	return false
}

// pythonBrackets reports whether Python code needs brackets in a slot of the template: a
// generator that is not the only argument of a call, a yield, a := that is not an argument,
// and several lines outside of brackets.
func (s *source) pythonBrackets(slot *slot, bare bool) bool {
	lines := false
	for k := 0; k < len(s.toks); k = s.next(k) {
		if s.is(k, ":=") && !slot.argument {
			return true
		}
		lines = lines || k > 0 && s.toks[k].first
	}
	return lines && bare || s.is(0, "yield") || s.generator() && slot.bracket != '('
}

// placed returns the text that replaces the match of tokens first to before last: in
// brackets if it binds less tightly than the match's neighbours.
func (r *rewriting) placed(m *Match, first, last int, new string) (string, Doubt) {
	if r.is(last, ";") {
		new = strings.TrimSuffix(new, ";")
	}
	s := lexed(r.language, new)
	if s == nil || r.pattern.comment != nil {
		return new, ""
	}
	level := s.loosest()
	switch {
	case r.pattern.level > assign && r.target(first, last) && !s.assignable(level):
		return "", Assigned
	case r.form.statement && !r.pattern.keyword && !r.closures && !r.trailing && !r.isStatement(first, last):
		return "", Statement
	case r.elseIf && r.is(first-1, "else") && !s.is(0, "if") && !s.opens(0, '{'):
		return "{ " + new + " }", ""
	case r.pattern.level <= assign || level >= r.pattern.level || level <= assign && strings.ContainsAny(new, ";\n"):
	case r.bound(first-1, level, true) || r.bound(last, level, false):
		new = "(" + new + ")"
	}
	if c := new[0]; r.newlines == loose && r.dollar && (c == '(' || c == '[' || c == '`') && c != r.text[m.Start] && first > 0 && r.toks[first-1].kind == separator && r.toks[first-1].virtual {
		new = ";" + new // otherwise it would continue the previous line
	}
	return new, ""
}

// bound reports whether the operator at token k, to the left or right of a replacement, binds
// it more tightly than level, the level of the replacement's loosest operator.
func (s *source) bound(k, level int, left bool) bool {
	switch s.kindAt(k) {
	case op:
		switch {
		case s.is(k, ",") || s.is(k, ":"):
			return false
		case s.memberOp(k) || !left && s.after(k):
			return true
		case left && s.prefixAt(k):
			return level < unary
		}
		return s.binary(k) > level || s.binary(k) == level && (left || s.chains(level))
	case opening:
		return !left && !s.toks[k].virtual && !s.opens(k, '{')
	case word:
		return s.words[s.str(k)] > level || left && s.prefixes[s.str(k)] && s.str(k) != "yield"
	}
	return false
}

// target reports whether the tokens from first to before last are the target of an assignment.
func (s *source) target(first, last int) bool {
	switch {
	case s.is(last, "++"), s.is(last, "--"), s.is(first-1, "++") && s.prefixAt(first-1), s.is(first-1, "--") && s.prefixAt(first-1), s.is(first-1, "del"), s.newlines == indented && s.is(first-1, "as"):
		return true
	case s.is(last, ":"): // Python's a.b: T = c
		return s.newlines == indented && s.bare(first) && s.statement(first)
	}
	if s.lists && s.is(last, ",") && (s.bare(last) || s.opens(int(s.toks[last].in), '{')) { // a, b = c
		for ; last < len(s.toks) && s.kindAt(last) != separator && s.kindAt(last) != closing && s.binary(last) != assign; last = s.next(last) {
		}
	}
	return s.kindAt(last) == op && s.binary(last) == assign && !s.is(last, "<-")
}

// assignable reports whether the code ends with a name or an index.
func (s *source) assignable(level int) bool {
	n := len(s.toks) - 1
	return level >= unary && (s.kindAt(n) == word || s.closes(n, ']'))
}

// isStatement reports whether the tokens from first to before last are a whole statement.
func (s *source) isStatement(first, last int) bool {
	ends := last >= len(s.toks) || s.kindAt(last) == separator || s.closes(last, '}') || s.virtualAt(last) || s.toks[last].first
	return s.statementAt(first) && ends && (s.bare(first) || s.opens(int(s.toks[first].in), '{'))
}

// statementAt reports whether a statement may begin at token k.
func (s *source) statementAt(k int) bool {
	return s.statement(k) || s.virtualAt(k-1) || s.headerEnd(k-1) || s.is(k-1, ":") || s.is(k-1, "else") || s.is(k-1, "do") || s.is(k-1, "=>")
}

func (s *source) virtualAt(k int) bool { return k >= 0 && k < len(s.toks) && s.toks[k].virtual }
