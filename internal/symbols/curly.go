package symbols

import "bytes"

// Hooks of the languages with comments and strings like C's.

// slash takes // and /* */ comments.
func (l *lexer) slash(nested bool) bool {
	switch l.peek(1) {
	case '/':
		return l.lineComment()
	case '*':
		return l.blockComment("/*", "*/", nested)
	}
	return false
}

func hookCurly(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(false)
	case '"':
		if l.has(`"""`) {
			return l.until(3, `"""`, true)
		}
		return l.quoted(0, c, true, false)
	case '\'':
		return l.quoted(0, c, true, false)
	}
	return false
}

func hookGo(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(false)
	case '`':
		return l.until(1, "`", false)
	}
	return l.quoted(0, c, true, false)
}

// backticked takes a name in backticks as a word, without them. Empty names are refused.
func (l *lexer) backticked() bool {
	n := bytes.IndexAny(l.text[l.at+1:min(len(l.text), l.at+200)], "`\n")
	if n <= 0 || l.text[l.at+1+n] != '`' {
		return false
	}
	start := l.at + 1
	l.at = start + n
	l.emit(word, start)
	l.at++
	return true
}

func hookKotlin(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(true)
	case '"':
		if l.has(`"""`) {
			return l.until(3, `"""`, false)
		}
		return l.interpolated("${", '"')
	case '`':
		return l.backticked()
	}
	return l.quoted(0, c, true, false)
}

// interpolated takes a one-line string whose expressions may contain quotes.
func (l *lexer) interpolated(open string, quote byte) bool {
	start := l.at
	if start < l.lone {
		return l.quoted(0, quote, true, false)
	}
	depth := 0
	for i := start + 1; i < len(l.text); i++ {
		switch ch := l.text[i]; {
		case ch == '\\' && !(len(open) == 2 && open[0] == '\\' && i+1 < len(l.text) && l.text[i+1] == open[1]):
			i++
		case ch == '\n':
			return l.quoted(0, quote, true, false)
		case depth == 0 && ch == quote:
			l.at = i + 1
			l.emit(text, start)
			return true
		case ch == open[0] && i+1 < len(l.text) && l.text[i+1] == open[1]:
			depth++
			i++
		case depth > 0 && (ch == '{' || ch == '('):
			depth++
		case depth > 0 && (ch == '}' || ch == ')'):
			depth--
		}
	}
	return l.quoted(0, quote, true, false)
}

func hookScala(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(true)
	case '"':
		if l.has(`"""`) {
			l.until(3, `"""`, false)
			for l.peek(0) == '"' { // """a""""
				l.at++
			}
			return true
		}
		return l.quoted(0, c, true, false)
	case '`':
		return l.backticked()
	case '\'':
		return l.char()
	}
	return false
}

// char takes a character literal, if it finds one: 'a', '\n', '\u{41}'.
func (l *lexer) char() bool {
	if l.peek(1) == '\\' {
		return l.quoted(0, '\'', true, false)
	}
	for n := 2; n <= 5; n++ {
		c := l.peek(n)
		if c == '\'' {
			start := l.at
			l.at += n + 1
			l.emit(text, start)
			return true
		}
		if l.peek(n-1) < 0x80 { // one character only
			break
		}
	}
	return false
}

func hookSwift(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(true)
	case '"':
		if l.has(`"""`) {
			return l.until(3, `"""`, true)
		}
		return l.interpolated(`\(`, '"')
	case '#':
		n := 1
		for l.peek(n) == '#' {
			n++
		}
		if l.peek(n) == '"' {
			mark := `"` + string(bytes.Repeat([]byte("#"), n))
			if l.peek(n+1) == '"' && l.peek(n+2) == '"' {
				mark = `""` + mark
				n += 2
			}
			return l.until(n+1, mark, false)
		}
		l.at += n // #if, #selector
		return true
	case '`':
		return l.backticked()
	}
	return false
}

func hookRust(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(true)
	case '"':
		return l.quoted(0, c, true, true)
	case '\'':
		return l.char()
	}
	// r"", r#""#, b"", br"", b'x'
	n := 1
	if c == 'b' && l.peek(1) == 'r' {
		n = 2
	}
	if c == 'b' && n == 1 {
		switch l.peek(1) {
		case '"':
			return l.quoted(1, '"', true, true)
		case '\'':
			return l.quoted(1, '\'', true, false)
		}
		return false
	}
	hashes := 0
	for l.peek(n+hashes) == '#' {
		hashes++
	}
	if l.peek(n+hashes) != '"' {
		return false
	}
	return l.until(n+hashes+1, `"`+string(bytes.Repeat([]byte("#"), hashes)), false)
}

func hookZig(l *lexer, c byte) bool {
	switch c {
	case '/':
		if l.peek(1) == '/' {
			return l.lineComment()
		}
		return false
	case '\\':
		if l.peek(1) != '\\' {
			return false
		}
		start := l.at
		l.at = l.lineEnd(l.at)
		l.emit(text, start)
		return true
	case '@':
		if l.peek(1) == '"' {
			n := bytes.IndexAny(l.text[l.at+2:min(len(l.text), l.at+200)], "\"\n")
			if n >= 0 && l.text[l.at+2+n] == '"' {
				start := l.at + 2
				l.at = start + n
				l.emit(word, start)
				l.at++
				return true
			}
		}
		return false
	}
	return l.quoted(0, c, true, false)
}

func hookCSharp(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(false)
	case '#':
		if l.newLine {
			l.at = l.lineEnd(l.at)
			return true
		}
		return false
	case '"':
		if l.has(`"""`) {
			return l.until(3, `"""`, false)
		}
		return l.quoted(0, c, true, false)
	case '\'':
		return l.quoted(0, c, true, false)
	}
	// @"...", $"...", $@"...", $$"""..."""
	n := 1
	verbatim := c == '@'
	for l.peek(n) == '$' || l.peek(n) == '@' {
		verbatim = verbatim || l.peek(n) == '@'
		n++
	}
	if l.peek(n) != '"' {
		l.at += n // @class is a name
		return true
	}
	if l.peek(n+1) == '"' && l.peek(n+2) == '"' && !verbatim {
		return l.until(n+3, `"""`, false)
	}
	if !verbatim {
		return l.quoted(n, '"', true, false)
	}
	start := l.at
	for i := l.at + n + 1; i < len(l.text); i++ {
		if l.text[i] == '"' {
			if i+1 < len(l.text) && l.text[i+1] == '"' {
				i++
				continue
			}
			l.at = i + 1
			l.emit(text, start)
			return true
		}
	}
	l.unclosedAt(start)
	l.at = len(l.text)
	l.emit(text, start)
	return true
}
