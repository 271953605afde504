package symbols

var swiftMods = set("public private fileprivate internal open static final class override mutating nonmutating required convenience lazy weak unowned " +
	"dynamic optional prefix postfix infix indirect async nonisolated distributed package isolated consuming borrowing")

var swiftTypes = map[string]Kind{
	"class": Class, "struct": Struct, "enum": Enum, "protocol": Interface, "extension": Impl, "actor": Class,
}

func parseSwift(p *parser) { p.walk(p.swift) }

func (p *parser) swift(i int) int {
	if p.scopeKind() == Enum && p.is(i, "case") {
		return p.swiftCases(i)
	}
	if p.toks[i].kind != word || p.is(i-1, ".") {
		return i + 1
	}
	w := p.str(i)
	if kind, ok := swiftTypes[w]; ok && p.isWord(i+1) && !p.is(i+1, "func") && !p.is(i+1, "var") && !p.is(i+1, "let") && !p.in(i+1, swiftMods) {
		return p.swiftType(i, kind)
	}
	switch w {
	case "func":
		return p.swiftFunc(i)
	case "init", "deinit", "subscript":
		if p.inType() && !p.is(i-1, "self") && !p.is(i-1, "super") {
			return p.swiftFunc(i - 1)
		}
	case "typealias", "associatedtype":
		if p.isWord(i + 1) {
			p.add(Type, i+1, p.headStart(i, swiftMods), p.lineLast(i))
			return i + 2
		}
	case "var", "let":
		if !p.inCode() && p.isWord(i+1) {
			return p.swiftVar(i)
		}
	case "import":
		return p.lineLast(i) + 1
	case "macro":
		if p.isWord(i+1) && p.is(i+2, "(") {
			p.add(Macro, i+1, p.headStart(i, swiftMods), p.lineLast(i))
		}
	}
	return i + 1
}

func (p *parser) swiftType(i int, kind Kind) int {
	at := i + 1
	for p.is(at+1, ".") && p.isWord(at+2) {
		at += 2
	}
	brace, last := p.bodyAfter(at+1, func(k int) bool {
		return p.toks[k].first && p.byteAt(k) != ':' && !p.is(k, "where") && p.byteAt(k-1) != ',' && p.byteAt(k-1) != ':' && p.byteAt(k-1) != '&'
	})
	if brace < 0 {
		return last + 1
	}
	return p.block(kind, at, p.headStart(i, swiftMods), brace)
}

func (p *parser) swiftCases(i int) int {
	first := i
	for i++; p.isWord(i); i++ {
		p.add(Member, i, first, i)
		if p.is(i+1, "(") {
			i = p.after(i+1) - 1
		}
		if p.is(i+1, "=") {
			i += 2
		}
		if !p.is(i+1, ",") {
			break
		}
		i++
	}
	return i + 1
}

// swiftFunc reads the function whose name follows token i.
func (p *parser) swiftFunc(i int) int {
	at := i + 1
	name, k := p.scalaName(at)
	if name == "" {
		return at
	}
	for p.is(k, "?") || p.is(k, "!") { // init?
		k++
	}
	start := i
	if !p.is(i, "func") {
		start = at
	}
	first := p.headStart(start, swiftMods)
	kind := p.callable()
	if p.is(k, "<") {
		k = p.angles(k)
	}
	if !p.is(k, "(") && !p.is(at, "deinit") {
		return at + 1
	}
	brace, last := p.bodyAfter(k, func(x int) bool {
		if !p.toks[x].first {
			return false
		}
		return p.byteAt(x) != '-' && !p.is(x, "where") && !p.is(x, "async") && !p.is(x, "throws") && !p.is(x, "rethrows") &&
			p.byteAt(x-1) != ',' && p.byteAt(x-1) != '>' && p.byteAt(x-1) != '&' && p.byteAt(x-1) != ':'
	})
	if brace < 0 {
		p.named(kind, name, at, first, last)
		return max(last, at) + 1
	}
	return p.namedBlock(kind, name, at, first, brace)
}

func (p *parser) swiftVar(i int) int {
	first := p.headStart(i, swiftMods)
	last := p.lineLast(i)
	if p.is(last, "{") {
		p.add(p.variable(), i+1, first, p.close(last))
		p.enter(int(p.match[last]), p.str(i+1), Function)
		return last + 1
	}
	p.add(p.variable(), i+1, first, last)
	return i + 2
}
