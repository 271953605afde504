package backref

import (
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax/ecma"
)

type opcode uint8

const (
	opMatch   opcode = iota
	opLiteral        // lit
	opSet            // one character of set
	opLoop           // min to max characters of set; a loop with nothing else in its body
	opSplit          // continue at x; if that fails, at y
	opJump           // continue at x
	opSave           // store the position in slot x
	opUnset          // unset slots x up to y
	opZero           // set slot x to 0
	opCount          // head of a counted loop; its slots begin at x, its end is y
	opCounted        // end of the loop's body; its head is y
	opMark           // store the position in slot x, to check later whether a body consumed anything
	opMoved          // fail if the position is still the one in slot x
	opAssert         // fail unless the assertion look holds
	opLook           // begin a look-around that ends at y
	opLookEnd        // end of a look-around with slots from x
	opBackref        // match the text of the set group of groups, compared by fold
)

// inst is one instruction. If back is set, it reads leftwards, as in a look-behind.
type inst struct {
	op     opcode
	back   bool
	greedy bool
	negate bool
	look   ecma.Assertion
	fold   ecma.Fold
	x, y   int32
	min    int
	max    int // may be hir.Unlimited
	lit    []byte
	set    *charSet
	groups []int
}

// charSet is a class with its ASCII part as a bit set.
type charSet struct {
	ascii [2]uint64
	class *hir.Class
}

func (s *charSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r>>6]>>(r&63)&1 != 0
	}
	return s.class.Contains(r)
}

// Program is a compiled pattern. It is immutable and may be shared.
type Program struct {
	code     []inst
	groups   int
	slots    int       // 2 for each group, then loop counters
	anchored bool      // matches at offset 0 only
	first    [256]bool // possible first bytes of a match, unless it can be empty
	empty    bool
}

// Compile compiles a tree. The program's size is linear in the tree's: repetitions count
// instead of being unrolled.
func Compile(t *ecma.Tree) *Program {
	c := &compiler{prog: &Program{groups: len(t.Names)}, sets: map[*hir.Class]*charSet{}}
	c.prog.slots = 2 * c.prog.groups
	c.node(t.Root, false)
	c.emit(inst{op: opMatch})
	c.prog.anchored = beginsText(t.Root)
	c.prog.empty = firstBytes(t.Root, &c.prog.first)
	return c.prog
}

type compiler struct {
	prog *Program
	sets map[*hir.Class]*charSet
}

func (c *compiler) emit(in inst) int {
	c.prog.code = append(c.prog.code, in)
	return len(c.prog.code) - 1
}

func (c *compiler) here() int32 { return int32(len(c.prog.code)) }

func (c *compiler) slot(n int) int32 {
	s := c.prog.slots
	c.prog.slots += n
	return int32(s)
}

func (c *compiler) set(class *hir.Class) *charSet {
	if s := c.sets[class]; s != nil {
		return s
	}
	s := &charSet{class: class}
	for _, r := range class.Ranges {
		for b := r.Lo; b <= min(r.Hi, utf8.RuneSelf-1); b++ {
			s.ascii[b>>6] |= 1 << (b & 63)
		}
	}
	c.sets[class] = s
	return s
}

func (c *compiler) node(n *ecma.Node, back bool) {
	switch n.Kind {
	case ecma.KindLiteral:
		c.emit(inst{op: opLiteral, back: back, lit: n.Lit})
	case ecma.KindSet:
		c.emit(inst{op: opSet, back: back, set: c.set(n.Set)})
	case ecma.KindAssert:
		c.emit(inst{op: opAssert, look: n.Assert})
	case ecma.KindBackref:
		c.emit(inst{op: opBackref, back: back, groups: n.Groups, fold: n.Fold})
	case ecma.KindGroup:
		open, end := int32(2*n.Cap), int32(2*n.Cap+1)
		if back {
			open, end = end, open
		}
		c.emit(inst{op: opSave, x: open})
		c.node(n.Subs[0], back)
		c.emit(inst{op: opSave, x: end})
	case ecma.KindLook:
		begin := c.emit(inst{op: opLook, negate: n.Negate, x: c.slot(2)})
		c.node(n.Subs[0], n.Behind)
		c.emit(inst{op: opLookEnd, x: int32(begin)})
		c.prog.code[begin].y = c.here()
	case ecma.KindRepeat:
		c.repeat(n, back)
	case ecma.KindConcat:
		for i := range n.Subs {
			if back {
				i = len(n.Subs) - 1 - i
			}
			c.node(n.Subs[i], back)
		}
	case ecma.KindAlt:
		c.alt(n, back)
	}
}

func (c *compiler) alt(n *ecma.Node, back bool) {
	var ends []int
	for i, s := range n.Subs {
		if i == len(n.Subs)-1 {
			c.node(s, back)
			break
		}
		split := c.emit(inst{op: opSplit, x: c.here() + 1})
		c.node(s, back)
		ends = append(ends, c.emit(inst{op: opJump}))
		c.prog.code[split].y = c.here()
	}
	for _, e := range ends {
		c.prog.code[e].x = c.here()
	}
}

// repeat implements RepeatMatcher of the specification: inner groups are unset before each
// iteration, and iterations beyond the minimum may not be empty.
func (c *compiler) repeat(n *ecma.Node, back bool) {
	sub := n.Subs[0]
	may, only := n.BodyEmpty()
	switch {
	case n.Max == 0 || only && n.Min == 0:
		return
	case only:
		c.node(sub, back) // more iterations would change nothing
		return
	}
	if set := c.single(sub); set != nil {
		c.emit(inst{op: opLoop, back: back, greedy: n.Greedy, min: n.Min, max: n.Max, set: set})
		return
	}
	if n.Min == 0 && (n.Max == 1 || n.Max == hir.Unlimited) {
		c.plainLoop(n, back, may)
		return
	}
	slots := c.slot(2) // one for the count, one for the position
	c.emit(inst{op: opZero, x: slots})
	head := c.emit(inst{op: opCount, greedy: n.Greedy, min: n.Min, max: n.Max, x: slots})
	c.unset(n)
	c.node(sub, back)
	c.emit(inst{op: opCounted, min: n.Min, x: slots, y: int32(head)})
	c.prog.code[head].y = c.here()
}

// plainLoop compiles ? or *, greedy or not.
func (c *compiler) plainLoop(n *ecma.Node, back, mayBeEmpty bool) {
	head := c.emit(inst{op: opSplit})
	body := c.here()
	c.unset(n)
	var mark int32
	if mayBeEmpty {
		mark = c.slot(1)
		c.emit(inst{op: opMark, x: mark})
	}
	c.node(n.Subs[0], back)
	if mayBeEmpty {
		c.emit(inst{op: opMoved, x: mark})
	}
	if n.Max == hir.Unlimited {
		c.emit(inst{op: opJump, x: int32(head)})
	}
	in := &c.prog.code[head]
	in.x, in.y = body, c.here()
	if !n.Greedy {
		in.x, in.y = in.y, in.x
	}
}

func (c *compiler) unset(n *ecma.Node) {
	if n.CapLo < n.CapHi {
		c.emit(inst{op: opUnset, x: int32(2 * n.CapLo), y: int32(2 * n.CapHi)})
	}
}

// single returns the set of a node that always matches exactly one character, or nil.
func (c *compiler) single(n *ecma.Node) *charSet {
	switch n.Kind {
	case ecma.KindSet:
		return c.set(n.Set)
	case ecma.KindLiteral:
		if r, size := utf8.DecodeRune(n.Lit); size == len(n.Lit) {
			return c.set(hir.NewClass(hir.Range{Lo: r, Hi: r}))
		}
	}
	return nil
}

// beginsText reports whether every match begins at the start of the text.
func beginsText(n *ecma.Node) bool {
	switch n.Kind {
	case ecma.KindAssert:
		return n.Assert == ecma.Start
	case ecma.KindConcat, ecma.KindGroup:
		return beginsText(n.Subs[0])
	case ecma.KindAlt:
		for _, s := range n.Subs {
			if !beginsText(s) {
				return false
			}
		}
		return true
	}
	return false
}

// firstBytes adds to first the possible first bytes of a match of n. It reports whether n can
// be empty; if so, the nodes after n can begin the match as well.
func firstBytes(n *ecma.Node, first *[256]bool) (empty bool) {
	switch n.Kind {
	case ecma.KindLiteral:
		first[n.Lit[0]] = true
		return false
	case ecma.KindSet:
		for _, r := range n.Set.Ranges {
			lo, hi := utf8.AppendRune(nil, r.Lo), utf8.AppendRune(nil, r.Hi)
			for b := int(lo[0]); b <= int(hi[0]); b++ {
				first[b] = true
			}
		}
		return false
	case ecma.KindBackref: // the group may be in a look-ahead, so the reference may be the first to consume text
		for b := range first {
			first[b] = true
		}
	case ecma.KindGroup:
		return firstBytes(n.Subs[0], first)
	case ecma.KindRepeat:
		return firstBytes(n.Subs[0], first) || n.Min == 0
	case ecma.KindConcat:
		for _, s := range n.Subs {
			if !firstBytes(s, first) {
				return false
			}
		}
	case ecma.KindAlt:
		for _, s := range n.Subs {
			if firstBytes(s, first) {
				empty = true
			}
		}
		return empty
	}
	return true
}
