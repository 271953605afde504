package scan

import (
	"context"
	"io"
	"testing"

	"quarry/match"
)

// endless is a file that never ends.
type endless struct{ reads int }

func (e *endless) Read(b []byte) (int, error) {
	e.reads++
	for i := range b {
		b[i] = "hello world\n"[i%12]
	}
	return len(b), nil
}

// A search that is cancelled doesn't read on.
func TestCancelStopsReading(t *testing.T) {
	search := match.MustCompile("needle", match.Options{}).NewSearch()
	s := New(search.NewMatcher())
	search.Stop(context.Canceled)
	src := &endless{}
	if _, err := s.File(io.LimitReader(src, 1<<34), 1<<34, &Request{}); err == nil || src.reads > 4 {
		t.Errorf("err %v after %d reads", err, src.reads)
	}
}
