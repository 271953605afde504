package symbols

// assignedOrMethod reads a.b.c = function, name: function and the short methods of object
// literals.
func (r *jsReader) assignedOrMethod(i int) int {
	if r.is(i-1, ".") && !r.is(i-2, "this") && !r.isWord(i-2) {
		return i + 1
	}
	k := i + 1
	switch {
	case r.is(k, "=") && !r.op(k, "==") && !r.op(k, "=>"):
		if !r.is(i-1, ".") && !r.toks[i].first {
			return k
		}
		container := r.owner(i)
		if r.is(i, "exports") && (r.is(k+1, "function") || r.is(k+1, "class")) && r.isWord(k+2) {
			return k + 1 // module.exports = function name: the function's own name counts
		}
		before := len(r.out)
		next, ok := r.value(i, r.lineStart(i), k+1)
		if ok && len(r.out) > before {
			if container != "" {
				r.out[before].addContainer(container)
				r.out[before].Kind = Method
			}
			return next
		}
		if !r.inCode() && r.is(i-1, ".") && container != "" && container != "this" {
			r.add(Variable, i, r.lineStart(i), r.lineLast(i)).addContainer(container)
		}
	case r.is(k, ":") && (r.is(i-1, "{") || r.is(i-1, ",")):
		before := len(r.out)
		next, ok := r.value(i, i, k+1)
		if ok {
			if len(r.out) > before {
				r.out[before].Kind = Method
			}
			return next
		}
	case r.is(k, "(") && !r.in(i, jsNotCall) && (r.is(i-1, "{") || r.is(i-1, ",") || (r.in(i-1, jsMods) || r.is(i-1, "*")) && (r.is(i-2, "{") || r.is(i-2, ",") || r.is(i-3, ","))):
		if body := r.body(r.after(k)); body >= 0 {
			return r.block(Method, i, r.headStart(i, jsMods), body)
		}
	}
	return i + 1
}

// quotedKey reads 'name': function and the like in an object literal.
func (r *jsReader) quotedKey(i int) int {
	k := i + 1
	if r.is(k, ":") {
		k++
		if r.is(k, "async") {
			k++
		}
		if r.is(k, "function") {
			for k++; r.is(k, "*") || r.isWord(k); {
				k++
			}
		} else if r.is(k, "(") && r.op(r.after(k), "=>") {
			if body := r.after(k) + 2; r.is(body, "{") {
				return r.namedBlock(Method, r.unquoted(i), i, i, body)
			}
			return k
		}
	}
	if r.is(k, "(") {
		if body := r.body(r.after(k)); body >= 0 {
			return r.namedBlock(Method, r.unquoted(i), i, i, body)
		}
	}
	return i + 1
}

// owner returns the container of a name after a dot: A for A.prototype.name.
func (r *jsReader) owner(i int) string {
	name := ""
	for n := 0; n < 6 && r.is(i-1, ".") && r.isWord(i-2); n++ {
		i -= 2
		if r.is(i, "prototype") {
			continue
		}
		if name != "" {
			name = "." + name
		}
		name = r.str(i) + name
	}
	return name
}

// member reads one member of a class or interface.
func (r *jsReader) member(i int) int {
	if r.is(i, "@") { // a decorator
		i++
		for r.isWord(i) && r.is(i+1, ".") {
			i += 2
		}
		if r.is(i+1, "(") {
			return r.after(i + 1)
		}
		return i + 1
	}
	first := i
	for n := 0; n < 10 && r.in(i, jsMods) && (r.isWord(i+1) || r.is(i+1, "*") || r.is(i+1, "[") || r.is(i+1, "{") || i+1 < len(r.toks) && r.toks[i+1].kind == text); n++ {
		i++
	}
	if r.is(i, "{") { // static {...}
		r.enter(int(r.match[i]), "", Function)
		return i + 1
	}
	if r.is(i, "*") {
		i++
	}
	if r.is(i, "[") {
		return r.skipMember(r.after(i))
	}
	if !r.isWord(i) && !(i < len(r.toks) && (r.toks[i].kind == text || r.toks[i].kind == number)) {
		return i + 1
	}
	k := i + 1
	for r.is(k, "?") || r.is(k, "!") {
		k++
	}
	if r.is(k, "<") {
		k = r.angles(k)
	}
	name := r.str(i)
	if r.toks[i].kind == text {
		name = r.unquoted(i)
	}
	if r.is(k, "(") {
		return r.method(name, i, first, k)
	}
	return r.field(name, i, first, k)
}

func (r *jsReader) method(name string, at, first, open int) int {
	body := r.body(r.after(open))
	if body >= 0 {
		return r.namedBlock(Method, name, at, first, body)
	}
	next := r.skipMember(r.after(open))
	if r.typed {
		r.named(Method, name, at, first, next-1)
	}
	return next
}

func (r *jsReader) field(name string, at, first, k int) int {
	if r.typed && r.is(k, ":") {
		k = r.typeEnd(k + 1)
	}
	if r.is(k, "=") && !r.op(k, "=>") {
		if r.toks[at].kind == word {
			before := len(r.out)
			if next, ok := r.value(at, first, k+1); ok {
				if len(r.out) > before {
					r.out[before].Kind = Method
				}
				return next
			}
		}
		end := r.expressionEnd(k + 1)
		r.named(Field, name, at, first, end)
		return end + 1
	}
	r.named(Field, name, at, first, max(k-1, at))
	return max(k, at+1)
}

// skipMember returns the token after the member that contains k.
func (r *jsReader) skipMember(k int) int {
	if r.is(k, ":") {
		k = r.typeEnd(k + 1)
	}
	for ; k < len(r.toks); k++ {
		switch r.byteAt(k) {
		case '{', '(', '[':
			k = r.after(k) - 1
			if r.byteAt(k) == '}' {
				return k + 1
			}
		case ';', ',':
			return k + 1
		case '}':
			return k
		}
		if r.toks[k].first {
			return k
		}
	}
	return k
}

// typeScript reads interface, enum, namespace and type.
func (r *jsReader) typeScript(i int, w string) int {
	at := i + 1
	if at >= len(r.toks) || r.toks[at].first {
		return at
	}
	first := r.headStart(i, jsMods)
	if r.toks[at].kind == text && (w == "module" || w == "namespace") && r.is(at+1, "{") {
		r.named(Module, r.unquoted(at), at, first, r.close(at+1))
		return at + 2
	}
	if !r.isWord(at) {
		return at
	}
	switch w {
	case "type":
		k := at + 1
		if r.is(k, "<") {
			k = r.angles(k)
		}
		if !r.is(k, "=") {
			return at
		}
		end := r.typeEnd(k + 1)
		r.add(Type, at, first, end-1)
		return end
	case "enum", "interface":
		k := at + 1
		for n := 0; k < len(r.toks) && !r.is(k, "{") && n < 200; n++ {
			if r.is(k, "<") {
				k = max(r.angles(k), k+1)
				continue
			}
			if r.is(k, ";") || r.is(k, "}") || r.is(k, "(") || r.is(k, "=") {
				return at
			}
			k++
		}
		if !r.is(k, "{") {
			return at
		}
		kind := Interface
		if w == "enum" {
			kind = Enum
		}
		return r.block(kind, at, first, k)
	}
	k := at + 1
	for r.is(k, ".") && r.isWord(k+1) {
		k += 2
	}
	if !r.is(k, "{") {
		return at
	}
	return r.namedBlock(Module, r.dotted(at), at, first, k)
}
