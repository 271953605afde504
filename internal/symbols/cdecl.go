package symbols

// declaration reads a statement that begins with a type: a type definition, a function, a
// prototype or variables.
func (r *cReader) declaration(i, first int) int {
	for k := i; k < len(r.toks); k++ {
		switch c := r.byteAt(k); {
		case k > i && r.is(k, "namespace"): // after a macro without semicolon
			return r.namespace(k, k)
		case k > i && r.is(k, "extern") && k+2 < len(r.toks) && r.toks[k+1].kind == text && r.is(k+2, "{"):
			return k + 3
		case r.in(k, cTypeWords) && !r.is(k-1, "<"):
			if body := r.typeBody(k); body >= 0 {
				return r.typeDefinition(k, first, body)
			}
			if r.isWord(k + 1) {
				k++
			}
		case c == '(':
			if next, ok := r.function(i, first, k); ok {
				return next
			}
			k = r.after(k) - 1
		case c == '<' && r.cpp:
			k = max(r.angles(k)-1, k)
		case c == '[':
			k = r.after(k) - 1
		case c == '=':
			if r.is(k-1, "operator") || r.is(k-2, "operator") {
				continue
			}
			return r.variables(i, first)
		case c == ';':
			return r.variables(i, first)
		case c == ':' && !r.is(k+1, ":") && !r.is(k-1, ":"):
			if r.inType() { // a bit field
				return r.variables(i, first)
			}
			return k + 1 // a label, or something unknown
		case c == '{':
			if k > i && r.isWord(k-1) && r.cpp && k-1 > i { // int x{3};
				if end := r.after(k); r.is(end, ";") || r.is(end, ",") {
					return r.variables(i, first)
				}
			}
			return r.after(k) // an unknown construct with a body
		case c == '}':
			return k
		}
	}
	return len(r.toks)
}

// variables records the names of a declaration without a body.
func (r *cReader) variables(i, first int) int {
	end := r.semicolon(i)
	if r.is(i, "extern") || end-i > 4000 || r.in(i, cTypeWords) && end <= i+2 { // struct x;
		return end + 1
	}
	for _, k := range r.declarators(i, end) {
		if k > i || r.is(k-1, "}") { // a name needs a type
			r.add(r.variable(), k, first, end)
		}
	}
	return end + 1
}

// function reads a function whose parameters open at open. ok reports whether it is one.
func (r *cReader) function(i, first, open int) (next int, ok bool) {
	name, at := r.functionName(i, open)
	if name == "" || open+1 >= len(r.toks) {
		return 0, false
	}
	body, end := r.functionEnd(r.after(open))
	if body < 0 && end < 0 {
		return 0, false
	}
	if at == i && body > r.after(open) && !r.inType() && r.upper(at) {
		return r.after(open), true // a macro call without semicolon before another definition
	}
	if at == i && body >= 0 && !r.inType() && r.followedByFunction(open, body) {
		return 0, false // a macro call before the function itself
	}
	if r.beforeType(open, r.upper(at)) {
		return 0, false // __alloc_size(1) void *kmalloc(, LOCAL(int) f(
	}
	container, short := splitQualified(name)
	kind := r.callable()
	if container != "" {
		kind = Method
	}
	if body < 0 {
		if at == i && !r.inType() && container == "" || at == i && r.upper(at) {
			return end + 1, true // a macro call
		}
		kind = Prototype
		if r.pureDeclaration(i, open, at) {
			r.named(kind, short, at, first, end).addContainer(container)
			return end + 1, true
		}
		return 0, false
	}
	r.named(kind, short, at, first, r.close(body)).addContainer(container)
	r.enter(int(r.match[body]), short, Function)
	return body + 1, true
}

// pureDeclaration reports whether a declaration is a prototype, not a variable with
// arguments: a function has a type before its name, or is a constructor in its class.
func (r *cReader) pureDeclaration(i, open, at int) bool {
	if at > i {
		if open+1 == int(r.match[open]) {
			return true
		}
		t := r.toks[open+1].kind
		return t != number && t != text || r.inType()
	}
	return r.inType()
}

func (s *Symbol) addContainer(c string) {
	switch {
	case c == "":
	case s.Container == "":
		s.Container = c
	default:
		s.Container += "." + c
	}
}

// splitQualified splits A.B.name into A.B and name.
func splitQualified(name string) (container, short string) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '.' && i+1 < len(name) {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

// functionName reads the name before the bracket at open backwards, to i: f, A::f,
// A<T>::f, ~A, operator+.
func (r *cReader) functionName(i, open int) (name string, at int) {
	k := open - 1
	if k < i {
		return "", 0
	}
	for op := k; r.cpp && op >= i && op > open-8; op-- {
		if !r.is(op, "operator") {
			continue
		}
		name = "operator "
		if op == k { // operator()(...)
			return "", 0
		}
		for x := op + 1; x < open; x++ {
			name += r.str(x)
		}
		return r.qualifiers(name, op, i), op
	}
	if r.cpp && r.is(open, "(") && r.is(k, "operator") {
		return "", 0
	}
	if r.cpp && r.byteAt(k) == ')' && r.is(int(r.match[k])-1, "operator") { // operator()(...)
		op := int(r.match[k]) - 1
		return r.qualifiers("operator ()", op, i), op
	}
	if r.cpp && r.byteAt(k) == '>' { // f<int>(...)
		k = r.beforeAngles(k, i)
	}
	if !r.isWord(k) || r.in(k, cNotNames) || k > i && (r.is(k-1, ".") || r.is(k-1, ">") && r.is(k-2, "-")) {
		return "", 0
	}
	name, at = r.str(k), k
	if r.cpp && r.is(k-1, "~") && k-1 >= i {
		name = "~" + name
		k--
	}
	return r.qualifiers(name, k, i), at
}

// beforeAngles returns the token before the <...> that ends at k, or k.
func (r *cReader) beforeAngles(k, i int) int {
	for back := k; back > i && back > k-60; back-- {
		if r.byteAt(back) == '<' && r.angles(back) == k+1 {
			return back - 1
		}
	}
	return k
}

// qualifiers adds the A::B:: before token k to the front of a name.
func (r *cReader) qualifiers(name string, k, i int) string {
	for n := 0; n < 8 && r.cpp && k-2 >= i && r.is(k-1, ":") && r.is(k-2, ":"); n++ {
		k -= 3
		if k >= i && r.byteAt(k) == '>' {
			k = r.beforeAngles(k, i)
		}
		if k < i || !r.isWord(k) {
			break
		}
		name = r.str(k) + "." + name
	}
	return name
}

// functionEnd returns what follows the parameters: the opening brace of the body, or the
// semicolon of a declaration. The other one is -1.
func (r *cReader) functionEnd(k int) (body, end int) {
	for n := 0; k < len(r.toks) && n < 400; n++ {
		switch c := r.byteAt(k); {
		case c == '{':
			return k, -1
		case c == ';':
			return -1, k
		case c == '=': // = 0, = default, = delete
			if r.cpp && (r.is(k+1, "0") || r.is(k+1, "default") || r.is(k+1, "delete")) && r.is(k+2, ";") {
				return -1, k + 2
			}
			return -1, -1
		case c == ':' && r.cpp && !r.is(k+1, ":") && !r.is(k-1, ":"):
			return r.initialisers(k + 1), -1
		case c == ',' || c == ')' || c == '}':
			return -1, -1
		case r.op(k, "->"):
			k += 2
			continue
		case c == '(' || c == '[':
			k = r.after(k)
			continue
		case c == '<':
			k = max(r.angles(k), k+1)
			continue
		case r.isWord(k) && !r.cpp && !r.in(k, cAfterParams) && r.isWord(k+1) || r.isWord(k) && !r.cpp && r.is(k+1, "*"):
			// Old-style parameters, or attributes in capitals.
			if b := r.oldStyle(k); b >= 0 {
				return b, -1
			}
		}
		k++
	}
	return -1, -1
}

// oldStyle returns the brace after parameter declarations of C before 1989: int f(a) int
// a; {.
func (r *cReader) oldStyle(k int) int {
	for n := 0; k < len(r.toks) && n < 200; n++ {
		switch r.byteAt(k) {
		case '{':
			if r.is(k-1, ";") {
				return k
			}
			return -1
		case '=', '}':
			return -1
		case ';':
			if !r.isWord(k+1) && !r.is(k+1, "{") {
				return -1
			}
		case '(':
			if !r.is(k+1, "*") {
				return -1
			}
			k = r.after(k)
			continue
		}
		k++
	}
	return -1
}

// initialisers returns the brace of the body after a constructor's initialiser list.
func (r *cReader) initialisers(k int) int {
	for n := 0; k < len(r.toks) && n < 600; n++ {
		switch c := r.byteAt(k); {
		case c == '<':
			k = max(r.angles(k), k+1)
			continue
		case c == '(':
			k = r.after(k)
			if r.is(k, "{") {
				return k
			}
			continue
		case c == '{':
			next := r.after(k)
			if !r.is(next, ",") && !r.is(next, "{") {
				return k
			}
			k = next
			if r.is(k, "{") {
				return k
			}
			continue
		case c == ';' || c == '}':
			return -1
		}
		k++
	}
	return -1
}

// followedByFunction reports whether another name with parameters follows before the
// body.
func (r *cReader) followedByFunction(open, body int) bool {
	for k := r.after(open); k < body; k++ {
		if !r.is(k, "(") {
			continue
		}
		if r.isWord(k-1) && !r.in(k-1, cNotNames) && k-1 > r.after(open) {
			return true
		}
		k = r.after(k) - 1
	}
	return false
}

// beforeType reports whether the parentheses at open belong to an attribute: then the
// function's type (words and stars) and its parameters follow.
func (r *cReader) beforeType(open int, macro bool) bool {
	k := r.after(open)
	if !r.isWord(k) || r.in(k, cAfterParams) {
		return false
	}
	words := 0
	for ; k < len(r.toks) && words < 8; k++ {
		switch {
		case r.isWord(k) && !r.in(k, cAfterParams):
			words++
		case r.is(k, "*") && words > 0:
		default:
			return (words > 1 || words > 0 && macro) && r.is(k, "(") && r.isWord(k-1) && !r.in(k-1, cNotNames)
		}
	}
	return false
}
