package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/cli/env"
	"quarry/internal/config"
)

// Every path in the configuration and in flags may begin with ~/, because in the settings of a
// client no shell expands it.
func TestHomeInPaths(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.MkdirAll(filepath.Join(home, "notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	secret := "a-token-of-more-than-16-characters"
	for _, name := range []string{"token"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := parseRoots([]string{"~/notes"})
	real, _ := filepath.EvalSymlinks(filepath.Join(home, "notes"))
	if err != nil || len(roots) != 1 || roots[0].dir != real {
		t.Errorf("mcp.root: %+v, %v", roots, err)
	}
	if roots, err = parseRoots([]string{"mine=~/notes"}); err != nil || roots[0].dir != real {
		t.Errorf("mcp.root with a name: %+v, %v", roots, err)
	}
	if token, err := (&mcpFlags{tokenFile: "~/token"}).token(env.Streams{Err: &strings.Builder{}}); err != nil || token != secret {
		t.Errorf("mcp.token-file: %q, %v", token, err)
	}
	if root, err := env.RootPath("~/notes"); err != nil || root != real {
		t.Errorf("--root: %q, %v", root, err)
	}
	// If this fails, add the new key for a path to the test.
	var paths []string
	for _, k := range config.Keys() {
		if strings.Contains(k.Example, "~/") {
			paths = append(paths, k.Path())
		}
	}
	if want := []string{"mcp.root", "mcp.token-file"}; !slices.Equal(paths, want) {
		t.Errorf("keys for paths %v, looked at %v", paths, want)
	}
}
