package symbols

// Rust and Zig.

var rustMods = set("pub async unsafe extern const default crate impl")

var rustTypes = map[string]Kind{"struct": Struct, "enum": Enum, "union": Struct, "trait": Interface, "mod": Module}

func parseRust(p *parser) { p.walk(p.rust) }

func (p *parser) rust(i int) int {
	if p.scopeKind() == Enum || p.scopeKind() == Struct {
		return p.rustMembers(i)
	}
	if p.toks[i].kind != word {
		return i + 1
	}
	w := p.str(i)
	if kind, ok := rustTypes[w]; ok && p.isWord(i+1) && !p.is(i-1, ".") {
		return p.rustType(i, kind)
	}
	switch w {
	case "fn":
		return p.rustFn(i)
	case "impl":
		if p.toks[i].first || p.is(i-1, "unsafe") || p.is(i-1, "default") {
			return p.rustImpl(i)
		}
	case "type", "const", "static":
		return p.rustValue(i, w)
	case "macro_rules":
		if p.is(i+1, "!") && p.isWord(i+2) && (p.is(i+3, "{") || p.is(i+3, "(")) {
			p.add(Macro, i+2, p.headStart(i, rustMods), p.close(i+3))
			return p.after(i + 3)
		}
	case "macro":
		if p.isWord(i+1) && (p.is(i+2, "(") || p.is(i+2, "{")) && (p.toks[i].first || p.is(i-1, "pub") || p.is(i-1, ")")) {
			p.add(Macro, i+1, p.headStart(i, rustMods), p.close(i+2))
		}
	case "use":
		for i < len(p.toks) && !p.is(i, ";") {
			i++
		}
	}
	return i + 1
}

func (p *parser) rustType(i int, kind Kind) int {
	at := i + 1
	if p.is(i, "union") && !(p.toks[i].first || p.is(i-1, "pub") || p.is(i-1, ")")) {
		return at
	}
	brace, last := p.bodyAfter(at+1, func(k int) bool { return p.is(k, "=") })
	first := p.headStart(i, rustMods)
	if brace < 0 {
		if p.is(last+1, ";") || p.is(last+1, "=") {
			p.add(kind, at, first, last+1)
		}
		return last + 1
	}
	return p.block(kind, at, first, brace)
}

// rustMembers reads one field or variant.
func (p *parser) rustMembers(i int) int {
	end := p.scopes[len(p.scopes)-1].end
	for p.is(i, "#") && p.is(i+1, "[") {
		i = p.after(i + 1)
	}
	first := i
	for p.is(i, "pub") || p.is(i, "(") && p.is(i-1, "pub") {
		if p.is(i, "(") {
			i = p.after(i)
			continue
		}
		i++
	}
	kind := p.member()
	if p.isWord(i) && i < end && (kind == Member || p.is(i+1, ":")) {
		p.add(kind, i, first, i)
	}
	for i < end && !p.is(i, ",") {
		switch p.byteAt(i) {
		case '(', '[', '{':
			i = p.after(i)
			continue
		case '<':
			if k := p.angles(i); k > i {
				i = k
				continue
			}
		}
		i++
	}
	return i + 1
}

func (p *parser) rustFn(i int) int {
	at := i + 1
	if !p.isWord(at) {
		return at
	}
	brace, last := p.bodyAfter(at+1, func(k int) bool { return p.is(k, "=") && !p.is(k-1, "=") && !p.is(k+1, "=") && p.byteAt(k+1) != '>' })
	first := p.headStart(i, rustMods)
	for p.toks[first-min(first, 1)].kind == text && p.is(first-2, "extern") { // extern "C" fn
		first = p.headStart(first-2, rustMods)
	}
	if brace < 0 {
		p.add(p.callable(), at, first, last)
		return max(last, at) + 1
	}
	return p.block(p.callable(), at, first, brace)
}

func (p *parser) rustImpl(i int) int {
	k := i + 1
	if p.is(k, "<") {
		k = p.angles(k)
	}
	name, at, depth := "", k, 0
	for n := 0; k < len(p.toks) && n < 400; n++ {
		switch {
		case p.is(k, "{"):
			if name != "" {
				p.named(Impl, name, at, p.headStart(i, rustMods), p.close(k))
			}
			p.enter(int(p.match[k]), name, Impl)
			return k + 1
		case p.is(k, ";") || p.is(k, "}"):
			return k
		case p.is(k, "<"):
			if x := p.angles(k); x > k {
				k = x
				continue
			}
		case p.is(k, "(") || p.is(k, "["):
			k = p.after(k)
			continue
		case p.is(k, "for") && depth == 0 && !p.is(k+1, "<"):
			name = ""
		case p.is(k, "where"):
			depth = 1
		case p.isWord(k) && depth == 0 && !p.is(k, "dyn") && !p.is(k, "mut"):
			name, at = p.str(k), k
		}
		k++
	}
	return i + 1
}

func (p *parser) rustValue(i int, w string) int {
	at := i + 1
	if p.is(at, "mut") || p.is(at, "ref") {
		at++
	}
	if !p.isWord(at) || p.inCode() || p.is(at, "fn") || p.is(at, "unsafe") || p.is(at, "async") || p.is(at, "extern") ||
		p.is(i-1, "*") || p.is(i-1, "<") || p.is(i-1, ",") || p.str(at) == "_" {
		return i + 1
	}
	kind, ok := Const, p.is(at+1, ":")
	switch w {
	case "type":
		kind, ok = Type, ok || p.is(at+1, "=") || p.is(at+1, "<") || p.is(at+1, ";")
	case "static":
		kind = Variable
	}
	if !ok {
		return i + 1
	}
	end := p.to(at, len(p.toks), func(k int) bool { return p.is(k, ";") || p.is(k, "}") })
	p.add(kind, at, p.headStart(i, rustMods), end)
	return end + 1
}

var zigMods = set("pub export extern inline noinline threadlocal comptime")

var zigTypes = map[string]Kind{"struct": Struct, "enum": Enum, "union": Struct, "opaque": Struct, "error": Enum}

func parseZig(p *parser) {
	p.walk(func(i int) int {
		switch {
		case p.is(i, "fn") && p.isWord(i+1) && p.is(i+2, "("):
			first := p.headStart(i, zigMods)
			k := p.after(i + 2)
			for n := 0; k < len(p.toks) && !p.is(k, "{") && !p.is(k, ";") && !p.is(k, "}") && n < 200; n++ {
				if (p.is(k, "struct") || p.is(k, "error") || p.is(k, "union") || p.is(k, "enum")) && p.is(k+1, "{") {
					k = p.after(k + 1)
					continue
				}
				if p.is(k, "(") || p.is(k, "[") {
					k = p.after(k)
					continue
				}
				k++
			}
			if !p.is(k, "{") {
				p.add(p.callable(), i+1, first, k)
				return k
			}
			return p.block(p.callable(), i+1, first, k)
		case (p.is(i, "const") || p.is(i, "var")) && p.isWord(i+1) && (p.is(i+2, "=") || p.is(i+2, ":")):
			return p.zigValue(i)
		case p.is(i, "test") && p.toks[i].first && i+2 < len(p.toks) && p.toks[i+1].kind == text && p.is(i+2, "{"):
			p.named(Test, p.unquoted(i+1), i+1, i, p.close(i+2))
			p.enter(int(p.match[i+2]), "", Function)
			return i + 3
		case p.inType() && p.isWord(i) && (p.is(i+1, ":") || p.is(i+1, ",") || p.is(i+1, "}") || p.is(i+1, "=")) && p.toks[i].first:
			p.add(p.member(), i, i, p.lineLast(i))
			return p.to(i+1, len(p.toks), func(k int) bool { return p.is(k, ",") || p.is(k, "}") || p.is(k, ";") })
		}
		return i + 1
	})
}

func (p *parser) zigValue(i int) int {
	end := i
	for n := 0; end < len(p.toks) && !p.is(end, ";") && !p.is(end, "}") && n < 400; n++ {
		end = p.past(end)
	}
	first := p.headStart(i, zigMods)
	for k := i + 3; k < min(end, i+16); k++ {
		if p.is(k, "(") {
			k = p.after(k) - 1
			continue
		}
		kind, ok := zigTypes[p.str(k)]
		if !ok || p.is(k-1, ".") {
			continue
		}
		brace := k + 1
		if p.is(brace, "(") {
			brace = p.after(brace)
		}
		if p.is(brace, "{") && p.is(p.after(brace), ";") {
			p.add(kind, i+1, first, end)
			p.enter(int(p.match[brace]), p.str(i+1), kind)
			return brace + 1
		}
	}
	if !p.inCode() {
		kind := Const
		if p.is(i, "var") {
			kind = Variable
		}
		p.add(kind, i+1, first, end)
	}
	return i + 2
}
