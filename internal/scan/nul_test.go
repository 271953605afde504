package scan

import (
	"bytes"
	"strings"
	"testing"

	"quarry/match"
	"quarry/search"
)

// TestNULRules tests the rules on both sides of a boundary: the shown lines of a file with a
// NUL depend on where ripgrep's buffers of 64 KiB end.
func TestNULRules(t *testing.T) {
	line := "word 0123456789\n" // 16 bytes: 4,096 lines fill a buffer
	early := line + "a\x00b\n" + line
	late := strings.Repeat(line, 5000) + "a\x00b\n" + line // the NUL is in the second buffer
	inHit := strings.Repeat(strings.Repeat("-", 15)+"\n", 5000) + "word \x00\n" + line
	for _, c := range []struct {
		name    string
		text    string
		rule    search.NULRule
		detail  Detail
		matched int
		lines   int
		nul     int64
		atNUL   bool
	}{
		{"a NUL in the first buffer", early, search.StopAtNUL, Lines, 0, 0, 18, true},
		{"a file with one is skipped by our own rule", early, search.SkipBinary, Lines, 0, 0, 0, false},
		{"only mentioned", early, search.MentionNUL, Lines, 1, 0, 18, false},
		{"counted, since it was named", early, search.MentionNUL, Count, 2, 0, 18, false},
		{"mapped", early, search.StopAtNULMapped, Lines, 0, 0, 18, true},
		{"mapped and mentioned", early, search.MentionNULMapped, Lines, 1, 0, 18, false},
		{"the lines of the first buffer", late, search.StopAtNUL, Lines, 4096, 4096, 80002, true},
		{"a count is nothing", late, search.StopAtNUL, Count, 0, 0, 80002, true},
		{"found before the NUL is", late, search.StopAtNUL, Exists, 1, 0, 0, false},
		{"mentioned after them", late, search.MentionNUL, Lines, 4097, 4096, 80002, false},
		{"mapped, the NUL is not examined", late, search.MentionNULMapped, Lines, 5001, 5001, 0, false},
		{"mapped, in a line that matches", inHit, search.MentionNULMapped, Lines, 1, 0, 80006, false},
		{"mapped, in a line that matches, not named", inHit, search.StopAtNULMapped, Lines, 0, 0, 80006, true},
	} {
		s := New(match.MustCompile("word", match.Options{}).NewMatcher())
		res, err := s.File(bytes.NewReader([]byte(c.text)), int64(len(c.text)), &Request{NUL: c.rule, Detail: c.detail})
		if err != nil {
			t.Fatal(err)
		}
		if res.Matched != c.matched || len(res.Lines) != c.lines || res.NUL != c.nul || res.AtNUL != c.atNUL {
			t.Errorf("%s: matched %d, %d lines, NUL %d, stopped %v; want %d, %d, %d, %v", c.name,
				res.Matched, len(res.Lines), res.NUL, res.AtNUL, c.matched, c.lines, c.nul, c.atNUL)
		}
	}
}
