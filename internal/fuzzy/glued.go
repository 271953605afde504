package fuzzy

import "bytes"

const (
	gluedMost = 520 // beginnings of words of the path without anything between, less
	gluedStep = 30  //   that for each but the first
	minGlued  = 4
	// maxSteps bounds the ways that are tried to take a query apart.
	maxSteps = 200
)

// glued rates a text that is beginnings of words of the path, in order and the
// last of them in the name: kernschcore is kernel/sched/core.c. They have two
// letters at least on average, as single letters would fit too many paths.
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

// unglue takes text apart from a place of the path on, the longest piece first. It
// returns how many pieces there are and how many letters of them the name has; 0
// if there is no way with at most so many.
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
					continue // it ends in a folder
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
