package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A quarry.toml in a workspace has no effect.
func TestWorkspaceConfig(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const hidden = "[search]\nhidden = true\n"
	for _, name := range []string{"quarry.toml", ".quarry.toml", ".config/quarry/quarry.toml"} {
		put(name, hidden)
	}
	put("local.txt", "hello\n")
	put(".secret.txt", "hello\n")
	t.Chdir(dir)
	if got := runQuarry("", "search", "-l", "hello"); got.code != 0 || got.out != "local.txt\n" {
		t.Errorf("with a quarry.toml in the workspace: %+v, want local.txt alone", got)
	}
	t.Setenv("QUARRY_CONFIG", filepath.Join(dir, "quarry.toml")) // it is used if QUARRY_CONFIG names it
	if got := runQuarry("", "search", "-l", "hello"); !strings.Contains(got.out, ".secret.txt") {
		t.Errorf("with QUARRY_CONFIG: %+v, want .secret.txt too", got)
	}
}
