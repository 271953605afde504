package symbols

func parseGo(p *parser) {
	p.walk(func(i int) int {
		if !p.toks[i].first || p.toks[i].kind != word || len(p.scopes) > 0 {
			if c := p.byteAt(i); len(p.scopes) == 0 && (c == '(' || c == '{' || c == '[') {
				return p.after(i)
			}
			return i + 1
		}
		switch p.str(i) {
		case "package":
			if p.isWord(i + 1) {
				p.add(Module, i+1, i, i+1)
			}
		case "import":
			if p.is(i+1, "(") {
				return p.after(i + 1)
			}
		case "func":
			return p.goFunc(i)
		case "type":
			return p.goGroup(i, p.goType)
		case "const":
			return p.goGroup(i, func(k, first int) int { return p.goValue(k, first, Const) })
		case "var":
			return p.goGroup(i, func(k, first int) int { return p.goValue(k, first, Variable) })
		}
		return i + 1
	})
}

// goGroup calls one for each specification of a declaration, with or without brackets.
// one returns the token after the specification.
func (p *parser) goGroup(i int, one func(k, first int) int) int {
	if !p.is(i+1, "(") {
		return one(i+1, i)
	}
	end := int(p.match[i+1])
	for k := i + 2; k < end && k < len(p.toks); {
		if p.isWord(k) {
			k = max(one(k, k), k+1)
			continue
		}
		k++
	}
	return end
}

// goSpecEnd returns the token after the specification that contains k: the first token of
// a line outside of brackets.
func (p *parser) goSpecEnd(k int) int {
	for k++; k < len(p.toks); k++ {
		switch p.byteAt(k) {
		case '{', '(', '[':
			k = p.after(k) - 1
			continue
		case '}', ')', ']', ';':
			return k
		}
		if p.toks[k].first {
			switch p.byteAt(k - 1) {
			case '=', ',', '+', '|', '&', '-', '*', '/', '.', '<', '>', '^', '%':
				continue
			}
			return k
		}
	}
	return len(p.toks)
}

func (p *parser) goFunc(i int) int {
	at, container := i+1, ""
	kind := Function
	if p.is(at, "(") {
		kind = Method
		end := int(p.match[at])
		for k := at + 1; k < end && k < len(p.toks); k++ {
			if p.is(k, "[") { // the receiver's type arguments
				break
			}
			if p.isWord(k) {
				container = p.str(k)
			}
		}
		at = p.after(at)
	}
	if !p.isWord(at) {
		return i + 1
	}
	k := at + 1
	if p.is(k, "[") {
		k = p.after(k)
	}
	if !p.is(k, "(") {
		return k
	}
	// The result may contain brackets: ([]T, error), struct{}, func() {}.
	body := -1
	for k = p.after(k); k < len(p.toks) && !p.toks[k].first; k++ {
		if p.is(k, "{") {
			if p.is(k-1, "struct") || p.is(k-1, "interface") {
				k = p.after(k) - 1
				continue
			}
			body = k
			break
		}
		if p.is(k, "(") || p.is(k, "[") {
			k = p.after(k) - 1
		}
	}
	if body < 0 {
		p.add(kind, at, i, k-1).addContainer(container)
		return k
	}
	p.add(kind, at, i, p.close(body)).addContainer(container)
	return p.after(body)
}

func (p *parser) goType(k, first int) int {
	at := k
	end := p.goSpecEnd(k)
	k++
	if p.is(k, "[") && p.isWord(k+1) && !p.is(k+2, "]") { // type parameters
		k = p.after(k)
	}
	kind := Type
	body := -1
	switch {
	case p.is(k, "struct"):
		kind, body = Struct, k+1
	case p.is(k, "interface"):
		kind, body = Interface, k+1
	}
	p.add(kind, at, first, end-1)
	if body > 0 && p.is(body, "{") {
		p.enter(int(p.match[body]), p.str(at), kind)
		p.goMembers(body, kind)
		p.scopes = p.scopes[:len(p.scopes)-1]
	}
	return end
}

// goMembers reads the fields of a struct and the methods of an interface.
func (p *parser) goMembers(body int, kind Kind) {
	end := min(int(p.match[body]), len(p.toks))
	for k := body + 1; k < end; k = p.goSpecEnd(k) {
		if p.is(k, ";") || p.is(k, "}") || p.is(k, ")") {
			continue
		}
		if !p.isWord(k) {
			continue
		}
		if kind == Interface {
			if p.is(k+1, "(") {
				p.add(Method, k, k, p.goSpecEnd(k)-1)
			}
			continue
		}
		for x := k; p.isWord(x); x += 2 {
			typed := x+1 < len(p.toks) && !p.toks[x+1].first && p.toks[x+1].kind != text
			if p.is(x+1, ",") || typed && !p.is(x+1, ".") && !p.is(x+1, "}") {
				p.add(Field, x, k, x)
			}
			if !p.is(x+1, ",") {
				break
			}
		}
	}
}

func (p *parser) goValue(k, first int, kind Kind) int {
	end := p.goSpecEnd(k)
	for x := k; p.isWord(x); x += 2 {
		if p.str(x) != "_" {
			p.add(kind, x, first, end-1)
		}
		if !p.is(x+1, ",") {
			break
		}
	}
	return end
}
