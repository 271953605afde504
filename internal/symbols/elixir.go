package symbols

import "bytes"

func hookElixir(l *lexer, c byte) bool {
	switch c {
	case '#':
		return l.lineComment()
	case '?':
		if l.peek(1) != 0 && !l.lang.words[l.peek(2)] && (l.prev.kind != word || int(l.prev.end) != l.at) {
			start := l.at
			l.at += 2
			if l.text[start+1] == '\\' {
				l.at++
			}
			l.at = min(l.at, len(l.text))
			l.emit(text, start)
			return true
		}
		return false
	case '~':
		return l.sigil()
	}
	if l.peek(1) == c && l.peek(2) == c {
		return l.until(3, string([]byte{c, c, c}), true)
	}
	return l.rubyString(c)
}

// sigil takes ~s(...), ~r/.../, ~S"""...""".
func (l *lexer) sigil() bool {
	n := 1
	for n < 12 && (l.peek(n) >= 'a' && l.peek(n) <= 'z' || l.peek(n) >= 'A' && l.peek(n) <= 'Z') {
		n++
	}
	open := l.peek(n)
	if n == 1 || bytes.IndexByte([]byte(`([{</|"'`), open) < 0 || open == 0 {
		return false
	}
	if l.peek(n+1) == open && l.peek(n+2) == open && (open == '"' || open == '\'') {
		return l.until(n+3, string([]byte{open, open, open}), true)
	}
	if l.peek(1) >= 'a' && bytes.IndexByte([]byte(`|/"'`), open) >= 0 {
		l.at += n // #{...} may contain the delimiter
		return l.rubyString(open)
	}
	return l.balanced(l.at, l.at+n)
}

var elixirDefs = map[string]Kind{
	"defmodule": Module, "defprotocol": Interface, "defimpl": Impl,
	"def": Function, "defp": Function, "defmacro": Macro, "defmacrop": Macro, "defguard": Macro, "defguardp": Macro,
	"defdelegate": Function, "defcallback": Function, "defn": Function, "defnp": Function,
}

func parseElixir(p *parser) {
	p.ends(func(i int) (int, bool) {
		if p.is(i, "@") && p.toks[i].first && (p.is(i+1, "type") || p.is(i+1, "typep") || p.is(i+1, "opaque") || p.is(i+1, "callback") || p.is(i+1, "macrocallback")) && p.isWord(i+2) {
			kind := Type
			if p.is(i+1, "callback") || p.is(i+1, "macrocallback") {
				kind = Prototype
			}
			p.add(kind, i+2, i, p.lineLast(i))
			return i + 3, false
		}
		if !p.isWord(i) || !p.toks[i].first && !p.is(i-1, ";") {
			return i + 1, false
		}
		kind, ok := elixirDefs[p.str(i)]
		if !ok {
			return p.elixirOther(i), false
		}
		return p.elixirDef(i, kind)
	})
}

func (p *parser) elixirOther(i int) int {
	switch {
	case p.is(i, "test") && i+1 < len(p.toks) && p.toks[i+1].kind == text:
		p.named(Test, p.unquoted(i+1), i+1, i, p.lineLast(i))
	case p.is(i, "defstruct"), p.is(i, "defexception"):
		return p.lineLast(i)
	}
	return i + 1
}

func (p *parser) elixirDef(i int, kind Kind) (int, bool) {
	at := i + 1
	if p.is(at, "(") {
		at++
	}
	if !p.isWord(at) {
		return p.elixirOperator(i, at, kind)
	}
	name, k := p.str(at), at+1
	if kind == Module || kind == Interface || kind == Impl {
		name = p.dotted(at)
		for k < len(p.toks) && (p.is(k, ".") || p.is(k-1, ".")) {
			k++
		}
	} else if p.is(at, "unquote") {
		return at, false
	} else if !p.toks[min(k, len(p.toks)-1)].first && p.operator(k) && !p.is(k, "\\") && kind != Function || p.operator(k) && k < len(p.toks) && !p.toks[k].first && p.byteAt(k) != '=' && p.byteAt(k) != '\\' && p.byteAt(k) != ':' {
		return p.elixirOperator(i, k, kind)
	}
	def := p.named(kind, name, at, i, at)
	// Without "do" at the end of a line there is no block: clauses with "do:", heads,
	// delegates.
	if p.elixirBlock(i) < 0 {
		def.End = int(p.toks[p.elixirLineEnd(i)].end)
		return k, false
	}
	scope := Function
	if kind == Module || kind == Interface || kind == Impl {
		scope = Module
	}
	p.open(i, name, scope)
	return k, true
}

// elixirOperator reads def a <~> b.
func (p *parser) elixirOperator(i, at int, kind Kind) (int, bool) {
	name, k := p.scalaName(at)
	if name == "" || at >= len(p.toks) || p.toks[at].kind != punct {
		return i + 1, false
	}
	p.named(kind, name, at, i, at)
	if p.elixirBlock(i) < 0 {
		return k, false
	}
	p.open(i, name, Function)
	return k, true
}

// elixirBlock returns the "do" that opens the block of the definition at i, or -1.
func (p *parser) elixirBlock(i int) int {
	for k, n := i+1, 0; k < len(p.toks) && n < 400; n++ {
		switch c := p.byteAt(k); {
		case c == '(' || c == '[' || c == '{':
			k = p.after(k)
			continue
		case p.is(k, "do"):
			if p.is(k+1, ":") && p.toks[k].end == p.toks[k+1].start {
				return -1
			}
			return k
		case p.toks[k].first && p.isWord(k):
			if _, ok := elixirDefs[p.str(k)]; ok || p.is(k, "end") {
				return -1
			}
		case p.toks[k].first && c == '@':
			return -1
		}
		k++
	}
	return -1
}

// elixirLineEnd returns the last token of a definition without a block.
func (p *parser) elixirLineEnd(i int) int {
	for k, n := i, 0; k < len(p.toks) && n < 2000; n++ {
		k = p.past(k) - 1
		if k+1 >= len(p.toks) {
			return len(p.toks) - 1
		}
		if p.toks[k+1].first && p.byteAt(k) != ',' && p.byteAt(k) != ':' && !p.operator(k+1) && !p.is(k+1, "do") && !p.is(k+1, "when") && !p.is(k, "when") {
			return k
		}
		k++
	}
	return i
}
