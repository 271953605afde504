package trash

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"quarry/fault"
	"quarry/internal/rootfs"
)

const (
	localName   = ".trash"
	localRecord = ".quarry"
)

// destinations yields the trash folders for p, in order of preference, and creates
// missing ones. The caller closes each.
func (b *Bin) destinations(p rootfs.Path) iter.Seq2[*can, error] {
	if b.local {
		return func(yield func(*can, error) bool) { yield(b.localCan(true)) }
	}
	return b.systemDestinations(p)
}

// existing yields the existing trash folders. The caller closes each.
func (b *Bin) existing() iter.Seq2[*can, error] {
	return func(yield func(*can, error) bool) {
		all := b.systemExisting
		if b.local {
			all = func(yield func(*can, error) bool) { yield(b.localCan(false)) }
		}
		for c, err := range all {
			if errors.Is(err, fault.NotFound) {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// localCan opens .trash. It must not be a symlink, which could lead to the user's notes.
func (b *Bin) localCan(create bool) (*can, error) {
	files, err := b.ws.Known(localName)
	if err != nil {
		return nil, err
	}
	info, err := files.Child(localRecord)
	if err != nil {
		return nil, err
	}
	for _, p := range [...]rootfs.Path{files, info} {
		if create {
			if err := b.ws.Mkdir(p); err != nil && !errors.Is(err, fault.AlreadyExists) {
				return nil, err
			}
		}
		if err := mustBeDir(b.ws, p); err != nil && (create || p == files || !errors.Is(err, fault.NotFound)) {
			return nil, err
		}
	}
	return &can{root: b.ws, files: files, info: info, hashed: true, shown: localName}, nil
}

var errNotAFolder = errors.New("is not a folder and can't be used as a trash")

func mustBeDir(root *rootfs.Root, p rootfs.Path) error {
	info, err := root.Stat(p)
	if err != nil {
		return err
	}
	if info.Type != rootfs.TypeDir {
		return fmt.Errorf("%s %w", fault.Printable(p.String()), errNotAFolder)
	}
	return nil
}

// closed reports whether a folder exists but can't be listed.
func closed(dir string) bool {
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
	if err == nil {
		defer root.Close()
		_, err = root.List(rootfs.Path{})
	}
	return errors.Is(err, fs.ErrPermission) || rootfs.KindOf(err) == fault.Permission
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

var errNoHome = errors.New("no home trash is set up")

// openHome opens the user's home trash.
func (b *Bin) openHome(name string, create bool) (*rootfs.Root, error) {
	if b.opts.DataDir == "" {
		return nil, errNoHome
	}
	open := b.openDir
	if create {
		open = b.makeDir
	}
	root, err := open(filepath.Join(b.opts.DataDir, name))
	if isNotExist(err) {
		return nil, fault.NotFound
	}
	return root, err
}

// openDir opens a folder outside the workspace that contains a trash.
func (b *Bin) openDir(dir string) (*rootfs.Root, error) {
	r, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, Layer: b.opts.Layer})
	if err != nil {
		return nil, fmt.Errorf("trash: %w", err)
	}
	return r, nil
}

// makeDir opens dir, creating it and its missing parents with mode 0700.
func (b *Bin) makeDir(dir string) (*rootfs.Root, error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		r, err := b.openDir(at)
		if err == nil && len(missing) == 0 {
			return r, nil
		}
		if err == nil {
			err = makeBeneath(r, missing)
			r.Close()
			if err != nil {
				return nil, err
			}
			return b.openDir(dir)
		}
		if !isNotExist(err) || at == filepath.Dir(at) {
			return nil, err
		}
		missing = append(missing, filepath.Base(at))
	}
}

// makeBeneath creates nested folders; names are innermost first.
func makeBeneath(r *rootfs.Root, names []string) error {
	var p rootfs.Path
	for i := len(names) - 1; i >= 0; i-- {
		var err error
		if p, err = p.Child(names[i]); err != nil {
			return err
		}
		if err := r.MkdirPrivate(p); err != nil && !errors.Is(err, fault.AlreadyExists) {
			return err
		}
	}
	return nil
}
