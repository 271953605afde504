// Package names recognizes paths with a special meaning to the system: devices,
// streams, and the prefixes by which Windows takes a path literally.
//
// It judges the text alone and never reads the disk.
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
