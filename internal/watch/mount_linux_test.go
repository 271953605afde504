//go:build linux && !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// TestInNamespace runs what needs mounts and the system's own limits in a child
// with namespaces of its own, where both may be changed without privileges.
func TestInNamespace(t *testing.T) {
	for _, job := range []string{"limit", "mounts"} {
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
				t.Skip(string(out))
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
	if job == "limit" {
		return n.limit()
	}
	return n.mounts()
}

type namespace struct {
	dir  string
	root *rootfs.Root
	w    *Watcher
}

// expect says what the next barrier must report, and what is unwatched.
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
	if s := strings.Join(got, ", "); s != want || strings.Join(trees, " ") != wantUnwatched {
		return fmt.Errorf("%s: changes %q, want %q; unwatched %q, want %q (%+v)", when, s, want, trees, wantUnwatched, n.w.Status())
	}
	return nil
}

// limit: the system has 3 watches left for us.
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

// mounts: other file systems and the same folder in two places.
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
	if err := n.expect("unmounted", "mem/", aside); err != nil {
		return err
	}
	if err := os.WriteFile(in("mem/b"), nil, 0o644); err != nil {
		return err
	}
	return n.expect("the folder below is watched", "mem/b", aside)
}
