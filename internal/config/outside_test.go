package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rules returns changes of rules outside the root: in the global file, in a folder above,
// and in the exclude files of the enclosing repository and of a worktree's repository.
func TestOutsideFollows(t *testing.T) {
	home := t.TempDir()
	env := func(key string) string { return map[string]string{"HOME": home}[key] }
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("repo/.git/HEAD", "")
	put("repo/.git/worktrees/w/commondir", "../..\n")
	put("repo/.git/worktrees/w/gitdir", filepath.Join(home, "tree/.git")+"\n")
	put("repo/ws/f", "")
	put("tree/.git", "gitdir: "+filepath.Join(home, "repo/.git/worktrees/w")+"\n")
	for _, c := range []struct{ root, write, text, want string }{
		{"repo/ws", "", "", ""},
		{"repo/ws", ".config/git/ignore", "*.swp\n", "*.swp"},
		{"repo/ws", "repo/.gitignore", "*.log\n", "*.swp .gitignore:*.log"},
		{"repo/ws", "repo/.git/info/exclude", "*.tmp\n", "*.swp .gitignore:*.log info/exclude:*.tmp"},
		{"repo/ws", "repo/.gitignore", "x\n", "*.swp .gitignore:x info/exclude:*.tmp"},
		{"tree", "", "", "*.swp info/exclude:*.tmp"},
		{"tree", "repo/.git/info/exclude", "*.bak\n", "*.swp info/exclude:*.bak"},
		{"tree", ".gitconfig", "[core]\n\texcludesFile = ~/mine\n", "info/exclude:*.bak"},
		{"tree", "mine", "y\n", "y info/exclude:*.bak"},
	} {
		o := FollowOutside(filepath.Join(home, c.root), env)
		o.Rules()
		if _, _, changed := o.Rules(); changed {
			t.Errorf("%s: nothing has changed, and is told", c.root)
		}
		global, above, _ := FollowOutside(filepath.Join(home, c.root), env).Rules()
		if c.write != "" {
			put(c.write, c.text)
			var changed bool
			if global, above, changed = o.Rules(); !changed {
				t.Errorf("%s: %s was written, and not told", c.root, c.write)
			}
		}
		got := []string{strings.TrimSpace(string(global))}
		for _, f := range above {
			got = append(got, fmt.Sprintf("%s:%s", f.Name, strings.TrimSpace(string(f.Data))))
		}
		if s := strings.TrimSpace(strings.Join(got, " ")); s != c.want {
			t.Errorf("%s after %s: %q, want %q", c.root, c.write, s, c.want)
		}
	}
}
