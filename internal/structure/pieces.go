package structure

// one visits the ends of the pieces that begin at token i and fit into the hole of element at,
// shortest first, until visit returns false.
func (m *matching) one(at, i int, visit func(end int) bool) {
	s, e := m.source, &m.elems[at]
	var next *elem
	if at+1 < len(m.elems) {
		next = &m.elems[at+1]
	}
	if i >= len(s.toks) {
		return
	}
	switch {
	case s.script() && e.left.kind == hard && s.blockAt(i, i):
		visit(s.next(i))
	case e.left.kind == member:
		if s.kindAt(i) == word || s.kindAt(i) == number {
			visit(i + 1)
		}
	case at > 0 && m.elems[at-1].hole == nil && m.elems[at-1].text == "new":
		m.typed(i, i, visit)
	case e.left.kind == operand && e.right.kind == called:
		if s.kindAt(i) == word {
			visit(i + 1)
		}
	case e.left.kind == operand && e.right.kind == edge && s.kindAt(i) != text:
		last := 0
		m.typed(i, i, func(end int) bool { last = end; return true })
		if last > 0 {
			visit(last)
		}
	case e.left.kind == operand:
		if s.kindAt(i) == word || s.kindAt(i) == opening || s.kindAt(i) == number || s.kindAt(i) == text {
			if visit(s.next(i)) {
				m.typed(i, s.next(i), visit)
			}
		}
	case e.right.kind == operand:
		m.typed(i, i, visit)
	case s.script() && s.is(i, "type") && at > 0 && m.elems[at-1].hole == nil && m.elems[at-1].text == "import" && !(s.is(i+1, "from") && s.kindAt(i+2) == text):
		// import type a from "b" differs from import a from "b".
	case e.left.kind == hard && e.right.kind == hard:
		m.balanced(at, i, func(end int) bool {
			if s.language == "Go" && s.is(end-2, "type") && s.closes(end-1, ')') {
				return true // switch x.(type)
			}
			return visit(end)
		})
	default:
		low := level0
		if e.left.kind == operator {
			low = e.left.level
			if !rightFirst(low) && low != unary {
				low++
			}
		}
		if e.right.kind == operator {
			low = max(low, e.right.level)
			if rightFirst(e.right.level) {
				low = max(low, e.right.level+1)
			}
		}
		switch {
		case e.right.kind == called:
			low = postfix
		case e.right.kind == operator && e.right.level == assign:
			low = unary // T *a = b is a declaration
		}
		brace := next != nil && next.hole == nil && next.kind == opening && next.text == "{"
		if e.right.kind == edge { // as far as possible
			last := -1
			s.walk(i, low, brace, func(end int) bool { last = end; return true })
			if last > 0 {
				visit(last)
			}
			return
		}
		s.walk(i, low, brace, visit)
	}
}

// balanced visits the ends of the balanced pieces without separators that begin at token i and
// that the next element may follow. A piece contains whole statements: it ends with a block,
// and not before an else that belongs to it.
func (m *matching) balanced(at, i int, visit func(end int) bool) {
	s := m.source
	for k := i; k < len(s.toks); {
		t := &s.toks[k]
		if k > i && m.follows(at+1, k) && !(t.kind == separator && s.is(k+1, "else") && s.awaitsElse(i, k)) && !visit(k) {
			return
		}
		if t.kind == closing || t.kind == opening && t.virtual || t.kind == separator || s.is(k, ",") || s.partsPiece(k) && !(at+1 < len(m.elems) && m.elems[at+1].kind == separator) {
			return
		}
		if t.kind == op && s.is(k, "<") {
			if e := s.generic(k); e > 0 { // its comma is not a separator
				k = e
				continue
			}
		}
		s.step()
		brace, block, loops := s.opens(k, '{'), s.blockAt(i, k), s.is(k-1, "do")
		k = s.next(k)
		switch {
		case block && !(loops && s.is(k, "while")):
			if m.follows(at+1, k) {
				visit(k)
			}
			return
		case brace && k < len(s.toks) && (s.toks[k].first && s.kindAt(k) == word || continuers[s.str(k)]):
			return // end of a body
		}
	}
}

// blockAt reports whether the brace at k, in a piece that begins at token i, opens the
// block that ends a statement: the body of an if, for, function or looping macro. The
// braces of values and types do not: (T){1}, new T() { … }, struct { … } a.
func (s *source) blockAt(i, k int) bool {
	if !s.opens(k, '{') || s.newlines == indented {
		return false
	}
	if k == i {
		return s.statementAt(k) && !s.is(k-1, "=>")
	}
	if s.closures { // if, match and the like end with their block when used as a statement
		return s.statementAt(i) && s.kindAt(i) == word && (s.is(i, "unsafe") || s.starts[s.str(i)] && !s.is(i, "return") && !s.is(i, "break")) && !s.is(s.next(k), ".") && !s.is(s.next(k), "?")
	}
	if s.headerEnd(k-1) || s.is(k-1, "else") || s.is(k-1, "do") || s.is(k-1, "try") || s.is(k-1, "finally") || s.is(k-1, ":") && s.label(k-1) {
		return true
	}
	o := int(s.toks[k-1].mate)
	if s.newlines != ignored || !s.closes(k-1, ')') || o <= i || s.kindAt(o-1) != word || s.prefixes[s.str(o-1)] || s.starts[s.str(o-1)] || s.is(o-1, "match") || s.is(o-1, "function") || s.is(o-1, "fn") || s.is(o-1, "use") || s.is(o-1, "class") {
		return false
	}
	for p := o - 2; p >= i; p-- { // new a.T<B>(c) { … }
		if s.is(p, "new") {
			return false
		}
	}
	return true
}

// awaitsElse reports whether an else after the tokens from i to before e belongs to an if
// among them: outside of brackets, they have more ifs than elses.
func (s *source) awaitsElse(i, e int) bool {
	open := 0
	for k := i; k < e && s.step(); k = s.next(k) {
		if s.kindAt(k) != word {
			continue
		}
		switch s.str(k) {
		case "if":
			open++
		case "else":
			open = max(open-1, 0)
		}
	}
	return open > 0
}

// partsPiece reports whether token k can't be in an expression: in Go an assignment or the :
// of a slice, in Python the word as.
func (s *source) partsPiece(k int) bool {
	switch s.language {
	case "Go":
		in := int(s.toks[k].in)
		return s.kindAt(k) == op && (s.binary(k) == assign && !s.is(k, "<-") || s.is(k, ":") && in >= 0 && s.opens(in, '['))
	case "Python":
		return s.is(k, "as") && s.kindAt(k) == word
	}
	return false
}

// follows reports whether element e may be at token k, or may be omitted there.
func (m *matching) follows(e, k int) bool {
	return e >= len(m.elems) || m.literal(&m.elems[e], k) || m.weak(e, k) || m.optional(e, k)
}

// weak reports whether token k is a ; without meaning and element e matches the closing
// bracket after it.
func (m *matching) weak(e, k int) bool {
	return m.elems[e].kind == closing && k+1 < len(m.source.toks) && m.source.toks[k].weak && m.literal(&m.elems[e], k+1)
}

// optional reports whether element e is a separator before an empty $$, and the element
// after the $$ is at token k: foo($A, $$REST) also matches foo(1).
func (m *matching) optional(e, k int) bool {
	el := &m.elems[e]
	return e+2 < len(m.elems) && (el.kind == separator || el.kind == op && el.text == ",") && m.elems[e+1].hole != nil && m.elems[e+1].hole.many &&
		m.elems[e+2].kind == closing && m.literal(&m.elems[e+2], k)
}

// typed visits the ends of possible types: names with dots, type arguments, stars and
// empty brackets.
func (m *matching) typed(i, from int, visit func(end int) bool) {
	s := m.source
	k := from
	if s.language == "Go" && k == i {
		if e := s.goType(k); e > k {
			visit(e)
		}
		return
	}
	if k == i {
		for (s.is(k, "*") || s.is(k, "&") || s.opens(k, '[') || s.is(k, "...")) && s.step() {
			k = s.next(k)
		}
		if s.kindAt(k) != word && s.kindAt(k) != number && s.kindAt(k) != text && s.kindAt(k) != opening {
			return
		}
		k = s.next(k)
		if !visit(k) {
			return
		}
	}
	for {
		switch {
		case s.memberOp(k) && s.kindAt(k+1) == word:
			k += 2
		case s.is(k, "<") && s.angle(k) > 0:
			k = s.angle(k)
		case s.is(k, "*") || s.is(k, "&") || s.is(k, "**"):
			k++
		case s.opens(k, '['):
			k = s.next(k)
		default:
			return
		}
		if !s.step() || !visit(k) {
			return
		}
	}
}
