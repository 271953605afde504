package ucd

import "slices"

// stringEntry is a property of strings, in tables from lo to hi.
type stringEntry struct {
	name   string
	lo, hi uint32
}

// rgiEmoji is the property that has all the others.
const rgiEmoji = "RGI_Emoji"

// Strings returns the strings of one of ECMAScript's properties of strings,
// sorted, and whether there is such a property. Some are of one character.
func Strings(name string) ([]string, bool) {
	var out []string
	for i := range stringEntries {
		if e := &stringEntries[i]; e.name == name || name == rgiEmoji {
			out = append(out, decodeStrings(tables[e.lo:e.hi])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), out != nil
}

func decodeStrings(s string) []string {
	var out []string
	last := ""
	for len(s) > 0 {
		var shared, length rune
		shared, s = uvarint(s)
		length, s = uvarint(s)
		last = last[:shared] + s[:length]
		s = s[length:]
		out = append(out, last)
	}
	return out
}
