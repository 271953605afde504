package scan

import (
	"strings"
	"testing"

	"quarry/match"
)

// A file whose search MaxLines ends counts as searched up to its last line, however much
// of it a read returned.
func TestBytesOfLimitedSearch(t *testing.T) {
	text := "a\nb\na\nc\na\n"
	for _, c := range []struct {
		max  int
		mode match.Mode
		want int64
	}{
		{0, match.Lines, 10}, {1, match.Lines, 2}, {2, match.Lines, 6}, {3, match.Lines, 10}, {4, match.Lines, 10},
		{2, match.Multiline, 6},
	} {
		s := New(match.MustCompile("a", match.Options{Mode: c.mode}).NewMatcher())
		req := &Request{MaxLines: c.max, After: 1}
		got, err := s.File(strings.NewReader(text), int64(len(text)), req)
		if err != nil || got.Bytes != c.want {
			t.Errorf("max %d, mode %d: %d bytes, %v; want %d", c.max, c.mode, got.Bytes, err, c.want)
		}
		if got, err = s.Bytes([]byte(text), req); err != nil || got.Bytes != c.want {
			t.Errorf("in memory, max %d: %d bytes, %v; want %d", c.max, got.Bytes, err, c.want)
		}
	}
}
