// Package dfa runs patterns with one table look-up per byte, building the states of the
// automaton on demand.
//
// Two machines share the construction. Finder returns the span of the leftmost match, in
// one forward and one backward run. Lines returns the matching lines, each line being a
// separate text, in one pass over a buffer of many lines; it may run several parts of the
// buffer in lock-step.
//
// A machine reports the same as package pike. Where a byte
// automaton can't know (a Unicode word test beside a byte over 0x7F, a cache
// too small for the pattern), Finder says so and Lines asks its caller's
// Decide. Memory is bounded by the cache size, time by it and the length of
// the text: a search that keeps refilling its cache is handed over.
//
// A Finder or Lines is immutable and may be shared; a cache belongs to one goroutine.
package dfa

import "quarry/internal/re/nfa"

// Options are the options of the machines; nil and the zero value are the defaults.
type Options struct {
	// CacheSize limits the memory of one cache's states in bytes; 0 means 256 bytes for
	// each state of the program, between MinCacheSize and MaxCacheSize, and more where that
	// makes the difference, see compactSize. A few states are always kept.
	CacheSize int

	// Next, if set, returns where at or after from the next match could begin, or the
	// length of the text. A Finder calls it while no match has begun, and only for patterns
	// without assertions.
	Next func(text []byte, from int) int
}

// The default size of a cache is between these. 10,000 words without case ran at 0.19 GB/s
// in 2 MB and at 0.67 in 16; a hundred words need neither.
const (
	MinCacheSize = 2 << 20
	MaxCacheSize = 16 << 20
)

// compactSize is the default limit of a cache once its rows are by class: [a-q][^u-z]{13}x
// has some 16,000 states of 200 bytes and ran at 0.04 GB/s in 2 MB, at 0.34 in 8.
const compactSize = 8 << 20

// sizes limit the memory of a cache's states in bytes.
type sizes struct {
	wide    int // while rows have an entry for each byte
	compact int // once they have one per class
}

func (o *Options) cacheSize(p *nfa.Prog) sizes {
	if o == nil || o.CacheSize <= 0 {
		wide := min(max(256*len(p.States), MinCacheSize), MaxCacheSize)
		return sizes{wide, max(wide, compactSize)}
	}
	return sizes{o.CacheSize, o.CacheSize}
}
