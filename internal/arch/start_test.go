package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named finds files and folders that a page names, and identifiers it places in a file:
// `checks` in `internal/doctor/doctor.go`.
var (
	named   = regexp.MustCompile("`((?:internal|search|change|fault|match|tool|docs|cmd|tools)/[\\w./-]+)`")
	namedIn = regexp.MustCompile("`(\\w+)`(?: and `(\\w+)`)? (?:in|of) `([\\w/]+\\.go)`")
)

// A page for newcomers that names removed things is worse than none.
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

// The pages name tests by their full names or prefixes.
func TestPagesNameTestsThatExist(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	mentioned := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	var known []string
	err := filepath.WalkDir("../..", func(file string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := os.ReadFile(file)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			known = append(known, string(m[1]))
		}
		return err
	})
	pages, err2 := filepath.Glob("../../docs/*.md")
	pages = append(pages, "../../SECURITY.md", "../../CONTRIBUTING.md")
	if err != nil || err2 != nil || len(known) < 500 || len(pages) < 10 {
		t.Fatalf("%d tests, %d pages: %v, %v", len(known), len(pages), err, err2)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range mentioned.FindAllString(string(text), -1) {
			if !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }) {
				t.Errorf("%s names %s, which does not exist", filepath.Base(page), name)
			}
		}
	}
}
