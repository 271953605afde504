package ecma

import "slices"

// empties describes how a node can match the empty string.
type empties struct {
	may  bool // the node can match the empty string
	only bool // it can match nothing else
	last bool // empty matches are the least preferred
}

// annotate records, at each repetition in n, how its body can match the empty string. It
// returns the same for n.
func annotate(n *Node) empties {
	switch n.Kind {
	case KindLiteral, KindSet:
		return empties{}
	case KindBackref:
		return empties{may: true, last: true} // these nodes match in only one way
	case KindGroup:
		return annotate(n.Subs[0])
	case KindRepeat:
		n.body = annotate(n.Subs[0])
		return emptyRepeat(n)
	case KindConcat:
		all := empties{may: true, only: true, last: true}
		for _, s := range n.Subs {
			e := annotate(s)
			all = empties{all.may && e.may, all.only && e.only, all.last && e.last}
		}
		return all
	case KindAlt:
		all := empties{only: true, last: true}
		for _, s := range n.Subs {
			e := annotate(s)
			if all.may && !e.only || e.may && !e.last {
				all.last = false
			}
			all.may = all.may || e.may
			all.only = all.only && e.only
		}
		return all
	case KindLook:
		annotate(n.Subs[0])
	}
	return empties{may: true, only: true, last: true}
}

func emptyRepeat(n *Node) empties {
	e := n.body
	if e.only || n.Max == 0 {
		return empties{may: true, only: true, last: true}
	}
	if !e.may && n.Min > 0 {
		return empties{}
	}
	fixed := n.Max == n.Min
	return empties{may: true, last: (n.Greedy || fixed) && (n.Min == 0 || e.last)}
}

// emptyAnywhere reports whether a node matches the empty string at every position.
func emptyAnywhere(n *Node) bool {
	switch n.Kind {
	case KindEmpty:
		return true
	case KindRepeat:
		return n.Min == 0 || emptyAnywhere(n.Subs[0])
	case KindGroup, KindConcat:
		return !slices.ContainsFunc(n.Subs, func(s *Node) bool { return !emptyAnywhere(s) })
	case KindAlt:
		return slices.ContainsFunc(n.Subs, emptyAnywhere)
	}
	return false
}

// always reports whether every match of n sets every group in it.
func (l *lowering) always(n *Node) bool {
	switch n.Kind {
	case KindRepeat, KindLook:
		if n.CapLo == n.CapHi {
			return true
		}
		if n.Kind == KindRepeat && n.Min == 0 || n.Kind == KindLook && n.Negate {
			return false
		}
		yes, known := l.sets[n]
		if !known {
			yes = l.always(n.Subs[0])
			l.sets[n] = yes
		}
		return yes
	case KindAlt:
		return !hasGroup(n)
	}
	for _, s := range n.Subs {
		if !l.always(s) {
			return false
		}
	}
	return true
}

func hasGroup(n *Node) bool {
	if n.Kind == KindGroup {
		return true
	}
	for _, s := range n.Subs {
		if hasGroup(s) {
			return true
		}
	}
	return false
}
