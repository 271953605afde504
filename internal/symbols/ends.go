package symbols

// Languages whose blocks end with a word: Ruby, Elixir, Lua. Their code is indented, so a
// definition ends at the first line that begins with "end" and is indented no more than
// the definition. The words that open a block need not be counted, so missing one does no
// harm.

// opened is a definition whose end has not been read.
type opened struct {
	col    int
	symbol int // index in out, or -1
	scopes int // number of scopes open before it
}

// ends calls step for each token. step records a definition and then calls open for it.
func (p *parser) ends(step func(i int) (next int, opened bool)) {
	for i := 0; i < len(p.toks); {
		t := p.toks[i]
		if t.first && len(p.waiting) > 0 {
			p.closeWaiting(i)
		}
		next, isOpen := step(i)
		next = max(next, i+1)
		if isOpen {
			p.closedInLine(i, next)
		}
		i = next
	}
	for len(p.waiting) > 0 {
		p.closeOne(len(p.toks) - 1)
	}
}

// open enters the scope of the symbol recorded last, which starts at token i.
func (p *parser) open(i int, name string, kind Kind) {
	symbol := len(p.out) - 1
	if name == "" {
		symbol = -1
	}
	if len(p.waiting) >= maxScopes {
		return
	}
	p.waiting = append(p.waiting, opened{p.column(p.lineStart(i)), symbol, len(p.scopes)})
	p.enter(len(p.toks), name, kind)
}

// closeWaiting closes definitions that end at token i, the first of its line. A line that
// is indented less than a definition always ends it.
func (p *parser) closeWaiting(i int) {
	col := p.column(i)
	for n := len(p.waiting); n > 0; n = len(p.waiting) {
		w := p.waiting[n-1]
		switch {
		case w.col > col:
			p.closeOne(i - 1)
		case w.col == col && p.is(i, "end") && !p.deeper(i+1, col):
			p.closeOne(i)
			return
		default:
			return
		}
	}
}

// deeper reports whether token i begins a line that is indented more than col. If such a
// line follows an "end", the end belongs to a block inside the definition.
func (p *parser) deeper(i, col int) bool {
	return i < len(p.toks) && p.toks[i].first && !p.is(i, ".") && p.column(i) > col
}

func (p *parser) closeOne(last int) {
	w := p.waiting[len(p.waiting)-1]
	p.waiting = p.waiting[:len(p.waiting)-1]
	p.scopes = p.scopes[:min(w.scopes, len(p.scopes))]
	if w.symbol >= 0 && w.symbol < len(p.out) && last >= 0 {
		p.out[w.symbol].End = max(p.out[w.symbol].End, int(p.toks[last].end))
	}
}

// closedInLine closes a definition that ends on the line where it began. One that does
// not begin the line ends at the last end in it: Class.new { def x; end }.
func (p *parser) closedInLine(i, next int) {
	for last := p.lineLast(i); last >= next; last-- {
		if p.is(last, "end") && !p.is(last-1, ".") {
			p.closeOne(last)
			return
		}
		if p.toks[i].first {
			return
		}
	}
}
