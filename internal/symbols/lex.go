package symbols

import "bytes"

type tokKind uint8

const (
	word tokKind = iota + 1
	number
	text   // a string or another literal
	punct  // one byte
	direct // a preprocessor directive
)

// token is a piece of code. Comments are stored separately.
type token struct {
	kind       tokKind
	first      bool // first token of its line
	start, end int32
}

type span struct{ start, end int }

// lexer splits a text into tokens. The language's hook handles comments, strings and
// directives.
type lexer struct {
	*parser
	special  [256]bool // bytes for which the hook is called
	at       int
	newLine  bool
	prev     token // the last token
	depth    int   // of brackets
	template []int // depths at which a template literal continues
	heredoc  []heredoc
	cond     []condition
	lone     int // quotes before this offset aren't closed on their line
	nested   int // strings with expressions before this offset aren't closed
}

type heredoc struct {
	word   []byte
	indent bool
}

// lex fills the tokens, their partners and the comments of p.
func lex(p *parser) {
	l := &lexer{parser: p, newLine: true}
	for _, c := range []byte(p.lang.special) {
		l.special[c] = true
	}
	if bytes.HasPrefix(p.text, []byte("\xef\xbb\xbf")) {
		l.at = 3
	}
	if p.lang.begin != nil {
		p.lang.begin(l)
	}
	if cap(p.toks) == 0 {
		p.toks = make([]token, 0, min(len(p.text)/5, 1<<14)+8) // headers with only macros have none
	}
	for l.at < len(p.text) {
		p.step()
		if cap(p.toks)-len(p.toks) < 4 {
			l.grow()
		}
		l.next()
	}
	p.pair()
}

// grow makes room for the tokens of the remaining text at the current density, but at most
// for four times as many as now. When it grew by a quarter each time, large texts took 21 MB
// of a build's peak and left four times as much garbage.
func (l *lexer) grow() {
	n := len(l.toks)
	rest := int(int64(n) * int64(len(l.text)-l.at) / int64(l.at+1))
	toks := make([]token, n, n+max(n/4, min(rest+rest/16, 3*n))+64)
	copy(toks, l.toks)
	l.toks = toks
}

func (l *lexer) next() {
	c := l.text[l.at]
	switch c {
	case '\n':
		l.at++
		l.newLine = true
		if len(l.heredoc) > 0 {
			l.skipHeredocs()
		}
		return
	case ' ', '\t', '\r', '\f', '\v', 0:
		l.at++
		return
	}
	if l.special[c] && l.lang.hook(l, c) {
		return
	}
	start := l.at
	switch {
	case l.lang.words[c] && (c < '0' || c > '9'):
		for l.at < len(l.text) && l.lang.words[l.text[l.at]] {
			l.at++
		}
		if l.lang.suffix && l.at < len(l.text) && (l.text[l.at] == '?' || l.text[l.at] == '!') &&
			(l.at+1 >= len(l.text) || l.text[l.at+1] != '=') {
			l.at++
		}
		l.emit(word, start)
	case c >= '0' && c <= '9':
		l.number()
		l.emit(number, start)
	default:
		l.at++
		l.emit(punct, start)
	}
}

func (l *lexer) number() {
	for l.at < len(l.text) {
		c := l.text[l.at]
		if c == '.' && l.at+1 < len(l.text) && (l.text[l.at+1] < '0' || l.text[l.at+1] > '9') {
			return // 1..2, 1.method
		}
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.') {
			return
		}
		l.at++
	}
}

func (l *lexer) emit(kind tokKind, start int) {
	t := token{kind: kind, first: l.newLine, start: int32(start), end: int32(l.at)}
	l.newLine = false
	if kind == punct {
		switch l.text[start] {
		case '{', '(', '[':
			l.depth++
		case '}', ')', ']':
			l.depth--
			if n := len(l.cond); n > 0 {
				l.cond[n-1].low = min(l.cond[n-1].low, l.depth)
			}
		}
	}
	l.toks = append(l.toks, t)
	l.prev = t
}

// prevIs reports whether the last token is one of the bytes.
func (l *lexer) prevIs(set string) bool {
	return l.prev.kind == punct && bytes.IndexByte([]byte(set), l.text[l.prev.start]) >= 0
}

func (l *lexer) has(s string) bool {
	return len(l.text)-l.at >= len(s) && string(l.text[l.at:l.at+len(s)]) == s
}

func (l *lexer) peek(n int) byte {
	if i := l.at + n; uint(i) < uint(len(l.text)) {
		return l.text[i]
	}
	return 0
}

// lineEnd returns the offset of the end of the line at i.
func (l *lexer) lineEnd(i int) int {
	if n := bytes.IndexByte(l.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(l.text)
}

// lineComment takes a comment to the end of the line.
func (l *lexer) lineComment() bool {
	end := l.lineEnd(l.at)
	l.comments = append(l.comments, span{l.at, end})
	l.at = end
	return true
}

// blockComment takes a comment between two marks, nested or not.
func (l *lexer) blockComment(open, end string, nested bool) bool {
	start := l.at
	l.at += len(open)
	for depth := 1; depth > 0 && l.at < len(l.text); {
		switch {
		case l.text[l.at] == end[0] && l.has(end):
			depth--
			l.at += len(end)
		case nested && l.text[l.at] == open[0] && l.has(open):
			depth++
			l.at += len(open)
		default:
			l.at++
		}
		if depth > 0 && l.at >= len(l.text) {
			l.unclosedAt(start)
		}
	}
	l.comments = append(l.comments, span{start, l.at})
	return true
}

// unclosedAt records the start of the first string or comment that is never closed.
func (l *lexer) unclosedAt(start int) {
	if l.openText == 0 {
		l.openText = start + 1
	}
}

// quoted takes a string that ends at a quote, with backslash escapes. If the string must
// end on its line and doesn't, only the quote is taken.
func (l *lexer) quoted(prefix int, quote byte, escapes, lines bool) bool {
	start := l.at
	i := start + prefix + 1
	if start < l.lone && !lines { // keeps a line of many escaped quotes linear
		l.at = i
		l.emit(punct, i-1)
		return true
	}
	for ; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\' && escapes:
			i++
		case c == quote:
			l.at = i + 1
			l.emit(text, start)
			return true
		case c == '\n' && !lines:
			l.lone = i
			l.at = start + prefix + 1
			l.emit(punct, l.at-1)
			return true
		}
	}
	if lines {
		l.unclosedAt(start)
		l.at = len(l.text)
		l.emit(text, start)
		return true
	}
	l.lone = max(l.lone, i)
	l.at = start + prefix + 1
	l.emit(punct, l.at-1)
	return true
}

// until takes a literal that ends with a mark.
func (l *lexer) until(prefix int, mark string, escapes bool) bool {
	start := l.at
	i := start + prefix
	if !escapes {
		if n := bytes.Index(l.text[min(i, len(l.text)):], []byte(mark)); n >= 0 {
			l.at = i + n + len(mark)
		} else {
			l.unclosedAt(start)
			l.at = len(l.text)
		}
		l.emit(text, start)
		return true
	}
	for ; i < len(l.text); i++ {
		if l.text[i] == '\\' {
			i++
			continue
		}
		if l.text[i] == mark[0] && bytes.HasPrefix(l.text[i:], []byte(mark)) {
			l.at = i + len(mark)
			l.emit(text, start)
			return true
		}
	}
	l.unclosedAt(start)
	l.at = len(l.text)
	l.emit(text, start)
	return true
}

// balanced takes a literal between brackets that nest, or between two equal delimiters.
func (l *lexer) balanced(start, open int) bool {
	l.at = l.endOfBalanced(open)
	l.emit(text, start)
	return true
}

func (l *lexer) endOfBalanced(open int) int {
	if open >= len(l.text) {
		return len(l.text)
	}
	left := l.text[open]
	right, nests := left, false
	switch left {
	case '(':
		right, nests = ')', true
	case '[':
		right, nests = ']', true
	case '{':
		right, nests = '}', true
	case '<':
		right, nests = '>', true
	}
	depth := 1
	for i := open + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == right:
			if depth--; depth == 0 {
				return i + 1
			}
		case nests && c == left:
			depth++
		}
	}
	return len(l.text)
}

// skipHeredocs skips the here-documents announced on the last line.
func (l *lexer) skipHeredocs() {
	for _, h := range l.heredoc {
		for l.at < len(l.text) {
			end := l.lineEnd(l.at)
			line := bytes.TrimSuffix(l.text[l.at:end], []byte("\r"))
			if h.indent {
				line = bytes.TrimLeft(line, " \t")
			}
			l.at = min(end+1, len(l.text))
			if bytes.HasPrefix(line, h.word) && (len(line) == len(h.word) || l.lang.name == "PHP" && h.indent && !l.lang.words[line[len(h.word)]]) {
				if rest := len(line) - len(h.word); rest > 0 { // the code goes on after EOT;
					l.at = end - rest
				}
				break
			}
		}
	}
	l.heredoc = l.heredoc[:0]
}

// pair finds the partner of every bracket. The partner of an unclosed opening bracket is
// the end of the text. A closing bracket that closes nothing is its own partner.
func (p *parser) pair() {
	if cap(p.match) < len(p.toks) {
		p.match = make([]int32, len(p.toks), cap(p.toks))
	}
	p.match = p.match[:len(p.toks)]
	clear(p.match)
	var open []int32
	for i := range p.toks {
		if p.toks[i].kind != punct {
			continue
		}
		switch c := p.text[p.toks[i].start]; c {
		case '{', '(', '[':
			open = append(open, int32(i))
		case '}', ')', ']':
			p.match[i] = int32(i)
			// A closing brace closes brackets left open inside it. Looking only a few
			// levels down keeps this linear.
			for back := 0; back < 8 && back < len(open); back++ {
				o := open[len(open)-1-back]
				if partner(p.text[p.toks[o].start]) != c {
					if c != '}' {
						break // a lone ) doesn't close a {
					}
					continue
				}
				for _, lost := range open[len(open)-back:] {
					p.match[lost] = int32(i)
				}
				p.match[o], p.match[i] = int32(i), o
				open = open[:len(open)-1-back]
				break
			}
		}
	}
	for _, o := range open {
		p.match[o] = int32(len(p.toks))
	}
}

func partner(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// maxRegex bounds the search for the end of a regular expression. Commented ones of
// several lines have up to 1,100 bytes in Rails.
const maxRegex = 2000

// regex takes a regular expression between slashes. If the second slash does not follow
// on the same line within that many bytes, the first one is a division.
func (l *lexer) regex(within int) bool {
	inClass := false
	for i := l.at + 1; i < len(l.text) && i < l.at+maxRegex; i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			start := l.at
			l.at = i + 1
			l.emit(text, start)
			return true
		case c == '\n' && i-l.at > within:
			return false
		}
	}
	l.unsure = true
	return false
}
