// Package vec finds bytes and literals in text at the speed of memory: one
// literal, one literal in any ASCII case, sets of literals, sets of bytes,
// newlines, non-ASCII bytes.
//
// Every search is exact: it returns the first position at or after from, like a plain loop over
// all positions, and never a mere candidate. No kernel reads a byte outside of its slice or
// allocates, though a set builds a table on first use. All take time linear in the text. Finder,
// Teddy, Multi and ByteSet are immutable after construction and safe for concurrent use.
//
// The kernels exist in assembly for amd64 (AVX2, and AVX-512 where it is faster) and arm64
// (NEON), and in pure Go for other processors. The choice is made once, on first use in the
// process, from the features of the processor. QUARRY_NOSIMD=1 in the environment at that
// moment forces the pure-Go ones. Besides the configuration, only this package reads the
// environment, because it must choose before the configuration is read.
package vec

import (
	"os"
	"sync/atomic"
)

// level determines which kernels may run. Every search stores its level, so that tests can
// compare all levels in one process.
type level uint32

const (
	unset level = iota // not determined yet; occurs only in active
	generic
	neon
	avx2
	avx512 // AVX-512 F and BW beside AVX2
)

// active caches the result of detect. Only one value is ever stored, so concurrent first uses agree.
var active atomic.Uint32

// current returns the level of this process. The first call examines the processor and the environment.
func current() level {
	if l := level(active.Load()); l != unset {
		return l
	}
	return detect()
}

//go:noinline
func detect() level {
	l := generic
	if os.Getenv("QUARRY_NOSIMD") != "1" {
		l = cpuLevel()
	}
	active.Store(uint32(l))
	return l
}

func (l level) String() string {
	switch l {
	case avx512:
		return "avx512"
	case avx2:
		return "avx2"
	case neon:
		return "neon"
	}
	return "generic"
}
