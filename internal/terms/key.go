package terms

// Key represents a term by KeyBits bits of its hash. Terms with equal keys count as the same
// term, both in texts and in an index, so both give the same numbers. The Linux tree has 1.2
// million terms: one in a million words shares its key with one of them.
type Key uint64

// KeyBits is how many bits a key has.
const KeyBits = 40

// KeyOf returns the key of a term, which is folded and stemmed.
func KeyOf(term []byte) Key {
	h := uint64(14695981039346656037)
	for _, c := range term {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return Key(mix(h) >> (64 - KeyBits))
}

// mix returns a hash in which each bit depends on all bits of h.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
