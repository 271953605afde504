package gitdir

import (
	"bytes"
	"iter"
	"strings"
)

// Settings yields the keys and values of a git configuration, in order; later values take
// precedence. A key is section and name in lower case: core.worktree or, in a subsection,
// remote "x".url. Includes are not read.
func Settings(text []byte) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		section := ""
		for line := range bytes.Lines(text) {
			s := strings.TrimSpace(string(line))
			if strings.HasPrefix(s, "[") {
				section, s, _ = strings.Cut(s[1:], "]")
				section, s = strings.ToLower(strings.TrimSpace(section)), strings.TrimSpace(s)
			}
			key, value, ok := strings.Cut(s, "=")
			if key = strings.ToLower(strings.TrimSpace(key)); !ok || key == "" || key[0] == '#' || key[0] == ';' {
				continue
			}
			if !yield(section+"."+key, unquote(strings.TrimSpace(value))) {
				return
			}
		}
	}
}

// unquote removes quotes, escapes and a trailing comment from a value.
func unquote(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
