package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// skipCall matches a call of Skip or Skipf, with its argument up to the end of the line.
var skipCall = regexp.MustCompile(`\.Skipf?\((.*)`)

// A skip message says in words what is missing, because an error alone may name a path, but not
// what to install or set. Each message belongs to one of at most ten kinds, so that a run can
// summarize its skipped tests in a few lines.
func TestSkipsHaveAKind(t *testing.T) {
	const most = 10
	if n := len(kinds) - 1; n > most { // not counting inside
		t.Errorf("%d kinds of skips, more than %d", n, most)
	}
	calls := 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		ours := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".go") && filepath.Dir(path) == filepath.Join("..", "..", "..", "internal", "stress")
		if err != nil || d.IsDir() || !ours || d.Name() == "kinds_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			m := skipCall.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			calls++
			why, quoted := strings.CutPrefix(m[1], `"`)
			if !quoted {
				t.Errorf("%s:%d: say what is missing and how to get it: %s", path, i+1, strings.TrimSpace(line))
			} else if quoted && kindOf(why) == nil {
				t.Errorf("%s:%d: %s: no kind of skip has this text; name what is missing, or add it to kinds", path, i+1, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls < 100 {
		t.Errorf("%d skips found, fewer than there are", calls)
	}
}
