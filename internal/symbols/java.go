package symbols

// Java and C#: everything is in a type, and a member consists of modifiers, a type, a
// name and the rest.

type javaReader struct {
	*parser
	sharp bool
	types map[string]Kind
	skip  *wordSet // modifiers
}

var (
	javaTypes  = map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "record": Class}
	sharpTypes = map[string]Kind{"class": Class, "interface": Interface, "enum": Enum, "record": Class, "struct": Struct}
	javaMods   = set("public private protected static final abstract native synchronized transient volatile strictfp default sealed non")
	sharpMods  = set("public private protected internal static readonly abstract virtual override sealed async unsafe extern partial new volatile const required ref fixed file")
	notMethods = set("if for while switch catch return new throw else do try using lock foreach synchronized assert super this when typeof nameof sizeof default checked unchecked")
)

func parseJava(p *parser) {
	(&javaReader{parser: p, types: javaTypes, skip: javaMods}).read()
}

func parseCSharp(p *parser) {
	(&javaReader{parser: p, sharp: true, types: sharpTypes, skip: sharpMods}).read()
}

func (r *javaReader) read() {
	r.walk(func(i int) int {
		switch c := r.byteAt(i); {
		case r.inCode():
			return r.code(i)
		case c == '}' || c == ';' || c == ')' || c == ',':
			return i + 1
		}
		if r.scopeKind() == Enum && r.enumConstants(i) {
			return r.constants(i)
		}
		return r.member(i)
	})
}

// code finds types inside a method and skips everything else.
func (r *javaReader) code(i int) int {
	if r.in(i, notMethods) {
		return i + 1
	}
	if k, ok := r.types[r.word(i)]; ok && k != 0 && r.isWord(i+1) && !r.is(i, "record") && !r.is(i-1, ".") {
		if next, ok := r.typeDefinition(i, i, k); ok {
			return next
		}
	}
	return i + 1
}

func (r *javaReader) word(i int) string {
	if !r.isWord(i) {
		return ""
	}
	return r.str(i)
}

// enumConstants reports whether i is the first token of an enumeration's body.
func (r *javaReader) enumConstants(i int) bool {
	return i > 0 && r.is(i-1, "{") && int(r.match[i-1]) == r.scopes[len(r.scopes)-1].end
}

// constants reads the constants of an enumeration up to a semicolon.
func (r *javaReader) constants(i int) int {
	end := r.scopes[len(r.scopes)-1].end
	for i < end && !r.is(i, ";") {
		i = r.attributes(i)
		if i >= end || r.is(i, ";") {
			break
		}
		if r.isWord(i) {
			r.add(Member, i, i, i)
		}
		for i < end && !r.is(i, ",") && !r.is(i, ";") {
			i = r.past(i)
		}
		if r.is(i, ",") {
			i++
		}
	}
	return i
}

// attributes skips @Foo(...) and [Foo(...)].
func (r *javaReader) attributes(i int) int {
	for n := 0; n < 100; n++ {
		switch {
		case !r.sharp && r.is(i, "@") && !r.is(i+1, "interface"):
			i += 2
			for r.is(i, ".") {
				i += 2
			}
			if r.is(i, "(") {
				i = r.after(i)
			}
		case r.sharp && r.is(i, "["):
			i = r.after(i)
		default:
			return i
		}
	}
	return i
}

func (r *javaReader) modifiers(i int) int {
	for n := 0; n < 100; n++ {
		k := r.attributes(i)
		switch {
		case r.in(k, r.skip) && !(r.is(k, "record") && !r.isWord(k+1)):
			k++
			if r.is(k, "-") && r.is(k+1, "sealed") {
				k += 2
			}
		case k == i:
			return i
		}
		i = k
	}
	return i
}

func (r *javaReader) member(first int) int {
	i := r.modifiers(first)
	switch {
	case r.sharp && r.is(i, "using") && r.isWord(i+1) && r.is(i+2, "="):
		end := r.statementEnd(i)
		r.add(Type, i+1, first, end-1)
		return end
	case r.is(i, "package"), r.is(i, "import"), r.is(i, "using") && !r.is(i+1, "("):
		return r.statementEnd(i)
	case r.is(i, "namespace"):
		return r.namespace(i)
	case r.is(i, "@") && r.is(i+1, "interface"):
		if next, ok := r.typeDefinition(i+1, first, Interface); ok {
			return next
		}
	case r.sharp && r.is(i, "delegate"):
		return r.delegate(i, first)
	case r.sharp && r.is(i, "event"):
		i++
	}
	if kind, ok := r.types[r.word(i)]; ok && r.isWord(i+1) {
		if r.is(i, "record") && (r.is(i+1, "struct") || r.is(i+1, "class")) {
			i++
		}
		if next, ok := r.typeDefinition(i, first, kind); ok {
			return next
		}
	}
	return r.declared(i, first)
}

func (r *javaReader) namespace(i int) int {
	name, k := r.dotted(i+1), i+2
	for r.is(k, ".") && r.isWord(k+1) {
		k += 2
	}
	if name == "" {
		return i + 1
	}
	if r.is(k, "{") {
		return r.namedBlock(Module, name, i+1, i, k)
	}
	r.named(Module, name, i+1, i, k)
	r.enter(len(r.toks), name, Module)
	return k + 1
}

func (r *javaReader) delegate(i, first int) int {
	for k := i + 1; k < len(r.toks) && k < i+100; k++ {
		if r.is(k, "<") {
			k = max(r.angles(k)-1, k)
			if r.is(k+1, "(") {
				continue
			}
		}
		if r.is(k, "(") {
			at := k - 1
			for back := 0; back < 60 && !r.isWord(at) && at > i; back++ {
				at--
			}
			if r.byteAt(k-1) == '>' {
				at = r.beforeAngles(k - 1)
			}
			r.add(Type, at, first, r.close(k))
			return r.statementEnd(k)
		}
		if r.is(k, ";") {
			return k
		}
	}
	return i + 1
}

// beforeAngles returns the token before the type arguments that close at k.
func (r *javaReader) beforeAngles(k int) int {
	depth := 0
	for back := k; back > 0 && back > k-200; back-- {
		switch r.byteAt(back) {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				return back - 1
			}
		}
	}
	return k
}

// typeDefinition parses "class Name ... {"; the keyword is at i.
func (r *javaReader) typeDefinition(i, first int, kind Kind) (int, bool) {
	at := i + 1
	for k := at + 1; k < len(r.toks) && k < at+400; k++ {
		switch r.byteAt(k) {
		case '{':
			return r.block(kind, at, first, k), true
		case ';':
			r.add(kind, at, first, k)
			return k + 1, true
		case '(':
			if r.is(i, "record") || r.sharp {
				k = r.after(k) - 1
				continue
			}
			if r.is(k-2, "@") || k > at+1 { // an annotation with arguments
				k = r.after(k) - 1
				continue
			}
			return 0, false
		case '<':
			k = max(r.angles(k)-1, k)
		case '=', '}':
			return 0, false
		}
	}
	return 0, false
}

func (r *javaReader) statementEnd(i int) int {
	i = r.to(i, len(r.toks), func(k int) bool { return r.is(k, ";") || r.is(k, "}") })
	if r.is(i, ";") {
		return i + 1
	}
	return i
}

// declared reads a method, a property or fields.
func (r *javaReader) declared(i, first int) int {
	last := -1 // the last word, which is the name if the declaration ends after it
	for k := i; k < len(r.toks) && k < i+150; k++ {
		switch c := r.byteAt(k); {
		case c == '<':
			k = max(r.angles(k)-1, k)
		case c == '[':
			if r.sharp && r.is(k-1, "this") { // an indexer
				return r.propertyOrSkip(k-1, first, r.after(k))
			}
			k = r.after(k) - 1
		case c == '(':
			if r.sharp && last < 0 { // a tuple type
				k = r.after(k) - 1
				continue
			}
			if last < 0 || r.in(last, notMethods) {
				return r.after(k)
			}
			if r.sharp && !r.is(k-1, ">") && last != k-1 {
				k = r.after(k) - 1
				continue
			}
			return r.method(last, first, k)
		case c == '{':
			if r.sharp && last > i {
				return r.propertyOrSkip(last, first, k)
			}
			if last == i && !r.sharp && r.inType() { // a compact constructor
				return r.block(Method, last, first, k)
			}
			r.enter(int(r.match[k]), "", Method) // an initialiser
			return k + 1
		case c == '=':
			if r.sharp && r.op(k, "=>") && last > i {
				r.add(Field, last, first, k)
				return r.statementEnd(k)
			}
			return r.fields(last, i, first)
		case c == ';' || c == ',':
			return r.fields(last, i, first)
		case c == '}':
			return k
		case r.sharp && r.is(k, "operator"):
			for k < len(r.toks) && !r.is(k, "(") && k < i+400 {
				k++
			}
			if k >= len(r.toks) || !r.is(k, "(") {
				return k
			}
			return r.method(k-1, first, k)
		case r.isWord(k) && !r.in(k, r.skip) && !r.is(k, "where"):
			last = k
		}
	}
	return i + 1
}

func (r *javaReader) fields(last, i, first int) int {
	end := r.statementEnd(i)
	if last > i && r.inType() && last > 0 {
		r.add(Field, last, first, end-1)
	}
	return end
}

func (r *javaReader) propertyOrSkip(name, first, open int) int {
	if !r.is(open, "{") {
		return r.statementEnd(open)
	}
	if !r.is(name, "this") && r.inType() {
		r.add(Field, name, first, r.close(open))
	}
	return r.after(open)
}

// method reads the parameters and body of the method whose brackets open at open.
func (r *javaReader) method(at, first, open int) int {
	if r.inCode() || r.in(at, notMethods) {
		return r.after(open)
	}
	for k := r.after(open); k < len(r.toks) && k < r.after(open)+200; k++ {
		switch c := r.byteAt(k); {
		case c == '{':
			return r.block(Method, at, first, k)
		case c == ';':
			if r.inType() || r.scopeKind() == 0 {
				r.add(Method, at, first, k)
			}
			return k + 1
		case c == '=':
			if r.op(k, "=>") {
				end := r.statementEnd(k)
				r.add(Method, at, first, end-1)
				return end
			}
			return r.statementEnd(k)
		case c == '(' || c == '[':
			k = r.after(k) - 1
		case c == '<':
			k = max(r.angles(k)-1, k)
		case c == '}' || c == ')':
			return k
		case r.is(k, "default") && !r.sharp: // of an annotation
			end := r.statementEnd(k)
			r.add(Method, at, first, end-1)
			return end
		}
	}
	return r.after(open)
}
