package searcher

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"quarry/internal/symbols"
)

// largeText is the size in bytes above which the definitions of a text are cached. A text
// of 4 MB takes up to a second to parse, and a call that finds nothing parses it three
// times: for the name, for similar names and for the name outside the path.
const largeText = 1 << 20

// Limits of the cache, 16 MB in all: the number of texts, and the bytes of names per
// text.
const (
	largeTexts     = 4
	largeTextNames = 4 << 20
)

// largeNames caches the definitions of recently read large texts. An entry is found by a
// checksum of the text, so changes are always noticed.
type largeNames struct {
	mu   sync.Mutex
	seed maphash.Seed
	kept []*namesOfText // most recently used last
}

// namesOfText are the definitions of one text. It is immutable.
type namesOfText struct {
	path  string
	size  int
	sum   uint64
	whole bool // false if the parser gave up before the end
	names []nameOfText
}

type nameOfText struct {
	name, container string
	kind            symbols.Kind
}

// largeReader reads definitions as symbols.Names does, but parses a large text only once.
type largeReader struct {
	*symbols.Names
	large *largeNames
	known *namesOfText // of the latest text; nil if the embedded Names has them
}

func (r *largeReader) Read(path string, text []byte) (whole bool) {
	r.known = nil
	if len(text) < largeText {
		return r.Names.Read(path, text)
	}
	of := namesOfText{path: path, size: len(text)}
	if of.sum, r.known = r.large.find(path, text); r.known != nil {
		return r.known.whole
	}
	of.whole = r.Names.Read(path, text)
	if r.Stop != nil && r.Stop() {
		return of.whole // stopped by the caller, so don't cache
	}
	bytes := 0
	r.Names.Each(func(name string, kind symbols.Kind, container string) {
		if bytes += len(name) + len(container) + 40; bytes <= largeTextNames {
			of.names = append(of.names, nameOfText{strings.Clone(name), strings.Clone(container), kind}) // don't keep the whole text in memory
		}
	})
	if bytes <= largeTextNames {
		r.large.keep(&of)
	}
	return of.whole
}

func (r *largeReader) Each(yield func(name string, kind symbols.Kind, container string)) {
	if r.known == nil {
		r.Names.Each(yield)
		return
	}
	for _, n := range r.known.names {
		yield(n.name, n.kind, n.container)
	}
}

// find returns the checksum of a text, and its definitions if they are cached. The path
// must match, too, because it determines the language.
func (l *largeNames) find(path string, text []byte) (uint64, *namesOfText) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	sum := maphash.Bytes(l.seed, text)
	for i, k := range l.kept {
		if k.path == path && k.size == len(text) && k.sum == sum {
			l.kept = append(slices.Delete(l.kept, i, i+1), k)
			return sum, k
		}
	}
	return sum, nil
}

func (l *largeNames) keep(k *namesOfText) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = slices.DeleteFunc(l.kept, func(old *namesOfText) bool { return old.path == k.path })
	if len(l.kept) >= largeTexts {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	l.kept = append(l.kept, k)
}
