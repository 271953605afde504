//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// byOther creates a file or folder that belongs to another user.
func byOther(t *testing.T, name string, folder bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	make := func() error { return os.WriteFile(name, nil, 0o644) }
	if folder {
		make = func() error { return os.Mkdir(name, 0o755) }
	}
	if err := make(); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(name, 54321, 54321); err != nil {
		t.Skip("no file of another user here:", err)
	}
}

// A marker that belongs to another user does not make a shared folder a root.
func TestMarkersOfOthers(t *testing.T) {
	for _, m := range rootMarkers {
		shared := t.TempDir()
		here := filepath.Join(shared, "a", "b")
		if err := os.MkdirAll(here, 0o755); err != nil {
			t.Fatal(err)
		}
		byOther(t, filepath.Join(shared, m), strings.HasPrefix(m, "."))
		if got := FindRoot(here); got != here {
			t.Errorf("%s of another user makes %s the root", m, got)
		}
		if err := os.Lchown(filepath.Join(shared, m), 0, 0); err != nil {
			t.Fatal(err)
		}
		if got := FindRoot(here); got != shared {
			t.Errorf("%s of root: the root is %s", m, got)
		}
	}
}

// A configuration file that belongs to another user is not used.
func TestConfigOfOthers(t *testing.T) {
	for _, key := range []string{"XDG_CONFIG_HOME", "QUARRY_CONFIG"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "quarry", "quarry.toml")
		if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		byOther(t, file, false)
		value := map[string]string{"XDG_CONFIG_HOME": dir, "QUARRY_CONFIG": file}[key]
		env := func(name string) string {
			if name == key {
				return value
			}
			return ""
		}
		if name, _, err := FilePath(env); err != nil || name != file {
			t.Skipf("the configuration is at %s here: %v", name, err)
		}
		if _, err := Load(env); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%s: %v", key, err)
		}
		if err := os.Lchown(file, os.Geteuid(), -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(env); err != nil {
			t.Errorf("%s, a file of our own: %v", key, err)
		}
	}
}
