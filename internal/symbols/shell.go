package symbols

import "strings"

func hookShell(l *lexer, c byte) bool {
	switch c {
	case '#':
		if l.at == 0 || l.text[l.at-1] == ' ' || l.text[l.at-1] == '\t' || l.text[l.at-1] == '\n' || l.text[l.at-1] == ';' || l.text[l.at-1] == '(' {
			return l.lineComment()
		}
		return false
	case '\'':
		return l.quoted(0, c, false, true)
	case '"':
		return l.shellString()
	case '\\':
		l.at = min(l.at+2, len(l.text))
		return true
	case '$':
		switch l.peek(1) {
		case '{':
			start := l.at
			l.at = l.endOfBalanced(l.at + 1)
			l.emit(text, start)
			return true
		case '#', '\'', '"', '`':
			l.at++
			if l.peek(0) == '#' {
				l.at++
			}
			return true
		}
		return false
	case '<':
		if l.has("<<") && l.peek(2) != '<' && l.peek(2) != '(' {
			return l.shellHeredoc()
		}
		if l.has("<<<") {
			l.at += 3
			return true
		}
		return false
	}
	return false
}

// shellString takes "..." in which $(...) may contain further strings.
func (l *lexer) shellString() bool {
	start := l.at
	depth := 0
	if start < l.nested {
		return l.quoted(0, '"', true, true)
	}
	for i := start + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == '$' && i+1 < len(l.text) && l.text[i+1] == '(':
			depth++
			i++
		case depth > 0 && c == '(':
			depth++
		case depth > 0 && c == ')':
			depth--
		case depth == 0 && c == '"':
			l.at = i + 1
			l.emit(text, start)
			return true
		}
	}
	l.nested = len(l.text)
	return l.quoted(0, '"', true, true)
}

func (l *lexer) shellHeredoc() bool {
	n := 2
	indent := l.peek(n) == '-'
	if indent {
		n++
	}
	for l.peek(n) == ' ' || l.peek(n) == '\t' {
		n++
	}
	if c := l.peek(n); c >= '0' && c <= '9' { // 1 << 3
		return false
	}
	end, size := shellDelimiter(l.text[min(l.at+n, len(l.text)):])
	if size == 0 {
		return false
	}
	if len(l.heredoc) < 16 {
		l.heredoc = append(l.heredoc, heredoc{end, indent})
	}
	l.at += n + size
	return true
}

// shellDelimiter reads the word that ends a here-document, with or without quotes, and
// returns its size in bytes.
func shellDelimiter(text []byte) (word []byte, size int) {
	quote := byte(0)
	for ; size < len(text); size++ {
		switch c := text[size]; {
		case c == '\n':
			if quote != 0 {
				return nil, 0
			}
			return word, size
		case c == '\\' && quote != '\'' && size+1 < len(text):
			size++
			word = append(word, text[size])
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && strings.IndexByte(" \t\r;&|<>()", c) >= 0:
			return word, size
		default:
			word = append(word, c)
		}
	}
	return word, size
}

var shellWords = set("if then else elif fi for while until do done case esac in select time { } ! [[ ]]")

// parseShell reads "name() {" and "function name".
func parseShell(p *parser) {
	p.walk(func(i int) int {
		if !p.isWord(i) || !p.commandStart(i) {
			return i + 1
		}
		at, k := i, i+1
		if p.is(i, "function") && p.isWord(i+1) && !p.toks[i+1].first {
			at, k = i+1, i+2
			if p.is(k, "(") && p.is(k+1, ")") {
				k += 2
			}
		} else if p.is(k, "(") && p.is(k+1, ")") && !p.in(i, shellWords) && !p.toks[k].first {
			k += 2
		} else {
			if p.is(i, "alias") && p.isWord(i+1) {
				name := p.str(i + 1)
				if p.is(i+2, "=") {
					p.named(Function, name, i+1, i, p.lineLast(i))
				}
			}
			return i + 1
		}
		if !p.is(k, "{") && !p.is(k, "(") {
			p.add(Function, at, i, p.lineLast(i))
			return k
		}
		p.add(Function, at, i, p.shellEnd(i, k))
		return k + 1
	})
}

// commandStart reports whether a command can begin with token i.
func (p *parser) commandStart(i int) bool {
	if p.toks[i].first {
		return true
	}
	switch p.byteAt(i - 1) {
	case ';', '{', '(', '&', '|', ')':
		return true
	}
	return p.is(i-1, "then") || p.is(i-1, "do") || p.is(i-1, "else")
}

// shellEnd returns the last token of a function's body. A brace at the indentation of the
// function is trusted more than the count of brackets, which case patterns and expansions
// make wrong.
func (p *parser) shellEnd(i, open int) int {
	if end := int(p.match[open]); end < len(p.toks) && (p.toks[end].first && p.column(end) == p.column(p.lineStart(i)) || end <= p.lineLast(open)) {
		return end
	}
	col := p.column(p.lineStart(i))
	for k := open + 1; k < len(p.toks) && k < open+20000; k++ {
		if p.toks[k].first && (p.byteAt(k) == '}' || p.byteAt(k) == ')') && p.column(k) <= col {
			return k
		}
	}
	return p.close(open)
}
