package rootfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"quarry/fault"
)

func trusted(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := Open(dir, &Options{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestCreateFunc(t *testing.T) {
	dir := t.TempDir()
	r := trusted(t, dir)
	past := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	p, _ := r.Known("a")
	info, err := r.CreateFunc(p, &CreateOptions{Mode: 0o640}, func(w *Writer) error {
		for range 3 {
			if _, err := io.WriteString(w, "abc"); err != nil {
				return err
			}
		}
		buf := make([]byte, 2)
		if n, err := w.ReadAt(buf, 2); n != 2 || err != nil || string(buf) != "ca" {
			t.Errorf("ReadAt = %d %q, %v", n, buf, err)
		}
		return w.SetModTime(past)
	})
	if err != nil || info.Size != 9 || info.Mode.Perm() != bits(0o640) || !info.ModTime.Equal(past) {
		t.Fatalf("%+v, %v", info, err)
	}
	if _, err := r.CreateFunc(p, nil, func(*Writer) error { t.Error("filled"); return nil }); !errors.Is(err, fault.AlreadyExists) {
		t.Errorf("onto a file: %v", err)
	}
	// A failure leaves no file, under any name.
	failure := errors.New("no more")
	q, _ := r.Known("b")
	_, err = r.CreateFunc(q, nil, func(w *Writer) error {
		w.Write([]byte("half"))
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("a failed fill: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left over: %v", entries)
	}
}

func TestSymlinkAndSetMeta(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link, _ := r.Known("l")
	file, _ := r.Known("f")
	linked := populateLinks(t, t.TempDir())
	if linked {
		must(t, r.Symlink("f", link))
	}
	if err := r.Symlink("f", file); !errors.Is(err, fault.AlreadyExists) {
		t.Errorf("onto a file: %v", err)
	}
	past := time.Date(2001, 2, 3, 4, 5, 6, 700, time.UTC) // NTFS counts in 100 ns
	if err := r.SetMeta(link, 0o777, past); linked && err == nil {
		t.Error("SetMeta followed a symlink")
	}
	if err := r.SetMeta(file, 0o444, past); err != nil {
		t.Fatal(err)
	}
	if info, _ := r.Stat(file); info.Mode.Perm() != 0o444 || !info.ModTime.Equal(past) {
		t.Errorf("%+v", info)
	}
	if secret, err := r.Known(".git/x"); err == nil {
		t.Errorf("%v is allowed", secret)
	}
}

func TestLog(t *testing.T) {
	dir := t.TempDir()
	r := trusted(t, dir)
	p, _ := r.Known("log")
	if _, err := r.OpenLog(p, false); !errors.Is(err, fault.NotFound) {
		t.Errorf("missing: %v", err)
	}
	a, err := r.OpenLog(p, true)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := r.OpenLog(p, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, l := range []*Log{a, b, a} {
		if err := l.Append([]byte{'0' + byte(i)}, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 3)
	if n, err := b.ReadAt(buf, 0); n != 3 || string(buf) != "012" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if err := a.Lock(true); err != nil {
		t.Fatal(err)
	}
	if ok, err := b.TryLock(false); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	if err := a.Close(); err != nil { // has the same effect as the end of a process
		t.Fatal(err)
	}
	if ok, err := b.TryLock(true); !ok || err != nil {
		t.Errorf("not free after close: %v, %v", ok, err)
	}
	user, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if _, err := user.OpenLog(p, true); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("in a user's root: %v", err)
	}
}

func TestRenameInto(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	src, dst := trusted(t, from), trusted(t, to)
	if err := os.WriteFile(filepath.Join(from, "a"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := populateLinks(t, from, "l -> a")
	if !linked {
		populate(t, from, "l")
	}
	a, _ := src.Known("a")
	l, _ := src.Known("l")
	err := src.RenameInto(l, dst, l)
	if errors.Is(err, syscall.EXDEV) {
		t.Skip("this system renames by path only")
	}
	if err != nil {
		t.Fatal(err)
	}
	if target, _ := os.Readlink(filepath.Join(to, "l")); linked && target != "a" {
		t.Errorf("the link did not move itself: %q", target)
	}
	if err := src.RenameInto(a, dst, l); !errors.Is(err, fault.AlreadyExists) {
		t.Errorf("onto something: %v", err)
	}
	if err := src.RenameInto(a, dst, a); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Stat(a); !errors.Is(err, fault.NotFound) {
		t.Errorf("still there: %v", err)
	}
}
