package vec

// Multi searches for any of a set of literals. It uses a Finder for one literal, a ByteSet for
// single bytes, Teddy for up to 64 literals, and a hashed window for more.
type Multi struct {
	set   *litSet
	find  func(hay []byte, from int) int // if there is one literal
	bytes *ByteSet                       // if all are single bytes
	index [256]int                       // indices of the single bytes
	teddy *Teddy
}

// NewMulti makes a Multi for lits, which it copies. If fold is set, ASCII letters match both
// cases; NewFoldFinder lists the limits of that. An empty literal is found at every position.
// An empty list is never found.
func NewMulti(lits [][]byte, fold bool) *Multi { return newMulti(lits, fold, current()) }

func newMulti(lits [][]byte, fold bool, l level) *Multi {
	m := &Multi{set: newLitSet(lits, fold)}
	switch s := m.set; {
	case len(s.lits) == 0 || s.minLen == 0:
	case len(s.lits) == 1 && fold:
		m.find = newFoldFinder(s.lits[0].text, l).Find
	case len(s.lits) == 1:
		m.find = newFinder(s.lits[0].text, l).Find
	case s.maxLen == 1:
		var set [256]bool
		for c := range 256 {
			for i := range s.lits {
				if s.lits[i].at([]byte{byte(c)}, 0) {
					set[c], m.index[c] = true, s.lits[i].index
				}
			}
		}
		m.bytes = newByteSet(&set, l)
	default:
		m.teddy, _ = newTeddy(s, l)
	}
	return m
}

// Find returns the leftmost position at or after from where a literal begins, and the lowest
// index of the literals that begin there. It returns -1, -1 if there is none.
func (m *Multi) Find(hay []byte, from int) (pos, lit int) {
	s := m.set
	if from < 0 || from > len(hay) || len(s.lits) == 0 {
		return -1, -1
	}
	switch {
	case s.minLen == 0:
		return from, s.firstAt(hay, from)
	case m.find != nil:
		if pos = m.find(hay, from); pos < 0 {
			return -1, -1
		}
		return pos, s.lits[0].index
	case m.bytes != nil:
		if pos = m.bytes.Find(hay, from); pos < 0 {
			return -1, -1
		}
		return pos, m.index[hay[pos]]
	case m.teddy != nil:
		return m.teddy.Find(hay, from)
	}
	return s.hashed().find(hay, from, s)
}

// firstAt returns the index of the first literal at pos, for a set with an empty literal. The
// empty literal is the last of the set, since it hides all later ones.
func (s *litSet) firstAt(hay []byte, pos int) int {
	for i := range s.lits {
		if l := &s.lits[i]; len(l.text) == 0 || l.at(hay, pos) {
			return l.index
		}
	}
	return -1
}
