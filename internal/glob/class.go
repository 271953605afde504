package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is a set of characters or, under git's rules, of bytes. Members below 256 are in a
// bitmap. A byte class has only these.
type class struct {
	bits   [4]uint64
	bytes  bool
	ranges []runeRange           // beyond the bitmap
	tables []*unicode.RangeTable // Unicode classes, beyond the bitmap
	negate bool
	fold   bool // also matches other cases of its members

	// graph and print record minimatch's [:graph:] and [:print:]. They are separate because
	// minimatch translates a negated class with one of them and other members to an
	// alternation: it matches a character that is outside of either part.
	graph, print bool
}

type runeRange struct{ lo, hi rune }

func (c *class) addByte(b byte) { c.bits[b>>6] |= 1 << (b & 63) }

func (c *class) addRange(lo, hi rune) {
	for r := lo; r <= hi && r < 256; r++ {
		c.addByte(byte(r))
	}
	if hi >= 256 {
		c.ranges = append(c.ranges, runeRange{max(lo, 256), hi})
	}
}

// step returns the length of the character or byte at the start of s if it is in the class, or -1.
func (c *class) step(s string) int {
	if c.bytes {
		if c.has(rune(s[0])) {
			return 1
		}
		return -1
	}
	r, n := rune(s[0]), 1
	if r >= utf8.RuneSelf {
		r, n = utf8.DecodeRuneInString(s)
	}
	if c.has(r) {
		return n
	}
	return -1
}

func (c *class) has(r rune) bool {
	plain := c.member(r)
	for f := unicode.SimpleFold(r); c.fold && !plain && f != r; f = unicode.SimpleFold(f) {
		plain = c.member(f)
	}
	if !c.graph && !c.print {
		return plain != c.negate
	}
	outside := !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
	if !c.graph {
		outside = outside && !unicode.Is(unicode.Z, r)
	}
	if c.bits == [4]uint64{} && c.ranges == nil && c.tables == nil {
		return outside == c.negate
	}
	return plain != c.negate || outside == c.negate
}

func (c *class) member(r rune) bool {
	if r < 256 {
		if c.bits[r>>6]&(1<<(r&63)) != 0 {
			return true
		}
	} else {
		for _, g := range c.ranges {
			if g.lo <= r && r <= g.hi {
				return true
			}
		}
	}
	return len(c.tables) > 0 && unicode.In(r, c.tables...)
}

// parseGitClass parses the class at the start of p like git's wildmatch, and returns its
// length. For a malformed class, c is nil and reason says why. If c is not nil, a reason
// reports something that git accepts but that is probably a mistake.
func parseGitClass(p string, runes bool) (c *class, n int, reason string) {
	c = &class{bytes: !runes}
	next := func(i int) (rune, int) {
		if !runes {
			return rune(p[i]), 1
		}
		return utf8.DecodeRuneInString(p[i:])
	}
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		c.negate = true
		i++
	}
	prev, havePrev := rune(0), false
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, `"[" is never closed by "]"`
		}
		if p[i] == ']' && !first {
			return c, i + 1, reason
		}
		switch {
		case p[i] == '\\':
			if i+1 >= len(p) {
				return nil, 0, `"[" is never closed by "]"`
			}
			r, w := next(i + 1)
			c.addRange(r, r)
			prev, havePrev = r, true
			i += 1 + w
		case p[i] == '-' && havePrev && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				if i++; i >= len(p) {
					return nil, 0, `"[" is never closed by "]"`
				}
			}
			r, w := next(i)
			if r < prev {
				reason = "range " + string(prev) + "-" + string(r) + " in a class is reversed"
			}
			c.addRange(prev, r)
			havePrev = false
			i += w
		case strings.HasPrefix(p[i:], "[:"):
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0, `"[" is never closed by "]"`
			}
			if end == 0 || p[i+2+end-1] != ':' {
				c.addByte('[')
				prev, havePrev = '[', true
				i++
				continue
			}
			name := p[i+2 : i+2+end-1]
			if !c.addASCIIClass(name) {
				return nil, 0, "unknown class [:" + name + ":]"
			}
			havePrev = false
			i += 2 + end + 1
		default:
			r, w := next(i)
			c.addRange(r, r)
			prev, havePrev = r, true
			i += w
		}
	}
}

// addASCIIClass adds a POSIX class as defined in git: with ASCII characters only, and without
// \v and \f in the spaces.
func (c *class) addASCIIClass(name string) bool {
	var in func(b byte) bool
	lower := func(b byte) bool { return 'a' <= b && b <= 'z' }
	upper := func(b byte) bool { return 'A' <= b && b <= 'Z' }
	digit := func(b byte) bool { return '0' <= b && b <= '9' }
	switch name {
	case "alnum":
		in = func(b byte) bool { return lower(b) || upper(b) || digit(b) }
	case "alpha":
		in = func(b byte) bool { return lower(b) || upper(b) }
	case "blank":
		in = func(b byte) bool { return b == ' ' || b == '\t' }
	case "cntrl":
		in = func(b byte) bool { return b < ' ' || b == 0x7f }
	case "digit":
		in = digit
	case "graph":
		in = func(b byte) bool { return ' ' < b && b < 0x7f }
	case "lower":
		in = lower
	case "print":
		in = func(b byte) bool { return ' ' <= b && b < 0x7f }
	case "punct":
		in = func(b byte) bool { return ' ' < b && b < 0x7f && !lower(b) && !upper(b) && !digit(b) }
	case "space":
		in = func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
	case "upper":
		in = upper
	case "xdigit":
		in = func(b byte) bool { return digit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F' }
	default:
		return false
	}
	for b := range 256 {
		if in(byte(b)) {
			c.addByte(byte(b))
		}
	}
	return true
}

// minimatchClasses are the POSIX classes as minimatch translates them.
var minimatchClasses = []struct {
	name string
	add  func(*class)
}{
	{"[:alnum:]", func(c *class) { c.tables = append(c.tables, unicode.L, unicode.Nl, unicode.Nd) }},
	{"[:alpha:]", func(c *class) { c.tables = append(c.tables, unicode.L, unicode.Nl) }},
	{"[:ascii:]", func(c *class) { c.addRange(0, 0x7f) }},
	{"[:blank:]", func(c *class) { c.addByte('\t'); c.tables = append(c.tables, unicode.Zs) }},
	{"[:cntrl:]", func(c *class) { c.tables = append(c.tables, unicode.Cc) }},
	{"[:digit:]", func(c *class) { c.tables = append(c.tables, unicode.Nd) }},
	{"[:graph:]", func(c *class) { c.graph = true }},
	{"[:lower:]", func(c *class) { c.tables = append(c.tables, unicode.Ll) }},
	{"[:print:]", func(c *class) { c.print = true }},
	{"[:punct:]", func(c *class) { c.tables = append(c.tables, unicode.P, unicode.S) }},
	{"[:space:]", func(c *class) { c.addRange('\t', '\r'); c.tables = append(c.tables, unicode.Z) }},
	{"[:upper:]", func(c *class) { c.tables = append(c.tables, unicode.Lu) }},
	{"[:word:]", func(c *class) { c.tables = append(c.tables, unicode.L, unicode.Nl, unicode.Nd, unicode.Pc) }},
	{"[:xdigit:]", func(c *class) { c.addRange('0', '9'); c.addRange('a', 'f'); c.addRange('A', 'F') }},
}

// parseMinimatchClass parses the class at the start of p like minimatch. n is 0 if the class
// isn't closed. For a class that can't match anything, c is nil and n is len(p), because
// minimatch ignores the rest of the part.
func parseMinimatchClass(p string) (c *class, n int) {
	c = &class{}
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		c.negate = true
		i++
	}
	empty, first, escaped := true, true, false
	from, inRange := rune(0), false
scan:
	for i < len(p) {
		r, w := utf8.DecodeRuneInString(p[i:])
		if r == ']' && !first && !escaped {
			if empty {
				return nil, len(p)
			}
			return c, i + 1
		}
		first = false
		if r == '\\' && !escaped {
			escaped = true
			i++
			continue
		}
		if r == '[' && !escaped {
			for _, m := range minimatchClasses {
				if strings.HasPrefix(p[i:], m.name) {
					if inRange {
						return nil, len(p)
					}
					m.add(c)
					empty = false
					i += len(m.name)
					continue scan
				}
			}
		}
		escaped = false
		switch after := p[i+w:]; {
		case inRange:
			if r >= from {
				c.addRange(from, r)
				empty = false
			}
			inRange = false
		case strings.HasPrefix(after, "-]"):
			c.addRange(r, r)
			c.addByte('-')
			empty = false
			i++
		case strings.HasPrefix(after, "-"):
			from, inRange = r, true
			i++
		default:
			c.addRange(r, r)
			empty = false
		}
		i += w
	}
	return nil, 0
}
