package structure

import "slices"

// beginsAt reports whether a match of the pattern's precedence level may begin at token i.
func (m *matching) beginsAt(i int) bool {
	s := m.source
	if i == 0 {
		return true
	}
	p := i - 1
	if in := s.toks[i].in; in >= 0 && m.level == assign && s.lists && !s.toks[in].virtual && !s.opens(int(in), '{') {
		return false
	}
	if !m.keyword && s.noExpression(i, m.elems[0].hole != nil || m.level <= unary) {
		return false
	}
	if s.memberOp(p) {
		return m.elems[0].hole == nil && (m.elems[0].kind == op || m.elems[0].kind == opening)
	}
	if m.level == levelArrow {
		return s.functionAt(i)
	}
	if m.keyword {
		if s.newlines == indented && m.ends { // not a if b else c
			return s.statement(i) || s.virtualAt(p) || s.is(p, "async")
		}
		return !s.is(p, "@") && !(s.language == "Go" && s.kindAt(p) == closing && !s.toks[i].first && s.is(i, "func")) // []func(){}
	}
	if first := &m.elems[0]; first.hole == nil {
		switch {
		case first.kind == opening && (first.text == "(" || first.text == "["):
			if !s.prefixAt(i) {
				return false
			}
		case first.kind == op && m.level != unary, first.kind == opening, first.kind == closing:
			return true
		}
	}
	switch s.kindAt(p) {
	case separator:
		return true
	case opening:
		if s.is(p-1, "for") && (m.hasWord("in") || m.hasWord("of")) {
			return false // for (x in y)
		}
		if s.opens(p, '(') || s.opens(p, '[') {
			return m.level > assign || m.level == assign && !s.lists
		}
		return true
	case closing:
		switch {
		case s.toks[p].virtual || s.headerEnd(p):
			return true
		case s.closes(p, '}'):
			return s.toks[i].first || m.level == level0
		case s.castEnd(p):
			return m.level >= unary
		}
		return false
	case number, text:
		return false
	case word:
		w := s.str(p)
		switch {
		case w == "for" && (m.hasWord("in") || s.newlines == indented && m.level <= comparison):
			return false // for x in y
		case w == "in" && s.loops(p-1):
			return true
		case w == "extends" && m.level == assign:
			return false // <A extends B = C>
		case w == "for" && m.elems[0].text == "await":
			return false // for await (a of b)
		case s.prefixes[w] && wordLevel(w) < unary:
			return m.level > wordLevel(w)
		case m.words[w] > 0:
			return m.words[w] < m.level || s.starts[w] && m.words[w] <= ternary
		case w == "new" || w == "case" && s.language == "Go" && m.level == assign:
			return false
		case s.starts[w]:
			return true
		case s.prefixes[w]:
			return m.level > unary
		}
		return false
	}
	// An operator.
	switch w := s.str(p); {
	case w == "," && (m.hasWord("in") || s.newlines == indented && m.level <= comparison) && s.loops(p):
		return false
	case m.level == assign && s.language == "TypeScript" && w == ":": // not after a type
		return s.ternaryColon(p) || s.label(p)
	case m.level == assign && s.script() && (w == "?" || w == ":"):
		return true
	case w == "," && m.level == assign && s.language == "TypeScript" && s.inAngle(i):
		return false // <A, B = C>
	case w == ",":
		return m.level > assign || m.level == assign && !s.lists
	case w == ":":
		return m.level > colon || s.toks[i].first || s.language == "Go" || s.label(p) || s.newlines == indented && m.level == level0
	case w == ">" && s.closesAngle(p):
		return false
	case w == "|" && s.endsParameters(p):
		return true
	case (w == ".." || w == "..=") && m.level > rangeOp:
		return true
	case s.after(p) && !s.prefixAt(p):
		return s.toks[i].first && s.newlines == ignored
	case s.prefixAt(p):
		return m.level >= unary || w == "=>" || w == "->"
	default:
		level := s.binary(p)
		if level == level0 {
			return w == "|" || w == "->" || w == "#" || m.level == postfix && w != "@" && w != "$"
		}
		return level < m.level || level == m.level && rightFirst(level)
	}
}

// ternaryColon reports whether the : at p belongs to an a ? b : c.
func (s *source) ternaryColon(p int) bool {
	open := 1
	for p--; p >= 0 && s.step(); p-- {
		switch s.kindAt(p) {
		case closing:
			if p = int(s.toks[p].mate); p < 0 {
				return false
			}
		case opening, separator:
			return false
		case op:
			switch {
			case s.is(p, ":"):
				open++
			case s.is(p, "?"):
				if open--; open == 0 {
					return true
				}
			case s.is(p, ","):
				return false
			}
		}
	}
	return false
}

// inAngle reports whether token i is between < and > of type parameters.
func (s *source) inAngle(i int) bool {
	return s.angleBefore(i, func(k int) bool { return s.angleFrom(k) > i })
}

// angleBefore reports whether a < before token i, in the same brackets, is wanted.
func (s *source) angleBefore(i int, wanted func(k int) bool) bool {
	for k, n := i-1, 0; k >= 0 && n < 60; k, n = k-1, n+1 {
		if s.kindAt(k) == closing && s.toks[k].mate >= 0 {
			k = int(s.toks[k].mate)
			continue
		}
		if c := s.kindAt(k); c == separator || c == opening {
			return false
		}
		if s.is(k, "<") && wanted(k) {
			return true
		}
	}
	return false
}

// label reports whether the : at p ends case a: or default: of a switch.
func (s *source) label(p int) bool {
	for p--; p >= 0 && s.step(); p-- {
		switch s.kindAt(p) {
		case closing:
			if p = int(s.toks[p].mate); p < 0 {
				return false
			}
		case opening, separator:
			return false
		case word:
			if s.is(p, "case") || s.is(p, "default") {
				return true
			}
		}
	}
	return false
}

// functionAt reports whether a function x => y may begin at token i.
func (s *source) functionAt(i int) bool {
	switch p := i - 1; s.kindAt(p) {
	case separator, opening:
		return true
	case closing:
		return s.toks[p].virtual || s.headerEnd(p) || s.closes(p, '}') && s.toks[i].first
	case word:
		return s.starts[s.str(p)]
	case op:
		return s.is(p, ",") || s.binary(p) <= ternary && !(s.is(p, ">") && s.closesAngle(p))
	}
	return false
}

// noExpression reports whether token i is in a Python import or, if typed is set, in a Go
// type. No expression begins there.
func (s *source) noExpression(i int, typed bool) bool {
	switch {
	case s.newlines == indented:
		k := i - 1
		for ; k > 0 && s.step() && !s.virtualAt(k) && (s.kindAt(k) == word && !s.is(k, "import") && !s.is(k, "from") || s.is(k, ".") || s.is(k, ",") || s.opens(k, '(')); k-- {
		}
		return s.is(k, "import") || s.is(k, "from") && !s.is(k-1, "yield") && s.statement(k)
	case s.language == "Go" && typed:
		return s.inGoType(i)
	}
	return false
}

// inGoType reports whether token i is part of a type: in a signature, struct, interface,
// assertion or list of type arguments, or of a pointer type after var and in a result.
func (s *source) inGoType(i int) bool {
	o := int(s.toks[i].in)
	switch {
	case s.is(i-1, "*") && (s.is(i-3, "var") || s.closes(i-2, ')') && s.signature(int(s.toks[i-2].mate))):
		return true
	case s.is(i-1, "*") && s.kindAt(i-2) == word && s.toks[i-2].first && s.is(o-1, "var"):
		return true
	case s.opens(o, '('):
		return s.is(o-1, ".") || s.signature(o)
	case s.opens(o, '{'):
		return s.is(o-1, "struct") || s.is(o-1, "interface")
	case s.opens(o, '['):
		for k := o + 1; k < int(s.toks[o].mate) && s.step(); k = s.next(k) {
			if s.is(k, ",") {
				return true
			}
		}
		return s.is(o-1, "map")
	}
	return false
}

// signature reports whether the parenthesis at o has the parameters or results of a Go
// function.
func (s *source) signature(o int) bool {
	for (s.closes(o-1, ')') || s.closes(o-1, ']')) && s.step() { // for results, or after type parameters
		o = int(s.toks[o-1].mate)
	}
	switch p := o - 1; {
	case s.is(p, "func"), s.is(p-1, "func"):
		return true
	case s.kindAt(p) == word && s.closes(p-1, ')'):
		return s.is(int(s.toks[p-1].mate)-1, "func")
	case s.kindAt(p) == word && s.toks[p].first && s.toks[p].in > 0:
		return s.is(int(s.toks[p].in)-1, "interface")
	}
	return false
}

// loops reports whether only names and commas are between token p and a preceding for.
func (s *source) loops(p int) bool {
	for ; p >= 0 && s.step() && (s.is(p, ",") || s.kindAt(p) == word && !s.starts[s.str(p)]); p-- {
	}
	return s.is(p, "for")
}

func (m *matching) hasWord(w string) bool {
	return slices.ContainsFunc(m.elems, func(e elem) bool { return e.hole == nil && e.kind == word && e.text == w })
}

// closesAngle reports whether > at i closes type arguments.
func (s *source) closesAngle(i int) bool {
	return s.generics && s.angleBefore(i, func(k int) bool { return s.angle(k) == i+1 })
}

// endsAt reports whether a match of the pattern may end before token e.
func (m *matching) endsAt(e int) bool {
	s := m.source
	if (m.ends || m.keyword && headers[m.elems[0].text]) && s.kindAt(e) == word && continuers[s.str(e)] {
		return false
	}
	if s.is(e, "else") && s.awaitsElse(m.start, e) {
		return false
	}
	last := &m.elems[len(m.elems)-1]
	if s.opens(m.start, '(') && e-1 > int(s.toks[m.start].mate) && s.headerEnd(int(s.toks[m.start].mate)) {
		return false // if (a) ++b
	}
	if m.ends && e < len(s.toks) && !s.toks[e].first && (s.kindAt(e) == opening || s.memberOp(e)) {
		return false
	}
	if s.language == "Go" && s.is(e-2, "type") && s.closes(e-1, ')') && !m.hasWord("type") {
		return false // x := y.(type)
	}
	if last.hole == nil && (last.kind == separator || last.kind == opening) {
		return true
	}
	if last.hole != nil && (s.is(m.start, "return") || s.is(m.start, "throw")) && s.script() && s.opens(e, '{') && !s.toks[e].first {
		return false // a method return() {…}
	}
	if last.hole == nil && last.kind == word && s.starts[last.text] { // return alone
		return e >= len(s.toks) || s.kindAt(e) == separator || s.kindAt(e) == closing
	}
	if last.hole == nil && last.kind == op && !s.after(e-1) && last.text != "?" {
		return true
	}
	switch s.kindAt(e) {
	case 0, separator, closing:
		return true
	case opening:
		switch {
		case s.toks[e].virtual:
			return true
		case s.opens(e, '{'):
			if s.language == "Go" && s.joined(e) {
				return m.level == postfix && last.kind == word
			}
			if s.header && m.level != level0 && s.kindAt(e-1) == word && upper(s.text[s.toks[e-1].start]) && !s.inHeader(e) {
				return m.level == postfix && last.kind == word
			}
			return s.blocks || !s.closes(e-1, ')') || m.level == level0 || s.toks[e].first && s.headerEnd(e-1)
		}
		return m.level == postfix || m.ends
	case op:
		w := s.str(e)
		switch {
		case w == ",":
			if m.level == level0 || m.level == assign && s.lists {
				in := s.toks[e].in
				return m.level == assign && in >= 0 && !s.opens(int(in), '{') && !s.toks[in].virtual
			}
			return true
		case s.memberOp(e) || s.after(e):
			return m.level == postfix || m.ends
		case w == "<" && s.generic(e) > 0:
			return m.level == postfix && s.kindAt(s.generic(e)) != opening
		case w == ":" || w == "=>" || w == "->" || w == "@":
			return true
		}
		level := s.binary(e)
		if level == level0 {
			return true
		}
		return m.level == postfix || level < m.level || level == m.level && !rightFirst(level)
	case word:
		if level := m.words[s.str(e)]; level > 0 {
			return m.level == postfix || level < m.level || level == m.level && !rightFirst(level)
		}
		return !(m.level == level0 && m.keyword && !m.ends && !s.toks[e].first && s.newlines != ignored)
	}
	return m.level == postfix || m.ends
}

// doubt returns why tokens can't tell whether the tokens from i to before e are a match, or "".
func (m *matching) doubt(i, e int) Doubt {
	s := m.source
	if s.chains(m.level) && m.chained(i, e) {
		return Readings
	}
	for k := i; s.macros && k < e && s.step(); k = s.next(k) {
		if s.kindAt(k) == word && s.toks[k].first && s.closes(k-1, ')') && k > i && !s.headerEnd(k-1) && !s.castEnd(k-1) {
			return Macro
		}
	}
	for k := i; k < e; k++ {
		if s.kindAt(k) != op {
			continue
		}
		switch w := s.str(k); {
		case w == "<" && s.generics && m.hasOperator("<") && s.angle(k) > 0 && s.generic(k) == 0:
			return Generic
		case (w == "*" || w == "&") && s.casts && m.level == s.binary(k) && m.hasOperator(w) && s.statement(i) && k == i+1:
			return Declares
		}
	}
	return ""
}

// chained reports whether the tokens from i to before e are part of a longer chain of comparisons
// than the pattern. Python's a == b == c neither is (a == b) == c nor contains a == b.
func (m *matching) chained(i, e int) bool {
	s := m.source
	compares := func(k int) bool { // counts "is not" and "not in" once, and not the in of a for
		return s.binary(k) == comparison && !s.is(k, "not") && !(s.is(k, "in") && s.loops(k-1))
	}
	if i > 0 && compares(i-1) || compares(e) {
		return true
	}
	n, depth := 0, 0
	for k := range m.elems {
		switch el := &m.elems[k]; {
		case el.kind == opening:
			depth++
		case el.kind == closing:
			depth--
		case depth == 0 && el.hole == nil && el.text != "not" && (m.lang.ops[el.text] == comparison && el.kind == op || m.lang.words[el.text] == comparison && el.kind == word):
			n++
		}
	}
	for k := i; k < e && s.step(); k = s.next(k) {
		if compares(k) {
			n--
		}
	}
	return n < 0
}

// statement reports whether a statement begins at token i.
func (s *source) statement(i int) bool {
	return i == 0 || s.kindAt(i-1) == separator || s.opens(i-1, '{') || s.closes(i-1, '}')
}

func (m *matching) hasOperator(w string) bool {
	return slices.ContainsFunc(m.elems, func(e elem) bool { return e.hole == nil && e.kind == op && e.text == w && !e.generic })
}
