package symbols

import "bytes"

func hookRuby(l *lexer, c byte) bool {
	switch c {
	case '#':
		return l.lineComment()
	case '"', '`':
		if l.peek(-1) == '$' { // $` and $" are variables
			return false
		}
		return l.rubyString(c)
	case '\'':
		if l.peek(-1) == '$' {
			return false
		}
		return l.quoted(0, c, true, true)
	case '?':
		// ?a is a character, a ? b : c is not.
		if (l.prev.kind == 0 || l.prevIs("(,=[{|&!<")) && l.peek(1) > ' ' && !l.lang.words[l.peek(2)] {
			start := l.at
			l.at += 2
			l.emit(text, start)
			return true
		}
		return false
	case ':':
		if l.peek(1) == '"' && l.peek(-1) != ':' {
			l.at++
			l.rubyString('"')
			l.toks[len(l.toks)-1].start-- // the line begins with the colon
			return true
		}
		return false
	case '/':
		return l.rubyRegex()
	case '%':
		return l.rubyPercent()
	case '=':
		if l.newLine && l.has("=begin") && l.column0() {
			return l.podComment("=end")
		}
		return false
	case '_':
		if l.newLine && l.has("__END__") && (l.peek(7) == '\n' || l.peek(7) == '\r' || l.peek(7) == 0) {
			l.at = len(l.text)
			return true
		}
		return false
	case '<':
		return l.rubyHeredoc()
	}
	return false
}

func (l *lexer) column0() bool { return l.at == 0 || l.text[l.at-1] == '\n' }

// podComment takes lines up to one that begins with mark.
func (l *lexer) podComment(mark string) bool {
	start := l.at
	for l.at < len(l.text) {
		end := l.lineEnd(l.at)
		line := l.text[l.at:end]
		l.at = min(end+1, len(l.text))
		if bytes.HasPrefix(line, []byte(mark)) {
			break
		}
	}
	l.comments = append(l.comments, span{start, l.at})
	l.newLine = true
	return true
}

// rubyString takes a string in which #{...} may contain further strings.
func (l *lexer) rubyString(quote byte) bool {
	start := l.at
	depth := 0
	if start < l.nested { // an earlier string had no end; this one has none either
		return l.quoted(0, quote, true, true)
	}
	for i := start + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == '#' && i+1 < len(l.text) && l.text[i+1] == '{':
			depth++
			i++
		case depth > 0 && c == '{':
			depth++
		case depth > 0 && c == '}':
			depth--
		case depth == 0 && c == quote:
			l.at = i + 1
			l.emit(text, start)
			return true
		}
	}
	l.nested = len(l.text)
	return l.quoted(0, quote, true, true)
}

// operand reports whether a value may begin here: after an operator or a keyword, not
// after a value.
func (l *lexer) operand() bool {
	if l.peek(-1) == ':' && l.peek(-2) != ':' { // the symbol :/
		return false
	}
	switch l.prev.kind {
	case 0:
		return true
	case punct:
		return !l.prevIs(")]}")
	case word:
		return rubyBefore.has(l.text[l.prev.start:l.prev.end])
	}
	return false
}

var rubyBefore = set("if unless while until when and or not return puts in then else elsif do case match assert_match split gsub sub scan")

func (l *lexer) rubyRegex() bool {
	if l.defines() {
		return false
	}
	spaced := l.at > 0 && l.text[l.at-1] == ' ' && l.peek(1) != ' ' && l.peek(1) != '=' && l.prev.kind == word
	if !l.operand() && !spaced && !l.newLine {
		return false
	}
	if spaced {
		return l.regex(0)
	}
	if l.newLine && !l.operand() {
		return l.regex(200)
	}
	return l.regex(maxRegex) // with the x flag it has several lines
}

// defines reports whether the name of an operator comes next, as in def %(other).
func (l *lexer) defines() bool {
	return l.prev.kind == word && string(l.text[l.prev.start:l.prev.end]) == "def"
}

// rubyPercent takes %w[...], %q(...), %r{...} and the like.
func (l *lexer) rubyPercent() bool {
	if l.defines() {
		return false
	}
	n := 1
	c := l.peek(1)
	spaced := l.prev.kind == word && l.at > 0 && l.text[l.at-1] == ' '
	if bytes.IndexByte([]byte("wWqQrixIs"), c) >= 0 {
		n = 2
	} else if !(l.operand() || l.newLine || spaced) {
		return false // assert_equal %(x), y begins a string; n %(x) would be rare
	}
	open := l.peek(n)
	if n == 2 && open != '(' && open != '[' && open != '{' && open != '<' && open != '|' && open != '!' && open != '/' ||
		n == 1 && open != '(' && open != '[' && open != '{' && open != '<' && open != '|' {
		return false
	}
	if n == 2 && open == '/' && !l.operand() && !spaced {
		return false
	}
	return l.balanced(l.at, l.at+n)
}

// rubyHeredoc records <<~WORD. Its text begins on the next line.
func (l *lexer) rubyHeredoc() bool {
	if !l.has("<<") {
		return false
	}
	n := 2
	indent := false
	if c := l.peek(n); c == '~' || c == '-' {
		indent = true
		n++
	}
	quote := l.peek(n)
	if quote == '\'' || quote == '"' || quote == '`' {
		n++
	} else {
		quote = 0
		if c := l.peek(n); !(c >= 'A' && c <= 'Z' || c == '_' || indent && c >= 'a' && c <= 'z') {
			return false
		}
	}
	size := wordLen(l.text[min(l.at+n, len(l.text)):], plainWord)
	if size == 0 || quote != 0 && l.peek(n+size) != quote {
		return false
	}
	start := l.at
	if len(l.heredoc) < 16 {
		l.heredoc = append(l.heredoc, heredoc{l.text[l.at+n : l.at+n+size], indent})
	}
	l.at += n + size
	if quote != 0 {
		l.at++
	}
	l.emit(text, start)
	return true
}

// parseRuby reads class, module and def. It finds ends by indentation, which all Ruby
// code has: the line with "end" that is not indented more.
func parseRuby(p *parser) {
	p.ends(func(i int) (next int, opened bool) {
		if p.is(i-1, ".") || p.is(i-1, ":") || p.is(i+1, ":") && !p.is(i+2, ":") && p.toks[i].end == p.toks[i+1].start {
			return i + 1, false
		}
		switch {
		case p.is(i, "class") && p.op(i+1, "<<"):
			p.open(i, "", Class)
			return i + 3, true
		case p.is(i, "class") || p.is(i, "module"):
			return p.rubyType(i)
		case p.is(i, "def"):
			return p.rubyDef(i)
		case (p.is(i, "alias") || p.is(i, "alias_method")) && p.toks[i].first:
			return p.rubyAlias(i), false
		case (p.is(i, "attr_accessor") || p.is(i, "attr_reader") || p.is(i, "attr_writer")) && p.toks[i].first:
			for k := i + 1; p.is(k, ":") && p.isWord(k+1); k += 3 {
				p.add(Field, k+1, i, k+1)
				if !p.is(k+2, ",") {
					break
				}
			}
		case (p.is(i, "define_method") || p.is(i, "scope")) && p.toks[i].first:
			k := i + 1
			if p.is(k, "(") {
				k++
			}
			if p.is(k, ":") && p.isWord(k+1) {
				p.add(Method, k+1, i, p.lineLast(i))
			}
		case p.isWord(i) && p.toks[i].first && p.is(i+1, "=") && !p.is(i+2, "=") && !p.inCode() && p.text[p.toks[i].start] >= 'A' && p.text[p.toks[i].start] <= 'Z':
			return p.rubyConst(i)
		}
		return i + 1, false
	})
}

func (p *parser) rubyType(i int) (int, bool) {
	at := i + 1
	if p.op(at, "::") {
		at += 2
	}
	if !p.isWord(at) || !(p.toks[i].first || p.is(i-1, ";")) {
		return at, false
	}
	container := ""
	for p.op(at+1, "::") && p.isWord(at+3) {
		container += p.str(at) + "."
		at += 3
	}
	kind := Class
	if p.is(i, "module") {
		kind = Module
	}
	s := p.add(kind, at, i, at)
	if container != "" {
		s.addContainer(container[:len(container)-1])
	}
	p.open(i, container+p.str(at), Class)
	return at + 1, true
}

func (p *parser) rubyDef(i int) (int, bool) {
	at := i + 1
	if p.isWord(at) && p.is(at+1, ".") { // def self.name
		at += 2
	}
	if p.is(at, "(") && p.is(p.after(at), ".") { // def (object).name
		at = p.after(at) + 1
	}
	name, k := p.rubyName(at)
	if name == "" {
		return at, false
	}
	def := p.named(p.callable(), name, at, i, at)
	if p.scopeKind() == Module || p.scopeKind() == Class {
		def.Kind = Method
	}
	// def name(args) = expression
	if p.is(k, "(") && !p.toks[k].first {
		k = p.after(k)
	}
	if p.is(k, "=") && p.toks[k].start > p.toks[k-1].end && !p.toks[k].first {
		def.End = int(p.toks[p.lineLast(k)].end)
		return k + 1, false
	}
	p.open(i, name, Function)
	return k, true
}

// rubyName returns a method's name: a word, a setter, an operator.
func (p *parser) rubyName(at int) (string, int) {
	if p.isWord(at) {
		if p.is(at+1, "=") && p.toks[at].end == p.toks[at+1].start && (p.is(at+2, "(") && p.toks[at+1].end == p.toks[at+2].start) {
			return p.str(at) + "=", at + 2
		}
		return p.str(at), at + 1
	}
	name, k := "", at
	for k < len(p.toks) && k < at+4 && (p.operator(k) || p.byteAt(k) == '[' || p.byteAt(k) == ']' || p.byteAt(k) == '`') && (k == at || p.toks[k-1].end == p.toks[k].start) {
		name += p.str(k)
		k++
	}
	return name, k
}

func (p *parser) rubyAlias(i int) int {
	k := i + 1
	if p.is(k, "(") {
		k++
	}
	if p.is(k, ":") {
		k++
	}
	if p.isWord(k) {
		p.add(Method, k, i, p.lineLast(i))
	}
	return p.lineLast(i) + 1
}

func (p *parser) rubyConst(i int) (int, bool) {
	kind := Const
	if (p.is(i+2, "Class") || p.is(i+2, "Struct") || p.is(i+2, "Module") || p.is(i+2, "Data")) && p.is(i+3, ".") && (p.is(i+4, "new") || p.is(i+4, "define")) {
		kind = Class
		p.add(kind, i, i, i)
		if p.is(p.lineLast(i), "do") || p.byteAt(p.lineLast(i)) == '|' {
			p.open(i, p.str(i), Class)
			return p.lineLast(i) + 1, true
		}
		return i + 2, false
	}
	p.add(kind, i, i, p.lineLast(i))
	return i + 2, false
}
