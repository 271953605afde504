// Package gitdir finds git's folder of a checkout and reads small files in it.
//
// A checkout may come from an attacker, so its .git is not trusted. Everything is opened
// through rootfs: only regular files of limited size, and symlinks only if they stay in
// git's folder. A .git file may name a folder elsewhere only if that folder refers back
// to the checkout, as those of git's worktrees and submodules do. No error quotes the
// contents of these files.
package gitdir

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/outside"
)

// Dir is git's folder of one checkout. It must be closed.
type Dir struct {
	Own    *rootfs.Root // git's folder of this worktree
	Common *rootfs.Root // shared by all worktrees of the repository; usually Own
}

// MaxSmall is the size of the largest file that is read whole. Real files are much
// smaller.
const MaxSmall = 1 << 20

var (
	errNone      = errors.New(".git is neither a folder nor a file")
	errElsewhere = errors.New("its .git leads to a folder that does not name this checkout: only worktrees of `git worktree add` and submodules are followed (`git worktree repair` mends one that was moved)")
	errOwner     = errors.New("its .git leads to a folder of another user")
)

// View opens a folder outside of the workspace, such as one above it, for Open.
func View(dir string) (*rootfs.Root, error) {
	return rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
}

// Above opens a folder above a workspace if it is the top of a checkout that belongs
// to this user or to root.
func Above(dir string) (top *rootfs.Root, ours bool) {
	if top, err := View(dir); err == nil {
		if owned(top) {
			return top, true
		}
		top.Close()
	}
	return nil, false
}

func owned(top *rootfs.Root) bool {
	p, err := top.ResolveEntry(".git")
	if err != nil {
		return false
	}
	info, err := top.Stat(p)
	return err == nil && outside.OurUser(info.UID)
}

// Open opens git's folder of the checkout in top, which must not have a policy.
func Open(top *rootfs.Root) (*Dir, error) {
	p, err := top.Resolve(".git")
	if err != nil {
		return nil, err
	}
	info, err := top.Stat(p)
	if err != nil {
		return nil, err
	}
	switch info.Type {
	case rootfs.TypeDir:
		own, err := top.Inside(p)
		if err != nil {
			return nil, err
		}
		if _, err := Read(own, "commondir"); rootfs.KindOf(err) != fault.NotFound {
			own.Close()
			return nil, errElsewhere
		}
		return &Dir{own, own}, nil
	case rootfs.TypeFile:
		text, err := top.ReadSmall(p, MaxSmall)
		if err != nil {
			return nil, err
		}
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if to = strings.TrimSpace(to); !ok || to == "" {
			return nil, errNone
		}
		return openNamed(top, to)
	}
	return nil, errNone
}

// openNamed opens the folder that a .git file names, if that folder refers back to the
// checkout.
func openNamed(top *rootfs.Root, to string) (*Dir, error) {
	own, err := open(top.RealDir(), to)
	if err != nil {
		return nil, errElsewhere
	}
	d, err := verify(top, own)
	if err != nil {
		own.Close()
		return nil, err
	}
	return d, nil
}

func verify(top, own *rootfs.Root) (*Dir, error) {
	if !ours(own) {
		return nil, errOwner
	}
	common, err := Read(own, "commondir")
	if rootfs.KindOf(err) == fault.NotFound {
		if leads(own.RealDir(), worktree(own), top) {
			return &Dir{own, own}, nil
		}
		return nil, errElsewhere
	}
	back, err2 := Read(own, "gitdir")
	if err != nil || err2 != nil {
		return nil, errElsewhere
	}
	link := strings.TrimSpace(string(back))
	if filepath.Base(link) != ".git" || !leads(own.RealDir(), filepath.Dir(filepath.FromSlash(link)), top) {
		return nil, errElsewhere
	}
	shared, err := open(own.RealDir(), strings.TrimSpace(string(common)))
	if err != nil {
		return nil, errElsewhere
	}
	if !leads(shared.RealDir(), filepath.Join("worktrees", filepath.Base(own.RealDir())), own) {
		shared.Close()
		return nil, errElsewhere
	}
	if !ours(shared) {
		shared.Close()
		return nil, errOwner
	}
	return &Dir{own, shared}, nil
}

func ours(r *rootfs.Root) bool {
	info, err := r.Stat(rootfs.Path{})
	return err == nil && outside.OurUser(info.UID)
}

// worktree returns the value of core.worktree, the folder with a submodule's files.
func worktree(own *rootfs.Root) string {
	to := ""
	for _, name := range []string{"config", "config.worktree"} { // the second file takes precedence
		text, err := Read(own, name)
		if err != nil {
			continue
		}
		for key, value := range Settings(text) {
			if key == "core.worktree" {
				to = value
			}
		}
	}
	return filepath.FromSlash(to)
}

// leads reports whether the path to, relative to the folder dir, is the folder of a root.
func leads(dir, to string, root *rootfs.Root) bool {
	if to == "" || to == "." {
		return false
	}
	there, err := open(dir, to)
	if err != nil {
		return false
	}
	defer there.Close()
	a, errA := there.Place()
	b, errB := root.Place()
	return errA == nil && errB == nil && a == b
}

var errNetwork = errors.New("a path to another machine")

// open opens a folder by a path relative to the folder dir.
func open(dir, to string) (*rootfs.Root, error) {
	to = filepath.FromSlash(to)
	if runtime.GOOS == "windows" && strings.HasPrefix(to, `\\`) && filepath.VolumeName(to) != filepath.VolumeName(dir) {
		return nil, errNetwork // Windows would send the user's credentials there
	}
	return View(from(dir, to))
}

func from(dir, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(dir, to)
}

// Alternate opens an object folder that another one, dir, refers to by a line of its
// info/alternates.
func Alternate(dir, line string) (*rootfs.Root, error) {
	r, err := open(dir, line)
	if err != nil {
		return nil, err
	}
	if !ours(r) {
		r.Close()
		return nil, errOwner
	}
	return r, nil
}

// Branch returns the branch that is checked out in a folder or in one above it, or "" if
// there is none.
func Branch(dir string) string {
	for {
		if top, ours := Above(dir); ours {
			defer top.Close()
			git, err := Open(top)
			if err != nil {
				return ""
			}
			defer git.Close()
			head, _ := Read(git.Own, "HEAD")
			name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
			if !ok {
				return "" // detached HEAD
			}
			return name
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Read reads a small file of git's folder.
func Read(dir *rootfs.Root, name string) ([]byte, error) {
	p, err := dir.Known(name)
	if err != nil {
		return nil, err
	}
	return dir.ReadSmall(p, MaxSmall)
}

// Close closes the folder.
func (d *Dir) Close() error {
	err := d.Own.Close()
	if d.Common != d.Own {
		err = errors.Join(err, d.Common.Close())
	}
	return err
}
