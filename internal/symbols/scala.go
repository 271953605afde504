package symbols

// Scala, with braces or, since version 3, with indentation.

var scalaMods = set("private protected final sealed abstract implicit lazy override case inline transparent open opaque given infix private")

func parseScala(p *parser) { p.walk(p.scala) }

func (p *parser) scala(i int) int {
	if p.toks[i].kind != word || p.is(i-1, ".") {
		return i + 1
	}
	switch p.str(i) {
	case "class", "trait", "object":
		return p.scalaType(i)
	case "enum":
		if p.isWord(i+1) && p.toks[i].first {
			return p.scalaType(i)
		}
	case "def":
		return p.scalaDef(i)
	case "val", "var":
		return p.scalaVal(i)
	case "type":
		return p.scalaAlias(i)
	case "package":
		if p.is(i+1, "object") {
			return i + 1
		}
		if name := p.dotted(i + 1); name != "" {
			p.named(Module, name, i+1, i, p.lineLast(i))
		}
		return p.lineLast(i) + 1
	case "import":
		return p.lineLast(i) + 1
	}
	return i + 1
}

func scalaStop(p *parser) func(k int) bool {
	return func(k int) bool {
		if !p.toks[k].first {
			return p.is(k, "=")
		}
		if p.is(k, "extends") || p.is(k, "with") || p.byteAt(k) == '(' || p.byteAt(k) == '[' || p.byteAt(k) == ')' {
			return false
		}
		if p.byteAt(k-1) == ',' || p.is(k-1, "with") || p.is(k-1, "extends") {
			return false
		}
		return true
	}
}

func (p *parser) scalaType(i int) int {
	at := i + 1
	if !p.isWord(at) {
		return at
	}
	kind := Class
	switch p.str(i) {
	case "trait":
		kind = Interface
	case "enum":
		kind = Enum
	}
	first := p.headStart(i, scalaMods)
	brace, last := p.bodyAfter(at+1, scalaStop(p))
	switch {
	case brace >= 0:
		return p.block(kind, at, first, brace)
	case p.is(last, ":"): // an indented body
		end := p.indentEnd(first, last+1)
		p.add(kind, at, first, end-1)
		p.enter(end, p.str(at), kind)
		return last + 1
	}
	p.add(kind, at, first, last)
	return last + 1
}

// indentEnd returns the first token of the first line from i on that is not indented more
// than the line of token first.
func (p *parser) indentEnd(first, i int) int {
	col := p.column(p.lineStart(first))
	for ; i < len(p.toks); i++ {
		if p.toks[i].first && p.column(i) <= col {
			return i
		}
	}
	return len(p.toks)
}

// scalaName returns the name at i, which may consist of operator bytes, and the token
// after it.
func (p *parser) scalaName(i int) (string, int) {
	if p.isWord(i) {
		if p.str(i) == "this" {
			return "", i + 1
		}
		name, k := p.str(i), i+1
		// name_+ and similar names: operator characters directly after an underscore.
		for name[len(name)-1] == '_' && p.operator(k) && p.toks[k-1].end == p.toks[k].start {
			name += p.str(k)
			k++
		}
		return name, k
	}
	name, k := "", i
	for p.operator(k) && (k == i || p.toks[k-1].end == p.toks[k].start) && k < i+8 {
		name += p.str(k)
		k++
	}
	return name, k
}

func (p *parser) operator(i int) bool {
	switch p.byteAt(i) {
	case '+', '-', '*', '/', '<', '>', '=', '!', '&', '|', '^', '%', '~', ':', '?', '\\', '@', '#':
		return true
	}
	return false
}

func (p *parser) scalaDef(i int) int {
	name, k := p.scalaName(i + 1)
	if name == "" {
		return k
	}
	first := p.headStart(i, scalaMods)
	kind := p.callable()
	for n := 0; k < len(p.toks) && n < 400; n++ {
		switch c := p.byteAt(k); {
		case c == '(' || c == '[':
			k = p.after(k)
			continue
		case c == '{':
			return p.namedBlock(kind, name, i+1, first, k)
		case c == '=' && !p.op(k, "=>"):
			k++
			if p.is(k, "{") {
				return p.namedBlock(kind, name, i+1, first, k)
			}
			end := p.expressionEnd(k)
			if k < len(p.toks) && p.toks[k].first { // indented below it
				end = max(p.indentEnd(first, k)-1, k)
			}
			p.named(kind, name, i+1, first, end)
			p.enter(min(end+1, len(p.toks)), name, Function)
			return k
		case c == '}' || c == ';' || c == ')', p.toks[k].first && p.byteAt(k-1) != ',' && p.byteAt(k-1) != ':' && c != ':' && !p.op(k-2, "=>"):
			p.named(kind, name, i+1, first, k-1)
			return k
		}
		k++
	}
	p.named(kind, name, i+1, first, i+1)
	return i + 2
}

func (p *parser) scalaVal(i int) int {
	if p.inCode() || !p.isWord(i+1) {
		return i + 1
	}
	p.add(p.variable(), i+1, p.headStart(i, scalaMods), p.lineLast(i))
	return i + 2
}

func (p *parser) scalaAlias(i int) int {
	if p.inCode() || !p.isWord(i+1) || !(p.toks[i].first || p.in(i-1, scalaMods)) {
		return i + 1
	}
	p.add(Type, i+1, p.headStart(i, scalaMods), p.lineLast(i))
	return i + 2
}
