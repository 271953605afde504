package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What can't be written is no trouble of the files that are searched: it is said
// once, and the search ends.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": strings.Repeat("foo\n", 50_000), "b.txt": strings.Repeat("foo\n", 50_000)})
	for _, args := range [][]string{{"search", "foo", "a.txt", "b.txt"}, {"search", "foo", "."}, {"search", "--sortr", "path", "foo"}, {"search", "--json", "foo", "a.txt", "b.txt"}} {
		var errs bytes.Buffer
		code := Run(t.Context(), args, Streams{Out: fullDisk{}, Err: &errs})
		if code != 2 || strings.Count(errs.String(), "no space left") != 1 || strings.Contains(errs.String(), ".txt") {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
}
