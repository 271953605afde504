package recorder

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// For a file that is rewritten constantly, one version is recorded every 10 minutes, and
// the last one when something asks for the log. Other files are not delayed.
func TestRewrittenAllTheTime(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(state, 0o700))
	put := func(name, text string) { must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	put("log.txt", "begin\n")
	r, err := Open(dir, &Options{
		StateDir: state, Logger: slog.New(slog.DiscardHandler),
		Covers: func(string, bool) bool { return true }, Refresh: func(context.Context) error { return nil },
	})
	must(err)
	defer r.Close()
	now := time.Now()
	r.paces.now = func() time.Time { return now }
	r.first(t.Context())
	versions := func() int {
		list, err := r.outside.List(0)
		must(err)
		return len(list)
	}
	flush := func(all bool) {
		t.Helper()
		r.Changed([]string{"log.txt"}, nil)
		_, _, err := r.flush(t.Context(), all)
		must(err)
	}
	minute := func(k int) {
		put("log.txt", fmt.Sprintln("line", k))
		now = now.Add(time.Minute / 2)
		flush(false)
	}
	for k := range 120 { // an hour
		minute(k)
	}
	// 10 in the first 5 minutes, then one 10 minutes after the last.
	if n, omitted := versions(), r.omitted.Load(); n != 15 || omitted != 120-15 {
		t.Errorf("%d versions, %d omitted", n, omitted)
	}
	put("other.txt", "other\n")
	r.Changed([]string{"other.txt"}, nil)
	if paths, waits, err := r.flush(t.Context(), false); err != nil || len(paths) != 1 || !waits {
		t.Errorf("another file: %v, %v, %v", paths, waits, err)
	}
	n := versions()
	flush(true)
	if versions() != n+1 {
		t.Error("the last version is not there for who asks")
	}
	if _, waits, err := r.flush(t.Context(), false); err != nil || waits {
		t.Errorf("still waiting: %v", err)
	}
}
