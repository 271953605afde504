package githead

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/internal/gitdir"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// git runs the real git, with which this package is compared.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func open(t *testing.T, top string) *Repo {
	t.Helper()
	view, err := gitdir.View(top)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	r, err := Open(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// differing returns the files that differ from the last commit, according to this
// package.
func differing(t *testing.T, top string) []string {
	t.Helper()
	r := open(t, top)
	defer r.Close()
	root, err := rootfs.Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var list []string
	filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, p)
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || p != top && exists(filepath.Join(p, ".git"))) {
				return fs.SkipDir
			}
			return err
		}
		if d.Name() == ".git" { // in a worktree
			return nil
		}
		path, err := root.Resolve(filepath.ToSlash(rel))
		if err != nil {
			t.Fatal(err)
		}
		info, err := root.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		same, err := r.Same(t.Context(), &File{
			Path: filepath.ToSlash(rel), Mode: info.Mode, Size: info.Size, ModTime: info.ModTime, ChangeTime: info.ChangeTime, Ino: info.Ino,
			Open: func() (io.ReadCloser, error) { return os.Open(p) },
		})
		if err != nil {
			t.Errorf("%s: %v", rel, err)
		}
		if !same {
			list = append(list, filepath.ToSlash(rel))
		}
		return nil
	})
	slices.Sort(list)
	return list
}

// status returns the files that differ from HEAD and the new files, according to git.
func status(t *testing.T, top string) []string {
	t.Helper()
	var list []string
	add := func(text string) {
		for name := range strings.SplitSeq(strings.Trim(text, "\x00"), "\x00") {
			info, err := os.Lstat(filepath.Join(top, name))
			if name != "" && err == nil && !info.IsDir() && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	if exec.Command("git", "-C", top, "rev-parse", "-q", "--verify", "HEAD").Run() == nil {
		git(t, top, "update-index", "-q", "--really-refresh")
		add(git(t, top, "diff", "-z", "--name-only", "--no-renames", "--diff-filter=d", "--ignore-submodules", "HEAD"))
	} else {
		add(git(t, top, "ls-files", "-z"))
	}
	// Git lists a file that was removed only from the index as new, even if HEAD has it.
	// This package compares with HEAD.
	for name := range strings.SplitSeq(strings.Trim(git(t, top, "ls-files", "-z", "--others"), "\x00"), "\x00") {
		in, err := exec.Command("git", "-C", top, "rev-parse", "-q", "--verify", "HEAD:"+name).Output()
		if name == "" || err == nil && string(in) == git(t, top, "hash-object", name) {
			continue
		}
		add(name)
	}
	slices.Sort(list)
	return list
}

func compare(t *testing.T, top, after string) int {
	t.Helper()
	got := differing(t, top) // must run before git, which refreshes its index
	want := status(t, top)
	if !slices.Equal(got, want) {
		t.Fatalf("after %s: changed by us %q, by git %q", after, got, want)
	}
	if got = differing(t, top); !slices.Equal(got, want) {
		t.Fatalf("after %s and a refresh: changed by us %q, by git %q", after, got, want)
	}
	return len(want)
}

// TestLikeGit makes random changes and compares our list of differing files with git's.
func TestLikeGit(t *testing.T) {
	needGit(t)
	for _, form := range []struct{ name, format, version string }{{"sha1", "sha1", "2"}, {"index4", "sha1", "4"}, {"sha256", "sha256", "2"}} {
		t.Run(form.name, func(t *testing.T) {
			const seed = 20
			rng := rand.New(rand.NewPCG(seed, 1))
			top := t.TempDir()
			git(t, top, "init", "-q", "--object-format="+form.format)
			git(t, top, "config", "index.version", form.version)
			compare(t, top, "init")
			steps := 8
			if testing.Short() {
				steps = 3
			}
			named := 0
			for i := range steps {
				if compare(t, top, fmt.Sprintf("step %d (seed %d): %s", i, seed, change(t, rng, top))) > 0 {
					named++
				}
			}
			if t.Logf("%d states compared, git names files in %d", steps, named); named == 0 {
				t.Error("git names no file in any of them")
			}
		})
	}
}

// change makes one change in a repository and describes it.
func change(t *testing.T, rng *rand.Rand, top string) string {
	t.Helper()
	name := fmt.Sprintf("%s%d.txt", []string{"", "a/", "a/b/", "a-b/", "c/"}[rng.IntN(5)], rng.IntN(4))
	full := filepath.Join(top, filepath.FromSlash(name))
	_, err := os.Lstat(full)
	there := err == nil
	switch op := rng.IntN(12); {
	case op < 4:
		os.MkdirAll(filepath.Dir(full), 0o755)
		text := strings.Repeat(fmt.Sprintf("line %d\n", rng.IntN(10)), rng.IntN(4)+1) // often with the same size
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return "write " + name
	case op < 6:
		git(t, top, "add", "-A")
		return "add -A"
	case op < 8:
		git(t, top, "add", "-A")
		git(t, top, "commit", "-q", "--allow-empty", "-m", "x")
		return "commit"
	case op == 8 && there:
		os.Remove(full)
		return "remove " + name
	case op == 9 && there && runtime.GOOS != "windows":
		os.Chmod(full, fs.FileMode(0o644+0o111*rng.IntN(2)))
		return "chmod " + name
	case op == 10:
		git(t, top, "gc", "-q", "--prune=now")
		return "gc"
	case there:
		data, _ := os.ReadFile(full)
		os.WriteFile(full, data, 0o644) // new time, same content
		return "touch " + name
	}
	return "nothing"
}

// TestPlaces covers the places where git keeps a repository.
func TestPlaces(t *testing.T) {
	stress.SkipShort(t)
	needGit(t)
	dir := t.TempDir()
	main := filepath.Join(dir, "main")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(top, name, text string) {
		t.Helper()
		must(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755))
		must(os.WriteFile(filepath.Join(top, name), []byte(text), 0o644))
	}
	os.Mkdir(main, 0o755)
	git(t, main, "init", "-q", "-b", "main")
	for i := range 60 { // large, similar trees are stored as deltas
		write(main, fmt.Sprintf("src/file-with-a-long-name-%02d.txt", i), fmt.Sprint("text ", i))
	}
	for i := range 20 {
		write(main, "src/file-with-a-long-name-07.txt", fmt.Sprint("version ", i))
		git(t, main, "add", "-A")
		git(t, main, "commit", "-q", "-m", fmt.Sprint(i))
	}
	git(t, main, "gc", "-q", "--aggressive", "--prune=now") // also packs references
	write(main, "src/new.txt", "new")
	compare(t, main, "gc")

	git(t, main, "worktree", "add", "-q", "--detach", filepath.Join(dir, "tree"), "HEAD~3")
	write(filepath.Join(dir, "tree"), "src/file-with-a-long-name-01.txt", "other")
	compare(t, filepath.Join(dir, "tree"), "worktree add")

	git(t, dir, "clone", "-q", "--shared", main, "borrower")
	write(filepath.Join(dir, "borrower"), "src/file-with-a-long-name-02.txt", "other")
	compare(t, filepath.Join(dir, "borrower"), "clone --shared")

	// Like "git submodule add", which is a shell script that needs sed.
	git(t, main, "clone", "-q", "--separate-git-dir", filepath.Join(main, ".git", "modules-sub"), filepath.Join(dir, "borrower"), "sub")
	must(os.Mkdir(filepath.Join(main, ".git", "modules"), 0o755))
	must(os.Rename(filepath.Join(main, ".git", "modules-sub"), filepath.Join(main, ".git", "modules", "sub")))
	must(os.WriteFile(filepath.Join(main, "sub", ".git"), []byte("gitdir: ../.git/modules/sub\n"), 0o644))
	git(t, main, "config", "-f", ".git/modules/sub/config", "core.worktree", "../../../sub")
	git(t, main, "config", "-f", ".gitmodules", "submodule.sub.path", "sub")
	git(t, main, "config", "-f", ".gitmodules", "submodule.sub.url", filepath.Join(dir, "borrower"))
	git(t, main, "-c", "advice.addEmbeddedRepo=false", "add", ".gitmodules", "sub")
	write(filepath.Join(main, "sub"), "src/file-with-a-long-name-03.txt", "other")
	compare(t, filepath.Join(main, "sub"), "submodule add")

	crlf := filepath.Join(dir, "crlf")
	git(t, dir, "-c", "core.autocrlf=true", "clone", "-q", main, crlf)
	git(t, crlf, "config", "core.autocrlf", "true")
	write(crlf, "two.txt", "one\r\ntwo\r\n")
	git(t, crlf, "add", "-A")
	git(t, crlf, "commit", "-q", "-m", "crlf")
	write(crlf, "two.txt", "one\r\ntwo\r\n")
	compare(t, crlf, "autocrlf")

	git(t, main, "update-index", "--split-index") // an unsupported form of index
	compare(t, main, "split-index")
}

// TestDamage truncates files of a repository. The result must be an error or "changed":
// never a panic, and never "unchanged" for a changed file.
func TestDamage(t *testing.T) {
	stress.SkipTiny(t)
	needGit(t)
	top := t.TempDir()
	git(t, top, "init", "-q")
	os.WriteFile(filepath.Join(top, "a.txt"), []byte("one\n"), 0o644)
	git(t, top, "add", "-A")
	git(t, top, "commit", "-q", "-m", "x")
	os.WriteFile(filepath.Join(top, "a.txt"), []byte("two\n"), 0o644)
	git(t, top, "gc", "-q")
	packs, _ := filepath.Glob(filepath.Join(top, ".git/objects/pack/*"))
	for _, name := range append(packs, filepath.Join(top, ".git/index"), filepath.Join(top, ".git/packed-refs")) {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(name, 0o644)
		for i := range 200 {
			bad := slices.Clone(whole)
			if at := i * len(bad) / 200; i%2 == 0 {
				bad = bad[:at]
			} else {
				bad[at] ^= 0xff
			}
			os.WriteFile(name, bad, 0o644)
			view, err := gitdir.View(top)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), view)
			view.Close()
			if err != nil {
				continue
			}
			same, err := r.Same(t.Context(), &File{Path: "a.txt", Size: 4, Mode: 0o644, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(top, "a.txt")) }})
			r.Close()
			if same {
				t.Fatalf("%s, damage %d: a changed file is called unchanged (%v)", filepath.Base(name), i, err)
			}
		}
		os.WriteFile(name, whole, 0o644)
	}
}
