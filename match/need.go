package match

import (
	"quarry/internal/re/literal"
)

// NeedOp is the kind of a Need: NeedAny, NeedNever, NeedOneOf, NeedAll or NeedEither.
type NeedOp uint8

const (
	NeedAny    NeedOp = iota // no requirement
	NeedNever                // nothing can match
	NeedOneOf                // one of Texts occurs
	NeedAll                  // every one of Subs holds
	NeedEither               // one of Subs holds
)

// Need is a necessary condition for the pattern to match in a text. It may be too weak but
// is never too strong: a text that fails it has no match. The zero value requires nothing.
type Need struct {
	Op    NeedOp
	Texts []NeedText
	Subs  []Need
}

// NeedText is a string that must occur. If Fold is set, it may occur in any case, and Text is folded.
type NeedText struct {
	Text string
	Fold bool
}

// FoldRune returns the representative of r and its case variants: the ASCII lower-case
// letter if there is one, so that the Kelvin sign becomes k.
func FoldRune(r rune) rune { return literal.FoldRune(r) }

func publicNeed(n *literal.Need) Need {
	switch n.Op {
	case literal.Never:
		return Need{Op: NeedNever}
	case literal.OneOf:
		return Need{Op: NeedOneOf, Texts: publicTexts(n.Set)}
	case literal.And, literal.Or:
		op := NeedAll
		if n.Op == literal.Or {
			op = NeedEither
		}
		subs := make([]Need, len(n.Subs))
		for i, s := range n.Subs {
			subs[i] = publicNeed(s)
		}
		return Need{Op: op, Subs: subs}
	}
	return Need{}
}

func publicTexts(set literal.Set) []NeedText {
	texts := make([]NeedText, len(set))
	for i, lit := range set {
		texts[i] = NeedText{Text: lit.Text, Fold: lit.Fold}
	}
	return texts
}

// allOf requires every string of a set.
func allOf(set literal.Set) Need {
	subs := make([]Need, len(set))
	for i, t := range publicTexts(set) {
		subs[i] = Need{Op: NeedOneOf, Texts: []NeedText{t}}
	}
	if len(subs) == 1 {
		return subs[0]
	}
	return Need{Op: NeedAll, Subs: subs}
}
