package ecma

import (
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/ucd"
)

// group parses a construct that begins with a parenthesis.
func (p *parser) group() (n *Node, quantifiable bool) {
	start := p.pos
	p.pos++
	if !p.enter(start) {
		return &Node{}, false
	}
	defer func() { p.depth-- }()
	if !p.accept("?") {
		return p.capture(start, ""), true
	}
	switch {
	case p.accept(":"):
		return p.body(start), true
	case p.accept("="):
		return p.look(start, false, false), !p.flags.strict()
	case p.accept("!"):
		return p.look(start, false, true), !p.flags.strict()
	case p.accept("<="):
		return p.look(start, true, false), false
	case p.accept("<!"):
		return p.look(start, true, true), false
	case p.accept("<"):
		at := p.pos
		name, ok := p.groupName()
		if !ok {
			p.fail(at, 0, "Invalid capture group name", "A name is letters, digits, _ and $, not first a digit, and ends with '>'.")
			return &Node{}, false
		}
		return p.capture(start, name), true
	case p.at(0) != 0 && strings.IndexByte("ims-", p.at(0)) >= 0:
		return p.modifiers(start), true
	}
	hint := "After (? comes one of : = ! <= <! <name> or flags as in (?i:…)."
	if p.at(0) == 'P' {
		hint = "JavaScript writes a named group (?<name>…)."
	}
	p.fail(start, 2, "Invalid group", hint)
	return &Node{}, false
}

// body parses up to the closing parenthesis of the group that began at start.
func (p *parser) body(start int) *Node {
	n := p.disjunction()
	if !p.accept(")") {
		p.fail(start, 1, "Unterminated group", `Close it with ')', or write \( for a literal parenthesis.`)
	}
	return n
}

func (p *parser) capture(start int, name string) *Node {
	i := len(p.names)
	if i > maxGroups {
		p.fail(start, 1, "Too many captures", "Use (?:…) where the text of a group isn't needed.")
		return &Node{}
	}
	p.names = append(p.names, name)
	if name != "" {
		p.declare(start, i, name)
	}
	p.open = append(p.open, i)
	sub := p.body(start)
	p.open = p.open[:len(p.open)-1]
	return p.node(Node{Kind: KindGroup, Cap: i, Subs: []*Node{sub}})
}

// declare records a named group. Two groups with the same name must be in different
// alternatives of one disjunction, so that at most one participates.
func (p *parser) declare(start, i int, name string) {
	if len(p.where[name]) == maxSameName {
		p.fail(start, 1, "Too many captures", "Use (?:…) where the text of a group isn't needed.")
		return
	}
	for _, g := range p.where[name] {
		if !apart(g.path, p.path) {
			p.fail(start, len("(?<")+len(name), "Duplicate capture group name", "Only groups in different alternatives may share a name.")
			return
		}
	}
	if p.where == nil {
		p.where = map[string][]namedGroup{}
	}
	p.where[name] = append(p.where[name], namedGroup{i, slices.Clone(p.path)})
}

// apart reports whether two positions, given by their enclosing alternatives, are in different
// alternatives of one disjunction.
func apart(a, b []choice) bool {
	for i := 0; i < min(len(a), len(b)) && a[i].disj == b[i].disj; i++ {
		if a[i].alt != b[i].alt {
			return true
		}
	}
	return false
}

func (p *parser) look(start int, behind, negate bool) *Node {
	capLo := len(p.names)
	if behind {
		p.behind++
	}
	sub := p.body(start)
	if behind {
		p.behind--
	}
	return p.node(Node{
		Kind: KindLook, Behind: behind, Negate: negate,
		CapLo: capLo, CapHi: len(p.names), Subs: []*Node{sub},
	})
}

// modifiers parses (?ims-ims:…) after the question mark.
func (p *parser) modifiers(start int) *Node {
	var set [2]Flags // to add, to remove
	side := 0
	for !p.accept(":") {
		var f Flags
		switch c := p.at(0); c {
		case 'i':
			f = IgnoreCase
		case 'm':
			f = Multiline
		case 's':
			f = DotAll
		case '-':
			if side == 1 {
				p.fail(p.pos, 1, "Multiple dashes in flag group", "")
				return &Node{}
			}
			side = 1
		default:
			p.fail(start, 2, "Invalid flag group", "Write (?i:…): the flags i, m and s hold for the group only.")
			return &Node{}
		}
		if (set[0]|set[1])&f != 0 {
			p.fail(p.pos, 1, "Repeated flag in flag group", "")
			return &Node{}
		}
		set[side] |= f
		p.pos++
	}
	if set[0]|set[1] == 0 {
		p.fail(start, p.pos-start, "Invalid flag group", "Name at least one of i, m and s.")
		return &Node{}
	}
	outer := p.flags
	p.flags = outer&^set[1] | set[0]
	n := p.body(start)
	p.flags = outer
	return n
}

// groupName parses a name and the '>' after it.
func (p *parser) groupName() (string, bool) {
	var b strings.Builder
	for !p.done() {
		r := p.rune()
		switch {
		case r == '>':
			return b.String(), b.Len() > 0
		case r == '\\':
			at := p.pos - 1
			if !p.accept("u") {
				return "", false
			}
			var ok bool
			if r, ok = p.unicodeEscape(true); !ok {
				p.fail(at, 2, "Invalid Unicode escape", `As in \u00e9 or \u{1f600}.`)
				return "", false
			}
		}
		if !identifier(r, b.Len() == 0) {
			return "", false
		}
		b.WriteRune(r)
	}
	return "", false
}

// identifier reports whether r may be part of a name.
func identifier(r rune, first bool) bool {
	switch {
	case r == '$' || r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z':
		return true
	case r < utf8.RuneSelf:
		return !first && '0' <= r && r <= '9'
	case !first && (r == 0x200C || r == 0x200D):
		return true
	}
	property := "ID_Continue"
	if first {
		property = "ID_Start"
	}
	set, _ := ucd.Exact(property, "")
	_, found := slices.BinarySearchFunc(set, r, func(s ucd.Range, r rune) int {
		switch {
		case s.Hi < r:
			return -1
		case s.Lo > r:
			return 1
		}
		return 0
	})
	return found
}

// reference makes a backreference to group num or, if num is 0, to the groups called name.
func (p *parser) reference(off, num int, name string) *Node {
	n := p.node(Node{Kind: KindBackref, Fold: p.flags.fold()})
	if num > 0 {
		n.Groups = []int{num}
	}
	p.backrefs = append(p.backrefs, backref{
		node: n, name: name, off: off, opened: len(p.names),
		inside: slices.Clone(p.open), behind: p.behind > 0,
	})
	return n
}

// resolve sets the groups of every reference. It omits groups that are always unset at the
// reference: those that contain it and, outside look-behinds, those that begin after it (a
// loop around both unsets them before each iteration).
func (p *parser) resolve() {
	for _, r := range p.backrefs {
		if p.err != nil {
			return
		}
		groups := r.node.Groups
		if r.name != "" {
			for _, g := range p.where[r.name] {
				groups = append(groups, g.cap)
			}
			if len(groups) == 0 {
				p.fail(r.off, 0, "Invalid named capture referenced", "No group of the pattern has this name.")
				return
			}
		}
		r.node.Groups = slices.DeleteFunc(groups, func(g int) bool {
			return slices.Contains(r.inside, g) || g >= r.opened && !r.behind
		})
		if len(r.node.Groups) == 0 {
			*r.node = Node{Kind: KindEmpty}
		}
	}
}
