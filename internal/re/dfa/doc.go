// Package dfa runs patterns with one table look-up per byte, building the states of the
// automaton on demand.
//
// Two machines share the construction. Finder returns the span of the leftmost match, in
// one forward and one backward run. Lines returns the matching lines, each line being a
// separate text, in one pass over a buffer of many lines; it may run several parts of the
// buffer in lock-step.
//
// A machine reports the same matches as package pike. An automaton over bytes can't decide some cases:
// a Unicode word test beside a byte over 0x7F, or a cache too small for the pattern. Then a Finder
// returns GaveUp, and Lines calls its caller's decide. Memory is bounded by the cache size, time by
// the cache size and the length of the text: a search that keeps refilling its cache is handed over.
//
// A Finder or Lines is immutable and may be shared; a cache belongs to one goroutine.
package dfa

import "quarry/internal/re/nfa"

// Options are the options of the machines; nil and the zero value are the defaults.
type Options struct {
	// CacheSize limits the memory of one cache's states in bytes. 0 means 256 bytes for each
	// state of the program, between MinCacheSize and MaxCacheSize, or more for patterns that
	// profit from it (see compactSize). A minimum of states is always kept.
	CacheSize int

	// Next, if set, returns where at or after from the next match could begin, or the
	// length of the text. A Finder calls it while no match has begun, and only for patterns
	// without assertions.
	Next func(text []byte, from int) int
}

// MinCacheSize and MaxCacheSize limit the default size of a cache. 10,000 case-insensitive words
// ran at 0.19 GB/s with 2 MB and at 0.67 with 16; for a hundred words 2 MB are enough.
const (
	MinCacheSize = 2 << 20
	MaxCacheSize = 16 << 20
)

// compactSize is the default limit of a cache whose rows have one entry per class.
// [a-q][^u-z]{13}x has some 16,000 states of 200 bytes and ran at 0.04 GB/s in 2 MB, at 0.34 in 8.
const compactSize = 8 << 20

// sizes limit the memory of a cache's states in bytes.
type sizes struct {
	wide    int // while rows have one entry per byte
	compact int // once rows have one entry per class
}

func (o *Options) cacheSize(p *nfa.Prog) sizes {
	if o == nil || o.CacheSize <= 0 {
		wide := min(max(256*len(p.States), MinCacheSize), MaxCacheSize)
		return sizes{wide, max(wide, compactSize)}
	}
	return sizes{o.CacheSize, o.CacheSize}
}
