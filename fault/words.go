package fault

import (
	"strconv"
)

// Printable returns s, quoted with escapes if it contains anything that could forge a
// line or control a terminal. It is for messages, not for results.
func Printable(s string) string {
	q := strconv.QuoteToGraphic(s)
	if len(q) == len(s)+2 && q[1:len(q)-1] == s {
		return s
	}
	return q
}

// Clip returns the first n characters of a text of any length, with a mark if it was cut.
func Clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Count returns "1 file" or "3 files". many is the plural if it does not end in s.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return strconv.Itoa(n) + " " + many[0]
	}
	return strconv.Itoa(n) + " " + one + "s"
}
