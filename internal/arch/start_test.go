package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named finds files and folders that a page names, and identifiers said to be in
// one: `checks` in `internal/doctor/doctor.go`.
var (
	named   = regexp.MustCompile("`((?:internal|search|change|fault|match|tool|docs|cmd|tools)/[\\w./-]+)`")
	namedIn = regexp.MustCompile("`(\\w+)`(?: and `(\\w+)`)? (?:in|of) `([\\w/]+\\.go)`")
)

// A page for newcomers that names what is gone is worse than none.
func TestStartNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("../../docs/START.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	found := named.FindAllStringSubmatch(page, -1)
	if len(found) < 20 {
		t.Fatalf("only %d files are named: %q", len(found), found)
	}
	for _, m := range found {
		if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("docs/START.md names %s: %v", m[1], err)
		}
	}
	for _, m := range namedIn.FindAllStringSubmatch(page, -1) {
		source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(m[3])))
		if err != nil {
			t.Errorf("docs/START.md: %v", err)
			continue
		}
		for _, name := range m[1:3] {
			if name != "" && !regexp.MustCompile(`\b`+name+`\b`).Match(source) {
				t.Errorf("docs/START.md: %s is not in %s", name, m[3])
			}
		}
	}
}
