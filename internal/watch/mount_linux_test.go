//go:build linux && !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// TestInNamespace runs the tests that need mounts and system limits in a child with its own
// namespaces, where both may be changed without privileges.
func TestInNamespace(t *testing.T) {
	for _, job := range []string{"limit", "mounts", "remounts"} {
		t.Run(job, func(t *testing.T) {
			_, root := workspace(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "WATCH_NAMESPACE="+job, "WATCH_DIR="+root)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Pdeathsig:   syscall.SIGKILL, // a test that times out leaves no child
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
				t.Skipf("no namespaces here: %v", err)
			}
			if strings.HasPrefix(string(out), "skip: ") {
				t.Skipf("needs user namespaces in which mounting is allowed, or root: %s", out)
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func inNamespace(job, dir string) error {
	root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
	if err != nil {
		return err
	}
	defer root.Close()
	n := &namespace{dir: dir, root: root}
	switch job {
	case "limit":
		return n.limit()
	case "remounts":
		return n.remounts()
	}
	return n.mounts()
}

type namespace struct {
	dir  string
	root *rootfs.Root
	w    *Watcher
}

// expect checks the report of the next barrier, and the unwatched parts.
func (n *namespace) expect(when, want, wantUnwatched string) error {
	var got []string
	unwatched, err := n.w.Barrier(context.Background(), func(c *Changes) { got = append(got, shown(*c)) })
	if err != nil {
		return err
	}
	var trees []string
	for _, p := range unwatched {
		trees = append(trees, p.String())
	}
	// Which of two places is watched depends on the order of a listing.
	among := func(all, s string) bool { return slices.Contains(strings.Split(all, "|"), s) }
	if s := strings.Join(got, ", "); !among(want, s) || !among(wantUnwatched, strings.Join(trees, " ")) {
		return fmt.Errorf("%s: changes %q, want %q; unwatched %q, want %q (%+v)", when, s, want, trees, wantUnwatched, n.w.Status())
	}
	return nil
}

// limit leaves us 3 watches of the system's limit.
func (n *namespace) limit() (err error) {
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("3"), 0); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	for _, d := range []string{"a/x", "a/y", "a/z"} {
		if err := os.MkdirAll(filepath.Join(n.dir, d), 0o755); err != nil {
			return err
		}
	}
	if n.w, err = Open(context.Background(), n.root, nil); err != nil {
		return err
	}
	defer n.w.Close()
	st := n.w.Status()
	if st.Watches != 3 || st.Unwatched != 2 || st.Reason != ErrLimit {
		return fmt.Errorf("status %+v, want 3 watches and 2 trees without", st)
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("100"), 0); err != nil {
		return err
	}
	if err := n.expect("at first", "./", strings.Join(n.names(), " ")); err != nil {
		return err
	}
	if err := n.w.Rescan(context.Background(), rootfs.Path{}); err != nil {
		return err
	}
	if st = n.w.Status(); st.Watches != 5 || st.Unwatched != 0 {
		return fmt.Errorf("after the limit was raised: status %+v", st)
	}
	return nil
}

func (n *namespace) names() []string {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	var s []string
	for _, p := range n.w.unwatched() {
		s = append(s, p.String())
	}
	return s
}

// mounts tests other file systems and the same folder in two places.
func (n *namespace) mounts() (err error) {
	in := func(p string) string { return filepath.Join(n.dir, p) }
	for _, d := range []string{"proc", "mem", "one/sub", "two", "self"} {
		if err := os.MkdirAll(in(d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	for _, m := range []struct {
		from, to, kind string
		flags          uintptr
	}{
		{"proc", "proc", "proc", 0},
		{"tmpfs", "mem", "tmpfs", 0},
		{in("one"), "two", "", unix.MS_BIND},
		{in("."), "self", "", unix.MS_BIND},
	} {
		if err := unix.Mount(m.from, in(m.to), m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("skip: mount on %s: %w", m.to, err)
		}
	}
	if err := os.Mkdir(in("mem/d"), 0o755); err != nil {
		return err
	}
	if n.w, err = Open(context.Background(), n.root, nil); err != nil {
		return err
	}
	defer n.w.Close()
	// The folder in two places is watched in one of them, whichever came last.
	twice := "one"
	if n.w.system.top.kids["one"].wd != noWatch {
		twice = "two"
	}
	aside := twice + " proc self"
	if twice == "two" {
		aside = "proc self two"
	}
	if err := n.expect("at first", "./", aside); err != nil {
		return err
	}
	if err := os.WriteFile(in("mem/d/a"), nil, 0o644); err != nil {
		return err
	}
	if err := n.expect("a local file system is watched", "mem/d/a", aside); err != nil {
		return err
	}
	if err := unix.Unmount(in("mem"), 0); err != nil {
		return err
	}
	// All places are compared, and of the folder in two places the last one wins: both are
	// reported, and one of them is watched.
	if err := n.expect("unmounted", "mem/ one/ two/", aside); err != nil {
		return err
	}
	if err := os.WriteFile(in("mem/b"), nil, 0o644); err != nil {
		return err
	}
	return n.expect("the folder below is watched", "mem/b", aside)
}

// remounts mounts and unmounts while the root is watched. None of it makes an event.
func (n *namespace) remounts() (err error) {
	in := func(p string) string { return filepath.Join(n.dir, p) }
	for _, d := range []string{"mem", "one/sub", "two", "low", "up", "work", "merged"} {
		if err := os.MkdirAll(in(d), 0o755); err != nil {
			return err
		}
	}
	for _, f := range []string{"file", "other", "mem/below", "low/l"} {
		if err := os.WriteFile(in(f), []byte(f), 0o644); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	if n.w, err = Open(context.Background(), n.root, nil); err != nil {
		return err
	}
	defer n.w.Close()
	outside := n.dir + ".outside"
	if err := os.Mkdir(outside, 0o755); err != nil {
		return err
	}
	mount := func(from, to, kind string, flags uintptr, data string) error {
		if err := unix.Mount(from, in(to), kind, flags, data); err != nil {
			return fmt.Errorf("skip: mount on %s: %w", to, err)
		}
		return nil
	}
	write := func(p string) error { return os.WriteFile(in(p), []byte("new"), 0o644) }
	unmount := func(p string) error { return unix.Unmount(in(p), unix.MNT_DETACH) }
	for _, step := range []struct {
		name            string
		do              func() error
		want, unwatched string
	}{
		{"at first", func() error { return nil }, "./", ""},
		{"a new file system", func() error { return mount("tmpfs", "mem", "tmpfs", 0, "") }, "mem/", ""},
		{"written there", func() error { return write("mem/a") }, "mem/a", ""},
		{"another above it", func() error { return mount("tmpfs", "mem", "tmpfs", 0, "") }, "mem/", ""},
		{"written there, too", func() error { return write("mem/b") }, "mem/b", ""},
		{"lazily unmounted", func() error { return unmount("mem") }, "mem/", ""},
		{"and the first", func() error { return unmount("mem") }, "mem/", ""},
		{"the folder below", func() error { return write("mem/below") }, "mem/below", ""},
		{"outside the root", func() error { return unix.Mount("tmpfs", outside, "tmpfs", 0, "") }, "", ""},
		{"one folder in two places", func() error { return mount(in("one"), "two", "", unix.MS_BIND, "") }, "one/ two/", "one|two"},
		{"no longer", func() error { return unmount("two") }, "two/|one/ two/", ""},
		{"both are watched again", func() error { return errors.Join(write("one/x"), write("two/y")) }, "one/x two/y", ""},
		{"a file on a file", func() error { return mount(in("other"), "file", "", unix.MS_BIND, "") }, "file file/", ""},
		{"told each time", func() error { return nil }, "file", ""},
		{"unmounted", func() error { return unmount("file") }, "file file/", ""},
		{"told no more", func() error { return nil }, "", ""},
		{"an overlay", func() error {
			return mount("overlay", "merged", "overlay", 0, "userxattr,lowerdir="+in("low")+",upperdir="+in("up")+",workdir="+in("work"))
		}, "merged/ up/ work/work/|merged/ work/work/|merged/", ""},
	} {
		if err := step.do(); err != nil {
			return err
		}
		if err := n.expect(step.name, step.want, step.unwatched); err != nil {
			return err
		}
	}
	if err := write("merged/l"); err != nil {
		return err
	}
	var got []string
	if _, err := n.w.Barrier(context.Background(), func(c *Changes) { got = append(got, shown(*c)) }); err != nil {
		return err
	}
	if !strings.Contains(strings.Join(got, " "), "merged/l") {
		return fmt.Errorf("a write in an overlay: changes %q, want merged/l", got)
	}
	return nil
}
