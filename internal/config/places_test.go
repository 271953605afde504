package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	run := t.TempDir()
	env := func(vars ...string) Env {
		return func(k string) string {
			for i := 0; i < len(vars); i += 2 {
				if vars[i] == k {
					return here(vars[i+1])
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name string
		f    func(Env) (string, error)
		env  Env
		want string
	}{
		{"cache", CacheDir, env("HOME", "/h"), "/h/.cache/quarry"},
		{"cache by XDG", CacheDir, env("HOME", "/h", "XDG_CACHE_HOME", "/c"), "/c/quarry"},
		{"a relative XDG folder doesn't count", CacheDir, env("HOME", "/h", "XDG_CACHE_HOME", "c"), "/h/.cache/quarry"},
		{"state", StateDir, env("HOME", "/h"), "/h/.local/state/quarry"},
		{"data", DataDir, env("HOME", "/h"), "/h/.local/share"},
		{"runtime", RuntimeDir, env("HOME", "/h", "XDG_RUNTIME_DIR", run), run + "/quarry"},
		{"runtime without the system's", RuntimeDir, env("HOME", "/h", "XDG_RUNTIME_DIR", run+"/none"), "/h/.cache/quarry/run"},
	} {
		got, err := c.f(c.env)
		if err != nil || filepath.ToSlash(got) != filepath.ToSlash(here(c.want)) {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestRootID(t *testing.T) {
	a, b := RootID("/home/u/src/näme"), RootID("/home/v/src/näme")
	if a == b || !strings.HasPrefix(a, "n_me-") || a != RootID("/home/u/src/näme") || a == RootID("/home/u/src/näme", "x") {
		t.Errorf("%s %s", a, b)
	}
	if id := RootID("/"); strings.ContainsAny(id, "/\\") {
		t.Errorf("the id of / is %s", id)
	}
}
