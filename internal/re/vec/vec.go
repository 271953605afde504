// Package vec finds bytes and literals in text at the speed of memory: one
// literal, one literal in any ASCII case, sets of literals, sets of bytes,
// newlines, non-ASCII bytes.
//
// Every search is exact: it returns the first position at or after from, like a plain loop
// over all positions, and never a mere candidate. No kernel reads a byte outside of its
// slice, none allocates (a set builds a table once, on first use), and all take time linear
// in the text. Finder, Teddy, Multi and ByteSet are immutable after construction and safe for
// concurrent use.
//
// The kernels exist in assembly for amd64 (AVX2, and AVX-512 where it is faster) and arm64
// (NEON), and in pure Go for the rest. The choice is made once, at the first use in the
// process, from the features of the processor. QUARRY_NOSIMD=1 in the environment at that
// moment forces the pure-Go ones. This is the only place besides the configuration that reads
// the environment, because the choice must be made before the configuration is read.
package vec

import (
	"os"
	"sync/atomic"
)

// level determines which kernels may run. Every constructor keeps its level, so tests compare
// all of them in one process.
type level uint32

const (
	unset level = iota // not determined yet; occurs only in active
	generic
	neon
	avx2
	avx512 // AVX-512 F and BW beside AVX2
)

// active caches detect. It is written with one possible value, so that racing first uses
// agree.
var active atomic.Uint32

// current returns the level for this process. The first call examines the processor and the
// environment.
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
