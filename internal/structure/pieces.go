package structure

// binary is how tightly the operator at i binds between two operands; level0 if it
// is none.
func (s *source) binary(i int) int {
	w := s.str(i)
	switch s.kindAt(i) {
	case op:
		if w == ":" {
			return colon
		}
		return s.ops[w]
	case word:
		return s.words[w]
	}
	return level0
}

// memberOp reports an operator after which a name of the operand's stands.
func (s *source) memberOp(i int) bool {
	if s.kindAt(i) != op {
		return false
	}
	switch s.str(i) {
	case ".", "::", "?.":
		return true
	case "->":
		return s.arrow
	}
	return false
}

// after reports an operator that stands after its operand.
func (s *source) after(i int) bool {
	if s.kindAt(i) != op {
		return false
	}
	switch s.str(i) {
	case "++", "--", "!!", "...":
		return true
	case "!": // of a macro, or TypeScript's
		return s.closures && s.kindAt(i+1) == opening || s.language == "TypeScript" && s.joined(i) && s.str(i+1) != "="
	case "?":
		return s.closures
	}
	return false
}

// prefixAt reports that the operator at i stands before its operand: what precedes
// it can't be one.
func (s *source) prefixAt(i int) bool {
	switch s.kindAt(i - 1) {
	case 0, opening, separator:
		return true
	case op:
		return !s.after(i - 1)
	case word:
		w := s.str(i - 1)
		return s.starts[w] || s.prefixes[w] || s.words[w] > 0
	case closing:
		return s.toks[i-1].virtual || s.closes(i-1, '}') && s.toks[i].first || s.headerEnd(i-1) || s.castEnd(i-1)
	}
	return false
}

// headerEnd reports that i closes the condition of if, while and the like, after
// which a statement follows.
func (s *source) headerEnd(i int) bool {
	return s.closes(i, ')') && !s.lists && s.kindAt(int(s.toks[i].mate)-1) == word && headers[s.str(int(s.toks[i].mate)-1)]
}

// castEnd reports that i closes a cast: a type in brackets where an operand would
// begin.
func (s *source) castEnd(i int) bool { return s.castEndAfter(i, 0) }

// maxCasts is how many casts of casts are looked at: (A)(B)(C)x.
const maxCasts = 32

func (s *source) castEndAfter(i, casts int) bool {
	if !s.casts || !s.closes(i, ')') || casts > maxCasts {
		return false
	}
	o := int(s.toks[i].mate)
	switch s.kindAt(o - 1) {
	case word:
		if w := s.str(o - 1); !s.starts[w] && !s.prefixes[w] || w == "sizeof" || headers[w] {
			return false
		}
	case number, text, closing:
		return s.castEndAfter(o-1, casts+1)
	}
	n := 0
	for k := o + 1; k < i; k++ {
		if !s.step() {
			return false
		}
		switch {
		case s.kindAt(k) == word:
			n++
		case s.kindAt(k) == op:
			switch s.str(k) {
			case "*", "&", "::", ".", "<", ">", ",", "?", "**", "***":
			default:
				return false
			}
		case s.opens(k, '[') && s.closes(k+1, ']'):
			k++
		default:
			return false
		}
	}
	return n > 0 && (s.kindAt(i+1) == word || s.kindAt(i+1) == number || s.kindAt(i+1) == text || s.opens(i+1, '(') || s.kindAt(i+1) == op && !s.memberOp(i+1))
}

// angle is the token after the type arguments that open at i, or 0.
func (s *source) angle(i int) int {
	if !s.generics || !s.is(i, "<") || s.kindAt(i-1) != word && !s.is(i-1, "::") && !s.is(i-1, ".") {
		return 0
	}
	depth := 0
	for k := i; k < len(s.toks) && k < i+200; k = s.next(k) {
		s.step()
		switch s.kindAt(k) {
		case closing, separator:
			return 0
		case opening:
			if s.opens(k, '{') && s.language != "TypeScript" {
				return 0
			}
		case op:
			switch s.str(k) {
			case "<":
				depth++
			case ">":
				if depth--; depth == 0 {
					return k + 1
				}
			case ",", ".", "::", "?", "&", "*", "|", "=>", "->", ":", "=", "'", "+", "...", "?:":
			default:
				return 0
			}
		}
	}
	return 0
}

// generic is the token after the type arguments that open at i, if they are some,
// or 0.
func (s *source) generic(i int) int {
	e := s.angle(i)
	if e == 0 || s.is(i-1, "::") || s.is(i-1, ".") {
		return e
	}
	switch s.kindAt(e) {
	case 0, closing, separator:
		return e
	case opening:
		return e
	case op:
		switch s.str(e) {
		case ",", ".", "::", ">", "=", "?", "&", "|", "=>", "->", "...", "?.", "==", "!=", "&&", "||", ":":
			return e
		}
	}
	return 0
}

// one visits the ends of the pieces that a hole may hold from token i on, the
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
	case e.left.kind == hard && e.right.kind == hard:
		m.balanced(at, i, visit)
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
		if e.right.kind == called {
			low = postfix
		}
		brace := next != nil && next.hole == nil && next.kind == opening && next.text == "{"
		if e.right.kind == edge { // as far as it goes
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

// rightFirst reports a level at which a op b op c is a op (b op c).
func rightFirst(level int) bool { return level <= ternary || level == 110 || level == 125 }

// balanced visits ends of anything without separators that the next element may
// follow.
func (m *matching) balanced(at, i int, visit func(end int) bool) {
	s := m.source
	for k := i; k < len(s.toks); {
		t := &s.toks[k]
		if k > i && m.follows(at+1, k) && !visit(k) {
			return
		}
		if t.kind == closing || t.kind == opening && t.virtual || t.kind == separator || t.kind == op && (s.is(k, ",") || s.is(k, ":") && s.language == "Go" && t.in >= 0 && s.opens(int(t.in), '[')) {
			return
		}
		if t.kind == op && s.is(k, "<") {
			if e := s.generic(k); e > 0 { // the comma in it separates nothing
				k = e
				continue
			}
		}
		s.step()
		brace := s.opens(k, '{')
		if k = s.next(k); brace && k < len(s.toks) && (s.toks[k].first && s.kindAt(k) == word || goesOn[s.str(k)]) {
			return // a body has ended
		}
	}
}

// follows reports that element e may be at token k, or left out there.
func (m *matching) follows(e, k int) bool {
	return e >= len(m.elems) || m.literal(&m.elems[e], k) || m.weak(e, k) || m.optional(e, k)
}

// weak reports that element e is a closing bracket before which token k, a ; that
// means nothing, may stand.
func (m *matching) weak(e, k int) bool {
	return m.elems[e].kind == closing && k+1 < len(m.source.toks) && m.source.toks[k].weak && m.literal(&m.elems[e], k+1)
}

// optional reports that element e is a separator before a $$ that may be empty, and
// that what follows the $$ is at token k: foo($A, $$REST) is foo(1) too.
func (m *matching) optional(e, k int) bool {
	el := &m.elems[e]
	return e+2 < len(m.elems) && (el.kind == separator || el.kind == op && el.text == ",") && m.elems[e+1].hole != nil && m.elems[e+1].hole.many &&
		m.elems[e+2].kind == closing && m.literal(&m.elems[e+2], k)
}

// typed visits ends of what can be a type: names with dots, type arguments, stars
// and empty brackets.
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

// maxNested bounds closures in closures: walk calls itself.
const maxNested = 1000

// walk visits the ends of the expressions that begin at token i and whose operators
// bind at least as tightly as low. With brace a { begins something else.
func (s *source) walk(i, low int, brace bool, visit func(end int) bool) {
	k, fresh := i, false
	asked := false // a ? without its : yet
	if s.nested++; s.nested > maxNested {
		s.steps = -1
	}
	defer func() { s.nested-- }()
	for {
		// An operand is expected.
		for {
			if !s.step() || k >= len(s.toks) {
				return
			}
			if s.is(k, "new") && s.prefix(k) || s.prefix(k) && (low <= unary && s.kindAt(k) == op && (low <= 5 || !s.is(k, "..") && !s.is(k, "..=")) || s.kindAt(k) == word && low <= wordLevel(s.str(k))) {
				fresh = fresh || s.is(k, "new")
				k++
				continue
			}
			break
		}
		end := s.primary(k, low, brace, &fresh)
		if end <= k {
			return
		}
		k = end
		// Then what continues it.
		for {
			if !s.step() {
				return
			}
			end := s.continued(k, brace, fresh)
			if end == k {
				break
			}
			if !s.castEnd(k-1) && !visit(k) {
				return
			}
			k = end
		}
		if s.castEnd(k-1) && low <= unary && s.toks[k-1].mate >= int32(i) && s.kindAt(k) != op {
			continue
		}
		if !visit(k) {
			return
		}
		level := s.binary(k)
		if level == colon {
			if !asked {
				return
			}
			asked, level = false, ternary
		}
		if level == level0 || level < low || s.is(k, "|") && s.endsParameters(k) {
			return
		}
		if s.is(k, "?") {
			if !s.question {
				return
			}
			asked = true
		}
		if s.is(k, "not") && !s.is(k+1, "in") {
			return
		}
		fresh = false
		for k++; s.kindAt(k) == word && s.words[s.str(k)] > 0 && s.prefixes[s.str(k)] || s.is(k, "in") && s.is(k-1, "not"); {
			k++ // is not, not in
		}
	}
}

// endsParameters reports that | at k ends the parameters of a closure.
func (s *source) endsParameters(k int) bool {
	if !s.closures || !s.is(k, "|") {
		return false
	}
	for o, n := k-1, 0; o >= 0 && n < 60; o, n = o-1, n+1 {
		switch c := s.kindAt(o); {
		case c == closing && s.toks[o].mate >= 0:
			o = int(s.toks[o].mate)
		case c == separator, c == opening:
			return false
		case s.is(o, "|"):
			return s.prefixAt(o) || s.is(o-1, "move") || s.is(o-1, "async")
		}
	}
	return false
}

// prefix reports an operator or word before an operand.
func (s *source) prefix(k int) bool {
	switch s.kindAt(k) {
	case op:
		switch s.str(k) {
		case "!", "-", "+", "*", "&", "~", "++", "--", "<-", "...", "**", "&&", "^", "@", "!!", "..", "..=", "'":
			return true
		case "#":
			return true
		}
	case word:
		w := s.str(k)
		n := s.kindAt(k + 1)
		return s.prefixes[w] && w != "try" && n != closing && n != separator && n != 0 && !(n == op && !s.prefix(k+1)) &&
			!(n == opening && w != "not" && w != "await" && w != "new" && w != "typeof" && w != "async" && w != "delete" && w != "yield" && w != "void")
	}
	return false
}

// primary is the token after the operand that begins at k, without what continues
// it, or k.
func (s *source) primary(k, low int, brace bool, fresh *bool) int {
	switch s.kindAt(k) {
	case number:
		return k + 1
	case text:
		for s.kindAt(k) == text && s.step() { // "a" "b"
			k++
		}
		return k
	case opening:
		if s.toks[k].virtual || brace && s.opens(k, '{') {
			return k
		}
		if s.language == "Go" && s.opens(k, '[') { // []T
			return s.goType(k)
		}
		return s.next(k)
	case op:
		if s.closures && (s.is(k, "||") || s.is(k, "|")) {
			if s.is(k, "|") {
				for k++; k < len(s.toks) && !s.is(k, "|") && s.step(); k = s.next(k) {
					if c := s.kindAt(k); c == closing || c == separator {
						return k
					}
				}
			}
			last := k
			s.walk(k+1, levelArrow, brace, func(end int) bool { last = end; return true })
			return last
		}
		return k
	case word:
		return s.wordPrimary(k, low, brace)
	}
	return k
}

// wordPrimary is primary for an operand that begins with a word.
func (s *source) wordPrimary(k, low int, brace bool) int {
	w := s.str(k)
	toBody := func(from int) int {
		for e := from; e < len(s.toks) && s.step(); e = s.next(e) {
			if s.opens(e, '{') {
				return s.next(e)
			}
			if c := s.kindAt(e); c == closing || c == separator {
				return e
			}
		}
		return k
	}
	switch {
	case s.language == "Go" && (w == "func" || w == "map" || w == "struct" || w == "interface") && s.kindAt(k+1) == opening:
		e := s.goType(k)
		if w == "func" && s.opens(e, '{') {
			e = s.next(e)
		}
		return e
	case s.language != "Go" && s.dollar && (w == "function" || w == "class"):
		return toBody(k + 1)
	case s.closures && (w == "match" || w == "if" || w == "unsafe" || w == "loop" || w == "while" || w == "for") && !brace && low <= ternary:
		e := toBody(k + 1)
		for s.is(e, "else") {
			e = toBody(e + 1)
		}
		return e
	case s.language == "Python" && w == "lambda" && low <= ternary:
		for e := k + 1; e < len(s.toks) && s.step(); e = s.next(e) {
			if s.is(e, ":") {
				last := k
				s.walk(e+1, ternary, brace, func(end int) bool { last = end; return true })
				return last
			}
		}
		return k
	case s.prefix(k):
		return k
	case s.words[w] > 0 && s.words[w] != 115, declares[w] && !s.memberOp(k+1) && s.kindAt(k+1) == word:
		return k
	case s.starts[w] && s.kindAt(k+1) != 0 && s.kindAt(k+1) != closing && !s.memberOp(k+1):
		return k
	}
	return k + 1
}

// goType is the token after the type that begins at k.
func (s *source) goType(k int) int {
	for s.step() {
		switch w := s.str(k); {
		case s.is(k, "*"), s.is(k, "..."), s.is(k, "<-"), w == "chan" && s.kindAt(k) == word:
			k++
			continue
		case s.opens(k, '['):
			k = s.next(k)
			continue
		case w == "map" && s.opens(k+1, '['):
			k = s.next(k + 1)
			continue
		case s.opens(k, '('):
			return s.next(k)
		case w == "func" && s.opens(k+1, '('):
			if k = s.next(k + 1); s.opens(k, '(') || s.kindAt(k) == word && s.toks[k-1].end < s.toks[k].start || s.is(k, "*") || s.opens(k, '[') {
				continue
			}
			return k
		case (w == "struct" || w == "interface") && s.opens(k+1, '{'):
			return s.next(k + 1)
		case s.kindAt(k) != word:
			return k
		}
		break
	}
	k++
	for s.is(k, ".") && s.kindAt(k+1) == word && s.step() {
		k += 2
	}
	if s.opens(k, '[') && s.joined(k) {
		k = s.next(k)
	}
	return k
}

// continued is the token after one continuation of the operand that ends before k,
// or k.
func (s *source) continued(k int, brace, fresh bool) int {
	switch s.kindAt(k) {
	case opening:
		t := &s.toks[k]
		switch {
		case t.virtual:
		case s.opens(k, '('), s.opens(k, '['):
			if s.castEnd(k - 1) {
				return k
			}
			return s.next(k)
		case s.dollar && s.kindAt(k-1) == text && s.kindAt(s.next(k)) == text: // a template's expression
			return s.next(k) + 1
		case brace:
		case s.language == "Go" && s.joined(k) && (s.kindAt(k-1) == word || s.closes(k-1, ']') || s.closes(k-1, '}')):
			return s.next(k)
		case s.header && s.kindAt(k-1) == word && !s.inHeader(k) && upper(s.text[s.toks[k-1].start]):
			return s.next(k)
		case s.fresh && fresh, s.language == "C" && s.closes(k-1, ')') && s.joined(k):
			return s.next(k)
		case s.trailing && !t.first && !s.inHeader(k):
			return s.next(k)
		}
	case text:
		if s.dollar && s.joined(k) && s.kindAt(k-1) != number { // tag`…`
			return k + 1
		}
	case op:
		switch {
		case s.memberOp(k):
			switch s.kindAt(k + 1) {
			case word, number:
				return k + 2
			case opening:
				return s.next(k + 1)
			}
			if s.is(k+1, "<") && s.angle(k+1) > 0 {
				if e := s.angle(k + 1); s.is(k, "::") || s.kindAt(e) != word {
					return e
				}
				return s.angle(k+1) + 1
			}
		case s.after(k):
			return k + 1
		case s.is(k, "<"):
			if e := s.generic(k); e > 0 {
				return e
			}
		}
	}
	return k
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// inHeader reports that the brace at k begins the body of if, while, for and the
// like.
func (s *source) inHeader(k int) bool {
	in := s.toks[k].in
	for n := 0; k > 0 && n < 200; n++ {
		k--
		if s.kindAt(k) == closing && s.toks[k].mate >= 0 {
			if s.closes(k, '}') && s.toks[k+1].first {
				return false
			}
			k = int(s.toks[k].mate)
			continue
		}
		if int32(k) == in || s.kindAt(k) == separator {
			return false
		}
		if s.kindAt(k) == word {
			switch s.str(k) {
			case "if", "while", "for", "match", "switch", "guard", "when", "impl", "struct", "enum", "trait", "mod", "union", "fn":
				return true
			}
		}
	}
	return false
}
