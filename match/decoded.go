package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Windows1252Adds reports whether a line may match after decoding from Windows-1252 although
// its bytes don't match. It may also return true if that can't happen.
//
// Decoding doesn't change ASCII and yields few other letters. So for an alternation of
// literals it returns false if each literal is ASCII or has a letter that Windows-1252 lacks.
func (p *Pattern) Windows1252Adds() bool {
	if p.plan.every || !decodedCan(&p.need) {
		return false
	}
	if !p.plan.whole || p.need.Op != NeedOneOf {
		return true
	}
	for _, t := range p.need.Texts {
		if !isASCII(t.Text) && inWindows1252(t) {
			return true
		}
	}
	return false
}

// decodedCan reports whether a text decoded from Windows-1252 can satisfy a need.
func decodedCan(n *Need) bool {
	switch n.Op {
	case NeedNever:
		return false
	case NeedOneOf:
		for _, t := range n.Texts {
			if inWindows1252(t) {
				return true
			}
		}
		return false
	case NeedAll:
		for i := range n.Subs {
			if !decodedCan(&n.Subs[i]) {
				return false
			}
		}
	case NeedEither:
		for i := range n.Subs {
			if decodedCan(&n.Subs[i]) {
				return true
			}
		}
		return false
	}
	return true
}

// inWindows1252 reports whether t, or with Fold one of its case variants, can occur in a text
// decoded from Windows-1252. Bytes that aren't UTF-8 can occur: they may be part of a letter.
func inWindows1252(t NeedText) bool {
	for _, r := range t.Text {
		has := decodes(r)
		if t.Fold {
			for o := unicode.SimpleFold(r); o != r && !has; o = unicode.SimpleFold(o) {
				has = decodes(o)
			}
		}
		if !has {
			return false
		}
	}
	return true
}

// decodes reports whether a byte of Windows-1252 decodes to r. Unassigned bytes decode to the
// control character of the same number, or to U+FFFD.
func decodes(r rune) bool {
	return r <= 0xFF || r == utf8.RuneError || strings.ContainsRune("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ", r)
}
