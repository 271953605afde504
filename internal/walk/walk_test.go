package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/fault"
	"quarry/internal/glob"
	"quarry/internal/ignore"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// tree makes a folder with files given as "path: content" or "path", folders as "path/" and
// symlinks as "a -> b".
func tree(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	add(t, dir, files...)
	return dir
}

func add(t testing.TB, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		if link, target, ok := strings.Cut(f, " -> "); ok {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755))
			must(t, os.Symlink(target, filepath.Join(dir, link)))
			continue
		}
		name, content, _ := strings.Cut(f, ": ")
		full := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(full, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(t, os.WriteFile(full, []byte(content), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openRoot(t testing.TB, dir string, opts *rootfs.Options) *rootfs.Root {
	t.Helper()
	r, err := rootfs.Open(dir, opts)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// list returns the sorted paths of a walk and its report.
func list(t testing.TB, r *rootfs.Root, opts *Options) ([]string, Report) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	report, err := Walk(context.Background(), r, opts, func(v *Visit) error {
		mu.Lock()
		defer mu.Unlock()
		for _, f := range v.Files {
			got = append(got, join(v.Shown, f.Name))
		}
		return nil
	})
	must(t, err)
	slices.Sort(got)
	if len(got) != report.Files {
		t.Errorf("%d files visited, reported %d", len(got), report.Files)
	}
	return got, report
}

func start(t testing.TB, r *rootfs.Root, path string) rootfs.Path {
	t.Helper()
	p, err := r.Resolve(path)
	must(t, err)
	return p
}

func filter(t testing.TB, globs ...string) *glob.Filter {
	t.Helper()
	f, err := glob.CompileFilter(glob.Gitignore, globs...)
	must(t, err)
	return f
}

func TestWalk(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	dir := tree(t, "a.go", "b.txt", "sub/c.go", "sub/deep/d.go", ".hidden", ".config/x", "build/out.o", "build/deep/y",
		".gitignore: build/\n*.log\n!.github\n", "x.log", ".github/ci.yml", "sub/.ignore: deep/\n!keep.log\n", "sub/keep.log", "sub/no.log",
		".git/config", ".trash/old", "key.pem", "empty/", "link -> a.go", "dirlink -> sub", ".obsidian/app.json: {}")
	r := openRoot(t, dir, nil)
	for _, c := range []struct {
		name string
		opts Options
		want string
	}{
		{"the default", Options{}, ".github/ci.yml a.go b.txt sub/c.go sub/keep.log"},
		{"strictly hidden", Options{StrictHidden: true}, "a.go b.txt sub/c.go sub/keep.log"},
		{"hidden", Options{Hidden: true}, ".config/x .github/ci.yml .gitignore .hidden a.go b.txt sub/.ignore sub/c.go sub/keep.log"},
		{"no ignore", Options{NoIgnore: true}, "a.go b.txt build/deep/y build/out.o sub/c.go sub/deep/d.go sub/keep.log sub/no.log x.log"},
		{"no .gitignore", Options{NoVCS: true}, "a.go b.txt build/deep/y build/out.o sub/c.go sub/keep.log sub/no.log x.log"},
		{"no .ignore", Options{NoDot: true}, ".github/ci.yml a.go b.txt sub/c.go sub/deep/d.go"},
		{"one level", Options{MaxDepth: 1}, "a.go b.txt"},
		{"two levels", Options{MaxDepth: 2, NoIgnore: true}, "a.go b.txt build/out.o sub/c.go sub/keep.log sub/no.log x.log"},
		{"a start", Options{Start: start(t, r, "sub")}, "sub/c.go sub/keep.log"},
		{"a start without its parents' rules", Options{Start: start(t, r, "sub"), NoParents: true}, "sub/c.go sub/keep.log sub/no.log"},
		{"an ignored start", Options{Start: start(t, r, "build")}, "build/deep/y build/out.o"},
		{"a hidden start", Options{Start: start(t, r, ".config")}, ".config/x"},
		{"a filter", Options{Filter: filter(t, "*.go")}, "a.go sub/c.go"},
		{"a filter never brings back what is ignored", Options{Filter: filter(t, "build/**", "*.log")}, "sub/keep.log"},
		{"a filter is anchored at the start", Options{Start: start(t, r, "sub"), Filter: filter(t, "/c.go")}, "sub/c.go"},
		{"an excluding filter", Options{Filter: filter(t, "!sub", "!*.txt")}, ".github/ci.yml a.go"},
		{"extra rules", Options{Rules: []ignore.Set{{Kind: ignore.Extra, Rules: ignore.Parse("extra", []byte("sub/\n"))}}}, ".github/ci.yml a.go b.txt"},
		{"global rules are the weakest", Options{Rules: []ignore.Set{{Kind: ignore.Global, Rules: ignore.Parse("global", []byte("*.log\n*.go\n"))}}}, ".github/ci.yml b.txt sub/keep.log"},
		{"rules of a repository around count less than our own", Options{NoVCS: true, Rules: []ignore.Set{{Kind: ignore.Git, Above: "ws", Rules: ignore.Parse("../.gitignore", []byte("/ws/sub\n"))}}},
			"a.go b.txt build/deep/y build/out.o x.log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, workers := range []int{1, 4} {
				c.opts.Workers = workers
				got, _ := list(t, r, &c.opts)
				if s := strings.Join(got, " "); s != c.want {
					t.Errorf("%d workers:\n got %s\nwant %s", workers, s, c.want)
				}
			}
		})
	}
	_, report := list(t, r, nil)
	for why, want := range map[Reason]int{Hidden: 4, Protected: 4, Ignored: 4, Symlink: 2, Filtered: 0, Unreadable: 0} {
		if n := report.Count(why); n != want {
			t.Errorf("%d entries %s, want %d", n, why, want)
		}
	}
	if report.Dirs != 4 { // the root, .github, sub, empty
		t.Errorf("%d folders visited, want 4", report.Dirs)
	}
}

// TestRepositories checks that rules from outside a repository don't apply inside it. Only the
// info/exclude that the caller passes for the top of the root does, as when .git there is the file
// of a worktree.
func TestRepositories(t *testing.T) {
	rules := func(k ignore.Kind, above, text string) ignore.Set {
		return ignore.Set{Kind: k, Above: above, Rules: ignore.Parse(k.String(), []byte(text))}
	}
	opts := &Options{Rules: []ignore.Set{rules(ignore.Git, "ws", "*.md\n"), rules(ignore.Exclude, "", "*.tmp\n"), rules(ignore.Global, "", "*.bak\n")}}
	files := []string{"a.md", "a.tmp", "a.bak", "a.c", "in/a.md", "in/a.tmp", "in/a.bak", "in/a.c", "in/a.x", ".gitignore: *.c\n"}
	for _, c := range []struct {
		name, want string
		more       []string
	}{
		{"no repository", "in/a.x", nil},
		{"at the top", "a.md in/a.md in/a.x", []string{".git: gitdir: elsewhere"}},
		{"inside", "in/a.c in/a.md in/a.tmp", []string{"in/.git/info/exclude: *.x\n"}},
	} {
		r := openRoot(t, tree(t, append(c.more, files...)...), nil)
		for _, start := range []rootfs.Path{{}, start(t, r, "in")} {
			opts.Start = start
			got, _ := list(t, r, opts)
			var want []string
			for _, p := range strings.Fields(c.want) {
				if start.IsRoot() || strings.HasPrefix(p, "in/") {
					want = append(want, p)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, from %s: got %q, want %q", c.name, start, got, want)
			}
		}
	}
}

func TestStartErrors(t *testing.T) {
	r := openRoot(t, tree(t, "a.go"), nil)
	visit := func(*Visit) error { t.Error("visited something"); return nil }
	for path, want := range map[string]fault.Code{"nope": fault.NotFound, "a.go": fault.NotFolder} {
		if _, err := Walk(context.Background(), r, &Options{Start: start(t, r, path)}, visit); !errors.Is(err, want) {
			t.Errorf("walking %q: %v, want %v", path, err, want)
		}
		if _, err := Ordered(context.Background(), r, &Options{Start: start(t, r, path)}, false, nil); !errors.Is(err, want) {
			t.Errorf("walking %q in order: %v, want %v", path, err, want)
		}
	}
}

func TestStops(t *testing.T) {
	stress.SkipShort(t)
	var files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("d%d/e%d/f", i%20, i))
	}
	r := openRoot(t, tree(t, files...), nil)
	boom := errors.New("boom")
	before := openFiles()
	for _, workers := range []int{1, 4} {
		opts := &Options{Workers: workers}
		ctx, cancel := context.WithCancel(context.Background())
		visits := 0
		var mu sync.Mutex
		_, err := Walk(ctx, r, opts, func(v *Visit) error {
			mu.Lock()
			defer mu.Unlock()
			if visits++; visits == 3 {
				cancel()
			}
			return nil
		})
		if err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
		if _, err := Walk(ctx, r, opts, func(*Visit) error { return nil }); err != context.Canceled {
			t.Errorf("cancelled before: %v", err)
		}
		if _, err := Walk(context.Background(), r, opts, func(v *Visit) error {
			if strings.Contains(v.Shown, "/") {
				return boom
			}
			return nil
		}); err != boom {
			t.Errorf("visit failed: %v", err)
		}
		n := 0
		if _, err := Ordered(context.Background(), r, opts, false, func(Item) error {
			if n++; n == 5 {
				return boom
			}
			return nil
		}); err != boom || n != 5 {
			t.Errorf("yield failed: %v after %d", err, n)
		}
		if _, err := Ordered(ctx, r, opts, false, func(Item) error { return nil }); err != context.Canceled {
			t.Errorf("cancelled in order: %v", err)
		}
	}
	if after := openFiles(); after != before {
		t.Errorf("%d files open before, %d after", before, after)
	}
}

// openFiles returns the number of this process's open descriptors, if the system reports them.
func openFiles() int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(fds)
}

// TestChangesUnderneath checks that folders are reported if they vanish or turn into symlinks
// between listing and visit, and that everything else is listed.
func TestChangesUnderneath(t *testing.T) {
	outside := tree(t, "secret")
	dir := tree(t, "a/x", "gone/x", "swapped/x", "z/x", "top")
	r := openRoot(t, dir, nil)
	var got []string
	report, err := Walk(context.Background(), r, &Options{Workers: 1}, func(v *Visit) error {
		if v.Shown == "" {
			must(t, os.RemoveAll(filepath.Join(dir, "gone")))
			must(t, os.RemoveAll(filepath.Join(dir, "swapped")))
			must(t, os.Symlink(outside, filepath.Join(dir, "swapped")))
		}
		for _, f := range v.Files {
			got = append(got, join(v.Shown, f.Name))
		}
		return nil
	})
	must(t, err)
	slices.Sort(got)
	if want := "a/x top z/x"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if report.Count(Vanished) != 2 || len(report.Skipped) != 2 || report.Skipped[0].Path != "gone" || report.Skipped[1].Path != "swapped" {
		t.Errorf("skipped %+v, want gone and swapped", report.Skipped)
	}
}

func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("permissions don't stop this user: run it as another than root")
	}
	dir := tree(t, "a/x", "locked/y", "sub/.gitignore: x\n", "sub/x")
	must(t, os.Chmod(filepath.Join(dir, "locked"), 0))
	must(t, os.Chmod(filepath.Join(dir, "sub/.gitignore"), 0))
	defer os.Chmod(filepath.Join(dir, "locked"), 0o755)
	got, report := list(t, openRoot(t, dir, nil), nil)
	if strings.Join(got, " ") != "a/x sub/x" || report.Count(Unreadable) != 2 || report.Skipped[0].Path != "locked" {
		t.Errorf("got %q, skipped %+v", got, report.Skipped)
	}
}

// TestUnusableRules checks that the walk reports an ignore file that it can't use, and continues.
func TestUnusableRules(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	got, report := list(t, openRoot(t, tree(t, ".gitignore/", "a", "sub/.ignore -> nowhere", "sub/b"), nil), nil)
	if strings.Join(got, " ") != "a sub/b" || report.Count(Unreadable) != 2 {
		t.Errorf("got %q, skipped %+v", got, report.Skipped)
	}
}

func TestFollowLinks(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	outside := tree(t, "secret")
	dir := tree(t, "real/a.go", "real/sub/b.go", "file.go", "to -> real", "self -> .", "real/sub/up -> ../..", "out -> "+outside,
		"dangling -> nowhere", "f -> file.go", ".obsidian/x.go", "notes -> .obsidian", ".gitignore: to/sub/\n")
	r := openRoot(t, dir, nil)
	got, report := list(t, r, &Options{FollowLinks: true})
	if want := "f file.go real/a.go real/sub/b.go to/a.go"; strings.Join(got, " ") != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if report.Count(Loop) != 2 || report.Count(Outside) != 1 || report.Count(Symlink) != 1 || report.Count(Protected) != 2 {
		t.Errorf("counts %v, skipped %+v", report.Counts, report.Skipped)
	}
	_, err := Walk(context.Background(), r, &Options{FollowLinks: true}, func(v *Visit) error {
		if v.Shown == "to" && v.Path.String() != "real" {
			t.Errorf("to is really %s", v.Path)
		}
		for _, f := range v.Files {
			if f.Type != rootfs.TypeFile {
				continue
			}
			file, err := v.Dir.OpenFile(f.Name)
			if err != nil {
				t.Errorf("open %s in %s: %v", f.Name, v.Shown, err)
				continue
			}
			file.Close()
		}
		return nil
	})
	must(t, err)
	ordered := inOrder(t, r, &Options{FollowLinks: true}, false)
	slices.Sort(ordered)
	if !slices.Equal(ordered, got) {
		t.Errorf("in order %q\nwant %q", ordered, got)
	}
}

// TestLargeFolder checks that no visit has more files than a batch, and that every file is listed
// once.
func TestLargeFolder(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir()
	for i := range 700 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d", i)), nil, 0o644))
	}
	add(t, dir, "sub/x")
	r := openRoot(t, dir, nil)
	var mu sync.Mutex
	seen := map[string]bool{}
	visits, withDirs := 0, 0
	report, err := Walk(context.Background(), r, &Options{Batch: 200}, func(v *Visit) error {
		mu.Lock()
		defer mu.Unlock()
		visits++
		if len(v.Dirs) > 0 {
			withDirs++
		}
		if len(v.Files) > 200 {
			t.Errorf("a visit of %d files", len(v.Files))
		}
		for _, f := range v.Files {
			if seen[join(v.Shown, f.Name)] {
				t.Errorf("%s twice", f.Name)
			}
			seen[join(v.Shown, f.Name)] = true
		}
		if _, err := v.Dir.Stat(v.Files[0].Name); err != nil {
			t.Errorf("the folder isn't open: %v", err)
		}
		return nil
	})
	must(t, err)
	if len(seen) != 701 || visits != 5 || withDirs != 1 || report.Files != 701 || report.Dirs != 2 {
		t.Errorf("%d files in %d visits, %d with folders, report %+v", len(seen), visits, withDirs, report)
	}
}

// TestDeepTree walks a tree deeper than the number of handles that are kept open.
func TestDeepTree(t *testing.T) {
	stress.NeedsUnix(t, "deeper than a path can say")
	dir := t.TempDir()
	at, err := os.OpenRoot(dir)
	must(t, err)
	const depth = 60
	for range depth {
		for _, d := range []string{"a", "b", "c"} {
			must(t, at.Mkdir(d, 0o755))
		}
		f, err := at.Create("c/f")
		must(t, err)
		f.Close()
		next, err := at.OpenRoot("b")
		must(t, err)
		at.Close()
		at = next
	}
	at.Close()
	before := openFiles()
	r := openRoot(t, dir, nil)
	for _, workers := range []int{1, 3} {
		for _, keep := range []int32{0, 5, defaultHandles} {
			w := newWalker(r, &Options{Workers: workers}, func(*Visit) error { return nil })
			w.keep = keep
			report, err := w.run(context.Background())
			must(t, err)
			if report.Files != depth || report.Dirs != 3*depth+1 || len(report.Skipped) > 0 {
				t.Errorf("%d workers, %d handles: %+v", workers, keep, report)
			}
			if n := w.handles.Load(); n != 0 {
				t.Errorf("%d handles left open", n)
			}
		}
	}
	if after := openFiles() - 1; after > before { // not counting the root, which remains open
		t.Errorf("%d files open before, %d after", before, after)
	}
}

// A folder whose path is too long is reported and not entered. Otherwise the memory for paths would
// grow with the square of the depth.
func TestTooDeep(t *testing.T) {
	stress.NeedsUnix(t, "deeper than a path can say")
	at, err := os.OpenRoot(t.TempDir())
	must(t, err)
	dir, name := at.Name(), strings.Repeat("d", 200)
	for range 50 {
		must(t, at.WriteFile("f", nil, 0o644))
		must(t, at.Mkdir(name, 0o755))
		next, err := at.OpenRoot(name)
		must(t, err)
		at.Close()
		at = next
	}
	at.Close()
	files, report := list(t, openRoot(t, dir, nil), &Options{})
	if want := maxFolder/201 + 1; len(files) != want || report.Count(Unreadable) != 1 || len(report.Skipped) != 1 || report.Skipped[0].Err == nil {
		t.Errorf("%d files, want %d; %d skipped, want 1", len(files), want, report.Count(Unreadable))
	}
}
