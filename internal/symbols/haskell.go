package symbols

func hookHaskell(l *lexer, c byte) bool {
	switch c {
	case '-':
		n := 0
		for l.peek(n) == '-' {
			n++
		}
		// --> and |-- are operators.
		if n >= 2 && !haskellOp[l.peek(n)] && !(l.prev.kind == punct && int(l.prev.end) == l.at && haskellOp[l.text[l.prev.start]]) {
			return l.lineComment()
		}
		return false
	case '{':
		if l.peek(1) == '-' {
			return l.blockComment("{-", "-}", true)
		}
		return false
	case '"':
		return l.quoted(0, c, true, true)
	case '#':
		if l.newLine && l.column0() { // a preprocessor directive
			l.at = l.lineEnd(l.at)
			return true
		}
		return false
	}
	return l.char()
}

var haskellOp = func() (t [256]bool) {
	for _, c := range []byte("!#$%&*+./<=>?@\\^|-~:") {
		t[c] = true
	}
	return t
}()

// parseHaskell reads declarations at the margin.
func parseHaskell(p *parser) {
	seen := "" // the function whose clauses are being read
	for i := 0; i < len(p.toks); {
		next := p.nextAtMargin(i + 1)
		if p.toks[i].first && p.column(i) == 0 && !p.haskellDecl(i, next) {
			name, at := p.haskellFunction(i, next)
			if name != "" && name != seen {
				p.named(Function, name, at, i, next-1)
			} else if n := len(p.out); name != "" && n > 0 && p.out[n-1].Name == name {
				p.out[n-1].End = int(p.toks[next-1].end)
			}
			if name != "" {
				seen = name
			}
		}
		i = next
	}
}

// nextAtMargin returns the next token that starts a line without indentation.
func (p *parser) nextAtMargin(i int) int {
	for ; i < len(p.toks); i++ {
		if at := p.toks[i].start; p.toks[i].first && (at == 0 || p.text[at-1] == '\n') && p.byteAt(i) != '}' && p.byteAt(i) != ')' && p.byteAt(i) != ']' {
			return i
		}
	}
	return len(p.toks)
}

// haskellDecl reads the declarations that begin with a keyword and reports whether i is
// one.
func (p *parser) haskellDecl(i, end int) bool {
	if !p.isWord(i) {
		return false
	}
	switch p.str(i) {
	case "module":
		if name := p.dotted(i + 1); name != "" {
			p.named(Module, name, i+1, i, end-1)
		}
	case "import", "infixl", "infixr", "infix", "deriving", "foreign", "default", "pattern":
	case "data", "newtype", "type":
		p.haskellData(i, end)
	case "class":
		p.haskellClass(i, end)
	case "instance":
	default:
		return false
	}
	return true
}

// haskellData reads data, newtype and type with constructors and fields.
func (p *parser) haskellData(i, end int) {
	k := i + 1
	if p.is(k, "family") || p.is(k, "instance") || p.is(k, "role") {
		k++
	}
	k = p.haskellContext(k, end)
	if !p.upperWord(k) {
		return
	}
	p.add(Type, k, i, end-1)
	if p.is(i, "type") {
		return
	}
	p.enter(end, p.str(k), Type)
	defer p.leave(end)
	start := false
	for k++; k < end; k++ {
		switch c := p.byteAt(k); {
		case c == '=' || c == '|':
			start = true
			continue
		case p.is(k, "where"): // constructors with signatures
			start = true
			continue
		case p.is(k, "deriving"):
			return
		case c == '{':
			p.haskellFields(k)
			k = p.after(k) - 1
			continue
		case c == '(' || c == '[':
			k = p.after(k) - 1
			continue
		case p.is(k, "forall"):
			for k < end && !p.is(k, ".") {
				k++
			}
			continue
		}
		if start && p.upperWord(k) {
			if !p.contextAhead(k, end) {
				p.add(Member, k, k, k)
			}
		}
		start = false
	}
}

// contextAhead reports whether "C a =>" comes before a constructor.
func (p *parser) contextAhead(k, end int) bool {
	for n := 0; k < end && n < 12; n++ {
		if p.op(k, "=>") {
			return true
		}
		if c := p.byteAt(k); c == '|' || c == '=' || c == '{' || c == ':' {
			return false
		}
		k++
	}
	return false
}

func (p *parser) upperWord(i int) bool {
	return p.isWord(i) && p.text[p.toks[i].start] >= 'A' && p.text[p.toks[i].start] <= 'Z'
}

func (p *parser) haskellFields(open int) {
	end := min(int(p.match[open]), len(p.toks))
	for k := open + 1; k < end; k = p.past(k) {
		if p.isWord(k) && (p.is(k-1, "{") || p.is(k-1, ",")) {
			for x := k; x < end; x++ {
				if p.op(x, "::") {
					p.add(Field, k, k, k)
					break
				}
				if !p.isWord(x) && !p.is(x, ",") {
					break
				}
			}
		}
	}
}

// haskellContext returns the token after "(Eq a, Ord a) =>" at k.
func (p *parser) haskellContext(k, end int) int {
	for x, n := k, 0; x < end && n < 60; n++ {
		switch c := p.byteAt(x); {
		case p.op(x, "=>"):
			return x + 2
		case c == '(' || c == '[':
			x = p.after(x)
			continue
		case c == '=' || c == '|' || c == '{' || p.is(x, "where"):
			return k
		}
		x++
	}
	return k
}

func (p *parser) haskellClass(i, end int) {
	k := p.haskellContext(i+1, end)
	if !p.upperWord(k) {
		return
	}
	p.add(Interface, k, i, end-1)
	p.enter(end, p.str(k), Interface)
	defer p.leave(end)
	for k++; k < end; k++ {
		if p.toks[k].first {
			if name, at := p.haskellSignature(k, end); name != "" {
				p.named(Method, name, at, k, p.lineLast(k))
			}
		}
	}
}

// haskellSignature returns the name in "name ::" or "(op) ::" at i.
func (p *parser) haskellSignature(i, end int) (string, int) {
	name, at, k := p.haskellName(i)
	for n := 0; n < 20 && p.is(k, ","); n++ {
		_, _, k = p.haskellName(k + 1)
	}
	if name == "" || k >= end || !p.op(k, "::") {
		return "", 0
	}
	return name, at
}

func (p *parser) haskellName(i int) (name string, at, next int) {
	switch {
	case p.is(i, "("):
		end := int(p.match[i])
		for k := i + 1; k < end && k < i+8; k++ {
			if p.isWord(k) {
				return "", 0, i
			}
			name += p.str(k)
		}
		return name, i + 1, p.after(i)
	case p.isWord(i) && !p.upperWord(i):
		return p.str(i), i, i + 1
	}
	return "", 0, i
}

// haskellFunction returns the name that the declaration at i defines: by signature, by
// clause, or as an operator between two patterns.
func (p *parser) haskellFunction(i, end int) (string, int) {
	if name, at := p.haskellSignature(i, end); name != "" {
		return name, at
	}
	equals := -1
	for k := i; k < end; k++ {
		switch c := p.byteAt(k); {
		case c == '(' || c == '[' || c == '{':
			k = p.after(k) - 1
			continue
		case (c == '=' || c == '|') && !haskellOp[p.text[p.toks[k].end%int32(len(p.text))]] && (p.toks[k].start == 0 || !haskellOp[p.text[p.toks[k].start-1]]):
			equals = k
		}
		if equals >= 0 {
			break
		}
	}
	if equals <= i {
		return "", 0
	}
	// x `op` y and x <+> y
	for k := i + 1; k < equals; k++ {
		if c := p.byteAt(k); c == '(' || c == '[' {
			k = p.after(k) - 1
			continue
		}
		if p.byteAt(k) == '`' && p.isWord(k+1) {
			return p.str(k + 1), k + 1
		}
		if p.toks[k].kind == punct && haskellOp[p.text[p.toks[k].start]] && p.byteAt(k) != '@' && p.byteAt(k) != '!' && p.byteAt(k) != '~' && p.byteAt(k) != '.' {
			name, x := "", k
			for x < equals && p.toks[x].kind == punct && haskellOp[p.text[p.toks[x].start]] && (x == k || p.toks[x-1].end == p.toks[x].start) {
				name += p.str(x)
				x++
			}
			return name, k
		}
	}
	name, at, _ := p.haskellName(i)
	return name, at
}
