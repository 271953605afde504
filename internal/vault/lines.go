package vault

import "bytes"

// Functions that recognize single lines as CommonMark defines them. Each takes the line
// without its indentation and line ending.

// countByte returns the length of the run of c at the start of s.
func countByte(s []byte, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func openFence(s []byte) (fence, bool) {
	if s[0] != '`' && s[0] != '~' {
		return fence{}, false
	}
	n := countByte(s, s[0])
	if n < 3 || (s[0] == '`' && bytes.IndexByte(s[n:], '`') >= 0) {
		return fence{}, false
	}
	return fence{s[0], n}, true
}

// atxHeading returns the heading's level, or 0, and the range of its text without closing
// #s.
func atxHeading(s []byte) (level, from, to int) {
	n := countByte(s, '#')
	if n == 0 || n > 6 || (n < len(s) && s[n] != ' ' && s[n] != '\t') {
		return 0, 0, 0
	}
	from, to = trim(s, n, len(s))
	closing := to
	for closing > from && s[closing-1] == '#' {
		closing--
	}
	if closing == from {
		return n, from, from
	}
	if closing < to && (s[closing-1] == ' ' || s[closing-1] == '\t') {
		_, to = trim(s, from, closing)
	}
	return n, from, to
}

// trim excludes blanks at both ends from the range s[from:to].
func trim(s []byte, from, to int) (int, int) {
	for from < to && isBlank(s[from]) {
		from++
	}
	for to > from && isBlank(s[to-1]) {
		to--
	}
	return from, to
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func setextLevel(s []byte) int {
	s = bytes.TrimRight(s, " \t")
	switch {
	case countByte(s, '=') == len(s):
		return 1
	case countByte(s, '-') == len(s):
		return 2
	}
	return 0
}

func isThematicBreak(s []byte) bool {
	c := s[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for _, d := range s {
		switch d {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// listMarker returns the width of the list marker, or 0. A list can interrupt a paragraph
// only if its first item isn't empty and, if numbered, has the number 1.
func listMarker(s []byte, inParagraph bool) int {
	w := 0
	switch {
	case s[0] == '-' || s[0] == '+' || s[0] == '*':
		w = 1
	case '0' <= s[0] && s[0] <= '9':
		for w < len(s) && w < 10 && '0' <= s[w] && s[w] <= '9' {
			w++
		}
		if w == 10 || w == len(s) || (s[w] != '.' && s[w] != ')') {
			return 0
		}
		if inParagraph && (w > 1 || s[0] != '1') {
			return 0
		}
		w++
	default:
		return 0
	}
	if w < len(s) && s[w] != ' ' && s[w] != '\t' {
		return 0
	}
	if inParagraph && len(bytes.TrimRight(s[w:], " \t")) == 0 {
		return 0
	}
	return w
}

// footnoteMarker returns the width of "[^label]:", or 0.
func footnoteMarker(s []byte) int {
	if len(s) < 5 || s[0] != '[' || s[1] != '^' {
		return 0
	}
	for i := 2; i < len(s) && i < 1000; i++ {
		switch s[i] {
		case '[', ' ', '\t':
			return 0
		case ']':
			if i > 2 && i+1 < len(s) && s[i+1] == ':' {
				return i + 2
			}
			return 0
		}
	}
	return 0
}

// isDelimiterRow reports whether s is the second line of a table.
func isDelimiterRow(s []byte) bool {
	dash, bar := false, false
	for _, c := range s {
		switch c {
		case '-':
			dash = true
		case '|':
			bar = true
		case ':', ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return dash && bar
}
