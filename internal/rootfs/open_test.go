package rootfs

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/stress"
)

func readAll(t testing.TB, f *File) string {
	t.Helper()
	b, err := io.ReadAll(f)
	must(t, err)
	must(t, f.Close())
	return string(b)
}

func TestOpenFile(t *testing.T) {
	dir := workspace(t, "a/b.txt", "a/d/")
	big := strings.Repeat("0123456789", 50_000)
	must(t, os.WriteFile(dir+"/big", []byte(big), 0o640))
	must(t, os.Chmod(dir+"/big", 0o640)) // whatever the umask
	must(t, os.WriteFile(dir+"/empty", nil, 0o640))
	r := openRoot(t, dir, nil)

	f, err := r.OpenFile(at(t, r, "a/b.txt"))
	must(t, err)
	b := make([]byte, 3)
	if n, err := f.ReadAt(b, 2); n != 3 || err != nil || string(b) != "b.t" {
		t.Errorf("ReadAt = %d, %v, %q", n, err, b)
	}
	if n, err := f.ReadAt(b, 5); n != 2 || err != io.EOF {
		t.Errorf("ReadAt at the end = %d, %v", n, err)
	}
	if got := readAll(t, f); got != "a/b.txt" {
		t.Errorf("read %q", got)
	}
	must(t, f.Close()) // a second time

	f, err = r.OpenFile(at(t, r, "big"))
	must(t, err)
	st, _ := os.Stat(dir + "/big")
	if i := f.Info(); i.Size != int64(len(big)) || i.Type != TypeFile || i.Mode != bits(0o640) || !i.ModTime.Equal(st.ModTime()) {
		t.Errorf("Info = %+v", i)
	}
	if readAll(t, f) != big {
		t.Error("big file differs")
	}
	f, err = r.OpenFile(at(t, r, "empty"))
	must(t, err)
	if readAll(t, f) != "" {
		t.Error("empty file isn't")
	}

	for _, c := range []struct {
		path string
		want error
	}{{"a", fault.NotRegular}, {".", fault.NotRegular}, {"missing", fault.NotFound}, {"missing/x", fault.NotFound}} {
		_, err := r.OpenFile(at(t, r, c.path))
		wantKind(t, "OpenFile "+c.path, err, c.want)
	}
	// The policy is applied again when a path is opened.
	_, err = r.OpenFile(Path{".git/config"})
	wantKind(t, "OpenFile of a forged path", err, fault.ProtectedPath)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.OpenFile(Path{"big"}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestOpenFileAfterSwap(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	dir := workspace(t, "a/f", "b/f", ".git/f")
	populate(t, filepath.Dir(dir), "out/f")
	r := openRoot(t, dir, nil)
	p := at(t, r, "a/f")
	for _, c := range []struct {
		target string
		want   error
	}{{"b", nil}, {".git", fault.ProtectedPath}, {"../out", fault.OutsideRoot}, {"missing", fault.NotFound}} {
		must(t, os.RemoveAll(dir+"/a"))
		must(t, os.Symlink(c.target, dir+"/a"))
		f, err := r.OpenFile(p)
		wantKind(t, "folder became "+c.target, err, c.want)
		if err == nil {
			if got := readAll(t, f); got != "b/f" {
				t.Errorf("read %q", got)
			}
		}
		if d, err := r.OpenDir(p.Dir()); err == nil {
			d.Close()
			if c.want != nil {
				t.Errorf("OpenDir with %s: no error", c.target)
			}
		}
	}
	must(t, os.Remove(dir+"/a"))
	populate(t, dir, "a/", "a/f -> ../.git/f")
	_, err := r.OpenFile(p)
	wantKind(t, "last name became a symlink into .git", err, fault.ProtectedPath)
}

func TestOddFilesDontBlock(t *testing.T) {
	dir := workspace(t, "plain")
	special := map[string]bool{}
	if err := mkfifo(dir + "/fifo"); err == nil {
		special["fifo"] = true
	}
	if err := mkdevice(dir + "/device"); err == nil {
		special["device"] = true
	}
	t.Chdir(dir) // a socket's path is limited to 108 bytes
	if l, err := net.Listen("unix", "socket"); err == nil {
		defer l.Close()
		special["socket"] = true
	}
	if len(special) == 0 {
		t.Skip("no special files on this system")
	}
	r := openRoot(t, dir, nil)
	d, err := r.OpenDir(Path{})
	must(t, err)
	defer d.Close()
	for name := range special {
		_, err := r.OpenFile(at(t, r, name))
		wantKind(t, "Root.OpenFile "+name, err, fault.NotRegular)
		_, err = d.OpenFile(name)
		wantKind(t, "Dir.OpenFile "+name, err, fault.NotRegular)
		_, err = r.OpenDir(at(t, r, name))
		wantKind(t, "OpenDir "+name, err, fault.NotFolder)
		i, err := r.Stat(at(t, r, name))
		if err != nil || i.Type != TypeOther {
			t.Errorf("Stat %s = %v, %v", name, i.Type, err)
		}
	}
}

func TestDir(t *testing.T) {
	stress.SkipShort(t)
	dir := workspace(t, "top.md", "sub/x", "sub/deep/y", ".git/config", ".env")
	all := map[string]Type{"top.md": TypeFile, "sub": TypeDir, ".git": TypeDir, ".env": TypeFile, "many": TypeDir}
	linked := populateLinks(t, dir, "link -> sub")
	if linked {
		all["link"] = TypeSymlink
	}
	if runtime.GOOS != "windows" { // its names are UTF-16
		populate(t, dir, "inv\xffalid")
		all["inv\xffalid"] = TypeFile
	}
	var want []string
	for i := range 2500 {
		name := fmt.Sprintf("%05d-%s", i, strings.Repeat("n", i%100))
		want = append(want, name)
		populate(t, dir, "many/"+name)
	}
	r := openRoot(t, dir, nil)
	d, err := r.OpenDir(Path{})
	must(t, err)
	defer d.Close()
	entries, err := d.Read(nil)
	must(t, err)
	types := map[string]Type{}
	for _, e := range entries {
		types[e.Name] = e.Type
	}
	if !maps.Equal(types, all) {
		t.Errorf("the folder holds %v, want %v", types, all)
	}

	sub, err := d.OpenDir("sub")
	must(t, err)
	if sub.Path().String() != "sub" {
		t.Errorf("Path = %q", sub.Path())
	}
	f, err := sub.OpenFile("x")
	must(t, err)
	if got := readAll(t, f); got != "sub/x" {
		t.Errorf("read %q", got)
	}
	must(t, sub.Close())
	must(t, sub.Close())

	many, err := d.OpenDir("many")
	must(t, err)
	defer many.Close()
	got, err := many.Read(make([]Entry, 0, 10))
	must(t, err)
	var names []string
	for _, e := range got {
		names = append(names, e.Name)
		if e.Type != TypeFile {
			t.Fatalf("%q is %v", e.Name, e.Type)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("listing differs: %d entries", len(names))
	}

	if linked {
		wantKind(t, "OpenDir of a symlink", second(d.OpenDir("link")), fault.NotFolder)
		wantKind(t, "OpenFile of a symlink", second(d.OpenFile("link")), fault.NotRegular)
		if i, err := d.Stat("link"); err != nil || i.Type != TypeSymlink {
			t.Errorf("Stat of a symlink = %v, %v", i.Type, err)
		}
	}
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"OpenDir of ..", second(d.OpenDir("..")), fault.InvalidArgument},
		{"OpenFile with a slash", second(d.OpenFile("sub/x")), fault.InvalidArgument},
		{"Stat with a slash", second(d.Stat("sub/x")), fault.InvalidArgument},
		{"OpenDir of .git", second(d.OpenDir(".git")), fault.ProtectedPath},
		{"OpenFile of .env", second(d.OpenFile(".env")), fault.ProtectedPath},
		{"Stat of .git", second(d.Stat(".git")), fault.ProtectedPath},
		{"OpenFile of nothing", second(d.OpenFile("nothing")), fault.NotFound},
		{"Root.OpenDir of a file", second(r.OpenDir(at(t, r, "top.md"))), fault.NotFolder},
	} {
		wantKind(t, c.what, c.err, c.want)
	}
	if i, err := d.Stat("top.md"); err != nil || i.Size != 6 || i.Nlink != 1 || i.Ino == 0 {
		t.Errorf("Stat = %+v, %v", i, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestStat(t *testing.T) {
	dir := workspace(t, "f", "d/", "k.pem")
	r := openRoot(t, dir, nil)
	i, err := r.Stat(at(t, r, "f"))
	must(t, err)
	if i.Type != TypeFile || i.Size != 1 || i.ModTime.IsZero() {
		t.Errorf("Stat = %+v", i)
	}
	if populateLinks(t, dir, "l -> f") {
		l, err := r.ResolveEntry("l")
		must(t, err)
		if i, err := r.Stat(l); err != nil || i.Type != TypeSymlink {
			t.Errorf("Stat of the link = %v, %v", i.Type, err)
		}
		if s, err := r.Readlink(l); err != nil || s != "f" {
			t.Errorf("Readlink = %q, %v", s, err)
		}
	}
	if _, err := r.Readlink(at(t, r, "f")); err == nil {
		t.Error("Readlink of a file succeeded")
	}
	_, err = r.Stat(Path{"k.pem"})
	wantKind(t, "Stat of a secret", err, fault.ProtectedPath)
	_, err = r.Stat(at(t, r, "none"))
	wantKind(t, "Stat of nothing", err, fault.NotFound)
}

func TestDeeperThanTheKernelsPath(t *testing.T) {
	stress.NeedsUnix(t, "a limit of the Linux kernel")
	dir := workspace(t)
	r := openRoot(t, dir, nil)
	d, err := r.OpenDir(Path{})
	must(t, err)
	// 500 folders with names of 20 bytes: 10,500 bytes of path.
	name := strings.Repeat("d", 20)
	t.Chdir(dir)
	for range 500 {
		must(t, os.Mkdir(name, 0o755))
		must(t, os.Chdir(name))
		next, err := d.OpenDir(name)
		must(t, err)
		d.Close()
		d = next
	}
	must(t, os.WriteFile("leaf", []byte("deep"), 0o644))
	p, err := r.Resolve(d.Path().String() + "/leaf")
	must(t, err)
	d.Close()
	f, err := r.OpenFile(p)
	must(t, err)
	if got := readAll(t, f); got != "deep" {
		t.Errorf("read %q", got)
	}
	must(t, os.Chdir(dir))
	must(t, r.RemoveAll(Path{name}))
}
