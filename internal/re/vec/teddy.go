package vec

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Teddy searches for any of up to 64 literals, after the algorithm of that
// name in Hyperscan.
//
// Four bytes of each literal are its fingerprint, and the literals share 8 or 16 buckets. For
// each byte of the fingerprint, two look-ups, by the low and the high half of a byte of text,
// give the set of buckets that accept this byte, as bits. The buckets that are in all eight
// sets are the candidates of a position. This is done for 16 to 64 positions at a time.
//
// Candidates cost more than look-ups. So the fingerprint is not the start of the literal but its
// four rarest adjacent bytes, and literals are grouped so that buckets accept as few positions
// as possible. Since the fingerprint's offset differs between literals, a match is known to be
// the leftmost only after searching further by the largest difference of these offsets.
type Teddy struct {
	set     *litSet
	tab     teddyTab
	buckets [16][]teddyLit
	level   level
	fat     bool // 16 buckets
	width   int  // bytes of the fingerprint, 1 to 4
	minOff  int  // smallest offset of a fingerprint in its literal
	maxOff  int
}

// teddyTab is the input of the kernels. The assembly depends on its layout.
type teddyTab struct {
	// off has the offset of each byte of the fingerprint; if it is shorter than four, the
	// last one is repeated.
	off [4]uint64
	// Each byte of the fingerprint has two rows in tab, for its low and its high half. A row is four
	// copies of the table of 8 buckets, or two copies for the first 8 buckets and two for the second 8.
	tab [8][64]byte
}

type teddyLit struct {
	*literal
	off        int    // offset of its fingerprint
	head, mask uint64 // head is the first eight bytes, or-ed with mask; mask is all ones beyond the literal
}

func newTeddyLit(l *literal, off int) teddyLit {
	t := teddyLit{literal: l, off: off, mask: ^uint64(0)}
	for i, m := range foldMask(l.text[:min(8, len(l.text))], l.fold) {
		t.mask &^= uint64(^m) << (8 * i)
	}
	t.head = t.mask
	for i, b := range l.text[:min(8, len(l.text))] {
		t.head |= uint64(b) << (8 * i)
	}
	return t
}

// maxTeddy is the largest number of literals; with more, the buckets are too crowded.
const maxTeddy = 64

// maxFingerprintOff limits the offset of a fingerprint in its literal, and so the length of
// text searched after each match.
const maxFingerprintOff = 24

func newTeddy(set *litSet, l level) (*Teddy, bool) {
	if len(set.lits) == 0 || len(set.lits) > maxTeddy || set.minLen == 0 {
		return nil, false
	}
	t := &Teddy{set: set, level: l, width: min(4, set.minLen), minOff: maxFingerprintOff}
	groups := make([]group, len(set.lits))
	for i := range set.lits {
		lit := &set.lits[i]
		off := rareWindow(lit.text, t.width, set.fold)
		t.minOff, t.maxOff = min(t.minOff, off), max(t.maxOff, off)
		groups[i] = newGroup(newTeddyLit(lit, off), t.width, set.fold)
	}
	if len(groups) > 8 {
		// Even many literals may have few different fingerprints, such as a word in all cases
		// of its letters.
		slim := mergeGroups(slices.Clone(groups), 8)
		groups = mergeGroups(groups, 16)
		t.fat = compares(slim)-compares(groups) > fatGain
		if !t.fat {
			groups = slim
		}
	}
	for b, g := range groups {
		t.buckets[b] = g.lits
		t.fill(b, g)
	}
	for i := range t.tab.off {
		t.tab.off[i] = uint64(min(i, t.width-1))
	}
	return t, true
}

// fatGain is the number of comparisons per position that 16 buckets must save to be better than 8.
// With 16, a position takes 0.06 ns more; a comparison, with its share of a candidate, takes 5 ns.
const fatGain = 0.01

// compares returns the estimated number of literals compared per position of a text.
func compares(groups []group) float64 {
	sum := 0.0
	for i := range groups {
		sum += groups[i].rate * float64(len(groups[i].lits))
	}
	return sum
}

// fill adds group g as bucket b to the tables.
func (t *Teddy) fill(b int, g group) {
	from, to := 0, 64
	if t.fat {
		from = b / 8 * 32
		to = from + 32
	}
	for i := range 4 {
		for j := from; j < to; j++ {
			if g.low[min(i, t.width-1)]>>(j%16)&1 != 0 {
				t.tab.tab[2*i][j] |= 1 << (b % 8)
			}
			if g.high[min(i, t.width-1)]>>(j%16)&1 != 0 {
				t.tab.tab[2*i+1][j] |= 1 << (b % 8)
			}
		}
	}
}

// rareWindow returns the offset of the width rarest adjacent bytes of text.
func rareWindow(text []byte, width int, fold bool) int {
	rank := commonness
	if fold {
		rank = foldedCommonness
	}
	best, bestSum := 0, 1<<30
	for off := 0; off+width <= len(text) && off <= maxFingerprintOff; off++ {
		sum := 0
		for _, b := range text[off : off+width] {
			sum += rank(b)
		}
		if sum < bestSum {
			best, bestSum = off, sum
		}
	}
	return best
}

// Find returns the leftmost position at or after from where a literal begins, and the lowest
// index of the literals that begin there. It returns -1, -1 if there is none.
func (t *Teddy) Find(hay []byte, from int) (pos, lit int) {
	if from < 0 || from > len(hay)-t.set.minLen {
		return -1, -1
	}
	if t.level < neon {
		return t.set.hashed().find(hay, from, t.set)
	}
	if len(hay)-from < 48+t.maxOff {
		return t.findShort(hay[from:], from)
	}
	return t.scan(hay, from)
}

// findShort searches a text too short for a block, such as a line. The kernel reads a copy
// padded with zeros, which no literal contains.
func (t *Teddy) findShort(hay []byte, from int) (pos, lit int) {
	if t.set.hasZero {
		pos, lit = t.set.hashed().find(hay, 0, t.set)
		return shift(pos, from), lit
	}
	var buf [shortBlock]byte
	copy(buf[:], hay)
	pos, lit = t.scan(buf[:max(len(hay), 64+t.maxOff)], 0)
	return shift(pos, from), lit
}

// shortBlock is the size of the padded copy: at most 48+maxFingerprintOff bytes of text, and
// 64+maxFingerprintOff for the kernels.
const shortBlock = 64 + maxFingerprintOff + 8

// scan walks over the blocks with candidates. best is the end of the text until a match is
// found; after that only literals that begin at or before best count.
func (t *Teddy) scan(hay []byte, from int) (pos, lit int) {
	var out [64]byte
	best, bestLit := len(hay), -1
	credit := t.set.credit()
	end := len(hay) - t.width + 1 // for the positions of fingerprints
	for p := from + t.minOff; p < end && p-t.maxOff <= best; {
		// After a match, search no further than necessary; two blocks always fit.
		at, mask, step := t.candidates(hay, p, min(end, max(best+t.maxOff+1, p+128)), &out)
		if mask == 0 {
			break
		}
		credit += 4 * (at + step - p)
		p = at + step
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			if at+i-t.maxOff > best {
				break
			}
			hits := uint(out[i])
			if t.fat {
				hits |= uint(out[i+step]) << 8
			}
			for ; hits != 0; hits &= hits - 1 {
				bucket := t.buckets[bits.TrailingZeros(hits)]
				for k := range bucket {
					l := &bucket[k]
					s := at + i - l.off
					if s < from || s > best || s == best && l.index > bestLit {
						continue
					}
					if s <= len(hay)-8 && binary.LittleEndian.Uint64(hay[s:])|l.mask != l.head {
						credit--
						continue
					}
					credit -= l.cost()
					if l.at(hay, s) {
						best, bestLit = s, l.index
					}
				}
			}
		}
		if credit < 0 {
			return t.set.automaton().find(hay, from, t.set)
		}
	}
	if bestLit < 0 {
		return -1, -1
	}
	return best, bestLit
}

// candidates returns the next block at or after p with candidates: its position, a mask of its
// candidates, and its number of positions (step). out has the buckets of each position. p is
// less than end, and hay is large enough for the smallest block.
func (t *Teddy) candidates(hay []byte, p, end int, out *[64]byte) (at int, mask uint64, step int) {
	step = teddyStep(t.level, t.fat, end-p)
	if back := step - (end - p); back > 0 {
		// Less than a block is left: use the last whole block. Positions seen twice are compared
		// twice, with the same result.
		p -= back
	}
	at, mask = teddyFind(t, hay[p:], end-p, step, out)
	return p + at, mask, step
}
