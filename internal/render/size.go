package render

import (
	"strconv"
)

// SizeExact formats a size and its number of bytes: 2.4 KB (2,456 bytes).
func SizeExact(n int64) string {
	if n < 1<<10 {
		return Size(n)
	}
	return Size(n) + " (" + grouped(n) + " bytes)"
}

// grouped formats a number with commas between groups of digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
