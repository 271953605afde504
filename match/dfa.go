package match

// automata are the table-driven engines of a Matcher.
type automata struct{}

func (a *automata) line(pl *plan, line []byte) (known, ok bool) { return false, false }

func (a *automata) span(pl *plan, text []byte, from int) (start, end int, found, known bool) {
	return 0, 0, false, false
}

func (m *Matcher) allLines(buf []byte, yield func(start, end int) bool) { m.eachLine(buf, yield) }
