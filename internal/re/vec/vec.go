// Package vec finds bytes and literals in text at the speed of memory: one
// literal, one literal in any ASCII case, sets of literals, sets of bytes,
// newlines, non-ASCII bytes.
//
// Every search is exact: it gives the first position at or after from, as the
// plain loop over all positions would, never a candidate. No kernel reads a
// byte outside of the slice it was given, none allocates (a set makes a table
// once, when it first needs it), and all of them take time linear in the text.
// Finder, Teddy, Multi and ByteSet are immutable after construction
// and safe for concurrent use.
//
// The kernels exist in assembly for amd64 (AVX2, and AVX-512 where it is
// faster) and arm64 (NEON), and in pure Go for the rest. Which of them run is
// decided once, at the first use in the process, from the features of the
// processor. QUARRY_NOSIMD=1 in the environment at that moment forces the
// pure-Go ones; this is the one place besides the configuration that reads
// the environment, because the choice has to be made before any of it.
package vec

import (
	"os"
	"sync/atomic"
)

// level says which kernels may run. Every constructor keeps the level it was
// made at, so tests compare all of them in one process.
type level uint32

const (
	unset level = iota // not looked at yet; only ever in active
	generic
	neon
	avx2
	avx512 // AVX-512 F and BW beside AVX2
)

// active caches detect. It is written once with one possible value, so that
// racing first uses agree.
var active atomic.Uint32

// current gives the level for this process, looking at the processor and the
// environment at the first call.
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
