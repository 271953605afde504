package walk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"quarry/internal/rootfs"
)

// A worktree uses the exclude file of its repository if that is inside the root, as git does. This
// holds for walks and for a Judge.
func TestWorktreesShareExcludes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=m"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil && !slices.Contains(args, "check-ignore") { // check-ignore fails for files that are not ignored
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "main")
	write("main/a.txt", "x\n")
	git("-C", "main", "add", ".")
	git("-C", "main", "commit", "-q", "-m", "x")
	git("-C", "main", "worktree", "add", "-q", "../beside", "-b", "b")
	git("-C", "main", "worktree", "add", "-q", "sub/inside", "-b", "i")
	write("main/.git/info/exclude", "*.log\n/top.txt\n")
	names := []string{"a.txt", "x.log", "top.txt", "d/top.txt", "d/y.log"}
	tops := []string{"main", "beside", "main/sub/inside"}
	var want []string
	for _, top := range tops {
		for _, n := range names {
			write(top+"/"+n, "x\n")
			if git("-C", top, "check-ignore", n) == "" {
				want = append(want, top+"/"+n)
			}
		}
	}
	slices.Sort(want)
	root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var got []string
	if _, err := Ordered(context.Background(), root, nil, false, func(it Item) error {
		got = append(got, it.Path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || len(want) != 6 {
		t.Errorf("listed %q, git says %q", got, want)
	}
	judge := NewJudge(root, &Options{})
	for _, top := range tops {
		for _, n := range names {
			if p := top + "/" + n; judge.Lists(p) != slices.Contains(want, p) {
				t.Errorf("Judge.Lists(%s) = %v", p, judge.Lists(p))
			}
		}
	}
}
