package symbols

import "bytes"

// condition is an #if whose branches are being read.
type condition struct {
	depth int // bracket depth at the #if
	low   int // lowest depth since then
}

func hookC(l *lexer, c byte) bool {
	switch c {
	case '/':
		return l.slash(false)
	case '"':
		return l.quoted(0, c, true, false)
	case '\'':
		if l.prev.kind == number && int(l.prev.end) == l.at {
			l.at++ // 1'000'000
			return true
		}
		return l.quoted(0, c, true, false)
	case '#':
		return l.newLine && l.directive()
	}
	// R"x(...)x", also prefixed with u8, u, U or L.
	n := 0
	for n < 3 && l.peek(n) != 'R' && l.lang.words[l.peek(n)] {
		n++
	}
	if l.peek(n) != 'R' || l.peek(n+1) != '"' {
		return false
	}
	open := bytes.IndexByte(l.text[l.at:min(len(l.text), l.at+n+20)], '(')
	if open < 0 {
		return false
	}
	return l.until(open+1, ")"+string(l.text[l.at+n+2:l.at+open])+`"`, false)
}

// directive reads a preprocessor line with its continuations. If the first branch of an
// #if leaves brackets open, or closes brackets from before it as "&& b) {" does in a
// condition, only that branch is read, so that brackets pair up. Otherwise all branches
// are read.
func (l *lexer) directive() bool {
	start := l.at
	end := l.directiveEnd()
	body := bytes.TrimLeft(l.text[start+1:end], " \t")
	name := body[:wordLen(body, plainWord)]
	l.at = end
	switch string(name) {
	case "define":
		rest := bytes.TrimLeft(body[len(name):], " \t")
		if n := wordLen(rest, plainWord); n > 0 {
			l.macro(rest[:n], start, end-len(rest), end)
		}
	case "if", "ifdef", "ifndef":
		zero := string(bytes.TrimSpace(body[len(name):])) == "0"
		if len(l.cond) < 1000 {
			l.cond = append(l.cond, condition{l.depth, l.depth})
		}
		if zero {
			l.skipBranch()
		}
	case "elif", "else", "elifdef", "elifndef":
		if n := len(l.cond); n > 0 && (l.oneBranch || l.depth != l.cond[n-1].depth || l.cond[n-1].low < l.depth) {
			l.skipBranch()
			for string(l.word(l.at)) != "endif" && l.at < len(l.text) {
				l.at = l.directiveEnd()
				l.skipBranch()
			}
		}
	case "endif":
		if n := len(l.cond); n > 0 {
			low := l.cond[n-1].low
			if l.cond = l.cond[:n-1]; n > 1 {
				l.cond[n-2].low = min(l.cond[n-2].low, low)
			}
		}
	}
	return true
}

// macro records the definition of a #define.
func (l *lexer) macro(name []byte, start, at, end int) {
	if len(l.out)+len(l.macros) >= maxSymbols || len(name) > maxName {
		return
	}
	if l.names {
		l.macros = append(l.macros, struct{ start, end int32 }{int32(at), int32(at + len(name))})
	} else {
		l.out = append(l.out, Symbol{Name: l.string(name), Kind: Macro, Start: start, NameAt: at, End: end})
	}
}

func wordLen(b []byte, words *[256]bool) int {
	n := 0
	for n < len(b) && words[b[n]] {
		n++
	}
	return n
}

// directiveEnd returns the end of the line at l.at, with lines continued by backslashes.
// A block comment that begins in it is excluded.
func (l *lexer) directiveEnd() int {
	i := l.at
	for {
		end := l.lineEnd(i)
		line := bytes.TrimRight(l.text[i:end], "\r")
		if c := bytes.Index(line, []byte("/*")); c >= 0 && !bytes.Contains(line[c:], []byte("*/")) {
			return i + c
		}
		if !bytes.HasSuffix(line, []byte(`\`)) || end == len(l.text) {
			return end
		}
		i = end + 1
	}
}

// word returns the name of the directive at offset at.
func (l *lexer) word(at int) []byte {
	if at >= len(l.text) {
		return nil
	}
	b := bytes.TrimLeft(l.text[at:min(len(l.text), at+64)], " \t#")
	return b[:wordLen(b, plainWord)]
}

// skipBranch skips lines up to the #elif, #else or #endif of this #if.
func (l *lexer) skipBranch() {
	depth := 0
	for l.at < len(l.text) {
		end := l.lineEnd(l.at)
		at := min(end+1, len(l.text))
		i := at
		for i < len(l.text) && (l.text[i] == ' ' || l.text[i] == '\t') {
			i++
		}
		l.at = at
		if i >= len(l.text) || l.text[i] != '#' {
			continue
		}
		switch string(l.word(i)) {
		case "if", "ifdef", "ifndef":
			depth++
		case "endif":
			if depth--; depth < 0 {
				l.at, l.newLine = i, true
				return
			}
		case "elif", "else", "elifdef", "elifndef":
			if depth == 0 {
				l.at, l.newLine = i, true
				return
			}
		}
	}
}

func parseC(p *parser)   { (&cReader{parser: p}).read() }
func parseCPP(p *parser) { (&cReader{parser: p, cpp: true}).read() }

// cReader reads C and C++ statement by statement.
type cReader struct {
	*parser
	cpp bool
}

var (
	cTypeWords = set("struct union enum class")
	// Words that never name a function, though a bracket follows.
	cNotNames = set("if for while switch return sizeof alignof alignas decltype typeof __typeof__ defined catch throw new delete else do case default " +
		"__attribute__ __declspec __asm__ asm noexcept static_assert _Static_assert requires int void char long short unsigned signed float double bool const")
	cAfterParams = set("const volatile override final noexcept throw try mutable __attribute__ asm __asm__ requires")
)

func (r *cReader) read() {
	r.walk(func(i int) int {
		switch {
		case r.scopeKind() == Enum:
			return r.enumerator(i)
		case r.inCode():
			return r.localType(i, r.scopes[len(r.scopes)-1].end)
		case r.byteAt(i) == '}' || r.byteAt(i) == ';' || r.byteAt(i) == ')':
			return i + 1
		}
		return r.statement(i)
	})
}

// localType reads the first type that a C++ function defines in tokens i to end, because
// it may have methods. Local types of C are rare.
func (r *cReader) localType(i, end int) int {
	if !r.cpp {
		return end
	}
	for ; i < end; i++ {
		if begins := r.byteAt(i - 1); (begins == '{' || begins == '}' || begins == ';') && (r.is(i, "struct") || r.is(i, "class")) && r.typeBody(i) >= 0 {
			return r.declaration(i, i)
		}
	}
	return end
}

// enumerator reads one value of an enumeration.
func (r *cReader) enumerator(i int) int {
	return r.enumerators(i, r.scopes[len(r.scopes)-1].end)
}

// statement reads a declaration or definition starting at its first token.
func (r *cReader) statement(first int) int {
	i := r.prefix(first)
	switch {
	case r.is(i, "namespace"), r.is(i, "inline") && r.is(i+1, "namespace"):
		return r.namespace(i, first)
	case r.is(i, "extern") && i+1 < len(r.toks) && r.toks[i+1].kind == text && r.is(i+2, "{"):
		return i + 3
	case r.cpp && (r.is(i, "public") || r.is(i, "private") || r.is(i, "protected") || r.is(i, "signals") || r.is(i, "slots")) && (r.is(i+1, ":") || r.is(i+2, ":")):
		if r.is(i+1, ":") {
			return i + 2
		}
		return i + 3
	case r.cpp && r.is(i, "using"):
		if r.isWord(i+1) && r.is(i+2, "=") {
			end := r.semicolon(i)
			r.add(Type, i+1, first, end)
			return end + 1
		}
		return r.semicolon(i) + 1
	case r.cpp && r.is(i, "concept") && r.isWord(i+1):
		end := r.semicolon(i)
		r.add(Type, i+1, first, end)
		return end + 1
	case r.is(i, "typedef"):
		return r.typedef(i, first)
	case r.is(i, "friend"):
		return r.friend(i)
	}
	return r.declaration(i, first)
}

// prefix skips templates, attributes and specifiers before a declaration.
func (r *cReader) prefix(i int) int {
	for n := 0; n < 64; n++ {
		switch {
		case r.cpp && r.is(i, "template"):
			i = max(r.angles(i+1), i+1)
		case r.cpp && r.is(i, "export"), r.is(i, "__extension__"):
			i++
		case r.is(i, "[") && r.is(i+1, "["):
			i = r.after(i)
		case (r.is(i, "__attribute__") || r.is(i, "__declspec") || r.is(i, "alignas")) && r.is(i+1, "("):
			i = r.after(i + 1)
		default:
			return i
		}
	}
	return i
}

func (r *cReader) friend(i int) int {
	k := r.to(i, len(r.toks), func(k int) bool { return r.is(k, ";") || r.is(k, "{") || r.is(k, "}") })
	switch {
	case r.is(k, "{"):
		return r.declaration(i+1, i)
	case r.is(k, ";"):
		return k + 1
	}
	return k
}

// semicolon returns the token that ends the statement at i.
func (r *cReader) semicolon(i int) int {
	i = r.to(i, len(r.toks), func(k int) bool { return r.is(k, ";") || r.is(k, "}") })
	if r.is(i, ";") {
		return i
	}
	return i - 1
}

func (r *cReader) namespace(i, first int) int {
	if r.is(i, "inline") {
		i++
	}
	i++
	at := i
	for i < len(r.toks) && !r.is(i, "{") && !r.is(i, ";") && !r.is(i, "=") && i < at+40 {
		i++
	}
	if !r.is(i, "{") {
		return r.semicolon(i) + 1
	}
	name, end := "", at
	for k := at; k < i; k++ {
		if r.is(k, "(") || r.is(k, "[") {
			k = r.after(k) - 1
			continue
		}
		if r.isWord(k) && !r.is(k, "inline") {
			if name != "" && r.is(k-1, ":") {
				name += "." + r.str(k)
			} else {
				name = r.str(k)
			}
			end = k
		}
	}
	if name != "" {
		r.add(Module, end, first, r.close(i))
	}
	r.enter(int(r.match[i]), name, Module)
	return i + 1
}

// typedef reads "typedef struct x {...} name;" and the simple forms.
func (r *cReader) typedef(i, first int) int {
	end := r.semicolon(i)
	body := -1
	if r.in(i+1, cTypeWords) {
		body = r.typeBody(i + 1)
	}
	from := i + 1
	if body >= 0 {
		from = r.after(body)
	}
	for _, k := range r.declarators(from, end) {
		r.add(Type, k, first, end)
	}
	if body >= 0 {
		return r.typeDefinition(i+1, first, body)
	}
	return end + 1
}

// declarators lists the names that a declaration declares in its tokens before end.
func (r *cReader) declarators(i, end int) []int {
	var names []int
	name := -1
	flush := func() {
		if name >= 0 && len(names) < 64 {
			names = append(names, name)
		}
		name = -1
	}
	for ; i < end; i++ {
		switch c := r.byteAt(i); {
		case c == ',':
			flush()
		case c == '<':
			i = max(r.angles(i)-1, i)
		case c == '=' || c == ':' && !r.is(i+1, ":") && !r.is(i-1, ":"):
			for i < end && !r.is(i, ",") {
				i = r.past(i)
			}
			i--
		case c == '(':
			if name < 0 || r.is(i+1, "*") || r.is(i+1, "^") || r.is(i+2, "*") && r.isWord(i+1) {
				for k := i + 1; k < int(r.match[i]) && k < end; k++ {
					if r.isWord(k) && !r.in(k, cNotNames) {
						name = k
						if !r.is(k+1, ":") {
							break
						}
					}
					if r.is(k, "(") && k > i+1 && name >= 0 {
						break
					}
				}
			}
			i = r.after(i) - 1
		case c == '[' || c == '{':
			i = r.after(i) - 1
		case r.isWord(i) && (r.is(i, "__attribute__") || r.is(i, "__packed") || r.is(i, "__aligned")):
			if r.is(i+1, "(") {
				i = r.after(i+1) - 1
			}
		case r.isWord(i):
			name = i
		}
	}
	flush()
	return names
}

// typeBody returns the brace that opens the body of the type at i (struct, class...), or
// -1.
func (r *cReader) typeBody(i int) int {
	for k := i + 1; k < len(r.toks) && k < i+200; k++ {
		switch r.byteAt(k) {
		case '{':
			return k
		case ';', ')', '=', '}', '*', '&':
			return -1
		case '(':
			if !r.attribute(k-1) && !r.upper(k-1) && !r.sawColon(i, k) {
				return -1
			}
			k = r.after(k) - 1
		case '[':
			k = r.after(k) - 1
		case '<':
			k = max(r.angles(k)-1, k)
		}
	}
	return -1
}

func (r *cReader) attribute(i int) bool {
	return r.is(i, "__attribute__") || r.is(i, "__declspec") || r.is(i, "alignas")
}

// upper reports whether a word is in capitals, like most macros.
func (r *cReader) upper(i int) bool {
	if !r.isWord(i) {
		return false
	}
	for _, c := range []byte(r.str(i)) {
		if c >= 'a' && c <= 'z' {
			return false
		}
	}
	return true
}

func (r *cReader) sawColon(from, to int) bool {
	for k := from; k < to; k++ {
		if r.is(k, ":") && !r.is(k+1, ":") && !r.is(k-1, ":") {
			return true
		}
	}
	return false
}

// typeDefinition records the type at i whose body opens at body, and enters it.
func (r *cReader) typeDefinition(i, first, body int) int {
	kind := Struct
	switch r.str(i) {
	case "class":
		kind = Class
	case "enum":
		kind = Enum
	}
	at := -1
	for k := i + 1; k < body; k++ {
		switch {
		case r.is(k, "["):
			k = r.after(k) - 1
		case r.is(k, "(") && r.isWord(k-1):
			if at == k-1 {
				at = -1 // an attribute in capitals
			}
			k = r.after(k) - 1
		case r.is(k, "<"):
			k = max(r.angles(k)-1, k)
		case r.is(k, ":") && !r.is(k+1, ":") && !r.is(k-1, ":"):
			k = body
		case r.in(k, cTypeWords), r.is(k, "final"):
		case r.isWord(k):
			at = k
		}
	}
	name := ""
	if at >= 0 {
		name = r.str(at)
		r.add(kind, at, first, r.close(body))
	}
	r.enter(int(r.match[body]), name, kind)
	return body + 1
}
