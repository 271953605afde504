package vec

import "golang.org/x/sys/cpu"

// cpuLevel uses AVX-512 only on processors with VBMI. No kernel needs VBMI, but processors
// without it, before Ice Lake and Zen 4, lower their clock for 512-bit registers.
func cpuLevel() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI1:
		return generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VBMI && x.HasBMI2:
		return avx512
	}
	return avx2
}

// pairFind returns the first position in [from, end) where both rare bytes and both ends of k
// agree, or -1. The needle must fit into hay at every position.
func pairFind(l level, k *pair, hay []byte, from, end int) int {
	n := end - from
	switch {
	case n <= 0:
		return -1
	case l == avx512:
		if k.fold {
			return shift(pairFoldAVX512(k, &hay[from], n), from)
		}
		return shift(pairAVX512(k, &hay[from], n), from)
	case l == avx2 && n >= 32:
		if k.fold {
			return shift(pairFoldAVX2(k, &hay[from], n), from)
		}
		return shift(pairAVX2(k, &hay[from], n), from)
	case l == avx2:
		return pairLoop(k, hay, from, end)
	}
	return pairFindGeneric(k, hay, from, end)
}

func lastIndexByte(l level, b []byte, c byte) int {
	if l >= avx2 && len(b) >= 32 {
		return lastByteAVX2(&b[0], len(b), c)
	}
	return lastIndexByteGeneric(b, c)
}

func indexNonASCII(l level, b []byte) int {
	if l >= avx2 && len(b) >= 32 {
		return nonASCIIAVX2(&b[0], len(b))
	}
	return indexNonASCIIGeneric(b)
}

func setFind(l level, h *half, b []byte) int {
	if l < avx2 || len(b) < 32 {
		return setFindGeneric(h, b)
	}
	if h.kind == setFew {
		return fewAVX2(h, &b[0], len(b))
	}
	return setAVX2(h, &b[0], len(b))
}

// The pair kernels search the n positions from p, n ≥ 32 for AVX2 and n ≥ 1 for AVX-512, and
// read k.n-1 bytes past the last of them.

//go:noescape
func pairAVX2(k *pair, p *byte, n int) int

//go:noescape
func pairFoldAVX2(k *pair, p *byte, n int) int

//go:noescape
func pairAVX512(k *pair, p *byte, n int) int

//go:noescape
func pairFoldAVX512(k *pair, p *byte, n int) int

// The kernels below need n ≥ 32.

//go:noescape
func lastByteAVX2(p *byte, n int, c byte) int

//go:noescape
func nonASCIIAVX2(p *byte, n int) int

//go:noescape
func fewAVX2(h *half, p *byte, n int) int

//go:noescape
func setAVX2(h *half, p *byte, n int) int

// teddyStep returns the number of positions in the block to search next, if n are left: the
// widest block that fits, or else the narrowest.
func teddyStep(l level, fat bool, n int) int {
	switch {
	case l == avx512 && fat && n >= 32:
		return 32
	case l == avx512 && !fat && n >= 64:
		return 64
	case fat:
		return 16
	}
	return 32
}

// teddyFind returns the position of the first block with candidates, and a mask of them; b has
// n ≥ step positions. Without candidates the mask is 0.
func teddyFind(t *Teddy, b []byte, n, step int, out *[64]byte) (pos int, mask uint64) {
	switch {
	case t.fat && step == 32:
		return teddyFatAVX512(&t.tab, &b[0], n, out)
	case t.fat:
		return teddyFatAVX2(&t.tab, &b[0], n, out)
	case step == 64:
		return teddyAVX512(&t.tab, &b[0], n, out)
	}
	return teddyAVX2(&t.tab, &b[0], n, out)
}

//go:noescape
func teddyAVX2(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

//go:noescape
func teddyFatAVX2(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

//go:noescape
func teddyAVX512(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

//go:noescape
func teddyFatAVX512(t *teddyTab, p *byte, n int, out *[64]byte) (pos int, mask uint64)

func validBlocks(b []byte) bool { return validAVX2(&utf8Errors, &b[0], len(b)) }

// validAVX2 reads n bytes, a multiple of 32, and doesn't check whether the last sequence is
// complete.
//
//go:noescape
func validAVX2(t *utf8Tab, p *byte, n int) bool
