package symbols

import "bytes"

func beginPHP(l *lexer) { l.html() }

// html skips text outside of <?php ... ?>.
func (l *lexer) html() {
	for {
		n := bytes.Index(l.text[l.at:], []byte("<?"))
		if n < 0 {
			l.at = len(l.text)
			return
		}
		l.at += n + 2
		if l.has("xml") {
			continue
		}
		if l.has("php") {
			l.at += 3
		}
		l.newLine = true
		return
	}
}

func hookPHP(l *lexer, c byte) bool {
	switch c {
	case '/':
		if l.peek(1) == '/' {
			return l.phpLine()
		}
		return l.slash(false)
	case '#':
		if l.peek(1) == '[' { // an attribute
			l.at++
			return true
		}
		return l.phpLine()
	case '?':
		if l.peek(1) == '>' {
			l.at += 2
			l.html()
			return true
		}
		return false
	case '<':
		return l.phpHeredoc()
	}
	return l.quoted(0, c, true, true)
}

// phpLine takes a comment that ends with the line or with ?>.
func (l *lexer) phpLine() bool {
	end := l.lineEnd(l.at)
	if n := bytes.Index(l.text[l.at:end], []byte("?>")); n >= 0 {
		l.comments = append(l.comments, span{l.at, l.at + n})
		l.at += n
		return true
	}
	return l.lineComment()
}

func (l *lexer) phpHeredoc() bool {
	if !l.has("<<<") {
		return false
	}
	n := 3
	for l.peek(n) == ' ' || l.peek(n) == '\t' {
		n++
	}
	if l.peek(n) == '"' || l.peek(n) == '\'' {
		n++
	}
	size := wordLen(l.text[min(l.at+n, len(l.text)):], plainWord)
	if size == 0 {
		return false
	}
	start := l.at
	l.heredoc = append(l.heredoc, heredoc{l.text[l.at+n : l.at+n+size], true})
	l.at += n + size
	if c := l.peek(0); c == '"' || c == '\'' {
		l.at++
	}
	l.emit(text, start)
	return true
}

var phpMods = set("public private protected static final abstract readonly var")

var phpTypes = map[string]Kind{"class": Class, "interface": Interface, "trait": Interface, "enum": Enum}

func parsePHP(p *parser) { p.walk(p.php) }

func (p *parser) php(i int) int {
	if p.toks[i].kind != word || p.is(i-1, ">") && p.is(i-2, "-") || p.is(i-1, ":") && p.is(i-2, ":") || p.is(i-1, "$") {
		return i + 1
	}
	w := lower(p.str(i))
	if kind, ok := phpTypes[w]; ok && p.isWord(i+1) && !p.is(i+1, "extends") && !p.is(i+1, "implements") {
		brace, last := p.bodyAfter(i+2, nil)
		if brace < 0 {
			return last + 1
		}
		return p.block(kind, i+1, p.headStart(i, phpMods), brace)
	}
	switch w {
	case "function", "fn":
		return p.phpFunction(i)
	case "namespace":
		return p.phpNamespace(i)
	case "use":
		if !p.is(i+1, "(") && !p.inCode() {
			for i < len(p.toks) && !p.is(i, ";") && !p.is(i, "{") {
				i++
			}
			if p.is(i, "{") {
				return p.after(i)
			}
		}
	case "const":
		return p.phpConst(i)
	case "define":
		if p.is(i+1, "(") && i+2 < len(p.toks) && p.toks[i+2].kind == text {
			p.named(Const, p.unquoted(i+2), i+2, i, p.close(i+1))
		}
	case "case":
		if p.scopeKind() == Enum && p.isWord(i+1) {
			p.add(Member, i+1, i, i+1)
			return i + 2
		}
	default:
		if len(w) > 1 && w[0] == '$' && p.inType() {
			if p.in(i-1, phpMods) || p.isWord(i-1) && p.in(p.lineStart(i), phpMods) {
				s := p.add(Field, i, p.headStart(i, phpMods), i)
				s.Name, s.NameAt = p.str(i)[1:], s.NameAt+1
			}
		}
	}
	return i + 1
}

func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for k := i; k < len(b); k++ {
				if b[k] >= 'A' && b[k] <= 'Z' {
					b[k] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

func (p *parser) phpFunction(i int) int {
	at := i + 1
	if p.is(at, "&") {
		at++
	}
	if !p.isWord(at) || !p.is(at+1, "(") || p.is(i, "fn") {
		return at
	}
	brace, last := p.bodyAfter(at+1, nil)
	first := p.headStart(i, phpMods)
	if brace < 0 {
		p.add(p.callable(), at, first, last)
		return last + 1
	}
	return p.block(p.callable(), at, first, brace)
}

func (p *parser) phpNamespace(i int) int {
	k, name := i+1, ""
	for ; p.isWord(k) || p.is(k, "\\"); k++ {
		if p.is(k, "\\") {
			name += "."
		} else {
			name += p.str(k)
		}
	}
	if name == "" || name[0] == '.' {
		return k
	}
	if p.is(k, "{") {
		return p.namedBlock(Module, name, i+1, i, k)
	}
	p.scopes = p.scopes[:0] // the next namespace ends this one
	p.named(Module, name, i+1, i, k)
	p.enter(len(p.toks), name, Module)
	return k
}

func (p *parser) phpConst(i int) int {
	at := i + 1
	if p.isWord(at) && p.isWord(at+1) { // a type
		at++
	}
	if p.isWord(at) && p.is(at+1, "=") {
		p.add(Const, at, p.headStart(i, phpMods), p.lineLast(at))
		return at + 2
	}
	return at
}
