package walk

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

func inOrder(t testing.TB, r *rootfs.Root, opts *Options, folders bool) []string {
	t.Helper()
	var got []string
	_, err := Ordered(context.Background(), r, opts, folders, func(it Item) error {
		p := it.Path
		if it.Entry.Type == rootfs.TypeDir {
			p += "/"
		}
		got = append(got, p)
		return nil
	})
	must(t, err)
	return got
}

func TestOrdered(t *testing.T) {
	r := openRoot(t, tree(t, "b", "a/x", "a.txt", "a-b", "a/b/c", "ab/d", "a0", "empty/", "Z"), nil)
	if got, want := strings.Join(inOrder(t, r, nil, true), " "), "Z a-b a.txt a/ a/b/ a/b/c a/x a0 ab/ ab/d b empty/"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := strings.Join(inOrder(t, r, &Options{Start: start(t, r, "a")}, false), " "), "a/b/c a/x"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// randomTree writes a tree with many rules that git and ripgrep interpret in the same way. If repos
// is set, it is a git repository that contains others.
func randomTree(t testing.TB, rng *rand.Rand, dir string, repos bool) {
	names := []string{"a", "b", "c", "foo", "bar", "a.o", "b.c", "x.log", ".h", ".hid", "build", "src", "Foo", "a b", "é", "test_x"}
	rule := func() string {
		pieces := []string{"a", "b", "*.o", "*.c", "foo", "b*", "build", "src", "[ab]", "?", "*", ".h", ".hid", "x.log", "test_*", "[!a]*.c"}
		p := pieces[rng.IntN(len(pieces))]
		switch rng.IntN(8) {
		case 0:
			p = "/" + p
		case 1:
			p = names[rng.IntN(len(names))] + "/" + p
		case 2:
			p = "**/" + p
		case 3:
			p += "/**"
		case 4:
			p = "a/**/" + p
		}
		if rng.IntN(4) == 0 {
			p += "/"
		}
		if rng.IntN(3) == 0 {
			p = "!" + p
		}
		return p
	}
	var fill func(path string, depth int)
	fill = func(path string, depth int) {
		for _, f := range []string{".gitignore", ".ignore", ".rgignore"} {
			if rng.IntN(4) > 0 {
				continue
			}
			var text string
			for range 1 + rng.IntN(4) {
				text += rule() + "\n"
			}
			must(t, os.WriteFile(filepath.Join(path, f), []byte(text), 0o644))
		}
		if repos && (depth == 0 || rng.IntN(12) == 0) {
			must(t, os.MkdirAll(filepath.Join(path, ".git", "info"), 0o755))
			must(t, os.WriteFile(filepath.Join(path, ".git", "info", "exclude"), []byte(rule()+"\n"+rule()+"\n"), 0o644))
		}
		for _, n := range names {
			full := filepath.Join(path, n)
			switch k := rng.IntN(10); {
			case k < 4:
				must(t, os.WriteFile(full, nil, 0o644))
			case k < 6 && depth < 3:
				must(t, os.Mkdir(full, 0o755))
				fill(full, depth+1)
			case k == 6 && rng.IntN(4) == 0:
				must(t, os.Symlink("a", full))
			}
		}
	}
	fill(dir, 0)
}

// TestSameAnswer checks that the numbers of workers and of files per batch affect only the order.
func TestSameAnswer(t *testing.T) {
	stress.SkipShort(t)
	stress.NeedsCase(t)
	for seed := range uint64(4) {
		dir := t.TempDir()
		randomTree(t, rand.New(rand.NewPCG(seed, 1)), dir, seed%2 == 0)
		r := openRoot(t, dir, nil)
		want, report := list(t, r, &Options{Workers: 1})
		if len(want) < 10 {
			t.Logf("seed %d: only %d files", seed, len(want))
		}
		for _, opts := range []Options{{Workers: 8}, {Workers: 3, Batch: 1}} {
			got, again := list(t, r, &opts)
			if !slices.Equal(got, want) || again.Counts != report.Counts || again.Dirs != report.Dirs {
				t.Errorf("seed %d, %+v: %d files, want %d; counts %v, want %v", seed, opts, len(got), len(want), again.Counts, report.Counts)
			}
		}
		if got := inOrder(t, r, &Options{Workers: 4}, false); !slices.Equal(got, want) {
			t.Errorf("seed %d: in order %d files, want %d, sorted %v", seed, len(got), len(want), slices.IsSorted(got))
		}
	}
}

func rgFiles(t testing.TB, rg, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "--no-ignore-global", "--files", "-0"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RIPGREP_CONFIG_PATH=")
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("rg in %s: %v", dir, err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(out) == 0 {
		files = nil
	}
	slices.Sort(files)
	return files
}

// rgLists counts the compared lists, and how many of them weren't empty.
type rgLists struct{ all, some int }

// sameAsRg compares a walk with ripgrep's list of files. It counts the lists, because most of them
// must not be empty.
func (c *rgLists) sameAsRg(t *testing.T, rg, dir string, opts Options, args ...string) {
	t.Helper()
	// rg has no protected names, so turn the policy off.
	got, report := list(t, openRoot(t, dir, &rootfs.Options{Trusted: true}), &opts)
	want := rgFiles(t, rg, dir, args...)
	if c.all++; len(want) > 0 {
		c.some++
	}
	if slices.Equal(got, want) {
		t.Logf("%s %v: %d files", dir, args, len(got))
		return
	}
	t.Errorf("%s %v: %d files, rg lists %d; skipped %+v", dir, args, len(got), len(want), report.Skipped)
	shown := 0
	for _, p := range append(slices.Clone(got), want...) {
		_, a := slices.BinarySearch(got, p)
		_, b := slices.BinarySearch(want, p)
		if a != b && shown < 10 {
			shown++
			t.Errorf("  %s: listed by us %v, by rg %v", p, a, b)
		}
	}
}

// copyTree copies files except .git. It ignores files that vanish during the copy, because the repository
// may be in use. Don't call it for the top of a checkout: build output there may be large, and may
// have the names of files that the test adds.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.Name() == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o755))
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	}))
}

// dotCoversRgignore reports whether --no-ignore-dot also disables .rgignore, which it does since
// ripgrep 15.
func dotCoversRgignore(t testing.TB, rg string) bool {
	out, err := exec.Command(rg, "--version").Output()
	must(t, err)
	var major int
	_, err = fmt.Sscanf(string(out), "ripgrep %d.", &major)
	must(t, err)
	return major >= 15
}

func TestAgainstRipgrep(t *testing.T) {
	stress.SkipTiny(t)
	rg := ripgrep(t)
	var c rgLists
	defer func() {
		if t.Logf("%d lists compared, %d are not empty", c.all, c.some); c.some <= c.all/2 {
			t.Error("too few of them have a file")
		}
	}()
	t.Run("random trees", func(t *testing.T) {
		for seed := range uint64(stress.N(12)) {
			dir := t.TempDir()
			randomTree(t, rand.New(rand.NewPCG(seed, 2)), dir, seed%2 == 0)
			if seed%2 == 1 {
				// Outside a repository, rg needs --no-require-git, and then ignores nested
				// repositories.
				c.sameAsRg(t, rg, dir, Options{}, "--no-require-git")
				c.sameAsRg(t, rg, dir, Options{Hidden: true}, "--no-require-git", "--hidden")
				continue
			}
			c.sameAsRg(t, rg, dir, Options{})
			c.sameAsRg(t, rg, dir, Options{Hidden: true}, "--hidden")
			c.sameAsRg(t, rg, dir, Options{NoIgnore: true}, "--no-ignore")
			c.sameAsRg(t, rg, dir, Options{NoVCS: true}, "--no-ignore-vcs")
			if dotCoversRgignore(t, rg) {
				c.sameAsRg(t, rg, dir, Options{NoDot: true}, "--no-ignore-dot")
			}
			c.sameAsRg(t, rg, dir, Options{MaxDepth: 2}, "--max-depth", "2")
			for _, sub := range []string{"a", "src", "build"} {
				if st, err := os.Lstat(filepath.Join(dir, sub)); err != nil || !st.IsDir() {
					continue
				}
				r := openRoot(t, dir, nil)
				c.sameAsRg(t, rg, dir, Options{Start: start(t, r, sub)}, sub)
				c.sameAsRg(t, rg, dir, Options{Start: start(t, r, sub), NoParents: true}, "--no-ignore-parent", sub)
			}
		}
	})
	t.Run("the Go source tree", func(t *testing.T) {
		stress.SkipShort(t)
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Skip("no go command: install Go")
		}
		goroot, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
		must(t, err)
		c.sameAsRg(t, rg, goroot, Options{}, "--no-require-git")
		c.sameAsRg(t, rg, goroot, Options{Hidden: true}, "--no-require-git", "--hidden")
	})
	t.Run("this repository with junk", func(t *testing.T) {
		if _, err := os.Stat("../../go.mod"); err != nil {
			t.Skip("not in the repository")
		}
		dir := filepath.Join(t.TempDir(), "copy")
		copyTree(t, "..", filepath.Join(dir, "internal"))
		copyTree(t, "../../docs", filepath.Join(dir, "docs"))
		add(t, dir, ".git/info/exclude: /junk/tmp\n", ".gitignore: *.o\nnode_modules/\n/bin\n!keep.o\n.*\n!.github/\n", "a.o", "keep.o", "bin", "internal/bin",
			"node_modules/x/index.js", "junk/tmp/x", "junk/y", "junk/.gitignore: *\n!y\n", "junk/z", ".github/ci.yml", ".env", "junk/.DS_Store", "link -> internal",
			"target/a b.o", "target/.ignore: !*.o\n", "target/x.o", "internal/walk/.rgignore: *_test.go\n", "junk/é\n.txt")
		c.sameAsRg(t, rg, dir, Options{})
	})
}

// TestEach checks that results are in path order, even from a folder that several workers share.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		add(t, dir, fmt.Sprintf("big/f%03d", i))
	}
	add(t, dir, "a", "big.txt", "big/sub/x", "z/y/x")
	r := openRoot(t, dir, nil)
	want, _ := list(t, r, nil)
	for _, opts := range []Options{{Workers: 1}, {Workers: 4, Batch: 7}, {Workers: 2, Batch: 1}} {
		var got []string
		report, err := Each(context.Background(), r, &opts, func(v *Visit, e *rootfs.Entry) (string, bool) {
			info, err := v.Dir.Stat(e.Name)
			return fmt.Sprint(v.Shown, " ", info.Type), err == nil && e.Name != "f007"
		}, func(path, result string) error {
			if dir := plainPath(start(t, r, path).Dir()); result != dir+" file" {
				t.Errorf("%s: result %q", path, result)
			}
			got = append(got, path)
			return nil
		})
		must(t, err)
		if report.Files != len(want) {
			t.Errorf("%+v: %d files, want %d", opts, report.Files, len(want))
		}
		i := slices.Index(want, "big/f007")
		if !slices.Equal(got, slices.Delete(slices.Clone(want), i, i+1)) {
			t.Errorf("%+v: %d results, sorted %v, want %d", opts, len(got), slices.IsSorted(got), len(want)-1)
		}
	}
}

// TestEachLosesParts checks that if a large folder vanishes while its files are processed, only its
// remaining parts are missing.
func TestEachLosesParts(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		add(t, dir, fmt.Sprintf("big/f%02d", i))
	}
	add(t, dir, "z")
	r := openRoot(t, dir, nil)
	var got []string
	report, err := Each(context.Background(), r, &Options{Workers: 1, Batch: 10}, func(v *Visit, e *rootfs.Entry) (int, bool) {
		if v.Shown == "big" {
			os.RemoveAll(filepath.Join(dir, "big"))
		}
		return 0, true
	}, func(path string, _ int) error {
		got = append(got, path)
		return nil
	})
	must(t, err)
	if len(got) != 11 || got[10] != "z" || report.Count(Vanished) != 4 {
		t.Errorf("got %q, skipped %+v", got, report.Skipped)
	}
}
