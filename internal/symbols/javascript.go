package symbols

func hookJavaScript(l *lexer, c byte) bool {
	switch c {
	case '/':
		if l.slash(false) {
			return true
		}
		return l.jsRegex()
	case '`':
		l.at++
		return l.jsTemplate(l.at - 1)
	case '}':
		if n := len(l.template); n > 0 && l.template[n-1] == l.depth {
			l.template = l.template[:n-1]
			start := l.at
			l.at++
			l.emit(punct, start)
			return l.jsTemplate(start)
		}
		return false
	case '#':
		if l.at == 0 && l.peek(1) == '!' {
			l.at = l.lineEnd(0)
			return true
		}
		if dollarWord[l.peek(1)] { // a private name
			start := l.at
			l.at++
			for l.at < len(l.text) && dollarWord[l.text[l.at]] {
				l.at++
			}
			l.emit(word, start)
			return true
		}
		return false
	}
	return l.quoted(0, c, true, false)
}

// jsTemplate takes a template literal from l.at to its end, or to an expression in it,
// which is lexed as code.
func (l *lexer) jsTemplate(start int) bool {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\\':
			l.at++
		case c == '`':
			l.at++
			l.emit(text, start)
			return true
		case c == '$' && l.peek(1) == '{':
			l.emit(text, start)
			l.at += 2
			l.emit(punct, l.at-1)
			l.template = append(l.template, l.depth)
			return true
		}
		l.at++
	}
	l.unclosedAt(start)
	l.at = len(l.text)
	l.emit(text, start)
	return true
}

var jsBeforeRegex = set("return typeof case in of delete void throw new do else instanceof yield await default")

func (l *lexer) jsRegex() bool {
	switch l.prev.kind {
	case number, text:
		return false
	case word:
		if !jsBeforeRegex.has(l.text[l.prev.start:l.prev.end]) {
			return false
		}
	case punct:
		if l.prevIs(")]}") || l.prevIs("<") { // </tag>
			return false
		}
	}
	return l.regex(0)
}

func parseJavaScript(p *parser) { (&jsReader{parser: p}).read() }
func parseTypeScript(p *parser) { (&jsReader{parser: p, typed: true}).read() }

type jsReader struct {
	*parser
	typed bool
}

var (
	jsMods    = set("export default async declare abstract public private protected static readonly override accessor get set const")
	jsNotCall = set("if for while switch catch return function with await new typeof import super do else throw case delete void in of instanceof yield")
)

func (r *jsReader) read() {
	r.walk(func(i int) int {
		if r.scopeKind() == Enum {
			return r.enumerator(i)
		}
		if r.inType() {
			return r.member(i)
		}
		return r.code(i)
	})
}

func (r *jsReader) enumerator(i int) int {
	return r.enumerators(i, r.scopes[len(r.scopes)-1].end)
}

func (r *jsReader) code(i int) int {
	if r.toks[i].kind == text && (r.is(i-1, "{") || r.is(i-1, ",")) {
		return r.quotedKey(i)
	}
	if r.toks[i].kind != word {
		return i + 1
	}
	afterDot := r.is(i-1, ".") && !r.is(i-2, ".")
	switch w := r.str(i); w {
	case "function":
		if !afterDot {
			return r.function(i)
		}
	case "class":
		if !afterDot && !r.is(i+1, ":") && !r.is(i+1, "=") {
			return r.class(i)
		}
	case "const", "let", "var":
		if !afterDot && !r.is(i+1, "enum") {
			return r.variables(i)
		}
	case "interface", "enum", "namespace", "module", "type":
		if r.typed && !afterDot && (r.toks[i].first || r.in(i-1, jsMods) || r.is(i-1, ";")) {
			return r.typeScript(i, w)
		}
		if !r.typed || afterDot {
			return r.assignedOrMethod(i)
		}
	case "import":
		return i + 1
	default:
		return r.assignedOrMethod(i)
	}
	return i + 1
}

// function reads "function name(...) {...}".
func (r *jsReader) function(i int) int {
	at := i + 1
	if r.is(at, "*") {
		at++
	}
	open := at
	if r.isWord(at) {
		open = at + 1
	}
	if r.is(open, "<") {
		open = r.angles(open)
	}
	if !r.is(open, "(") {
		return i + 1
	}
	body := r.body(r.after(open))
	if r.isWord(at) {
		first := r.headStart(i, jsMods)
		if body < 0 {
			if r.typed {
				r.add(Function, at, first, r.close(open))
			}
			return r.after(open)
		}
		return r.block(Function, at, first, body)
	}
	if body < 0 {
		return r.after(open)
	}
	return body + 1
}

// body returns the brace of a function's body after its parameters and result type, or
// -1.
func (r *jsReader) body(k int) int {
	if r.is(k, "{") {
		return k
	}
	if !r.typed || !r.is(k, ":") {
		return -1
	}
	k = r.typeEnd(k + 1)
	if r.is(k, "{") {
		return k
	}
	return -1
}

// typeEnd returns the token after the type that starts at k.
func (r *jsReader) typeEnd(k int) int {
	value := false // a type was read and may be complete
	for n := 0; k < len(r.toks) && n < 300; n++ {
		switch c := r.byteAt(k); {
		case c == '{':
			if value {
				return k
			}
			k, value = r.after(k), true
			continue
		case c == '(' || c == '[':
			if c == '(' && value && !r.is(k-1, "asserts") {
				return k
			}
			k, value = r.after(k), true
			continue
		case c == '<':
			if x := r.angles(k); x > k {
				k, value = x, true
				continue
			}
			value = false
		case r.op(k, "=>"):
			k++
			value = false
		case c == '|' || c == '&' || c == '.' || c == '?' || c == ':':
			value = false
		case c == ';' || c == ',' || c == ')' || c == '}' || c == ']' || c == '=':
			return k
		case r.is(k, "is") || r.is(k, "extends") || r.is(k, "keyof") || r.is(k, "typeof") || r.is(k, "infer") || r.is(k, "readonly") || r.is(k, "asserts") || r.is(k, "new") || r.is(k, "unique"):
			value = false
		default:
			if value && r.toks[k].first {
				return k
			}
			value = true
		}
		k++
	}
	return k
}

func (r *jsReader) class(i int) int {
	at := i + 1
	name := ""
	if r.isWord(at) && !r.is(at, "extends") && !r.is(at, "implements") {
		name = r.str(at)
	}
	brace := -1
	for k, n := at, 0; k < len(r.toks) && n < 200; n++ {
		switch c := r.byteAt(k); c {
		case '{':
			brace = k
		case '(', '[':
			k = r.after(k)
			continue
		case '<':
			if x := r.angles(k); x > k {
				k = x
				continue
			}
		case ';', ')', '}':
			return k
		}
		if brace >= 0 {
			break
		}
		k++
	}
	if brace < 0 {
		return at
	}
	if name != "" {
		r.add(Class, at, r.headStart(i, jsMods), r.close(brace))
	} else if r.is(i-1, "=") && r.isWord(i-2) {
		name = r.str(i - 2)
	}
	r.enter(int(r.match[brace]), name, Class)
	return brace + 1
}

// variables reads const, let and var: functions, classes and, at the top level, other
// values.
func (r *jsReader) variables(i int) int {
	first := r.headStart(i, jsMods)
	at := i + 1
	if !r.isWord(at) {
		return at
	}
	k := at + 1
	if r.typed && r.is(k, "!") {
		k++
	}
	if r.typed && r.is(k, ":") {
		k = r.typeEnd(k + 1)
	}
	if r.is(k, "=") {
		if next, ok := r.value(at, first, k+1); ok {
			return next
		}
	}
	if k >= len(r.toks) || r.is(k, "of") || r.is(k, "in") || r.inCode() {
		return k
	}
	kind := Variable
	if r.is(i, "const") {
		kind = Const
	}
	r.add(kind, at, first, r.expressionEnd(k))
	if r.is(k, "=") && r.is(k+1, "{") { // its methods belong to it
		r.enter(int(r.match[k+1]), r.str(at), kind)
		return k + 2
	}
	return k
}

// value reads the function or class that starts at k and is assigned to the name at token
// at.
func (r *jsReader) value(at, first, k int) (int, bool) {
	if r.is(k, "async") && !r.toks[min(k+1, len(r.toks)-1)].first {
		k++
	}
	switch {
	case r.is(k, "function"):
		open := k + 1
		for n := 0; n < 3 && !r.is(open, "(") && open < len(r.toks); n++ {
			open++
		}
		if !r.is(open, "(") {
			return 0, false
		}
		body := r.body(r.after(open))
		if body < 0 {
			return 0, false
		}
		return r.block(r.callable(), at, first, body), true
	case r.is(k, "class"):
		next := k
		brace := -1
		for n := 0; next < len(r.toks) && n < 60; n++ {
			if r.is(next, "{") {
				brace = next
				break
			}
			if r.is(next, "(") {
				next = r.after(next)
				continue
			}
			next++
		}
		if brace < 0 {
			return 0, false
		}
		return r.block(Class, at, first, brace), true
	}
	return r.arrow(at, first, k)
}

// arrow reads (a, b) => ... and a => ....
func (r *jsReader) arrow(at, first, k int) (int, bool) {
	if r.is(k, "<") {
		k = r.angles(k)
	}
	switch {
	case r.is(k, "("):
		k = r.after(k)
		if r.typed && r.is(k, ":") {
			k = r.arrowType(k + 1)
		}
	case r.isWord(k):
		k++
	default:
		return 0, false
	}
	if !r.op(k, "=>") {
		return 0, false
	}
	k += 2
	if r.is(k, "{") {
		return r.block(r.callable(), at, first, k), true
	}
	r.add(r.callable(), at, first, r.expressionEnd(k))
	return k, true
}

// arrowType returns the arrow after a result type.
func (r *jsReader) arrowType(k int) int {
	for n := 0; k < len(r.toks) && n < 100; n++ {
		switch c := r.byteAt(k); {
		case r.op(k, "=>"):
			return k
		case c == '(' || c == '[' || c == '{':
			k = r.after(k)
			continue
		case c == '<':
			k = max(r.angles(k), k+1)
			continue
		case c == ';' || c == ',' || c == ')' || c == '}' || c == '=':
			return k
		}
		k++
	}
	return k
}
