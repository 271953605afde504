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

// A cancelled search ends while it only shows lines, as with --passthru, and while it reads
// a text that is searched as a whole.
func TestCancelStopsShowing(t *testing.T) {
	for _, mode := range []match.Mode{match.Lines, match.Multiline} {
		search := match.MustCompile(`needle\n`, match.Options{Mode: match.Multiline}).NewSearch()
		if mode == match.Lines {
			search = match.MustCompile("needle", match.Options{}).NewSearch()
		}
		s, parts := New(search.NewMatcher()), 0
		_, err := s.File(io.LimitReader(&endless{}, 1<<22), 1<<22, &Request{Detail: Lines, All: true, Emit: func(*Result) error {
			if parts++; parts == 2 {
				search.Stop(context.Canceled)
			}
			return nil
		}})
		if err == nil || parts > 3 {
			t.Errorf("mode %d: err %v after %d parts", mode, err, parts)
		}
	}
	search := match.MustCompile(`(?s)needle.*\z`, match.Options{Mode: match.Multiline}).NewSearch()
	src := &endless{}
	search.Stop(context.Canceled)
	if _, err := New(search.NewMatcher()).File(io.LimitReader(src, 1<<26), 1<<26, &Request{}); err == nil || src.reads > 1 {
		t.Errorf("err %v after %d reads", err, src.reads)
	}
}

// A cancelled search stops reading.
func TestCancelStopsReading(t *testing.T) {
	search := match.MustCompile("needle", match.Options{}).NewSearch()
	s := New(search.NewMatcher())
	search.Stop(context.Canceled)
	src := &endless{}
	if _, err := s.File(io.LimitReader(src, 1<<34), 1<<34, &Request{}); err == nil || src.reads > 4 {
		t.Errorf("err %v after %d reads", err, src.reads)
	}
}
