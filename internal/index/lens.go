package index

import (
	"math/bits"
	"sync"
)

// Lens decides which part of the tree a client sees. One index serves all clients, and it
// includes more than each of them may see. So the policy, outside rules and the query's options
// are applied here, before any name, byte or count leaves the index.
type Lens struct {
	// Key and Version identify a lens: if both are equal, Sees returns the same result
	// for every document.
	Key     string
	Version uint64
	// Sees reports whether the client may know about a file. It is called once for each
	// Key and Version, for the documents of a segment in path order.
	Sees func(path string, flags Flags) bool
	// Denied returns how much of a path the policy denies: its whole length, or the
	// length of a folder above. The result is 0 if Sees shows the file, or hides it for
	// another reason. A nil Denied denies nothing.
	Denied func(path string, flags Flags) int
	// Enters reports whether the client would see a folder if its policy did not deny it.
	// It is called for every query.
	Enters func(dir string) bool
}

// plainLens returns a lens that shows the same files as a search without options.
func plainLens(hidden bool) *Lens {
	if hidden {
		return &Lens{Key: "\x00hidden", Sees: func(_ string, f Flags) bool { return f&(Secret|Ignored) == 0 }}
	}
	return &Lens{Key: "\x00plain", Sees: func(_ string, f Flags) bool { return f&(Secret|Ignored|Hidden) == 0 }}
}

// everything shows all files. It is used to verify and maintain the index.
var everything = &Lens{Key: "\x00everything", Sees: func(string, Flags) bool { return true }}

func (a *Ask) lens() *Lens {
	if a.Lens == nil {
		return plainLens(a.Hidden)
	}
	return a.Lens
}

// maxLenses limits the lenses cached for a segment.
const maxLenses = 16

// lenses caches which documents of a segment each lens hides.
type lenses struct {
	mu   sync.Mutex
	kept map[string]*sight
}

// sight holds the documents of a segment that a lens hides.
type sight struct {
	version uint64
	unseen  bitset
	denied  []deniedEntry
}

// unseen returns the documents that a lens hides. They are computed once.
func (s *segment) unseen(l *Lens) bitset { return s.sight(l).unseen }

func (s *segment) sight(l *Lens) *sight {
	s.lenses.mu.Lock()
	defer s.lenses.mu.Unlock()
	if had := s.lenses.kept[l.Key]; had != nil && had.version == l.Version {
		return had
	}
	out := &sight{version: l.Version, unseen: newBitset(s.docs.n)}
	paths := pathReader{t: &s.docs}
	for id := range s.docs.n {
		paths.seek(id)
		path, flags := string(paths.next()), s.docs.flag(id)
		if !l.Sees(path, flags) {
			out.unseen.set(id)
			out.deny(l, path, flags, id)
		}
	}
	if s.lenses.kept == nil {
		s.lenses.kept = map[string]*sight{}
	}
	if len(s.lenses.kept) >= maxLenses {
		clear(s.lenses.kept)
	}
	s.lenses.kept[l.Key] = out
	return out
}

// seenDirty drops the changed files that a lens hides.
func seenDirty(all []dirtyDoc, l *Lens) []dirtyDoc {
	var kept []dirtyDoc
	for i, d := range all {
		sees := l.Sees(d.path, d.flags())
		switch {
		case !sees && kept == nil:
			kept = append(make([]dirtyDoc, 0, len(all)), all[:i]...)
		case sees && kept != nil:
			kept = append(kept, d)
		}
	}
	if kept == nil {
		return all
	}
	return kept
}

// without counts the documents in [lo, hi) that are in neither set.
func without(a, b bitset, lo, hi int) int {
	n := hi - lo
	for i := lo / 64; i*64 < hi; i++ {
		w := a[i] | b[i]
		if i*64 < lo {
			w &= ^uint64(0) << (lo % 64)
		}
		if (i+1)*64 > hi {
			w &= ^uint64(0) >> (64 - hi%64)
		}
		n -= bits.OnesCount64(w)
	}
	return n
}
