package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/cli/printing"
	"quarry/internal/progress"
)

// Progress is not shown for short operations, in a pipe, with --quiet or on a dumb terminal. At the
// end its line is removed.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name      string
		terminal  bool
		quiet     bool
		term      string
		took      time.Duration
		wantLines bool
	}{
		{"a terminal", true, false, "xterm", time.Second, true},
		{"over at once", true, false, "xterm", 300 * time.Millisecond, false},
		{"a pipe", false, false, "xterm", time.Second, false},
		{"quiet", true, true, "xterm", time.Second, false},
		{"a dumb terminal", true, false, "dumb", time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := Streams{Err: &out, Terminal: &c.terminal, Getenv: func(k string) string { return map[string]string{"TERM": c.term}[k] }}.Progress(c.quiet, "moving")
			p.Set(1, 2, "files", 0)
			time.Sleep(c.took)
			p.End()
			p.End()
			got := out.String()
			if lines := strings.Count(got, "moving"); (lines > 0) != c.wantLines || lines > 7 {
				t.Errorf("%s: %q", c.name, got)
			}
			if c.wantLines && !strings.HasSuffix(got, "\r\x1b[K") {
				t.Errorf("%s: the line stays: %q", c.name, got)
			}
		})
	}
}

// While a change is rolled back, the rollback is shown, not the change.
func TestProgressOfRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := printing.NewProgress(&out, func() int { return 100 }, "changing files")
		w := progress.Of(p.Watch(t.Context()))
		w.Expect(10, false)
		time.Sleep(time.Second)
		out.Reset()
		w.Expect(4, true)
		w.Step()
		time.Sleep(time.Second)
		got := out.String()
		p.End()
		if strings.Contains(got, "changing") || !strings.Contains(got, "rolling back") || !strings.Contains(got, " 25%  1 of 4 steps") {
			t.Errorf("shown during the rollback: %q", got)
		}
	})
}
