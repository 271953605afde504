package fuzzy

import "bytes"

const (
	gluedMost = 520 // score of joined prefixes of words of the path
	gluedStep = 30  // subtracted for each prefix after the first
	minGlued  = 4
	// maxSteps limits the attempts to split a query.
	maxSteps = 200
)

// glued rates a text that consists of prefixes of words of the path, in order, with the last
// one in the name: kernschcore is kernel/sched/core.c. The prefixes must have at least two
// letters on average, because single letters would match too many paths.
func (p *path) glued(text []byte, mask uint64) (v, cover int) {
	if len(text) < minGlued || mask&^(p.own|p.mask) != 0 {
		return 0, 0
	}
	steps := maxSteps
	pieces, inName := p.unglue(text, 0, len(text)/2, &steps)
	if pieces == 0 {
		return 0, 0
	}
	return gluedMost - gluedStep*(pieces-1), inName
}

// unglue splits text into such prefixes, starting at offset from of the path and trying longer
// prefixes first. It returns the number of prefixes, and how many of their letters are in the
// name. It returns 0, 0 if this isn't possible with at most `most` prefixes.
func (p *path) unglue(text []byte, from, most int, steps *int) (pieces, inName int) {
	if most == 0 {
		return 0, 0
	}
	for at := from; at < len(p.text); at++ {
		i := bytes.IndexByte(p.text[at:], text[0])
		if i < 0 || *steps == 0 {
			return 0, 0
		}
		if at += i; !p.starts(at) {
			continue
		}
		*steps--
		n := 1
		for n < len(text) && at+n < len(p.text) && p.text[at+n] == text[n] {
			n++
		}
		for ; n > 0; n-- {
			own := 0
			if at >= p.base {
				own = n
			}
			if n == len(text) {
				if own == 0 {
					continue // the last prefix must not end in a folder
				}
				return 1, own
			}
			if more, name := p.unglue(text[n:], at+n, most-1, steps); more > 0 {
				return more + 1, name + own
			}
		}
	}
	return 0, 0
}
