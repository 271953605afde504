// Package names recognizes paths with a special meaning to the system: devices,
// streams, and the prefixes by which Windows takes a path literally.
//
// It only examines the text and never reads the disk.
package names

import "strings"

// WithoutPrefix removes the prefix \\?\, by which Windows takes a path literally, so that
// paths with and without it lead to the same root. It keeps the prefix if the path would
// mean another folder without it.
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
