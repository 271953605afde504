package vec

// cpuLevel returns neon, which every arm64 processor has.
func cpuLevel() level { return neon }

// pairFind returns the first position in [from, end) where both rare bytes and both ends of k
// agree, or -1. The needle must fit into hay at every position.
func pairFind(l level, k *pair, hay []byte, from, end int) int {
	n := end - from
	switch {
	case n <= 0:
		return -1
	case l == neon && n >= 16:
		if k.fold {
			return shift(pairFoldNEON(k, &hay[from], n), from)
		}
		return shift(pairNEON(k, &hay[from], n), from)
	case l == neon:
		return pairLoop(k, hay, from, end)
	}
	return pairFindGeneric(k, hay, from, end)
}

func lastIndexByte(l level, b []byte, c byte) int {
	if l == neon && len(b) >= 16 {
		return lastByteNEON(&b[0], len(b), c)
	}
	return lastIndexByteGeneric(b, c)
}

func indexNonASCII(l level, b []byte) int {
	if l == neon && len(b) >= 16 {
		return nonASCIINEON(&b[0], len(b))
	}
	return indexNonASCIIGeneric(b)
}

func setFind(l level, h *half, b []byte) int {
	if l != neon || len(b) < 16 {
		return setFindGeneric(h, b)
	}
	if h.kind == setFew {
		return fewNEON(h, &b[0], len(b))
	}
	return setNEON(h, &b[0], len(b))
}

// teddyStep returns the number of positions in a block.
func teddyStep(level, bool, int) int { return 16 }

// teddyFind returns the position of the first block with candidates, and a mask of them; b has
// n ≥ 16 positions. Without candidates the mask is 0.
func teddyFind(t *Teddy, b []byte, n, _ int, out *[64]byte) (pos int, mask uint64) {
	if t.fat {
		return teddyFatNEON(&t.tab, &b[0], n, out)
	}
	return teddyNEON(&t.tab, &b[0], n, out)
}

// All kernels need n ≥ 16. The pair and Teddy kernels search the n positions from p and read
// the bytes of a needle or fingerprint at the last of them.

//go:noescape
func pairNEON(k *pair, p *byte, n int) int

//go:noescape
func pairFoldNEON(k *pair, p *byte, n int) int

//go:noescape
func lastByteNEON(p *byte, n int, c byte) int

//go:noescape
func nonASCIINEON(p *byte, n int) int

//go:noescape
func fewNEON(h *half, p *byte, n int) int

//go:noescape
func setNEON(h *half, p *byte, n int) int

//go:noescape
func teddyNEON(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

//go:noescape
func teddyFatNEON(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

func validBlocks(b []byte) bool { return validNEON(&utf8Errors, &b[0], len(b)) }

// validNEON doesn't check whether the last sequence is complete.
//
//go:noescape
func validNEON(t *utf8Tab, p *byte, n int) bool
