package textedit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"quarry/internal/textfile"
)

// This file handles white space that a caller got wrong. A text without an exact match is
// matched with the only place in the file where all lines are equal when trimmed. Edits are
// never applied because of any other resemblance.

// spacing is the meaning of white space in a file.
type spacing uint8

const (
	meaningful spacing = iota // all lines must differ in the same way
	free                      // indentation has no meaning
	exact                     // every character of white space counts
)

// freeNames are extensions of languages in which indentation has no meaning.
var freeNames = strings.Fields(`go c h cc cpp cxx hh hpp hxx m mm java cs js jsx mjs cjs ts tsx mts cts rs php swift kt kts scala dart proto json jsonc json5 css scss less`)

// spacingOf returns the meaning of white space in a file with this name. In a table of tabs
// and in a diff, the first character of a line is content.
func spacingOf(name string) spacing {
	base := strings.ToLower(path.Base(name))
	ext := strings.TrimPrefix(path.Ext(base), ".")
	switch {
	case slices.Contains([]string{"makefile", "gnumakefile", "bsdmakefile"}, base), slices.Contains([]string{"mk", "mak", "make", "tsv", "diff", "patch"}, ext):
		return exact
	case slices.Contains(freeNames, ext):
		return free
	}
	return meaningful
}

// maxSpaced is the largest file that is searched with other white space.
const maxSpaced = 8 << 20

// spaced is a text split into lines, with and without their white space.
type spaced struct {
	lines   []string // without line endings
	trimmed []string
}

func spacedOf(text string) spaced {
	s := spaced{lines: strings.Split(text, "\n")}
	for _, l := range s.lines {
		s.trimmed = append(s.trimmed, strings.Trim(l, " \t\r"))
	}
	return s
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// distinct reports whether a text is long enough to identify a place: two lines, or 20
// characters.
func (s spaced) distinct() bool {
	lines, _, chars := s.measure()
	return lines >= 2 || chars >= 20
}

// distinctWords is distinct for a text with wrong indentation. Its lines need words, because
// braces and "return nil" occur in many places.
func (s spaced) distinctWords() bool {
	_, words, chars := s.measure()
	return words >= 2 && chars >= 12 || chars >= 20
}

// measure counts the non-blank lines, the lines with a word, and the characters that are
// not white space.
func (s spaced) measure() (lines, words, chars int) {
	for _, l := range s.trimmed {
		if l == "" {
			continue
		}
		if lines++; hasWord(l) {
			words++
		}
		for _, r := range l {
			if !unicode.IsSpace(r) {
				chars++
			}
		}
	}
	return lines, words, chars
}

func hasWord(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// otherSpace finds the only place where all lines of the old text are equal when trimmed. It
// returns the text there (actual), the replacement (next) and a description (how). ok is false
// if there is no such place, or if it can't be trusted.
func (p *planner) otherSpace(oldText, newText string) (start, end int, actual, next, how string, ok bool) {
	d, kind := p.doc, spacingOf(p.name)
	if kind == exact || d.Len() > maxSpaced {
		return
	}
	ends := strings.HasSuffix(oldText, "\n")
	old, new := spacedOf(strings.TrimSuffix(oldText, "\n")), spacedOf(strings.TrimSuffix(newText, "\n"))
	if !old.distinct() || slices.Equal(old.trimmed, new.trimmed) {
		return // an edit that changes only white space must match exactly
	}
	if p.spaced == nil {
		all := spacedOf(string(d.Slice(0, d.Len())))
		p.spaced = &all
	}
	file := *p.spaced
	n := len(old.trimmed)
	place := -1
	for i := 0; i+n <= len(file.trimmed); i++ {
		if file.trimmed[i] == old.trimmed[0] && slices.Equal(file.trimmed[i:i+n], old.trimmed) {
			if place >= 0 {
				return
			}
			place = i
		}
	}
	if place < 0 || !trusted(p.name, kind, file, place, place+n) {
		return
	}
	theirs := spaced{file.lines[place : place+n], file.trimmed[place : place+n]}
	m, ok := newIndents(old, theirs, kind, stepOf(file))
	if !ok || m.how != atEnds && (!old.distinctWords() || file.twin(old, place, false) || m.oldUnit == "" && file.twin(old, place, true)) {
		return 0, 0, "", "", "", false
	}
	lines, ok := m.rewrite(old, theirs, new)
	if !ok {
		return 0, 0, "", "", "", false
	}
	first, _ := d.Line(place + 1)
	last, _ := d.Line(place + n)
	start, end = first.Start, last.Content
	actual, next = textfile.LF.Convert(string(d.Slice(start, end))), strings.Join(lines, "\n")
	if ends {
		if last.End == last.Content {
			return 0, 0, "", "", "", false // the file's last line lacks a newline
		}
		end = last.End
		actual += "\n"
		switch {
		case newText == "":
			next = ""
		case strings.HasSuffix(newText, "\n"):
			next += "\n"
		}
	}
	return start, end, actual, next, m.how, true
}

// twin reports whether half of a text's lines also occur at another place. If they occur
// exactly as given, the text was copied from that place, and its other lines have changed
// there. If they occur when trimmed, either place may be meant.
func (s spaced) twin(old spaced, place int, trimmed bool) bool {
	mine, theirs := old.lines, s.lines
	if trimmed {
		mine, theirs = old.trimmed, s.trimmed
	}
	at := map[string][]int{}
	solid := 0
	for j, l := range mine {
		if telltale(old.trimmed[j], trimmed) {
			at[l] = append(at[l], j)
			solid++
		}
	}
	for i, l := range theirs {
		for _, j := range at[l] {
			if i-j == place {
				continue
			}
			run := 0
			for r := 0; i+r < len(theirs) && j+r < len(mine) && theirs[i+r] == mine[j+r]; r++ {
				if telltale(old.trimmed[j+r], trimmed) {
					run++
				}
			}
			if (run > 1 || trimmed) && 2*run >= solid {
				return true
			}
		}
	}
	return false
}

// telltale reports whether a line can identify its text. A trimmed line must have 16
// characters.
func telltale(line string, trimmed bool) bool {
	return line != "" && (!trimmed || len(line) >= 16)
}

var (
	hereDocument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<<[-~<]?[ \t]*["'\\]?([A-Za-z_]\w*)`) })
	rawStrings   = map[string]string{
		"go": "`", "js": "`", "jsx": "`", "mjs": "`", "cjs": "`", "ts": "`", "tsx": "`", "mts": "`", "cts": "`",
		"java": `"""`, "kt": `"""`, "kts": `"""`, "scala": `"""`, "swift": `"""`, "dart": `"""`, "cs": `"""`,
	}
)

// trusted reports whether the lines from first to before last are outside of here documents
// and multi-line strings, where white space is content.
func trusted(name string, kind spacing, file spaced, first, last int) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if kind == meaningful || ext == "php" {
		end := ""
		for i, l := range file.lines[:last] {
			switch {
			case end != "":
				if i >= first {
					return false
				}
				if strings.TrimRight(file.trimmed[i], ";") == end {
					end = ""
				}
			default:
				if m := hereDocument().FindStringSubmatch(l); m != nil && slices.ContainsFunc(file.trimmed[i+1:], func(s string) bool { return strings.TrimRight(s, ";") == m[1] }) {
					end = m[1]
				}
			}
		}
	}
	if mark := rawStrings[ext]; mark != "" && kind == free {
		inside := false
		for i, l := range file.lines[:last] {
			if strings.Count(l, mark)%2 == 1 {
				inside = !inside
				if i >= first {
					return false
				}
			}
			if inside && i >= first {
				return false
			}
		}
	}
	if ext == "rs" || strings.HasPrefix(ext, "c") || strings.HasPrefix(ext, "h") {
		for _, l := range file.lines[first:last] {
			if strings.Contains(l, `r#"`) || strings.Contains(l, `R"`) || strings.Contains(l, `@"`) {
				return false
			}
		}
	}
	return true
}

// indents maps the indentation of a text to the indentation of the file.
type indents struct {
	known   map[string]string // indents of lines in both texts that always correspond
	newUnit string            // one step of indentation in the file; "" if only known indents can be mapped
	oldUnit string            // one step in the text, if it differs
	how     string
}

// newIndents compares the indents of two texts that are equal when trimmed. It accepts two
// mistakes: another unit of indentation at the same depth, and a text without the indent that
// all lines share. If a text has its own indent at another depth, it may be outdated: its
// lines may have been moved into a block or out of it.
func newIndents(old, theirs spaced, kind spacing, fileUnit string) (*indents, bool) {
	m := &indents{known: map[string]string{}}
	torn := map[string]bool{}
	var a, b []string
	words := 0
	for i, t := range old.trimmed {
		if t == "" {
			continue
		}
		if hasWord(t) {
			words++
		}
		x, y := indentOf(old.lines[i]), indentOf(theirs.lines[i])
		a, b = append(a, x), append(b, y)
		if was, had := m.known[x]; had && was != y {
			torn[x] = true
		}
		m.known[x] = y
	}
	for x := range torn {
		delete(m.known, x)
	}
	oldBase, newBase := sharedBy(a), sharedBy(b)
	lost := oldBase == "" && newBase != "" && words > 1
	same := true
	for i := range a {
		same = same && a[i][len(oldBase):] == b[i][len(newBase):]
	}
	ok := true
	switch {
	case same && oldBase == newBase:
		m.how = atEnds
	case same && lost:
		m.how = "without the common indent"
	case m.otherUnit(a, b, fileUnit, 0):
	case lost && m.otherUnit(a, b, fileUnit, 1):
	default:
		m.how = otherIndent
		ok = kind == free && oldBase == "" && words > 1
	}
	if m.newUnit == "" && m.how != otherIndent {
		m.newUnit = unitOf(b, fileUnit)
	}
	return m, ok
}

const (
	otherIndent = "other indentation"
	atEnds      = "at the ends of lines"
)

// otherUnit finds two units of indentation in which all lines have the same number of steps,
// or all lines of the file a fixed number more. If both units are spaces, the file's unit must
// be the usual one, and the text must show that its own is different: 4 spaces can be two
// units of 2, or one unit of a line that has moved.
func (m *indents) otherUnit(a, b []string, fileUnit string, least int) bool {
	for _, x := range units {
		for _, y := range units {
			alike := x != y
			if (x == "\t") == (y == "\t") {
				alike = alike && y == fileUnit && slices.ContainsFunc(a, func(s string) bool {
					_, usual := times(s, y)
					return !usual || len(x) > len(y) && s != a[0]
				})
			}
			more := 0
			for i := range a {
				k, ok := times(a[i], x)
				l, fits := times(b[i], y)
				if i == 0 {
					more = l - k
				}
				alike = alike && ok && fits && l-k == more
			}
			if alike && more >= least && (more == 0 || least > 0) {
				m.oldUnit, m.newUnit, m.how = x, y, named(y)+" for "+named(x)
				return true
			}
		}
	}
	return false
}

var units = []string{"\t", "    ", "  ", "        ", "   "}

func named(unit string) string {
	if unit == "\t" {
		return "tabs"
	}
	return fmt.Sprintf("%d spaces", len(unit))
}

// unitOf returns the unit of indentation in a list of indents: a tab, or spaces.
func unitOf(list []string, otherwise string) string {
	for _, s := range list {
		if strings.HasPrefix(s, "\t") {
			return "\t"
		}
	}
	if otherwise == "\t" && slices.ContainsFunc(list, func(s string) bool { return s != "" }) {
		return "    "
	}
	return otherwise
}

// stepOf returns the unit of indentation in a file: a tab, or the largest number of spaces
// that divides nearly all indents.
func stepOf(file spaced) string {
	tabs, spaces := 0, 0
	wide := map[string]int{}
	for i, l := range file.lines {
		switch in := indentOf(l); {
		case file.trimmed[i] == "" || in == "":
		case in[0] == '\t':
			tabs++
		default:
			spaces++
			for _, u := range units {
				if _, ok := times(in, u); ok {
					wide[u]++
				}
			}
		}
	}
	if tabs >= spaces && tabs > 0 {
		return "\t"
	}
	for _, u := range []string{"    ", "  ", "   "} {
		if 10*wide[u] >= 9*spaces {
			return u
		}
	}
	return "    "
}

// sharedBy returns the longest prefix that all indents have in common.
func sharedBy(list []string) string {
	base := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, base) {
			base = base[:len(base)-1]
		}
	}
	return base
}

// times returns how many units an indent has; the result is false if it isn't a whole number of units.
func times(indent, unit string) (int, bool) {
	if len(indent)%len(unit) != 0 || indent != strings.Repeat(unit, len(indent)/len(unit)) {
		return 0, false
	}
	return len(indent) / len(unit), true
}

// of maps an indent of the new text: like the same indent of the old text or else, by
// steps, from the nearest one.
func (m *indents) of(indent string) (string, bool) {
	if y, ok := m.known[indent]; ok {
		return y, true
	}
	below, above := "", "" // the longest known prefix of indent, and the shortest known extension of it
	hasBelow, hasAbove := false, false
	for x := range m.known {
		if strings.HasPrefix(indent, x) && (!hasBelow || len(x) > len(below)) {
			below, hasBelow = x, true
		}
		if strings.HasPrefix(x, indent) && (!hasAbove || len(x) < len(above)) {
			above, hasAbove = x, true
		}
	}
	if hasBelow {
		step, ok := m.steps(indent[len(below):])
		return m.known[below] + step, ok
	}
	if hasAbove {
		if step, ok := m.steps(above[len(indent):]); ok {
			return strings.CutSuffix(m.known[above], step)
		}
	}
	return "", false
}

// steps returns an indent in the file's units. An indent written in the file's style is kept.
// A tab counts as 4 spaces, unless the lines show otherwise.
func (m *indents) steps(indent string) (string, bool) {
	if m.newUnit == "" {
		return "", false
	}
	tabs := strings.Trim(indent, "\t") == ""
	fileTabs := m.newUnit == "\t"
	switch {
	case tabs && fileTabs:
		return indent, true
	case tabs == fileTabs && (m.oldUnit == "" || m.oldUnit == "\t"):
		_, ok := times(indent, m.newUnit)
		return indent, ok
	case tabs:
		return strings.Repeat(m.newUnit, len(indent)), true
	}
	unit := m.oldUnit
	if unit == "" || unit == "\t" {
		unit = "    "
	}
	k, ok := times(indent, unit)
	return strings.Repeat(m.newUnit, k), ok
}

// rewrite returns the lines of the new text with the file's white space. Lines that are also
// in the old text are taken from the file.
func (m *indents) rewrite(old, theirs, new spaced) ([]string, bool) {
	kept := common(old.lines, new.lines)
	out := make([]string, len(new.lines))
	for i, l := range new.lines {
		switch k := kept[i]; {
		case k >= 0:
			out[i] = strings.TrimSuffix(theirs.lines[k], "\r")
		case new.trimmed[i] == "":
			out[i] = l
		default:
			indent, ok := m.of(indentOf(l))
			if !ok {
				return nil, false
			}
			out[i] = indent + strings.TrimLeft(l, " \t")
		}
	}
	return out, true
}

// common pairs the lines of two texts: for each line of b it returns the index of its partner
// in a, or -1.
func common(a, b []string) []int {
	pair := make([]int, len(b))
	for i := range pair {
		pair[i] = -1
	}
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		pair[lo] = lo
		lo++
	}
	x, y := len(a), len(b)
	for x > lo && y > lo && a[x-1] == b[y-1] {
		x, y = x-1, y-1
		pair[y] = x
	}
	// In between, use the longest common subsequence, unless the texts are large.
	if (x-lo)*(y-lo) > 1<<20 {
		return pair
	}
	n, k := x-lo, y-lo
	table := make([]int, (n+1)*(k+1))
	for i := n - 1; i >= 0; i-- {
		for j := k - 1; j >= 0; j-- {
			if a[lo+i] == b[lo+j] {
				table[i*(k+1)+j] = table[(i+1)*(k+1)+j+1] + 1
			} else {
				table[i*(k+1)+j] = max(table[(i+1)*(k+1)+j], table[i*(k+1)+j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < k; {
		switch {
		case a[lo+i] == b[lo+j]:
			pair[lo+j] = lo + i
			i, j = i+1, j+1
		case table[(i+1)*(k+1)+j] >= table[i*(k+1)+j+1]:
			i++
		default:
			j++
		}
	}
	return pair
}
