//go:build (windows || darwin) && !portable

package watch

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("WATCH_CHILD"); dir != "" {
		serveChanges(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveChanges makes one effective change for each line it reads, and answers with a description.
func serveChanges(dir string) {
	var seed uint64
	fmt.Sscan(os.Getenv("WATCH_SEED"), &seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); n++ {
		var what string
		for err := fs.ErrInvalid; what == "" || err != nil; {
			what, err = change(dir, rnd, n)
		}
		fmt.Println(what)
	}
}

// change makes one random change below dir, which may fail or have no effect.
func change(dir string, rnd *rand.Rand, n int) (what string, err error) {
	name := func(letter string, of int) string { return fmt.Sprintf("%s%d", letter, rnd.IntN(of)) }
	folder := func() string {
		p := dir
		for range rnd.IntN(4) {
			p = filepath.Join(p, name("d", 3))
		}
		return p
	}
	file := func() string { return filepath.Join(folder(), name("f", 5)+".txt") }
	a, b := file(), file()
	text := []byte(strings.Repeat("x", rnd.IntN(200)) + fmt.Sprint(n))
	switch rnd.IntN(10) {
	case 0, 1, 2:
		what, err = "write "+a, os.WriteFile(a, text, 0o644)
	case 3:
		what = "append " + a
		var f *os.File
		if f, err = os.OpenFile(a, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			f.Write(text)
			err = f.Close()
		}
	case 4:
		what, err = "rename "+a+" "+b, os.Rename(a, b)
	case 5:
		temp := a + ".tmp"
		if err = os.WriteFile(temp, text, 0o644); err == nil {
			what, err = "replace "+a, os.Rename(temp, a)
		}
	case 6:
		what, err = "remove "+a, os.Remove(a)
	case 7:
		d := folder()
		what, err = "mkdir "+d, os.MkdirAll(d, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(d, "at-once.txt"), text, 0o644)
		}
	case 8:
		from, to := filepath.Join(folder(), name("d", 3)), filepath.Join(folder(), name("d", 3))
		what, err = "rename folder "+from+" "+to, os.Rename(from, to)
	case 9:
		if d := filepath.Join(folder(), name("d", 3)); rnd.IntN(3) == 0 {
			what, err = "remove folder "+d, os.RemoveAll(d)
		}
	}
	return what, err
}

// differsAt is differs for the files that a report of a change names.
func (m *replica) differsAt(report string) string {
	for word := range strings.FieldsSeq(report) {
		rel, ok := strings.CutPrefix(word, m.dir+string(filepath.Separator))
		if rel = filepath.ToSlash(rel); !ok || !strings.HasSuffix(rel, ".txt") {
			continue
		}
		data, err := os.ReadFile(word)
		if have, known := m.files[rel]; known != (err == nil) || have != string(data) {
			return fmt.Sprintf("%s is %q (%v), known as %q (%v)", rel, data, err, have, known)
		}
	}
	return ""
}

func watched(t *testing.T, dir string, opts *Options) *Watcher {
	t.Helper()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	marks, err := rootfs.Open(t.TempDir(), &rootfs.Options{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { marks.Close() })
	if opts == nil {
		opts = &Options{}
	}
	opts.Marks = marks
	w, err := Open(t.Context(), root, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// Every change by another process is reported by the next barrier.
func TestFresh(t *testing.T) {
	run := stress.Start(t, "fresh, one watch for the tree", 2000, 10000)
	dir := t.TempDir()
	w := watched(t, dir, nil)
	if st := w.Status(); st.Reason != nil {
		t.Fatalf("not watched: %v", st.Reason)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "WATCH_CHILD="+dir, "WATCH_SEED=7")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer in.Close()
	said := bufio.NewScanner(out)
	m := replica{dir: dir, files: map[string]string{}}
	stale, done, folders := 0, 0, 0
	for range run.Cases() {
		fmt.Fprintln(in)
		if !said.Scan() {
			t.Fatal("the other process ended")
		}
		unwatched, err := w.Barrier(t.Context(), m.apply)
		if err != nil || len(unwatched) > 0 {
			t.Fatal(unwatched, err)
		}
		diff := m.differsAt(said.Text())
		if done++; diff == "" && done%50 == 0 {
			diff = m.differs()
		}
		if diff != "" {
			if stale++; stale < 5 {
				t.Errorf("after change %d (%s): %s", done, said.Text(), diff)
			}
			m.apply(&Changes{Trees: []rootfs.Path{{}}})
		}
		if strings.HasPrefix(said.Text(), "rename folder") {
			folders++
		}
	}
	st := w.Status()
	t.Logf("%d changes, %d of them moved folders; %d stale, %d events, %d times lost", done, folders, stale, st.Events, st.Lost)
}

// If events don't fit, everything counts as changed, and the loss is counted.
func TestOverflow(t *testing.T) {
	dir := t.TempDir()
	w := watched(t, dir, nil)
	m := replica{dir: dir, files: map[string]string{}}
	w.Barrier(t.Context(), m.apply)
	w.mu.Lock() // no reader meanwhile
	for i := range 3000 {
		name := filepath.Join(dir, strings.Repeat("long", 20)+fmt.Sprint(i%300))
		if err := os.WriteFile(name, []byte(fmt.Sprint(i)), 0o644); err != nil {
			t.Error(err)
		}
	}
	w.mu.Unlock()
	if _, err := w.Barrier(t.Context(), m.apply); err != nil {
		t.Fatal(err)
	}
	if diff := m.differs(); diff != "" {
		t.Error(diff)
	}
	t.Logf("%+v", w.Status())
}

// Changes in a folder that is not admitted are not reported until it is admitted.
func TestAdmit(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"in", "out/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	open := false
	w := watched(t, dir, &Options{Admit: func(_ rootfs.Path, name string) bool { return name != "out" || open }})
	news := func() string {
		var got []string
		_, err := w.Barrier(context.Background(), func(c *Changes) {
			for _, f := range c.Files {
				got = append(got, f.Path.String())
			}
			for _, d := range c.Trees {
				got = append(got, d.String()+"/")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, " ")
	}
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	news()
	put("in/a")
	put("out/deep/b")
	if got := news(); got != "in/a" {
		t.Errorf("news %q, want in/a", got)
	}
	open = true
	if err := w.Rescan(t.Context(), rootfs.Path{}); err != nil {
		t.Fatal(err)
	}
	if got := news(); got != "out/" {
		t.Errorf("news %q, want out/", got)
	}
	put("out/deep/c")
	if got := news(); got != "out/deep/c" {
		t.Errorf("news %q, want out/deep/c", got)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(".git/HEAD")
	os.Mkdir(filepath.Join(dir, ".git/info"), 0o755)
	put(".git/info/exclude")
	if got := news(); got != ".git .git/info/exclude" {
		t.Errorf("news %q, want .git and its exclude file", got)
	}
}

// A folder that replaced the root is watched instead of the old one.
func TestRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put("old")
	w := watched(t, dir, nil)
	m := replica{dir: dir, files: map[string]string{}}
	w.Barrier(t.Context(), m.apply)
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Skipf("an open folder can't be moved here: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put("new")
	if moved, err := w.root.Follow(); !moved || err != nil {
		t.Fatal(moved, err)
	}
	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new", "newer", "newest"} {
		put(name)
		unwatched, err := w.Barrier(t.Context(), m.apply)
		if err != nil || len(unwatched) > 0 {
			t.Fatal(unwatched, err, w.Status())
		}
		if diff := m.differs(); diff != "" {
			t.Errorf("after %s: %s", name, diff)
		}
	}
}
