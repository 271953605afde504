package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/config"
	"quarry/internal/ignore"
)

// All ignore files in folders above the root apply.
func TestEveryRuleFileAboveTheRoot(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	for _, dir := range []string{filepath.Join(top, ".git"), root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range ignore.FileNames {
		if err := os.WriteFile(filepath.Join(top, name), []byte("*.tmp\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for _, f := range config.RulesAbove(root) {
		if f.Above == "root" {
			found[f.Name] = true
		}
	}
	for _, name := range ignore.FileNames {
		if !found[name] {
			t.Errorf("%s above the root is not read", name)
		}
	}
}
