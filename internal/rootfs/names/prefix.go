// Package names knows which paths mean something else to the system than they say:
// devices, streams, and the prefixes by which Windows takes a path literally.
//
// It looks at text only and asks no disk.
package names

import "strings"

// WithoutPrefix drops the prefix by which Windows takes a path literally, so that
// paths with and without it lead to the same root. It stays on a path that means
// another folder without it.
func WithoutPrefix(abs string) string {
	rest, ok := strings.CutPrefix(abs, `\\?\`)
	if !ok {
		return abs
	}
	for name := range strings.SplitSeq(rest, `\`) {
		if strings.TrimRight(name, ". ") != name {
			return abs
		}
	}
	if share, ok := strings.CutPrefix(rest, `UNC\`); ok {
		return `\\` + share
	}
	if len(rest) >= 3 && rest[1] == ':' && rest[2] == '\\' {
		return rest
	}
	return abs
}
