package rootfs

import "path/filepath"

// Inside opens a folder beneath the root as a separate root, read-only and without a
// policy. It is for files that Quarry itself needs, such as those in .git, whose text is
// never part of an answer. The folder is opened relative to the root's handle, so a symlink
// swapped into its path is not followed.
func (r *Root) Inside(dir Path) (*Root, error) {
	if err := r.policy.check("open", dir.String(), dir, true); err != nil {
		return nil, err
	}
	in := &Root{readOnly: true, allowAny: true}
	err := r.retry("open", &dir, func(rel string) error { return in.sys.openInside(&r.sys, rel) })
	if err != nil {
		return nil, err
	}
	in.dir = filepath.Join(r.dir, filepath.FromSlash(dir.String()))
	in.real = filepath.Join(r.real, filepath.FromSlash(dir.String()))
	return in, nil
}

// ReadSmall reads a regular file of at most max bytes. p may lead through symlinks
// that stay in the root.
func (r *Root) ReadSmall(p Path, max int64) ([]byte, error) {
	f, err := r.OpenFile(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.readAll(p.String(), max)
}
