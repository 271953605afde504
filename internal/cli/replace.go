package cli

import (
	"strconv"
	"strings"

	"quarry"
	"quarry/match"
)

// replacer puts a replacement in the place of matches.
type replacer struct {
	template string
	m        *match.Matcher
	slots    []int
}

// all returns text with every match replaced, and where the replacements are.
func (r *replacer) all(text []byte, spans []quarry.Span) ([]byte, []quarry.Span) {
	var out []byte
	now := make([]quarry.Span, 0, len(spans))
	at := 0
	for _, s := range spans {
		out = append(out, text[at:s.Start]...)
		start := len(out)
		out = r.one(out, text, s)
		now = append(now, quarry.Span{Start: start, End: len(out)})
		at = s.End
	}
	return append(out, text[at:]...), now
}

// one appends what a match is replaced by: $1, ${1}, $name and ${name} stand
// for groups, $$ for a dollar sign. A group that is not there is empty.
func (r *replacer) one(out, text []byte, s quarry.Span) []byte {
	slots, ok := r.m.Captures(text, s.Start, r.slots)
	if ok {
		r.slots = slots
	}
	if !ok || slots[0] != s.Start || slots[1] != s.End {
		// A match that looked at lines outside the block has only itself.
		slots = []int{s.Start, s.End}
	}
	for rest := r.template; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
		if strings.HasPrefix(rest, "$$") {
			out, rest = append(out, '$'), rest[2:]
			continue
		}
		name, size := groupName(rest)
		if size == 0 {
			out, rest = append(out, '$'), rest[1:]
			continue
		}
		if g := r.group(name); g >= 0 && 2*g < len(slots) && slots[2*g] >= 0 {
			out = append(out, text[slots[2*g]:slots[2*g+1]]...)
		}
		rest = rest[size:]
	}
	return out
}

// groupName reads $name or ${name} at the start of s.
func groupName(s string) (name string, size int) {
	if strings.HasPrefix(s, "${") {
		if i := strings.IndexByte(s, '}'); i > 0 {
			return s[2:i], i + 1
		}
		return "", 0
	}
	i := 1
	for i < len(s) && (s[i] == '_' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
		i++
	}
	if i == 1 {
		return "", 0
	}
	return s[1:i], i
}

func (r *replacer) group(name string) int {
	names := r.m.Pattern().GroupNames()
	if n, err := strconv.Atoi(name); err == nil {
		if 0 <= n && n < len(names) {
			return n
		}
		return -1
	}
	for i, have := range names {
		if have == name && i > 0 {
			return i
		}
	}
	return -1
}
