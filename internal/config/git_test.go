package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExcludesFile(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		ok               bool
	}{
		{"plain", "[core]\n\texcludesFile = ~/.ignore-me\n", "~/.ignore-me", true},
		{"keys and sections in any case", "[CORE]\nEXCLUDESFILE=/x\n", "/x", true},
		{"quotes and comments", "[core]\n excludesfile = \"/a b\" # mine\n", "/a b", true},
		{"another section", "[user]\nexcludesfile = /x\n", "", false},
		{"a subsection isn't core", "[core \"x\"]\nexcludesfile = /x\n", "", false},
		{"the last one wins", "[core]\nexcludesfile=/a\n[core]\nexcludesfile=/b\n", "/b", true},
		{"on the section's line", "[core] excludesfile = /c\n", "/c", true},
		{"nothing", "", "", false},
	} {
		got, ok := excludesFile([]byte(c.text))
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %q %v, want %q %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestGlobalExcludes(t *testing.T) {
	home := t.TempDir()
	env := func(k string) string { return map[string]string{"HOME": home}[k] }
	if got := GlobalExcludes(env); got != nil {
		t.Errorf("without files: %q", got)
	}
	write(t, filepath.Join(home, ".config/git/ignore"), "default\n")
	if got := GlobalExcludes(env); string(got) != "default\n" {
		t.Errorf("default file: %q", got)
	}
	write(t, filepath.Join(home, ".gitconfig"), "[core]\nexcludesfile = ~/mine\n")
	write(t, filepath.Join(home, "mine"), "mine\n")
	other := filepath.Join(t.TempDir(), "config")
	write(t, other, "[core]\n\texcludesFile = "+filepath.ToSlash(filepath.Join(filepath.Dir(other), "others"))+"\n")
	write(t, filepath.Join(filepath.Dir(other), "others"), "named\n")
	named := func(key string) string {
		if key == "GIT_CONFIG_GLOBAL" {
			return other
		}
		return env(key)
	}
	if got := GlobalExcludes(named); string(got) != "named\n" {
		t.Errorf("with GIT_CONFIG_GLOBAL: %q", got)
	}
	if got := GlobalExcludes(env); string(got) != "mine\n" {
		t.Errorf("configured file: %q", got)
	}
}

func TestRulesAbove(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, ".ignore"), "far\n")
	write(t, filepath.Join(top, ".gitignore"), "outside the repository\n")
	write(t, filepath.Join(top, "repo/.git/info/exclude"), "excl\n")
	write(t, filepath.Join(top, "repo/.gitignore"), "near\n")
	write(t, filepath.Join(top, "repo/a/b/x"), "")
	got := RulesAbove(filepath.Join(top, "repo/a/b"))
	// The temporary folder may itself be below rule files.
	for len(got) > 0 && string(got[0].Data) != "far\n" {
		got = got[1:]
	}
	want := []quarry.IgnoreFile{
		{Name: ".ignore", Above: "repo/a/b", Data: []byte("far\n")},
		{Name: ".gitignore", Above: "a/b", Data: []byte("near\n")},
		{Name: "info/exclude", Above: "a/b", Data: []byte("excl\n")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range RulesAbove(filepath.Join(top, "repo")) {
		if f.Name == ".gitignore" {
			t.Errorf("a repository's own root took %q from above", f.Data)
		}
	}
}

func TestFindRoot(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "proj/go.mod"), "module x\n")
	write(t, filepath.Join(top, "proj/a/b/x"), "")
	if got, want := FindRoot(filepath.Join(top, "proj/a/b")), filepath.Join(top, "proj"); got != want {
		t.Errorf("FindRoot = %s, want %s", got, want)
	}
}
