//go:build linux && !portable

package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/rootfs/layer"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// change is an operation under test. do makes it in a workspace with the given entries, and
// check reports whether the result is the old state or the new one.
type change struct {
	name    string
	entries []string
	prepare func(t *testing.T, dir string)
	do      func(r *Root) error
	old     func(dir string) bool
	new     func(dir string) bool
}

func holds(name, text string) func(string) bool {
	return func(dir string) bool {
		b, err := os.ReadFile(dir + "/" + name)
		return err == nil && string(b) == text
	}
}

func absent(name string) func(string) bool {
	return func(dir string) bool {
		_, err := os.Lstat(dir + "/" + name)
		return errors.Is(err, os.ErrNotExist)
	}
}

func both(a, b func(string) bool) func(string) bool {
	return func(dir string) bool { return a(dir) && b(dir) }
}

var bigText = strings.Repeat("0123456789abcdef", 66_000) // 1.06 MB: leased, several steps

func changes() []change {
	replaceWith := func(text string) func(*Root) error {
		return func(r *Root) error { _, err := r.Replace(Path{"f"}, []byte(text), Version{}, nil); return err }
	}
	return []change{
		{"replace", []string{"f"}, nil, replaceWith("new"), holds("f", "f"), holds("f", "new")},
		{"replace with metadata", []string{"f"}, func(t *testing.T, dir string) {
			unix.Setxattr(dir+"/f", "user.x", []byte("y"), 0)
			os.Chown(dir+"/f", 1, 1)
		}, replaceWith("new"), holds("f", "f"), holds("f", "new")},
		{"splice a large file", []string{"f"}, func(t *testing.T, dir string) {
			must(t, os.WriteFile(dir+"/f", []byte(bigText), 0o644))
		}, func(r *Root) error {
			_, err := r.Splice(Path{"f"}, []Edit{{Off: 10, Len: 1, Data: []byte("XY")}}, Version{}, nil)
			return err
		}, holds("f", bigText), holds("f", bigText[:10]+"XY"+bigText[11:])},
		{"replace in place, longer", []string{"f"}, func(t *testing.T, dir string) { must(t, os.Link(dir+"/f", dir+"/g")) },
			replaceWith(strings.Repeat("new", 100_000)), holds("g", "f"), both(holds("f", strings.Repeat("new", 100_000)), holds("g", strings.Repeat("new", 100_000)))},
		{"replace in place, shorter", []string{"f"}, func(t *testing.T, dir string) {
			must(t, os.WriteFile(dir+"/f", []byte(bigText), 0o644))
			must(t, os.Link(dir+"/f", dir+"/g"))
		}, replaceWith("new"), holds("g", bigText), holds("g", "new")},
		{"create", nil, nil, func(r *Root) error {
			_, _, err := r.Create(Path{"f"}, []byte("new"), &CreateOptions{Mode: 0o600})
			return err
		}, absent("f"), holds("f", "new")},
		{"mkdir", nil, nil, func(r *Root) error { return r.Mkdir(Path{"d"}) }, absent("d"),
			func(dir string) bool { st, err := os.Stat(dir + "/d"); return err == nil && st.IsDir() }},
		{"rename", []string{"a/f", "b/"}, nil, func(r *Root) error { return r.Rename(Path{"a/f"}, Path{"b/g"}) },
			both(holds("a/f", "a/f"), absent("b/g")), both(holds("b/g", "a/f"), absent("a/f"))},
		{"rename a folder", []string{"a/f", "b/"}, nil, func(r *Root) error { return r.Rename(Path{"a"}, Path{"b/a"}) },
			both(holds("a/f", "a/f"), absent("b/a")), both(holds("b/a/f", "a/f"), absent("a"))},
		{"remove", []string{"f"}, nil, func(r *Root) error { return r.Remove(Path{"f"}) }, holds("f", "f"), absent("f")},
	}
}

var faults = []error{unix.ENOSPC, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, unix.EXDEV, unix.EDQUOT, layer.ErrShort}

// TestNthFault lets each system call of each change fail once with every error. The file must
// be the new one after a success and the old one after an error, and no temporary file may
// remain.
func TestNthFault(t *testing.T) {
	run := stress.Start(t, "nth fault: every call of rootfs", 1, 1)
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			calls := countCalls(t, c)
			for n := range calls {
				for k, fault := range faults {
					if !stress.Takes(n*len(faults) + k) {
						continue
					}
					run.Tried(1)
					if !oneFault(t, c, n, fault) {
						return
					}
				}
			}
		})
	}
}

func countCalls(t *testing.T, c change) int {
	dir := prepared(t, c)
	defer os.RemoveAll(dir)
	r := openRoot(t, dir, nil)
	n := 0
	r.sys.Layer = &Layer{Before: func(string) error { n++; return nil }}
	must(t, c.do(r))
	must(t, r.Close())
	if !c.new(dir) {
		t.Fatal("the change without faults has no effect")
	}
	return n
}

func prepared(t *testing.T, c change) string {
	dir := memoryDir(t)
	populate(t, dir, c.entries...)
	if c.prepare != nil {
		c.prepare(t, dir)
	}
	if !c.old(dir) {
		t.Fatal("the workspace is not in the old state")
	}
	return dir
}

func oneFault(t *testing.T, c change, n int, injected error) bool {
	dir := prepared(t, c)
	defer os.RemoveAll(dir)
	before := entryNames(dir)
	fds := openHandles(t)
	r, err := Open(dir, nil)
	must(t, err)
	seen, hit := 0, ""
	r.sys.Layer = &Layer{Before: func(c string) error {
		seen++
		if seen != n+1 || injected == layer.ErrShort && c != "write" {
			return nil
		}
		hit = c
		return injected
	}}
	err = c.do(r)
	r.drain(true)
	r.sys.Layer = nil
	what := fmt.Sprintf("call %d (%s) fails with %v: error %v", n, hit, injected, err)
	res, cleanErr := r.CleanTemps(context.Background(), Path{})
	r.Close()
	if cleanErr != nil || len(res.Errors) > 0 {
		t.Errorf("%s: CleanTemps: %v %v", what, cleanErr, res.Errors)
	}
	switch {
	case err == nil && !c.new(dir):
		t.Errorf("%s: success, but not the new state", what)
	case err != nil && !c.old(dir) && !(hit == "fsyncdir" && c.new(dir)):
		// If only the sync of the folder fails, the entry is removed, and the error says that
		// this may not be durable.
		t.Errorf("%s: neither old nor new", what)
	case err != nil && hit == "":
		t.Errorf("%s: no fault was injected", what)
	}
	switch hit {
	case "write", "create", "truncate", "fsync", "fsyncdir", "close":
		// On a full disk, displaced files are released and the change is retried.
		if err == nil && injected != layer.ErrShort && !noSpace(injected) {
			t.Errorf("%s: false success", what)
		}
	}
	var own *fault.PathError
	if err != nil && !errors.As(err, &own) {
		t.Errorf("%s: a %T", what, err)
	}
	for _, name := range entryNames(dir) {
		if IsTemp(filepath.Base(name)) || strings.Contains(name, ".conflict-") {
			t.Errorf("%s: left over %s (before: %v)", what, name, before)
		}
	}
	if now := openHandles(t); now != fds {
		t.Errorf("%s: %d handles leaked", what, now-fds)
	}
	return !t.Failed()
}

func entryNames(dir string) []string {
	var out []string
	filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error { out = append(out, p); return nil })
	return out
}

func openHandles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// foreigner is a change of f by another program, made before one of our calls. do reports
// whether it succeeded.
type foreigner struct {
	name string
	do   func(f string) bool
	// kept reports whether its effect is visible in the end.
	kept func(content string, exists bool) bool
}

const foreignText = "FOREIGN"

func foreigners() []foreigner {
	write := func(f string, flags int, at int64) bool {
		fd, err := syscall.Open(f, flags|syscall.O_WRONLY, 0o644)
		if err != nil {
			return false
		}
		defer syscall.Close(fd)
		var n int
		if flags&syscall.O_APPEND != 0 {
			n, err = syscall.Write(fd, []byte(foreignText))
		} else {
			n, err = syscall.Pwrite(fd, []byte(foreignText), at)
		}
		return err == nil && n == len(foreignText)
	}
	exactly := func(c string, ok bool) bool { return ok && c == foreignText }
	return []foreigner{
		{"saves by rename", func(f string) bool {
			return os.WriteFile(f+"~", []byte(foreignText), 0o644) == nil && os.Rename(f+"~", f) == nil
		}, exactly},
		{"truncates and writes", func(f string) bool { return write(f, syscall.O_TRUNC, 0) }, exactly},
		{"appends", func(f string) bool { return write(f, syscall.O_APPEND, 0) },
			func(c string, ok bool) bool {
				return ok && (c == "some old text"+foreignText || c == "new text, longer than before"+foreignText || c == bigText+foreignText)
			}},
		{"overwrites and restores the time", func(f string) bool {
			st, err := os.Stat(f)
			if err != nil || !write(f, 0, 0) {
				return false
			}
			return os.Chtimes(f, st.ModTime(), st.ModTime()) == nil
		}, func(c string, ok bool) bool { return ok && strings.HasPrefix(c, foreignText) }},
		{"deletes", func(f string) bool { return os.Remove(f) == nil }, func(_ string, ok bool) bool { return !ok }},
		{"deletes and makes anew", func(f string) bool { return os.Remove(f) == nil && os.WriteFile(f, []byte(foreignText), 0o644) == nil }, exactly},
	}
}

// TestForeignWriterAtEveryCall lets another program change the file before each system call
// of a replacement. Its content must be kept.
func TestForeignWriterAtEveryCall(t *testing.T) {
	stress.SkipShort(t)
	run := stress.Start(t, "lost update: a foreign writer at every call", 1, 1)
	conflicts, successes := 0, 0
	for _, c := range []struct {
		name, old string
		links     bool
	}{{"small", "some old text", false}, {"large", bigText, false}, {"in place", "some old text", true}} {
		for i, who := range foreigners() {
			step := stress.Size(3, 1) // without STRESS, only some calls for each writer
			for n := i % step; ; n += step {
				dir := memoryDir(t)
				f := dir + "/f"
				must(t, os.WriteFile(f, []byte(c.old), 0o644))
				if c.links {
					must(t, os.Link(f, dir+"/g"))
				}
				r := openRoot(t, dir, nil)
				run.Tried(1)
				seen, came := 0, false
				acted := make(chan bool, 1)
				at := ""
				r.sys.Layer = &Layer{Before: func(c string) error {
					if seen++; seen == n+1 {
						came, at = true, c
						go func() { acted <- who.do(f) }()
						select { // the program may have to wait for our lease
						case ok := <-acted:
							acted <- ok
						case <-time.After(20 * time.Millisecond):
						}
					}
					return nil
				}}
				_, err := r.Replace(Path{"f"}, []byte("new text, longer than before"), version.Of([]byte(c.old)), nil)
				r.drain(true)
				r.sys.Layer = nil
				if !came {
					break // n is beyond the last call
				}
				happened := <-acted
				if err == nil {
					successes++
				} else {
					conflicts++
				}
				b, readErr := os.ReadFile(f)
				if happened && !who.kept(string(b), readErr == nil) {
					t.Errorf("%s, call %d (%s): one who %s is lost: now %.60q, %v; Replace: %v", c.name, n, at, who.name, b, readErr, err)
				}
				if err != nil && KindOf(err) != fault.Conflict && KindOf(err) != fault.NotFound {
					t.Errorf("%s, call %d (%s), one who %s: %v", c.name, n, at, who.name, err)
				}
				for _, name := range entryNames(dir) {
					if IsTemp(filepath.Base(name)) || strings.Contains(name, ".conflict-") {
						t.Errorf("%s, call %d (%s), one who %s: left over %s", c.name, n, at, who.name, name)
					}
				}
				r.Close()
				os.RemoveAll(dir)
			}
		}
	}
	t.Logf("%d conflicts, %d successes", conflicts, successes)
}
