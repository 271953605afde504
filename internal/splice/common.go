package splice

// Prefix returns how many bytes a and b begin with alike.
func Prefix[T ~string | ~[]byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Ends returns how many bytes a and b begin with alike, and how many of the
// others they end with alike: what is between them differs.
func Ends[T ~string | ~[]byte](a, b T) (prefix, suffix int) {
	prefix = Prefix(a, b)
	return prefix, Suffix(a[prefix:], b[prefix:])
}

// Suffix returns how many bytes a and b end with alike.
func Suffix[T ~string | ~[]byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
