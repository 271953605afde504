package structure

// A side of a hole is its neighbour in the pattern. It determines how far the piece in
// the hole may extend.
type sideKind uint8

const (
	hard     sideKind = iota // a bracket, separator or keyword
	edge                     // the pattern ends here
	operator                 // a binary operator, or on the left a unary one
	member                   // a dot: the hole is a single name
	called                   // a bracket or dot that continues an operand
	operand                  // another operand, as in a declaration
)

type side struct {
	kind  sideKind
	level int // of an operator
}

// sides finds the sides of the holes and the level of the pattern.
func (c *compiled) sides(s *source) {
	c.level = postfix
	depth := 0
	for i := range c.elems {
		e := &c.elems[i]
		if e.kind == closing {
			depth--
		}
		if depth == 0 {
			c.lower(s, i)
		}
		if e.kind == opening {
			depth++
		}
		if e.hole != nil {
			e.left, e.right = c.leftOf(s, i), c.rightOf(s, i)
		}
	}
	last := len(c.elems) - 1
	c.keyword = c.elems[0].hole == nil && c.elems[0].kind == word && !c.lang.prefixes[c.elems[0].text] && (c.lang.starts[c.elems[0].text] || declares[c.elems[0].text])
	if c.keyword {
		c.level = level0
	}
	c.ends = c.elems[last].hole == nil && c.elems[last].kind == closing && (c.elems[last].virtual || c.elems[last].text == "}") ||
		s.newlines == indented && last > 0 && c.elems[last].hole != nil && c.elems[last].hole.many && c.elems[last-1].text == ":"
}

// lower reduces the level to that of element i, which is outside of brackets.
func (c *compiled) lower(s *source, i int) {
	e := &c.elems[i]
	level := postfix
	switch {
	case e.kind == separator || e.kind == op && e.text == ",":
		level = level0
	case e.hole == nil && e.kind == op && e.text == ":":
		if level = level0; c.level == ternary {
			level = ternary
		}
	case i > 0 && c.isOperand(s, i) && c.isOperand(s, i-1) && !(e.kind == text && c.elems[i-1].kind == text):
		level = level0 // a declaration
	case e.kind == opening && e.text == "{" && i > 0 && (c.elems[i-1].kind == closing || !s.joined(i)) && !c.expression(i):
		level = level0
	case e.kind == op && (s.memberOp(i) || s.after(i)):
	case e.hole == nil && e.kind == op || e.hole == nil && e.kind == word && c.lang.words[e.text] > 0 && i > 0:
		level = c.operatorLevel(s, i)
	case e.hole == nil && e.kind == word && c.lang.prefixes[e.text] && i == 0 && e.text != "new":
		level = wordLevel(e.text)
	}
	c.level = min(c.level, level)
}

// expression reports whether the brace at i may begin an operand.
func (c *compiled) expression(i int) bool {
	p := &c.elems[i-1]
	return p.kind == op || p.kind == separator || p.kind == opening
}

func (c *compiled) isOperand(s *source, i int) bool {
	e := &c.elems[i]
	switch {
	case e.hole != nil:
		return true
	case e.kind == word:
		return !c.lang.starts[e.text] && !c.lang.prefixes[e.text] && c.lang.words[e.text] == 0
	}
	return e.kind == number || e.kind == text
}

// operatorLevel returns how tightly the operator at i of the pattern binds.
func (c *compiled) operatorLevel(s *source, i int) int {
	if i == 0 || s.prefixAt(i) {
		return unary
	}
	return s.binary(i)
}

func (c *compiled) leftOf(s *source, i int) side {
	if i == 0 {
		return side{kind: edge}
	}
	p := &c.elems[i-1]
	switch {
	case p.hole != nil || p.kind == number || p.kind == text:
		return side{kind: operand}
	case p.kind == op && s.memberOp(i-1):
		return side{kind: member}
	case p.kind == op && (p.text == "," || p.text == ":"):
		return side{}
	case p.kind == op:
		return side{operator, c.operatorLevel(s, i-1)}
	case p.kind == word && c.lang.words[p.text] > 0 && i > 1:
		return side{operator, c.lang.words[p.text]}
	case p.kind == word && c.lang.prefixes[p.text]:
		return side{operator, wordLevel(p.text)}
	case p.kind == word && (c.lang.starts[p.text] || p.text == "import"):
		return side{}
	case p.kind == word:
		return side{kind: operand}
	}
	return side{}
}

func (c *compiled) rightOf(s *source, i int) side {
	if i == len(c.elems)-1 {
		return side{kind: edge}
	}
	n := &c.elems[i+1]
	switch {
	case n.hole != nil || n.kind == number || n.kind == text:
		return side{kind: operand}
	case n.kind == opening && n.text == "{" && !s.joined(i+1) || n.virtual:
		return side{}
	case n.kind == opening:
		return side{kind: called}
	case n.kind == op && (s.memberOp(i+1) || s.after(i+1)):
		return side{kind: called}
	case n.kind == op && (n.text == "," || n.text == ":"):
		return side{}
	case n.kind == op:
		return side{operator, s.binary(i + 1)}
	case n.kind == word && c.lang.words[n.text] > 0:
		return side{operator, c.lang.words[n.text]}
	case n.kind == word && (c.lang.starts[n.text] || n.text == "from"):
		return side{}
	case n.kind == word:
		return side{kind: operand}
	}
	return side{}
}
