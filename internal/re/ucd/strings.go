package ucd

import "slices"

// stringEntry is a property of strings, stored at lo to hi of the tables.
type stringEntry struct {
	name   string
	lo, hi uint32
}

// rgiEmoji is the property that includes all others.
const rgiEmoji = "RGI_Emoji"

// Strings returns the sorted strings of one of ECMAScript's properties of strings, and whether
// the property exists. Some strings have one character.
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
