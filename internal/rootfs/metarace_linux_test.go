//go:build linux && !portable

package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// metaForeigner is another program's change of a file's metadata.
type metaForeigner struct {
	name string
	do   func(f string) error
	kept func(f string) error // an error if the effect is gone
}

func metaForeigners() []metaForeigner {
	list := []metaForeigner{
		{"chmod", func(f string) error { return os.Chmod(f, 0o600) }, func(f string) error {
			if st, err := os.Stat(f); err != nil || st.Mode().Perm() != 0o600 {
				return fmt.Errorf("mode %v, %v", st.Mode(), err)
			}
			return nil
		}},
		{"setxattr", func(f string) error { return unix.Setxattr(f, "user.quarry", []byte("theirs"), 0) }, func(f string) error {
			b := make([]byte, 100)
			if n, err := unix.Getxattr(f, "user.quarry", b); err != nil || string(b[:n]) != "theirs" {
				return fmt.Errorf("attribute %q, %v", b[:max(n, 0)], err)
			}
			return nil
		}},
		{"link", func(f string) error { return os.Link(f, f+"-link") }, func(f string) error {
			a, errA := os.Stat(f)
			b, errB := os.Stat(f + "-link")
			if errA != nil || errB != nil || !os.SameFile(a, b) {
				return fmt.Errorf("the link is another file now: %v %v", errA, errB)
			}
			return nil
		}},
		{"chattr", func(f string) error { return exec.Command("chattr", "+d", f).Run() }, func(f string) error {
			fd, err := syscall.Open(f, syscall.O_RDONLY, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			const nodump = 0x40 // FS_NODUMP_FL
			if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err != nil || flags&nodump == 0 {
				return fmt.Errorf("flag d is gone")
			}
			return nil
		}},
	}
	if os.Geteuid() == 0 {
		list = append(list, metaForeigner{"chown", func(f string) error { return os.Chown(f, 4711, 4712) }, func(f string) error {
			st, err := os.Stat(f)
			if err != nil || st.Sys().(*syscall.Stat_t).Uid != 4711 || st.Sys().(*syscall.Stat_t).Gid != 4712 {
				return fmt.Errorf("owner %v, %v", st.Sys(), err)
			}
			return nil
		}})
	}
	return list
}

// Another program changes permissions, owner, attributes or links before each system call
// of a replacement. Its changes are kept, and the replacement succeeds or returns the
// reason.
func TestMetaRaceAtEveryCall(t *testing.T) {
	stress.SkipShort(t)
	run := stress.Start(t, "metadata race: every call", 1, 1)
	for _, who := range metaForeigners() {
		for _, old := range []string{"some old text", bigText} {
			for n := 0; ; n += stress.Size(3, 1) {
				if !metaRace(t, who, old, n) {
					break
				}
				run.Tried(1)
			}
		}
	}
}

func metaRace(t *testing.T, who metaForeigner, old string, n int) bool {
	t.Helper()
	dir := t.TempDir()
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte(old), 0o644))
	if n == 0 {
		if err := who.do(f); err != nil {
			t.Logf("%s: not here: %v", who.name, err)
			return false
		}
		must(t, os.Remove(f))
		os.Remove(f + "-link")
		must(t, os.WriteFile(f, []byte(old), 0o644))
	}
	r := openRoot(t, dir, nil)
	defer r.Close()
	seen, came := 0, false
	var acted error
	at := ""
	r.sys.Layer = &Layer{Before: func(c string) error {
		if seen++; seen == n+1 {
			came, at = true, c
			acted = who.do(f)
		}
		return nil
	}}
	_, err := r.Replace(Path{"f"}, []byte("new text"), version.Of([]byte(old)), nil)
	r.sys.Layer = nil
	r.drain(true)
	if !came {
		return false
	}
	if acted != nil {
		return true // the file had no name at that moment
	}
	if lost := who.kept(f); lost != nil {
		t.Errorf("%s before call %d (%s): %v; Replace: %v", who.name, n, at, lost, err)
	}
	want := "new text"
	if err != nil {
		want = old
		if KindOf(err) != fault.Conflict {
			t.Errorf("%s before call %d (%s): %v", who.name, n, at, err)
		}
	}
	if b, _ := os.ReadFile(f); string(b) != want {
		t.Errorf("%s before call %d (%s): content %.40q after %v", who.name, n, at, b, err)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "f" && e.Name() != "f-link" {
			t.Errorf("%s before call %d (%s): %s is left", who.name, n, at, e.Name())
		}
	}
	return true
}

// The same from another thread at random moments.
func TestMetaRace(t *testing.T) {
	run := stress.Start(t, "metadata race: at random", 400, 20_000)
	list := metaForeigners()
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		who := list[rng.IntN(len(list))]
		if who.name == "chattr" {
			continue // runs in a separate process, which is too slow to interfere
		}
		dir := t.TempDir()
		f := dir + "/f"
		must(t, os.WriteFile(f, []byte("old"), 0o644))
		r := openRoot(t, dir, nil)
		acted := make(chan error, 1)
		wait := time.Duration(rng.IntN(3000)) * time.Microsecond
		go func() {
			for end := time.Now().Add(wait); time.Now().Before(end); {
			}
			acted <- who.do(f)
		}()
		_, err := r.Replace(Path{"f"}, []byte(strings.Repeat("new", rng.IntN(1000))), Version{}, nil)
		did := <-acted
		// link fails in this way if it looked up the old file, which then lost its last
		// name. Nothing was linked, and its caller gets an error.
		nothing := who.name == "link" && errors.Is(did, fs.ErrNotExist)
		if did != nil && !nothing {
			run.Violation(seed, "%s: %v", who.name, did)
		}
		if lost := who.kept(f); lost != nil && !nothing {
			run.Violation(seed, "%s after %v: %v; Replace: %v", who.name, wait, lost, err)
		}
		r.Close()
		os.RemoveAll(dir)
	}
}

// The flags of chattr stay when a file is edited.
func TestFlagsAreKept(t *testing.T) {
	dir := t.TempDir()
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	if out, err := exec.Command("chattr", "+dA", f).CombinedOutput(); err != nil {
		t.Skipf("no flags here: %v %s", err, out)
	}
	r := openRoot(t, dir, nil)
	res, err := r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
	must(t, err)
	out, err := exec.Command("lsattr", f).Output()
	must(t, err)
	if flags, _, _ := strings.Cut(string(out), " "); !strings.Contains(flags, "d") || !strings.Contains(flags, "A") {
		t.Errorf("flags %s after an edit, in place %v", flags, res.InPlace)
	}
}
