package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// skipCall is a call of Skip or Skipf with the first character of its argument.
var skipCall = regexp.MustCompile(`\.Skipf?\((.)`)

// A test that is skipped says in words what is missing: an error alone names a
// path, and not what to install or to set.
func TestSkipsSayWhatIsMissing(t *testing.T) {
	calls := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
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
			if calls++; m[1] != `"` {
				t.Errorf("%s:%d: say what is missing and how to get it: %s", path, i+1, strings.TrimSpace(line))
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
