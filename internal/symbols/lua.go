package symbols

import "bytes"

func hookLua(l *lexer, c byte) bool {
	switch c {
	case '-':
		if l.peek(1) != '-' {
			return false
		}
		if l.peek(2) == '[' {
			if mark := l.longBracket(2); mark != "" {
				return l.blockComment("--["+mark[1:len(mark)-1]+"[", mark, false)
			}
		}
		return l.lineComment()
	case '[':
		if mark := l.longBracket(0); mark != "" {
			return l.until(len(mark), mark, false)
		}
		return false
	}
	return l.quoted(0, c, true, false)
}

// longBracket returns the delimiter that closes the [==[ at n, or "".
func (l *lexer) longBracket(n int) string {
	k := n + 1
	for l.peek(k) == '=' {
		k++
	}
	if l.peek(k) != '[' {
		return ""
	}
	return "]" + string(bytes.Repeat([]byte("="), k-n-1)) + "]"
}

func parseLua(p *parser) {
	p.ends(func(i int) (int, bool) {
		switch {
		case p.is(i, "function") && p.isWord(i+1):
			name, k := p.luaName(i + 1)
			first := i
			if p.is(i-1, "local") {
				first = i - 1
			}
			return p.luaFunction(name, k-1, first, k)
		case p.is(i, "function") && p.is(i-1, "=") && p.isWord(i-2):
			at := i - 2
			start := at
			for n := 0; n < 16 && (p.is(start-1, ".") || p.is(start-1, ":")) && p.isWord(start-2); n++ {
				start -= 2
			}
			name, _ := p.luaName(start)
			first := start
			if p.is(start-1, "local") {
				first--
			}
			return p.luaFunction(name, at, first, i+1)
		case p.is(i, "local") && p.isWord(i+1) && p.is(i+2, "=") && !p.is(i+3, "function") && len(p.scopes) == 0 && p.toks[i].first:
			p.add(Variable, i+1, i, p.lineLast(i))
		case p.isWord(i) && p.toks[i].first && len(p.scopes) == 0 && p.column(i) == 0:
			// M.name = value, and name = value at the margin.
			name, k := p.luaName(i)
			if p.is(k, "=") && !p.is(k+1, "=") && !p.is(k+1, "function") {
				container, short := splitQualified(name)
				p.named(Variable, short, k-1, i, p.luaValueEnd(k)).addContainer(container)
				return k + 1, false
			}
		}
		return i + 1, false
	})
}

func (p *parser) luaValueEnd(k int) int {
	if p.is(k+1, "{") {
		return p.close(k + 1)
	}
	return p.lineLast(k)
}

// luaName returns a.b:c as a.b.c, and the token after it.
func (p *parser) luaName(i int) (string, int) {
	name := p.str(i)
	k := i + 1
	for n := 0; n < 16 && (p.is(k, ".") || p.is(k, ":")) && p.isWord(k+1); n++ {
		name += "." + p.str(k+1)
		k += 2
	}
	return name, k
}

func (p *parser) luaFunction(name string, at, first, open int) (int, bool) {
	container, short := splitQualified(name)
	kind := Function
	if container != "" {
		kind = Method
	}
	p.named(kind, short, at, first, at).addContainer(container)
	p.open(first, short, Function)
	next := open
	if p.is(open, "(") {
		next = p.after(open)
	}
	return next, true
}
