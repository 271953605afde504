package searcher

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/match"
	"quarry/search"
)

// A file is searched up to the size it had when opened. Otherwise the search of a file
// that grows as fast as it is read would never end.
func TestGrowingFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "log")
	if err := os.WriteFile(name, []byte("foo\nfoo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := openFolder(t, dir)
	p, _, err := d.start("log")
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Root.OpenFile(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(name, []byte("foo\nfoo\nfoo\nfoo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	q := &search.Query{Detail: search.Counts}
	run := &searchRun{q: q, request: scanRequest(q), matching: match.MustCompile("foo", match.Options{}).NewSearch()}
	var out found
	run.scan(&worker{}, f, "", &out)
	if out.err != nil || out.res.Matched != 2 {
		t.Errorf("%d lines, %v; want the 2 that were there", out.res.Matched, out.err)
	}
}
