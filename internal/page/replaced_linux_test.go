package page

import (
	"os"
	"strings"
	"testing"
)

// If the workspace's folder was replaced by another, the first answer from the new folder says so.
func TestReplacedFolderIsSaid(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "old words\n"}, nil)
	ask := func(query string, lines int, replaced bool) {
		t.Helper()
		if _, done, wrong := answer(t, s, query); wrong != nil || done.Lines != lines || done.Replaced != replaced {
			t.Errorf("%s: %+v, %+v", query, done, wrong)
		}
	}
	ask("q=words", 1, false)
	if err := os.Rename(s.dir, s.dir+".bak"); err != nil {
		t.Fatal(err)
	}
	write(t, s.dir+"/b.txt", "new words\nmore words\n")
	ask("q=words", 2, true)
	ask("q=words", 2, false)
	script, err := assets.ReadFile("assets/search.js")
	if err != nil || !strings.Contains(string(script), "d.replaced") {
		t.Errorf("the script doesn't show it: %v", err)
	}
}
