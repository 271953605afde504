package symbols

func hookPython(l *lexer, c byte) bool {
	switch c {
	case '#':
		return l.lineComment()
	case '\\':
		if l.peek(1) == '\n' || l.peek(1) == '\r' { // the line goes on
			end := l.lineEnd(l.at)
			l.at = min(end+1, len(l.text))
			return true
		}
		return false
	}
	n := 0
	for n < 3 {
		switch l.peek(n) {
		case 'r', 'R', 'b', 'B', 'u', 'U', 'f', 'F':
		case '"', '\'':
			q := l.peek(n)
			if l.peek(n+1) == q && l.peek(n+2) == q {
				return l.until(n+3, string([]byte{q, q, q}), true)
			}
			// A backslash keeps a quote in a raw string, too.
			return l.quoted(n, q, true, false)
		default:
			return false
		}
		n++
	}
	return false
}

// parsePython reads logical lines: def, class and assignments at the indentation of a
// module or class. A definition ends before the first line that is not indented more.
func parsePython(p *parser) {
	type block struct {
		col, symbol int
	}
	var open []block
	closeTo := func(col, before int) {
		for n := len(open); n > 0 && open[n-1].col >= col; n = len(open) {
			if s := open[n-1].symbol; s >= 0 {
				p.out[s].End = int(p.toks[before].end)
			}
			open = open[:n-1]
			p.scopes = p.scopes[:n-1]
		}
	}
	for i := 0; i < len(p.toks); {
		col := p.column(i)
		closeTo(col, max(i-1, 0))
		first := i
		for p.is(i, "@") { // decorators, a line each
			i = p.logicalEnd(i)
		}
		at := i
		if p.is(at, "async") {
			at++
		}
		if (p.is(at, "def") || p.is(at, "class")) && p.isWord(at+1) && len(p.out) < maxSymbols {
			kind := Class
			if p.is(at, "def") {
				kind = p.callable()
			}
			p.add(kind, at+1, first, at+1)
			if len(open) < maxScopes {
				open = append(open, block{col, len(p.out) - 1})
				p.scopes = append(p.scopes, scope{end: len(p.toks), name: p.str(at + 1), kind: kind})
			}
			end := p.pythonColon(at + 2)
			if end+1 < len(p.toks) && !p.toks[end+1].first { // the body is on the same line
				i = p.logicalEnd(i)
				continue
			}
			i = max(end+1, at+2)
			continue
		}
		p.pythonValue(i)
		i = max(p.logicalEnd(i), i+1)
	}
	closeTo(0, max(len(p.toks)-1, 0))
}

// pythonColon returns the colon that ends the head of a definition.
func (p *parser) pythonColon(i int) int {
	for ; i < len(p.toks); i++ {
		switch p.byteAt(i) {
		case '(', '[', '{':
			i = p.after(i) - 1
		case ':':
			return i
		}
		if i+1 < len(p.toks) && p.toks[i+1].first {
			return i
		}
	}
	return len(p.toks) - 1
}

// logicalEnd returns the token after the logical line that starts at i.
func (p *parser) logicalEnd(i int) int {
	for ; i < len(p.toks); i++ {
		if c := p.byteAt(i); c == '(' || c == '[' || c == '{' {
			// An unclosed bracket ends with its line.
			if int(p.match[i]) < len(p.toks) {
				i = int(p.match[i])
			}
		}
		if i+1 < len(p.toks) && p.toks[i+1].first {
			return i + 1
		}
	}
	return len(p.toks)
}

// pythonValue records NAME = and NAME: type at the margin of a module or class.
func (p *parser) pythonValue(i int) {
	if p.inCode() || !p.isWord(i) {
		return
	}
	if !(p.is(i+1, "=") && !p.is(i+2, "=")) && !p.is(i+1, ":") || p.is(i, "else") || p.is(i, "try") || p.is(i, "finally") {
		if !p.is(i, "type") || !p.isWord(i+1) {
			return
		}
		p.add(Type, i+1, i, p.lineLast(i))
		return
	}
	kind := p.variable()
	if p.is(i+1, "=") && p.is(i+2, "lambda") {
		kind = p.callable()
	}
	p.add(kind, i, i, p.logicalEnd(i)-1)
}
