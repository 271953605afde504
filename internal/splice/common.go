package splice

// Prefix returns the length of the common prefix of a and b.
func Prefix[T ~string | ~[]byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Ends returns the length of the common prefix of a and b, and that of the common suffix
// of the rest.
func Ends[T ~string | ~[]byte](a, b T) (prefix, suffix int) {
	prefix = Prefix(a, b)
	return prefix, Suffix(a[prefix:], b[prefix:])
}

// Suffix returns the length of the common suffix of a and b.
func Suffix[T ~string | ~[]byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
