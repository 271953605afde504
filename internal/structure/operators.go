package structure

// binary returns how tightly the operator at i binds between two operands; level0 if it
// is not an operator.
func (s *source) binary(i int) int {
	w := s.str(i)
	switch s.kindAt(i) {
	case op:
		switch {
		case w == ":":
			return colon
		case w == ">" && (s.is(i-1, ">") && s.joined(i) || s.is(i+1, ">") && s.joined(i+1)):
			return shift
		}
		return s.ops[w]
	case word:
		return s.words[w]
	}
	return level0
}

// memberOp reports whether token i comes before the name of a member, as in a.b or a::b.
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

// after reports whether the operator at i is a postfix one.
func (s *source) after(i int) bool {
	if s.kindAt(i) != op {
		return false
	}
	switch s.str(i) {
	case "++", "--":
		return s.language != "Go" // in Go they end a statement
	case "!!", "...":
		return true
	case "!": // of a macro, or TypeScript's
		return s.closures && s.kindAt(i+1) == opening || s.language == "TypeScript" && s.joined(i) && s.str(i+1) != "="
	case "?":
		return s.closures
	}
	return false
}

// prefixAt reports whether the operator at i precedes its operand: the token before it can't
// end an operand.
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

// headerEnd reports whether i closes the condition of an if, while or similar statement; a
// statement follows.
func (s *source) headerEnd(i int) bool {
	return s.closes(i, ')') && !s.lists && s.kindAt(int(s.toks[i].mate)-1) == word && headers[s.str(int(s.toks[i].mate)-1)]
}

// castEnd reports whether i closes a cast: a type in brackets in the position of an
// operand.
func (s *source) castEnd(i int) bool { return s.castEndAfter(i, 0) }

// maxCasts limits the length of chains of casts: (A)(B)(C)x.
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
	case number, text:
		return false
	case closing:
		if !s.castEndAfter(o-1, casts+1) {
			return false
		}
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
	return n > 0 && s.kindAt(o+1) == word && s.castOperand(o, i, n)
}

// castOperand reports whether the code after the brackets from o to i, which contain n
// words, can be the operand of a cast. (a) - b is a difference if a is a single name not
// known to be a type.
func (s *source) castOperand(o, i, n int) bool {
	switch s.kindAt(i + 1) {
	case word, number, text:
		return true
	case opening:
		return s.opens(i+1, '(')
	case op:
		switch s.str(i + 1) {
		case "!", "~":
			return true
		case "-", "+", "*", "&":
			return n > 1 || s.is(i-1, "*") || basicTypes[s.str(i-1)] || len(s.str(i-1)) > 2 && s.str(i - 1)[len(s.str(i-1))-2:] == "_t"
		}
	}
	return false
}

// angle returns the token after the < … > that may be type arguments and opens at i, or 0.
func (s *source) angle(i int) int {
	if !s.generics || !s.is(i, "<") || s.kindAt(i-1) != word && !s.is(i-1, "::") && !s.is(i-1, ".") {
		return 0
	}
	return s.angleFrom(i)
}

// angleFrom returns the token after the > that closes the < at i, or 0.
func (s *source) angleFrom(i int) int {
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

// generic is angle, but also returns 0 if the token after the > suggests comparisons instead.
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

// rightFirst reports whether a level is right-associative: a op b op c is a op (b op c).
func rightFirst(level int) bool { return level <= ternary || level == power || level == tightPower }

// endsParameters reports whether the | at k ends the parameters of a closure.
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

// prefix reports whether token k is an operator or word before an operand.
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
