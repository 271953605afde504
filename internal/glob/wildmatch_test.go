package glob

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// wildCase matches a line of git's test. It has whether the pattern matches the text as a path
// (with ** and without * crossing a slash), ignoring case, and as plain text.
var wildCase = regexp.MustCompile(`(?m)^match ([01]) [01] [01] [01] (?:'([^'\n]*)'|([^'"\s\\\\$]+)) (?:'([^'\n]*)'|([^'"\s\\\\$]+))$`)

// TestWildmatch runs the cases of git's t3070.
func TestWildmatch(t *testing.T) {
	file := filepath.Join(os.Getenv("QUARRY_SUITES"), "git/t/t3070-wildmatch.sh")
	data, err := os.ReadFile(file)
	if os.Getenv("QUARRY_SUITES") == "" || err != nil {
		t.Skip("set QUARRY_SUITES to a folder that holds git")
	}
	tried, failed, matching := 0, 0, 0
	for _, m := range wildCase.FindAllStringSubmatch(string(data), -1) {
		text, pattern, want := m[2]+m[3], m[4]+m[5], m[1] == "1"
		tried++
		if want {
			matching++
		}
		if got := CompileWild(pattern, false).Match(text); got != want {
			failed++
			t.Errorf("%q matches %q: %v, git says %v", pattern, text, got, want)
		}
	}
	if tried < 150 || matching < 60 || tried-matching < 60 {
		t.Errorf("only %d cases, %d of them match", tried, matching)
	}
	t.Logf("suite: tried %d, pass %d, documented %d, fail %d; %d match", tried, tried-failed, 0, failed, matching)
}
