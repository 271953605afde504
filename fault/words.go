package fault

import (
	"strconv"
)

// Printable returns s, quoted with escapes if it holds anything that could
// forge a line or steer a terminal. It is for messages, not for results.
func Printable(s string) string {
	q := strconv.QuoteToGraphic(s)
	if len(q) == len(s)+2 && q[1:len(q)-1] == s {
		return s
	}
	return q
}

// Clip shows the first n characters of a text that may be of any length, and
// whether there are more.
func Clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Count is "1 file" or "3 files". A plural that is not one with s is given.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return strconv.Itoa(n) + " " + many[0]
	}
	return strconv.Itoa(n) + " " + one + "s"
}
