package rootfs

import (
	"context"
	"syscall"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs/file"
)

// retry calls open, and repeats it if a folder of p was replaced by a symlink. Before each
// repetition it resolves and checks p again, so p is the path that was opened.
func (r *Root) retry(op string, p *Path, open func(rel string) error) error {
	shown := p.String()
	for range maxSwaps {
		err := open(p.s)
		if err != file.ErrSwapped {
			return Wrap(op, shown, err)
		}
		next, err := r.again(op, *p)
		if err != nil {
			return err
		}
		*p = next
	}
	return &fault.PathError{Op: op, Path: shown, Kind: fault.Conflict, Err: errChangedUnder}
}

// Readlink returns the target of the symlink at p, as written in it.
func (r *Root) Readlink(p Path) (string, error) {
	if err := r.policy.check("readlink", p.String(), p, false); err != nil {
		return "", err
	}
	t, target, err := r.sys.probe(p.s)
	if err == nil && t != TypeSymlink {
		err = syscall.EINVAL
	}
	return target, Wrap("readlink", p.String(), err)
}

// Path returns the path at which the folder was opened.
func (d *Dir) Path() Path { return d.path }

// OpenDir opens the folder called name in d.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := d.admitName(name, true); err != nil {
		return nil, err
	}
	return d.openDir(name)
}

// OpenFile opens the regular file called name in d. The caller knows from a
// listing that it is a regular file. If it was replaced since, the error is
// NotRegular, and the call does not block.
func (d *Dir) OpenFile(name string) (*File, error) {
	if err := d.admitName(name, false); err != nil {
		return nil, err
	}
	f, err := d.openFile(name)
	if err != nil || !policy.IsSuspect(name) && !policy.InTrash(d.path.s) {
		return f, err
	}
	return d.root.policy.admit(f, d.path.child(name), nil)
}

// OpenDir opens the folder at p.
func (r *Root) OpenDir(p Path) (d *Dir, err error) {
	if err := r.policy.check("open", p.String(), p, true); err != nil {
		return nil, err
	}
	err = r.retry("open", &p, func(rel string) (err error) {
		d, err = r.openFolder(rel)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.path, d.root = p, r
	return d, nil
}

// Stat describes the entry at p. It doesn't follow a symlink, which is there if p is from ResolveEntry, or
// if it was created after p was resolved.
func (r *Root) Stat(p Path) (info Info, err error) {
	err = r.retry("stat", &p, func(rel string) (err error) {
		info, err = r.statRel(rel)
		return err
	})
	if err == nil {
		err = r.policy.check("stat", p.String(), p, info.Type == TypeDir)
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// List returns the entries of the folder at p, in the system's order.
func (r *Root) List(p Path) ([]Entry, error) {
	d, err := r.OpenDir(p)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Read(nil)
}

// Vet returns an error if the folder contains, at any depth, an entry that the policy denies.
// It is called before a tree is deleted.
func (d *Dir) Vet(ctx context.Context, op string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		isDir := e.Type == TypeDir
		if v := d.root.policy.Entry(d.path, e.Name, isDir); v.Refused() {
			p := d.path.child(e.Name)
			return d.root.policy.refusal(op, p.s, p, v)
		}
		if !isDir {
			continue
		}
		sub, err := d.openDir(e.Name)
		if err != nil {
			return err
		}
		err = sub.Vet(ctx, op)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Stat describes the entry called name. It doesn't follow a symlink.
func (d *Dir) Stat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, &fault.PathError{Op: "stat", Path: name, Kind: fault.InvalidArgument, Err: err}
	}
	i, err := d.lstat(name)
	if err != nil {
		return Info{}, Wrap("stat", d.path.child(name).s, err)
	}
	if v := d.root.policy.Entry(d.path, name, i.Type == TypeDir); v.Refused() {
		p := d.path.child(name)
		return Info{}, d.root.policy.refusal("stat", p.s, p, v)
	}
	return i, nil
}

func (d *Dir) admitName(name string, isDir bool) error {
	if err := checkName(name); err != nil {
		return &fault.PathError{Op: "open", Path: name, Kind: fault.InvalidArgument, Err: err}
	}
	if v := d.root.policy.Entry(d.path, name, isDir); v.Refused() {
		p := d.path.child(name)
		return d.root.policy.refusal("open", p.s, p, v)
	}
	return nil
}
