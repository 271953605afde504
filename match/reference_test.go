package match

// eachLine defines the results of Lines: it runs the exact engine on every line.
func (m *Matcher) eachLine(buf []byte, yield func(start, end int) bool) {
	for pos := 0; pos < len(buf) && m.err == nil; {
		end, next := textEnd(buf, pos, m.p.opts.KeepCR)
		if m.findExact(buf[pos:end]) && !yield(pos, end) {
			return
		}
		pos = next
	}
}

func (m *Matcher) findExact(line []byte) bool {
	if m.p.plan.superset {
		return m.find(line, 0, nil)
	}
	return m.runExact(line, 0, len(line), false, nil)
}
