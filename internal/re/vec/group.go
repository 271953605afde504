package vec

import (
	"math"
	"math/bits"
)

// group is a bucket of Teddy under construction: its literals and, for each byte of the
// fingerprint, the low and high halves that it accepts.
type group struct {
	lits      []teddyLit
	low, high [4]uint16
	width     int
	rate      float64 // estimated share of the positions in text that it accepts
}

// chance is the estimated share of each byte in text. A literal with letters beyond ASCII is
// probably searched for in a text of its script, where about every second byte is a lead byte,
// and some 20 of the continuation bytes are common.
var chance = func() (c [256]float64) {
	for b := range c {
		switch {
		case b >= 0xC0:
			c[b] = 0.3
		case b >= 0x80:
			c[b] = 0.03
		default:
			c[b] = math.Exp2(float64(commonness(byte(b)))/8 - 26)
		}
	}
	return c
}()

func newGroup(l teddyLit, width int, fold bool) group {
	g := group{lits: []teddyLit{l}, width: width}
	for i := range width {
		b := l.text[l.off+i]
		g.low[i] |= 1 << (b & 15)
		g.high[i] |= 1 << (b >> 4)
		if fold && isLower(b) {
			g.high[i] |= 1 << ((b - 0x20) >> 4)
		}
	}
	g.rate = g.estimate()
	return g
}

// estimate multiplies the chances of the bytes as if they were independent. They aren't, but
// the error is about the same in all groups that are compared.
func (g *group) estimate() float64 {
	rate := 1.0
	for i := range g.width {
		sum := 0.0
		for high := g.high[i]; high != 0; high &= high - 1 {
			row := chance[bits.TrailingZeros16(high)<<4:][:16]
			for low := g.low[i]; low != 0; low &= low - 1 {
				sum += row[bits.TrailingZeros16(low)&15]
			}
		}
		rate *= min(sum, 1)
	}
	return rate
}

func (g *group) merged(h *group) group {
	m := group{width: g.width}
	for i := range m.low {
		m.low[i] = g.low[i] | h.low[i]
		m.high[i] = g.high[i] | h.high[i]
	}
	m.rate = m.estimate()
	return m
}

// mergeGroups joins groups until at most n are left. Each time it joins the two groups whose
// union accepts the fewest additional positions.
func mergeGroups(groups []group, n int) []group {
	type cost [maxTeddy]float64
	more := make([]cost, len(groups)) // more[j][i], i < j: the cost of joining i and j
	price := func(i, j int) {
		m := groups[i].merged(&groups[j])
		more[j][i] = m.rate - groups[i].rate - groups[j].rate
	}
	for j := range groups {
		for i := range j {
			price(i, j)
		}
	}
	for len(groups) > n {
		a, b := 0, 1
		for j := range groups {
			for i := range j {
				if more[j][i] < more[b][a] {
					a, b = i, j
				}
			}
		}
		m := groups[a].merged(&groups[b])
		m.lits = append(groups[a].lits, groups[b].lits...)
		last := len(groups) - 1
		groups[a], groups[b] = m, groups[last]
		groups = groups[:last]
		for _, x := range []int{a, b} {
			for i := range groups {
				if i != x && x < last {
					price(min(i, x), max(i, x))
				}
			}
		}
	}
	return groups
}
