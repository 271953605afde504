package symbols

// Kotlin: a keyword tells the kind of a definition, and the name follows it.

func parseKotlin(p *parser) { p.walk(p.kotlin) }

var kotlinMods = set("public private protected internal open abstract final sealed data inner enum annotation inline value suspend operator infix " +
	"external override lateinit tailrec expect actual const vararg noinline crossinline companion fun reified")

// headStart walks back over modifiers and annotations before token i.
func (p *parser) headStart(i int, mods *wordSet) int {
	for n := 0; n < 40 && i > 0; n++ {
		k := i - 1
		switch {
		case p.in(k, mods):
		case p.byteAt(k) == ')' && int(p.match[k]) > 0 && p.isWord(int(p.match[k])-1):
			open := int(p.match[k])
			switch {
			case p.is(open-2, "@"):
				k = open - 2
			case p.in(open-1, mods): // private(set), pub(crate)
				k = open - 1
			default:
				return i
			}
		case p.byteAt(k) == ']' && p.is(int(p.match[k])-1, "#"): // Rust
			k = int(p.match[k]) - 1
		case p.isWord(k) && p.is(k-1, "@"):
			k--
		default:
			return i
		}
		i = k
	}
	return i
}

// bodyAfter finds the brace that opens a body after a head, and stops where the head must
// have ended. It returns the brace, or -1, and the last token of the head.
func (p *parser) bodyAfter(i int, stop func(k int) bool) (brace, last int) {
	for n := 0; i < len(p.toks) && n < 600; n++ {
		switch p.byteAt(i) {
		case '{':
			return i, i
		case '(', '[':
			i = p.after(i)
			continue
		case '<':
			if k := p.angles(i); k > i {
				i = k
				continue
			}
		case '}', ')', ']', ';':
			return -1, i - 1
		}
		if stop != nil && stop(i) {
			return -1, i - 1
		}
		i++
	}
	return -1, i - 1
}

var kotlinDecls = set("fun class interface object val var typealias constructor init import package enum")

func (p *parser) kotlinStop(k int) bool {
	if !p.toks[k].first || p.byteAt(k) == ':' || p.is(k, "where") {
		return false
	}
	switch p.byteAt(k - 1) {
	case ',', ':', '.', '=':
		return false
	}
	return p.byteAt(k) != '='
}

func (p *parser) kotlin(i int) int {
	if p.toks[i].kind != word || p.is(i-1, ".") || p.is(i-1, ":") && p.is(i-2, ":") {
		return i + 1
	}
	switch p.str(i) {
	case "class", "interface", "object":
		return p.kotlinType(i)
	case "fun":
		return p.kotlinFun(i)
	case "typealias":
		if p.isWord(i + 1) {
			p.add(Type, i+1, p.headStart(i, kotlinMods), p.lineLast(i))
		}
	case "val", "var":
		return p.kotlinVal(i)
	case "package":
		p.named(Module, p.dotted(i+1), i+1, i, p.lineLast(i))
		return p.lineLast(i) + 1
	case "import":
		return p.lineLast(i) + 1
	}
	return i + 1
}

// dotted returns the name a.b.c that starts at i.
func (p *parser) dotted(i int) string {
	name := ""
	for n := 0; p.isWord(i) && n < 40; n++ {
		name += p.str(i)
		if !p.is(i+1, ".") {
			break
		}
		name += "."
		i += 2
	}
	return name
}

func (p *parser) kotlinType(i int) int {
	kind := Class
	first := p.headStart(i, kotlinMods)
	switch {
	case p.is(i, "interface"):
		kind = Interface
	case p.is(i-1, "enum"):
		kind = Enum
	}
	at := i + 1
	if !p.isWord(at) || p.is(i-1, "@") {
		if p.is(i, "object") && p.is(i-1, "companion") && (p.is(at, "{") || p.is(at, ":")) {
			brace, last := p.bodyAfter(at, p.kotlinStop)
			if brace >= 0 {
				return p.namedBlock(Class, "Companion", i, first, brace)
			}
			return last + 1
		}
		return i + 1
	}
	brace, last := p.bodyAfter(at+1, p.kotlinStop)
	if brace < 0 {
		p.add(kind, at, first, last)
		return at + 1
	}
	p.add(kind, at, first, p.close(brace))
	p.enter(int(p.match[brace]), p.str(at), kind)
	if kind == Enum {
		p.enumMembers(brace+1, int(p.match[brace]))
	}
	return brace + 1
}

// enumMembers records the names of an enumeration's values, up to ; or end.
func (p *parser) enumMembers(i, end int) {
	for i < end && i < len(p.toks) {
		for p.is(i, "@") {
			i += 2
			if p.is(i, "(") {
				i = p.after(i)
			}
		}
		if !p.isWord(i) || p.in(i, kotlinDecls) {
			return
		}
		p.add(Member, i, i, i)
		i = p.to(i+1, end, func(k int) bool { return p.is(k, ",") || p.is(k, ";") })
		if i >= end || p.is(i, ";") {
			return
		}
		i++
	}
}

func (p *parser) kotlinFun(i int) int {
	first := p.headStart(i, kotlinMods)
	if p.is(i+1, "interface") {
		return i + 1
	}
	at := p.angles(i + 1)
	// A receiver comes before the name: fun <T> List<T>.name(.
	for n := 0; n < 60 && at < len(p.toks); n++ {
		switch {
		case p.is(at, "("):
			if n == 0 && !p.is(p.after(at), ".") && !p.is(p.after(at), "?") {
				return i + 1 // a function without name
			}
			at = p.after(at)
			continue
		case p.isWord(at):
			k := at + 1
			if p.is(k, "<") {
				k = p.angles(k)
			}
			for p.is(k, "?") || p.is(k, "!") {
				k++
			}
			if p.is(k, "(") {
				return p.kotlinBody(at, first, k)
			}
			if !p.is(k, ".") {
				return i + 1
			}
			at = k + 1
			continue
		case p.is(at, ".") || p.is(at, "?"):
			at++
			continue
		case p.is(at, "@"):
			at += 2
			if p.is(at, "(") {
				at = p.after(at)
			}
			continue
		}
		break
	}
	return i + 1
}

func (p *parser) kotlinBody(at, first, open int) int {
	k := p.after(open)
	if p.is(k, ":") {
		for k++; k < len(p.toks); k++ {
			if p.is(k, "{") || p.is(k, "=") || p.toks[k].first && !p.is(k-1, ":") && !p.is(k, ".") && !p.is(k, "where") || p.is(k, "}") {
				break
			}
			if p.is(k, "(") {
				k = p.after(k) - 1
			} else if p.is(k, "<") {
				k = max(p.angles(k)-1, k)
			}
		}
	}
	if p.is(k, "where") {
		for k < len(p.toks) && !p.is(k, "{") && !p.is(k, "=") && !p.is(k, "}") {
			k++
		}
	}
	name := p.callable()
	switch {
	case p.is(k, "{"):
		return p.block(name, at, first, k)
	case p.is(k, "="):
		p.add(name, at, first, p.expressionEnd(k+1))
		return k + 1
	}
	p.add(name, at, first, p.close(open))
	return open + 1
}

// expressionEnd returns the last token of the expression that starts at i, by lines and
// brackets.
func (p *parser) expressionEnd(i int) int {
	for n := 0; i < len(p.toks) && n < 2000; n++ {
		switch p.byteAt(i) {
		case '}', ')', ']', ';':
			return i - 1
		}
		i = p.past(i)
		if i < len(p.toks) && p.toks[i].first && !p.continues(i) {
			return i - 1
		}
	}
	return min(i, len(p.toks)-1)
}

// continues reports whether the line that starts at token i continues the preceding
// expression.
func (p *parser) continues(i int) bool {
	switch p.byteAt(i) {
	case '.', '?', ':', '|', '&', ')', ']':
		return true
	}
	switch p.byteAt(i - 1) {
	case ',', '=', '+', '-', '*', '/', '&', '|', '<', '.', ':', '^', '%':
		return true
	case '>':
		return p.byteAt(i-2) == '=' || p.byteAt(i-2) == '-'
	}
	return p.is(i, "else")
}

func (p *parser) kotlinVal(i int) int {
	if p.inCode() {
		return i + 1
	}
	at := p.angles(i + 1)
	for n := 0; n < 20 && p.isWord(at); n++ {
		k := at + 1
		if p.is(k, "<") {
			k = p.angles(k)
		}
		for p.is(k, "?") {
			k++
		}
		if p.is(k, ".") && p.isWord(k+1) {
			at = k + 1
			continue
		}
		kind := p.variable()
		if kind == Variable && p.is(i-1, "const") {
			kind = Const
		}
		p.add(kind, at, p.headStart(i, kotlinMods), p.lineLast(at))
		return at + 1
	}
	return i + 1
}
