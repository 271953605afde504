//go:build unix && !darwin

package trash

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
)

const systemSupported = true

// SystemClosed returns false. Only macOS denies programs access to its trash.
func SystemClosed(string) bool { return false }

// systemDestinations yields trashes in the order of the specification: the home trash for
// files on its volume; otherwise the volume's .Trash/$uid, then its .Trash-$uid; and
// last, if allowed, the home trash with a copy.
func (b *Bin) systemDestinations(p rootfs.Path) iter.Seq2[*can, error] {
	return func(yield func(*can, error) bool) {
		top, err := mounts.Top(filepath.Join(b.ws.RealDir(), p.Dir().String()))
		if err != nil {
			yield(nil, err)
			return
		}
		home, homeErr := b.homeCan(true)
		if homeErr == nil {
			at, err := mounts.Top(home.root.RealDir())
			if err != nil || at != top {
				home.close(b)
				home = nil
			}
		}
		if (home != nil || homeErr != nil) && !yield(home, homeErr) {
			return
		}
		for _, open := range [...]func(string, bool) (*can, error){b.sharedCan, b.ownCan} {
			c, err := open(top, true)
			if errors.Is(err, fault.NotFound) {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
		if home == nil && homeErr == nil && b.opts.CopyHome {
			home, err := b.homeCan(true)
			if err == nil {
				home.mayCopy = true
			}
			yield(home, err)
		}
	}
}

// systemExisting yields the home trash and those of the workspace's volumes.
func (b *Bin) systemExisting(yield func(*can, error) bool) {
	if b.opts.DataDir != "" && !yield(b.homeCan(false)) {
		return
	}
	top, err := mounts.Top(b.ws.RealDir())
	if err != nil {
		yield(nil, err)
		return
	}
	inside, err := mounts.Beneath(b.ws.RealDir())
	if err != nil && !yield(nil, err) {
		return
	}
	for _, volume := range append([]string{top}, inside...) {
		if !yield(b.sharedCan(volume, false)) || !yield(b.ownCan(volume, false)) {
			return
		}
	}
}

func (b *Bin) homeCan(create bool) (*can, error) {
	root, err := b.openHome("Trash", create)
	if err != nil {
		return nil, err
	}
	return b.finish(root, "", create)
}

// sharedCan opens .Trash/$uid. A volume's administrator may have made .Trash; it is used
// only if it is a real folder, not a symlink, and has the sticky bit, so that users can't
// remove each other's folders.
func (b *Bin) sharedCan(top string, create bool) (*can, error) {
	return b.volumeCan(top, create, func(root *rootfs.Root) (rootfs.Path, error) {
		p, err := root.Known(".Trash")
		if err != nil {
			return p, err
		}
		info, err := root.Stat(p)
		if err != nil {
			return p, err
		}
		if info.Type != rootfs.TypeDir || info.Mode&fs.ModeSticky == 0 {
			return p, fault.NotFound // the specification says to ignore such a folder
		}
		return p.Child(strconv.Itoa(b.opts.UID))
	})
}

// ownCan opens .Trash-$uid.
func (b *Bin) ownCan(top string, create bool) (*can, error) {
	return b.volumeCan(top, create, func(root *rootfs.Root) (rootfs.Path, error) {
		return root.Known(".Trash-" + strconv.Itoa(b.opts.UID))
	})
}

var errUnsafe = errors.New("belongs to someone else or can be changed by others, and is not used as a trash")

func (b *Bin) volumeCan(top string, create bool, where func(*rootfs.Root) (rootfs.Path, error)) (*can, error) {
	volume, err := b.openDir(top)
	if err != nil {
		return nil, err
	}
	defer volume.Close()
	p, err := where(volume)
	if err != nil {
		return nil, err
	}
	info, err := volume.Stat(p)
	if errors.Is(err, fault.NotFound) && create {
		if err = volume.MkdirPrivate(p); err == nil || errors.Is(err, fault.AlreadyExists) {
			hideFromGit(volume, p)
			info, err = volume.Stat(p)
		}
	}
	if err != nil {
		return nil, err
	}
	shown := filepath.Join(top, p.String())
	if info.Type != rootfs.TypeDir || int(info.UID) != b.opts.UID || info.Mode.Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s %w", fault.Printable(shown), errUnsafe)
	}
	root, err := b.openDir(shown)
	if err != nil {
		return nil, err
	}
	// The folder that was checked must be the one that was opened.
	if err := sameDir(root, info); err != nil {
		root.Close()
		return nil, fmt.Errorf("%s %w", fault.Printable(shown), err)
	}
	return b.finish(root, top, create)
}

// hideFromGit hides a new trash at the top of a git checkout from git status.
func hideFromGit(volume *rootfs.Root, p rootfs.Path) {
	if _, err := volume.Stat(volume.Own(".git")); err == nil {
		if rule, err := p.Child(".gitignore"); err == nil {
			volume.Create(rule, []byte("*\n"), nil) // ignore errors: it only affects git status
		}
	}
}

func sameDir(root *rootfs.Root, want rootfs.Info) error {
	d, err := root.OpenDir(rootfs.Path{})
	if err != nil {
		return err
	}
	defer d.Close()
	have, err := d.Info()
	if err == nil && !have.SameFile(want) {
		err = errUnsafe
	}
	return err
}

// finish opens the two folders of a trash, and creates them if create is set.
func (b *Bin) finish(root *rootfs.Root, base string, create bool) (*can, error) {
	c := &can{root: root, base: base, shown: filepath.Join(root.RealDir(), "files")}
	for name, p := range map[string]*rootfs.Path{"files": &c.files, "info": &c.info} {
		var err error
		if *p, err = root.Known(name); err == nil && create {
			if err = root.MkdirPrivate(*p); errors.Is(err, fault.AlreadyExists) {
				err = nil
			}
		}
		if err == nil {
			err = mustBeDir(root, *p)
		}
		if err != nil {
			root.Close()
			return nil, err
		}
	}
	return c, nil
}
