package trash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
	"quarry/internal/stress"
)

// trashCLI runs a program of Debian's trash-cli on the desk's trash.
func (d *desk) trashCLI(input, name string, args ...string) string {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+d.data, "LC_ALL=C.UTF-8")
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(string(out), "PermissionError") && strings.Contains(string(out), "/.Trash-") {
		// trash-cli reads the trash of every volume, and stops at the first unreadable
		// one.
		d.t.Skipf("%s stops at another user's trash on a volume here", name)
	}
	if err != nil {
		d.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// listed returns the items that trash-list shows for the desk's folder.
func (d *desk) listed() []string {
	d.t.Helper()
	var names []string
	for line := range strings.Lines(d.trashCLI("", "trash-list")) {
		// 2026-01-02 03:04:05 /path
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) == 3 {
			if rel, ok := strings.CutPrefix(f[2], d.dir+"/"); ok {
				names = append(names, rel)
			}
		}
	}
	return sorted(names)
}

// agree checks that trash-cli and this package list and restore each other's items.
func agree(t *testing.T, d *desk) {
	needTool(t, "trash-put")
	names := []string{"plain.md", "with space.md", "Ünïcödé ☃.md", "100%.txt", "a%41b.txt", "sub/deep/x.md", "folder"}
	d.write("folder/in/side", "inside")
	for _, n := range names {
		if n != "folder" {
			d.write(n, "ours "+n)
		}
		d.put(n)
	}
	if got, want := d.listed(), sorted(append([]string(nil), names...)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("trash-list shows\n%q\nwant\n%q", got, want)
	}
	for _, n := range names {
		out := d.trashCLI("0\n", "trash-restore", filepath.Join(d.dir, n))
		if n == "folder" {
			n = "folder/in/side"
		}
		if got := d.read(n); got != "ours "+n && got != "inside" {
			t.Errorf("trash-restore of %q gave %q\n%s", n, got, out)
		}
	}
	if left := d.list(); len(left) != 0 {
		t.Errorf("after trash-restore we still list %v", left)
	}
	theirs := append(names, "new\nline")
	d.write("new\nline", "ours new\nline")
	for _, n := range theirs {
		d.trashCLI("", "trash-put", filepath.Join(d.dir, n))
		d.gone(n)
	}
	items := d.list()
	if len(items) != len(theirs) {
		t.Fatalf("we list %d of %d that trash-put deleted", len(items), len(theirs))
	}
	for _, item := range items {
		if !item.Inside || item.Deleted.IsZero() {
			t.Errorf("from trash-put: %+v", item)
		}
		if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
			t.Errorf("restore %q: %v", item.Name, err)
		}
	}
	for _, n := range theirs {
		if n != "folder" && d.read(n) != "ours "+n {
			t.Errorf("%q holds %q", n, d.read(n))
		}
	}
	if got := d.listed(); len(got) != 0 {
		t.Errorf("trash-list still shows %q", got)
	}
}

func TestAgainstTrashCLI(t *testing.T) {
	stress.SkipShort(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	agree(t, newDesk(t, dir, false, Options{DataDir: t.TempDir()}))
}

const envVolume = "QUARRY_TRASH_TEST_VOLUME"

// TestVolume runs TestOnVolume in a namespace with a small file system mounted.
func TestVolume(t *testing.T) {
	stress.SkipShort(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	var out []byte
	for _, how := range []string{"-m", "-rm"} {
		probe := exec.Command("unshare", how, "sh", "-c", `mount -t tmpfs tmpfs "$0"`, top)
		if out, err = probe.CombinedOutput(); err != nil {
			continue
		}
		cmd := exec.Command("unshare", how, "sh", "-c", `mount -t tmpfs tmpfs "$0" && exec "$@"`, top,
			exe, "-test.run=^TestOnVolume$", "-test.v")
		cmd.Env = append(os.Environ(), envVolume+"="+top)
		out, err = cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("on a volume: %v", err)
		}
		return
	}
	t.Skipf("no file system can be mounted here: %v %s", err, out)
}

func TestOnVolume(t *testing.T) {
	top := os.Getenv(envVolume)
	if top == "" {
		t.Skip("runs as a part of TestVolume")
	}
	uid := os.Getuid()
	own, shared := filepath.Join(top, fmt.Sprintf(".Trash-%d", uid)), filepath.Join(top, ".Trash")
	ws := filepath.Join(top, "deep/ws")
	fresh := func(t *testing.T, opts Options) *desk {
		t.Helper()
		for _, dir := range []string{own, shared, filepath.Join(top, "deep")} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(ws, 0o755); err != nil {
			t.Fatal(err)
		}
		opts.DataDir = t.TempDir()
		return newDesk(t, ws, false, opts)
	}
	inOwn := func(t *testing.T, d *desk) {
		t.Helper()
		d.write("a b.md", "1")
		item := d.put("a b.md")
		if item.ID != filepath.Join(own, "files/a b.md") {
			t.Errorf("id %q", item.ID)
		}
		rec, err := os.ReadFile(filepath.Join(own, "info/a b.md.trashinfo"))
		if err != nil || !strings.Contains(string(rec), "\nPath=deep/ws/a%20b.md\n") {
			t.Errorf("record %q, %v", rec, err)
		}
		if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode of the trash: %v, %v", info.Mode(), err)
		}
		if entries, _ := os.ReadDir(filepath.Join(d.data, "Trash/files")); len(entries) != 0 {
			t.Errorf("the home trash got %v", entries)
		}
	}
	t.Run("own", func(t *testing.T) { inOwn(t, fresh(t, Options{})) })
	t.Run("own against trash-cli", func(t *testing.T) { agree(t, fresh(t, Options{})) })
	t.Run("shared", func(t *testing.T) {
		d := fresh(t, Options{})
		d.must(os.Mkdir(shared, 0o777))
		d.must(os.Chmod(shared, 0o777|os.ModeSticky))
		d.write("x", "1")
		if item := d.put("x"); item.ID != fmt.Sprintf("%s/%d/files/x", shared, uid) {
			t.Errorf("id %q", item.ID)
		}
		_, err := d.bin.Restore(d.list()[0], rootfs.Path{})
		d.must(err)
		agree(t, d)
	})
	t.Run("shared without sticky bit is not used", func(t *testing.T) {
		d := fresh(t, Options{})
		d.must(os.Mkdir(shared, 0o777))
		d.must(os.Chmod(shared, 0o777))
		inOwn(t, d)
	})
	t.Run("shared that is a symlink is not used", func(t *testing.T) {
		d := fresh(t, Options{})
		d.must(os.Mkdir(filepath.Join(top, "deep/evil"), 0o777))
		d.must(os.Chmod(filepath.Join(top, "deep/evil"), 0o777|os.ModeSticky))
		d.must(os.Symlink("deep/evil", shared))
		inOwn(t, d)
	})
	t.Run("own that others can write to is refused", func(t *testing.T) {
		d := fresh(t, Options{})
		d.must(os.Mkdir(own, 0o777))
		d.must(os.Chmod(own, 0o777))
		d.write("x", "1")
		if _, err := d.bin.Put(context.Background(), d.path("x")); !errors.Is(err, ErrNoTrash) || !errors.Is(err, errUnsafe) {
			t.Errorf("put: %v", err)
		}
		if d.read("x") != "1" {
			t.Error("the file is gone")
		}
	})
	t.Run("own that is a symlink is refused, a copy home allowed", func(t *testing.T) {
		d := fresh(t, Options{CopyHome: true})
		d.must(os.Mkdir(filepath.Join(top, "deep/evil"), 0o700))
		d.must(os.Symlink("deep/evil", own))
		d.write("dir/x", "1")
		item := d.put("dir")
		d.gone("dir")
		if item.ID != filepath.Join(d.data, "Trash/files/dir") {
			t.Errorf("id %q", item.ID)
		}
		if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil || d.read("dir/x") != "1" {
			t.Errorf("restore across devices: %v", err)
		}
		if entries, _ := os.ReadDir(filepath.Join(top, "deep/evil")); len(entries) != 0 {
			t.Errorf("the symlink was followed: %v", entries)
		}
	})
	t.Run("a volume inside the workspace", func(t *testing.T) {
		inner := filepath.Join(ws, "inner")
		d := fresh(t, Options{})
		if d.ws.FSKind() == rootfs.FSUnknown {
			t.Skip("this build of rootfs doesn't know mounts")
		}
		d.must(os.Mkdir(inner, 0o755))
		d.must(syscall.Mount("tmpfs", inner, "tmpfs", 0, ""))
		defer syscall.Unmount(inner, 0)
		d.write("inner/x", "1")
		item := d.put("inner/x")
		if item.ID != filepath.Join(inner, filepath.Base(own), "files/x") {
			t.Errorf("id %q", item.ID)
		}
		if items := d.list(); len(items) != 1 || items[0].Path != d.path("inner/x") {
			t.Errorf("list: %v", items)
		}
		if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a bind mount is a volume", func(t *testing.T) {
		d := fresh(t, Options{})
		if d.ws.FSKind() == rootfs.FSUnknown {
			t.Skip("this build of rootfs doesn't know mounts")
		}
		d.must(os.MkdirAll(filepath.Join(ws, "bound"), 0o755))
		d.must(os.MkdirAll(filepath.Join(ws, "real"), 0o755))
		d.must(syscall.Mount(filepath.Join(ws, "real"), filepath.Join(ws, "bound"), "", syscall.MS_BIND, ""))
		defer syscall.Unmount(filepath.Join(ws, "bound"), 0)
		d.write("bound/x", "1")
		if item := d.put("bound/x"); item.ID != filepath.Join(ws, "bound", filepath.Base(own), "files/x") {
			t.Errorf("id %q", item.ID)
		}
	})
}

// /dev/shm is a second volume that needs no mounting.
func TestSharedMemoryAsVolume(t *testing.T) {
	top, err := mounts.Top("/dev/shm")
	if home, _ := mounts.Top(os.TempDir()); err != nil || top == home {
		t.Skip("/dev/shm is not a volume of its own here")
	}
	dir, err := os.MkdirTemp("/dev/shm", "quarry-trash-test-")
	if err != nil {
		t.Skipf("/dev/shm can't be written: mount it, or run as a user who may: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	own := filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))
	if _, err := os.Lstat(own); err == nil {
		t.Skipf("%s exists and is someone's", own)
	}
	t.Cleanup(func() { os.RemoveAll(own) })
	d := newDesk(t, dir, false, Options{DataDir: t.TempDir()})
	d.write("x", "1")
	if item := d.put("x"); !strings.HasPrefix(item.ID, top+"/.Trash") {
		t.Errorf("id %q is not on the volume %s", item.ID, top)
	}
}

// While files are moved to the trash, an attacker replaces them and their parent folders
// with symlinks. Only the link or the file leaves the workspace, never the link's target.
func TestSwappedUnderneath(t *testing.T) {
	stress.SkipShort(t)
	kinds(t, func(t *testing.T, d *desk) {
		outside := t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "x"), []byte("outside"), 0o644); err != nil {
			t.Fatal(err)
		}
		d.write("dir/x", "inside")
		real, link := filepath.Join(d.dir, "dir"), filepath.Join(d.dir, "hidden")
		d.must(os.Symlink(outside, link))
		p := d.path("dir/x")
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					exchange(real, link)
				}
			}
		}()
		puts, rounds := 0, 0
		for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end) && puts < 200; rounds++ {
			item, err := d.bin.Put(context.Background(), p)
			if err != nil {
				continue
			}
			puts++
			for range 1000 {
				if _, err = d.bin.Restore(item, rootfs.Path{}); err == nil {
					break
				}
			}
			if err != nil {
				break
			}
		}
		close(stop)
		<-done
		if data, err := os.ReadFile(filepath.Join(outside, "x")); string(data) != "outside" {
			t.Fatalf("outside: %q, %v", data, err)
		}
		if info, err := os.Lstat(real); err != nil || !info.IsDir() {
			exchange(real, link)
		}
		for _, item := range d.list() {
			if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
				t.Errorf("restore in peace: %v", err)
			}
		}
		if got := d.read("dir/x"); got != "inside" {
			t.Errorf("the file holds %q", got)
		}
		t.Logf("%d of %d puts went through", puts, rounds)
		if puts == 0 {
			t.Log("no put won the race this time: the run shows only refusals")
		}
	})
}

// needTool skips the test if a program of trash-cli is missing.
func needTool(t *testing.T, name string) string {
	t.Helper()
	exe, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: trash-cli)", name)
	}
	return exe
}

func sorted(s []string) []string { sort.Strings(s); return s }
