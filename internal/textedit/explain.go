package textedit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/splice"
	"quarry/internal/textfile"
)

// explainMax is the largest text for which explain looks for the difference, in bytes.
const explainMax = 256 << 10

// explain describes how the found text differs from the given text.
func (n *Near) explain() {
	file := textfile.LF.Convert(n.Text)
	if len(file) > explainMax || len(n.given) > explainMax {
		n.Reason = n.firstDifference(file)
		return
	}
	need, ok := differences(file, n.given)
	if !ok || need == 0 {
		n.Reason = n.firstDifference(file)
		return
	}
	n.folds = need
	var parts []string
	for f := fold(1); f < foldAll; f <<= 1 {
		if need&f != 0 {
			parts = append(parts, n.describe(f, file))
		}
	}
	n.Reason = "differs only in " + strings.Join(parts, "; and in ")
}

func (n *Near) describe(f fold, file string) string {
	switch f {
	case foldIndent, foldTrailing:
		// First fold all other differences (quotes, dashes, blank lines), so that the lines can be paired.
		rest := n.folds & (foldRunes | foldBlank)
		return n.describeEdge(f, rest.apply(file), rest.apply(n.given))
	case foldBlank:
		if blanks(file) == blanks(n.given) && strings.HasSuffix(n.given, "\n") && !strings.HasSuffix(file, "\n") {
			return "the end: the last line of the file has no newline, you gave one"
		}
		return fmt.Sprintf("blank lines: file has %s, you gave %s", blanks(file), blanks(n.given))
	case foldWhite:
		return n.describeWhite(file)
	}
	a, b := pair((n.folds &^ f).apply(file), (n.folds &^ f).apply(n.given))
	switch f {
	case foldCase:
		return fmt.Sprintf("upper and lower case: file has %q, you gave %q", a, b)
	case foldForm:
		return fmt.Sprintf("Unicode form: file has %s, you gave %s", codes(a), codes(b))
	case foldInvisible:
		return fmt.Sprintf("invisible characters: file has %s, you gave %s", invisible(file), invisible(n.given))
	case foldSpaces:
		return fmt.Sprintf("the kind of space: file has %s, you gave %s", charName(a), charName(b))
	case foldQuotes:
		return fmt.Sprintf("quotes: file has %s, you gave %s", charName(a), charName(b))
	case foldDashes:
		return fmt.Sprintf("dashes: file has %s, you gave %s", charName(a), charName(b))
	}
	return "the ellipsis: one character … against three dots"
}

// describeEdge describes a difference at the beginnings or ends of lines.
func (n *Near) describeEdge(f fold, file, given string) string {
	a, b := strings.Split(file, "\n"), strings.Split(given, "\n")
	for i := range min(len(a), len(b)) {
		x, y := edge(a[i], f), edge(b[i], f)
		if x == y {
			continue
		}
		what := "indentation"
		if f == foldTrailing {
			what = "trailing spaces"
		}
		return fmt.Sprintf("%s: file has %s, you gave %s (line %d)", what, white(x), white(y), n.First+i)
	}
	return "white space at the ends of lines"
}

func edge(line string, f fold) string {
	if f == foldIndent {
		return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	}
	return line[len(strings.TrimRight(line, " \t\r")):]
}

// white counts white space: "1 tab", "4 spaces", "1 tab and 2 spaces", "none".
func white(s string) string {
	var parts []string
	for len(s) > 0 {
		c := s[0]
		rest := strings.TrimLeft(s, s[:1])
		k := len(s) - len(rest)
		name := map[byte]string{' ': "space", '\t': "tab", '\n': "line break", '\r': "carriage return"}[c]
		if name == "" {
			return fmt.Sprintf("%q", s)
		}
		if k > 1 {
			name += "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s", k, name))
		s = rest
	}
	switch len(parts) {
	case 0:
		return "none"
	case 1:
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

func blanks(s string) string {
	k := 0
	for _, l := range strings.Split(strings.Trim(s, "\n"), "\n") {
		if strings.TrimSpace(l) == "" {
			k++
		}
	}
	switch k {
	case 0:
		return "none"
	case 1:
		return "1"
	}
	return fmt.Sprint(k)
}

// describeWhite describes the first run of white space that differs.
func (n *Near) describeWhite(file string) string {
	f := n.folds & foldRunes
	a, b := f.apply(file), f.apply(n.given)
	line := n.First
	for len(a) > 0 || len(b) > 0 {
		x := a[:len(a)-len(strings.TrimLeftFunc(a, unicode.IsSpace))]
		y := b[:len(b)-len(strings.TrimLeftFunc(b, unicode.IsSpace))]
		if x != y {
			return fmt.Sprintf("white space: file has %s, you gave %s (line %d)", white(x), white(y), line)
		}
		line += strings.Count(x, "\n")
		a, b = a[len(x):], b[len(y):]
		if a == "" || b == "" {
			break
		}
		_, i := utf8.DecodeRuneInString(a)
		_, j := utf8.DecodeRuneInString(b)
		a, b = a[i:], b[j:]
	}
	return "white space"
}

// pair returns the first difference of two texts: the words around it if both have letters
// there, otherwise one character with its combining marks.
func pair(a, b string) (string, string) {
	i := splice.Prefix(a, b)
	for i > 0 && (i < len(a) && !startsChar(a[i:]) || i < len(b) && !startsChar(b[i:])) {
		i--
	}
	x, y := oneChar(a[i:]), oneChar(b[i:])
	if !isWord(x) || !isWord(y) || len(x) != 1 && len(y) != 1 {
		return x, y
	}
	start := strings.LastIndexFunc(a[:i], func(r rune) bool { return !unicode.IsLetter(r) }) + 1
	return word(a, start, i), word(b, start, i)
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

func word(s string, start, at int) string {
	if end := strings.IndexFunc(s[at:], func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		s = s[:at+end]
	}
	return fault.Clip(s[start:], 40)
}

func startsChar(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return utf8.RuneStart(s[0]) && !unicode.Is(unicode.Mn, r)
}

// oneChar returns the first character of s with its combining marks.
func oneChar(s string) string {
	if s == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(s)
	for n < len(s) {
		r, w := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.Mn, r) && (r < 0x1160 || r > 0x11FF) { // Hangul vowels and tails
			break
		}
		n += w
	}
	return s[:n]
}

// codes formats each character of s with its code point: "é (U+00E9)".
func codes(s string) string {
	var c []string
	for _, r := range s {
		c = append(c, fmt.Sprintf("U+%04X", r))
	}
	return fmt.Sprintf("%s (%s)", s, strings.Join(c, " "))
}

var charNames = map[rune]string{
	' ': "a space", '\t': "a tab", '\n': "nothing there", 0xA0: "a no-break space (U+00A0)",
	0x202F: "a narrow no-break space (U+202F)", 0x3000: "an ideographic space (U+3000)",
	0x200B: "a zero width space (U+200B)", 0x200C: "a zero width non-joiner (U+200C)",
	0x200D: "a zero width joiner (U+200D)", 0x2060: "a word joiner (U+2060)",
	0xAD: "a soft hyphen (U+00AD)", 0xFEFF: "a byte order mark (U+FEFF)",
	'-': "a hyphen-minus (U+002D)", 0x2013: "– (en dash, U+2013)", 0x2014: "— (em dash, U+2014)",
}

func charName(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case n == 0:
		return "nothing"
	case charNames[r] != "":
		return charNames[r]
	case isInvisible(r) || isOddSpace(r) || unicode.IsControl(r):
		return fmt.Sprintf("U+%04X", r)
	}
	return fmt.Sprintf("%c (U+%04X)", r, r)
}

func invisible(s string) string {
	for _, r := range s {
		if isInvisible(r) {
			return charName(string(r))
		}
	}
	return "none"
}

// firstDifference describes the first difference of texts that differ in more than white space
// or similar characters.
func (n *Near) firstDifference(file string) string {
	i := 0
	for i < len(file) && i < len(n.given) && file[i] == n.given[i] {
		i++
	}
	line := n.First + strings.Count(file[:i], "\n")
	start := max(strings.LastIndexByte(file[:i], '\n')+1, i-20)
	for start > 0 && start < len(file) && !utf8.RuneStart(file[start]) {
		start--
	}
	part := func(s string) string {
		s = s[min(start, len(s)):]
		if k := strings.IndexByte(s, '\n'); k >= 0 && start+k >= i {
			s = s[:k]
		}
		return Visible(fault.Clip(s, 60))
	}
	x, y := part(file), part(n.given)
	return fmt.Sprintf("first difference on line %d: file has «%s», you gave «%s»", line, x, y)
}
