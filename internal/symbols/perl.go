package symbols

import "bytes"

func hookPerl(l *lexer, c byte) bool {
	switch c {
	case '#':
		return l.lineComment()
	case '"', '`':
		return l.quoted(0, c, true, true)
	case '\'':
		if l.prev.kind == word && int(l.prev.end) == l.at {
			return false // main'sub
		}
		return l.quoted(0, c, true, true)
	case '=':
		if l.newLine && l.column0() && l.peek(1) >= 'a' && l.peek(1) <= 'z' {
			return l.podComment("=cut")
		}
		return false
	case '_':
		if l.newLine && (l.has("__END__") || l.has("__DATA__")) {
			l.at = len(l.text)
			return true
		}
		return false
	case '<':
		return l.perlHeredoc()
	case '$':
		if n := l.peek(1); n == '#' || n == '\'' || n == '"' || n == '/' || n == '`' { // $#x, $'
			l.at += 2
			return true
		}
		return false
	case '/':
		if l.peek(1) == '/' { // defined-or, or the empty pattern
			l.at += 2
			return true
		}
		if l.operand() || l.prev.kind == word && rubyBefore.has(l.text[l.prev.start:l.prev.end]) {
			return l.rubyRegex()
		}
		return false
	}
	return l.perlQuote()
}

// perlQuote takes q(...), qq{...}, qw/.../, m!...!, s{...}{...}, tr, y.
func (l *lexer) perlQuote() bool {
	n := wordLen(l.text[l.at:min(len(l.text), l.at+4)], plainWord)
	parts := 1
	switch string(l.text[l.at : l.at+n]) {
	case "q", "qq", "qw", "qr", "qx", "m":
	case "s", "tr", "y":
		parts = 2
	default:
		return false
	}
	if l.prevIs("$@%&>{-") && int(l.prev.end) == l.at || l.prev.kind == word && string(l.text[l.prev.start:l.prev.end]) == "sub" {
		return false
	}
	open := l.at + n
	for open < len(l.text) && l.text[open] == ' ' && open < l.at+n+4 {
		open++
	}
	if open >= len(l.text) || open > l.at+n && l.text[open] == '#' ||
		bytes.IndexByte([]byte("=,;)>\n\r\t -"), l.text[open]) >= 0 || plainWord[l.text[open]] || l.text[open] == '}' {
		return false
	}
	start := l.at
	end := l.endOfBalanced(open)
	if parts == 2 {
		if left := l.text[open]; left == '{' || left == '(' || left == '[' || left == '<' {
			for end < len(l.text) && (l.text[end] == ' ' || l.text[end] == '\n' || l.text[end] == '\t') {
				end++
			}
			end = l.endOfBalanced(end)
		} else {
			end = l.endOfBalanced(end - 1)
		}
	}
	l.at = min(end, len(l.text))
	l.emit(text, start)
	return true
}

func (l *lexer) perlHeredoc() bool {
	if !l.has("<<") || !l.operand() && l.prev.kind != word {
		return false
	}
	n := 2
	indent := l.peek(n) == '~'
	if indent {
		n++
	}
	quote := l.peek(n)
	if quote == '"' || quote == '\'' {
		n++
	} else if c := l.peek(n); c >= 'A' && c <= 'Z' || c == '_' {
		quote = 0
	} else {
		return false
	}
	rest := l.text[min(l.at+n, len(l.text)):]
	size := wordLen(rest, plainWord)
	if quote != 0 {
		if size = bytes.IndexByte(rest[:min(len(rest), 200)], quote); size < 0 {
			return false
		}
	}
	if size == 0 {
		return false
	}
	start := l.at
	if len(l.heredoc) < 16 {
		l.heredoc = append(l.heredoc, heredoc{rest[:size], indent})
	}
	l.at += n + size
	if quote != 0 {
		l.at++
	}
	l.emit(text, start)
	return true
}

func parsePerl(p *parser) {
	p.walk(func(i int) int {
		switch {
		case !p.isWord(i) || p.is(i-1, "$") || p.is(i-1, "%") || p.is(i-1, "@") || p.is(i-1, ">"):
		case p.is(i, "package") && p.isWord(i+1):
			return p.perlPackage(i)
		case p.is(i, "sub") && p.isWord(i+1):
			return p.perlSub(i)
		case p.is(i, "use") && p.is(i+1, "constant"):
			return p.perlConstant(i)
		}
		return i + 1
	})
}

// perlName returns A::B as A.B, its last token and the token after it.
func (p *parser) perlName(i int) (name string, last, next int) {
	name, last = p.str(i), i
	k := i + 1
	for n := 0; n < 20 && (p.op(k, "::") && p.isWord(k+2) || p.is(k, "'") && p.isWord(k+1)); n++ {
		if p.is(k, "'") {
			k--
		}
		name += "." + p.str(k+2)
		last = k + 2
		k += 3
	}
	return name, last, k
}

func (p *parser) perlPackage(i int) int {
	name, _, k := p.perlName(i + 1)
	if p.toks[min(k, len(p.toks)-1)].kind == number {
		k++
	}
	if p.is(k, "{") {
		return p.namedBlock(Module, name, i+1, i, k)
	}
	for n := len(p.scopes); n > 0 && p.scopes[n-1].kind == Module && p.scopes[n-1].end == len(p.toks); n-- {
		p.scopes = p.scopes[:n-1]
	}
	p.named(Module, name, i+1, i, k)
	p.enter(len(p.toks), name, Module)
	return k
}

func (p *parser) perlSub(i int) int {
	name, last, k := p.perlName(i + 1)
	container, short := splitQualified(name)
	brace, end := p.bodyAfter(k, func(x int) bool { return p.is(x, "=") })
	if brace < 0 {
		if p.is(end+1, ";") { // a declaration
			return end + 1
		}
		return k
	}
	p.named(Function, short, last, i, p.close(brace)).addContainer(container)
	p.enter(int(p.match[brace]), short, Function)
	return brace + 1
}

func (p *parser) perlConstant(i int) int {
	k := i + 2
	if p.isWord(k) {
		p.add(Const, k, i, p.lineLast(i))
		return k + 1
	}
	if !p.is(k, "{") {
		return k
	}
	end := int(p.match[k])
	for k++; k < end && k < len(p.toks); k = p.past(k) {
		if p.isWord(k) && p.op(k+1, "=>") {
			p.add(Const, k, k, k)
		}
	}
	return end
}
