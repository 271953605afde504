package gitdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// opens opens git's folder of a checkout as a caller does.
func opens(t *testing.T, top string) (common string, err error) {
	t.Helper()
	view, err := View(top)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	d, err := Open(view)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return d.Common.RealDir(), nil
}

// Worktrees and submodules made by git lead to their repository, also nested ones, and
// after a move that git repaired.
func TestGitsOwn(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("git submodule is a script that needs sed: install it")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"main", "other"} {
		write(t, at(name+"/a.txt"), name+"\n")
		git(t, at(name), "init", "-q")
		git(t, at(name), "add", "-A")
		git(t, at(name), "commit", "-q", "-m", "x")
	}
	git(t, at("main"), "submodule", "-q", "add", at("other"), "sub")
	git(t, at("main"), "commit", "-q", "-m", "sub")
	git(t, at("main"), "worktree", "add", "-q", at("tree"))
	git(t, at("tree"), "submodule", "-q", "update", "--init")
	git(t, at("main/sub"), "worktree", "add", "-q", at("subtree"))
	git(t, at("main"), "worktree", "add", "-q", at("far"))
	if err := os.Rename(at("far"), at("moved")); err != nil {
		t.Fatal(err)
	}
	if _, err := opens(t, at("moved")); err == nil {
		t.Error("a worktree that its repository does not know is followed")
	}
	git(t, at("moved"), "worktree", "repair")
	for top, want := range map[string]string{
		"main": "main/.git", "main/sub": "main/.git/modules/sub", "tree": "main/.git", "tree/sub": "main/.git/worktrees/tree/modules/sub",
		"subtree": "main/.git/modules/sub", "moved": "main/.git",
	} {
		if got, err := opens(t, at(top)); err != nil || got != at(want) {
			t.Errorf("%s belongs to %s, %v; want %s", top, got, err, at(want))
		}
	}
}

// A .git that leads out of the checkout is refused unless the folder there refers back,
// and no message quotes it.
func TestLeadsElsewhere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	const quoted = "QUOTED"
	write(t, at("private/a.txt"), "a\n")
	git(t, at("private"), "init", "-q")
	git(t, at("private"), "add", "-A")
	git(t, at("private"), "commit", "-q", "-m", "x")
	git(t, dir, "init", "-q", "--separate-git-dir", at("apart"), "separate")
	fake := func(name string, files map[string]string) {
		for file, text := range files {
			write(t, at(name+"/"+file), text)
		}
	}
	fake("to-repository", map[string]string{".git": "gitdir: " + at("private/.git")})
	fake("relative", map[string]string{".git": "gitdir: ../private/.git"})
	fake("to-worktree", map[string]string{".git": "gitdir: fake", "fake/gitdir": at("to-worktree/.git"), "fake/commondir": at("private/.git")})
	fake("has-common", map[string]string{".git/commondir": at("private/.git"), ".git/HEAD": "ref: refs/heads/main"})
	fake("names-other", map[string]string{".git": "gitdir: fake", "fake/config": "[core]\n\tworktree = " + at("private") + "\n", "fake/HEAD": quoted})
	fake("names-itself", map[string]string{".git": "gitdir: ."})
	fake("nothing", map[string]string{".git": "gitdir: " + at(quoted)})
	fake("text", map[string]string{".git": quoted})
	tops := []string{"separate", "to-repository", "relative", "to-worktree", "has-common", "names-other", "names-itself", "nothing", "text"}
	if runtime.GOOS != "windows" {
		for name, target := range map[string]string{"link": "../private/.git", "link-file": "../separate/.git", "link-root": "/"} {
			os.Mkdir(at(name), 0o755)
			if err := os.Symlink(target, at(name+"/.git")); err != nil {
				t.Fatal(err)
			}
			tops = append(tops, name)
		}
	}
	for _, top := range tops {
		common, err := opens(t, at(top))
		if err == nil {
			t.Errorf("%s is followed to %s", top, common)
		} else if strings.Contains(err.Error(), quoted) || strings.Contains(err.Error(), "private") {
			t.Errorf("%s: the message quotes: %v", top, err)
		}
	}
	if _, err := opens(t, at("private")); err != nil {
		t.Errorf("an ordinary repository is refused: %v", err)
	}
	// A folder that refers back is accepted like a worktree of git's, wherever it is.
	fake("honest", map[string]string{".git": "gitdir: ../kept/worktrees/x"})
	fake("kept", map[string]string{"worktrees/x/gitdir": at("honest/.git"), "worktrees/x/commondir": "../.."})
	if common, err := opens(t, at("honest")); err != nil || common != at("kept") {
		t.Errorf("a worktree that is named back belongs to %s, %v", common, err)
	}
}

func TestSettings(t *testing.T) {
	text := "; x\n[Core]\n\tWorkTree = \"../a b\" ; c\n\teditor\n[remote \"core\"]\nworktree = no\n[core] bare=false\n"
	var got []string
	for key, value := range Settings([]byte(text)) {
		got = append(got, key+"="+value)
	}
	if want := "core.worktree=../a b|remote \"core\".worktree=no|core.bare=false"; strings.Join(got, "|") != want {
		t.Errorf("settings %q, want %q", strings.Join(got, "|"), want)
	}
}
