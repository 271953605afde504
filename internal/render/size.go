package render

import (
	"strconv"
	"unicode/utf8"
)

// SizeExact is a size with its bytes: 2.4 KB (2,456 bytes).
func SizeExact(n int64) string {
	if n < 1<<10 {
		return Size(n)
	}
	return Size(n) + " (" + grouped(n) + " bytes)"
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a number of things whose plural isn't the word with an s: 1 file
// matches, 2 files match.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Clip shows the first n characters of a text, and that there are more.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
