package structure

// maxNested limits nested closures, because walk is recursive.
const maxNested = 1000

// walk visits the ends of the expressions that begin at token i and whose operators bind
// at least as tightly as low. With brace set, a { is not part of the expression.
func (s *source) walk(i, low int, brace bool, visit func(end int) bool) {
	k, fresh := i, false
	asked := 0 // number of ? that still need their :
	if s.nested++; s.nested > maxNested {
		s.steps = -1
	}
	defer func() { s.nested-- }()
	for {
		// Expect an operand.
		for {
			if !s.step() || k >= len(s.toks) {
				return
			}
			if s.is(k, "new") && s.prefix(k) || s.prefix(k) && (low <= unary && s.kindAt(k) == op && (low <= rangeOp || !s.is(k, "..") && !s.is(k, "..=")) || s.kindAt(k) == word && low <= wordLevel(s.str(k))) {
				fresh = fresh || s.is(k, "new")
				k++
				continue
			}
			break
		}
		end := s.arrowFunction(k, low, brace)
		if end == k {
			end = s.primary(k, low, brace, &fresh)
		}
		if end <= k {
			return
		}
		k = end
		// Accept its continuations, such as calls and members.
		for {
			if !s.step() {
				return
			}
			end := s.continued(k, brace, fresh)
			if end == k {
				break
			}
			if asked == 0 && !s.castEnd(k-1) && !visit(k) {
				return
			}
			k = end
		}
		if s.castEnd(k-1) && low <= unary && s.toks[k-1].mate >= int32(i) {
			continue
		}
		if asked == 0 && !visit(k) {
			return
		}
		level := s.binary(k)
		if level == colon {
			if asked == 0 {
				return
			}
			asked, level = asked-1, ternary
		}
		if level == level0 || level < low || s.is(k, "|") && s.endsParameters(k) {
			return
		}
		if s.is(k, "?") {
			if !s.question {
				return
			}
			asked++
		}
		if s.is(k, "not") && !s.is(k+1, "in") {
			return
		}
		fresh = false
		for s.binary(k) == shift && s.is(k+1, ">") && s.joined(k+1) {
			k++
		}
		if s.words[s.str(k)] == relational && s.script() && (s.is(k+1, "|") || s.is(k+1, "&")) {
			k++ // as | A | B
		}
		for k++; s.kindAt(k) == word && s.words[s.str(k)] > 0 && s.prefixes[s.str(k)] || s.is(k, "in") && s.is(k-1, "not"); {
			k++ // is not, not in
		}
	}
}

// arrowFunction returns the token after the function x => y that begins at k, or k if there is none.
func (s *source) arrowFunction(k, low int, brace bool) int {
	o := k
	if s.is(o, "async") && s.kindAt(o+1) != op {
		o++
	}
	if s.is(o, "<") && s.script() { // <T>(x) => y
		o = max(o, s.angleFrom(o))
	}
	if low > ternary || s.kindAt(o) != word && !s.opens(o, '(') {
		return k
	}
	arrow := s.next(o)
	if s.opens(o, '(') && s.is(arrow, ":") { // with a result type
		for arrow++; arrow < len(s.toks) && s.kindAt(arrow) != separator && s.kindAt(arrow) != closing && !s.is(arrow, "=>") && !s.is(arrow, ",") && !s.is(arrow, "="); arrow = s.next(arrow) {
			s.steps--
		}
	}
	if s.binary(arrow) != levelArrow || s.kindAt(arrow) != op {
		return k
	}
	if s.opens(arrow+1, '{') {
		return s.next(arrow + 1)
	}
	last := k
	s.walk(arrow+1, assign, brace, func(end int) bool { last = end; return true })
	return last
}

// primary returns the token after the operand that begins at k, without its continuations, or
// k if there is none.
func (s *source) primary(k, low int, brace bool, fresh *bool) int {
	switch s.kindAt(k) {
	case number:
		return k + 1
	case text:
		pattern := s.text[s.toks[k].start] == '/'
		for s.kindAt(k) == text && s.step() { // "a" "b"
			k++
		}
		if pattern && s.joined(k) && s.kindAt(k) == word { // /a/g
			k++
		}
		return k
	case opening:
		if s.toks[k].virtual || brace && s.opens(k, '{') || s.casts && s.opens(k, '{') && s.statementAt(k) {
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
	case s.language == "Go" && (w == "func" || w == "map" || w == "struct" || w == "interface" || w == "chan") && s.kindAt(k+1) == opening:
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
	case s.language == "Python" && w == "lambda":
		if low > ternary {
			return k
		}
		for e := k + 1; e < len(s.toks) && s.step(); e = s.next(e) {
			if s.is(e, ":") {
				last := k
				s.walk(e+1, ternary, brace, func(end int) bool { last = end; return true })
				return last
			}
		}
		return k
	case s.prefix(k), (w == "import" || w == "export") && s.script() && !s.opens(k+1, '(') && !s.memberOp(k+1):
		return k
	case s.words[w] > 0 && s.words[w] != cast, declares[w] && !s.memberOp(k+1) && s.kindAt(k+1) == word && s.words[s.str(k+1)] == 0:
		return k // type T declares, type instanceof T does not
	case s.starts[w] && s.kindAt(k+1) != 0 && s.kindAt(k+1) != closing && !s.memberOp(k+1):
		return k
	}
	return k + 1
}

// goType returns the token after the type that begins at k.
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

// continued returns the token after one continuation (call, index, member, postfix operator)
// of the operand that ends before k, or k if there is none.
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
		case s.dollar && s.kindAt(k-1) == text && s.kindAt(s.next(k)) == text: // an expression in a template string
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

// inHeader reports whether the brace at k begins the body of an if, while, for or
// similar statement.
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
