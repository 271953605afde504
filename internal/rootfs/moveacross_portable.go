//go:build !linux || portable

package rootfs

// RenameInto is RenameTo without copying. It moves the entry at from to another root by one
// rename, which overwrites nothing, and fails with syscall.EXDEV if only a copy is possible,
// or if rename on this system needs paths instead of open folders.
func (r *Root) RenameInto(from Path, dst *Root, to Path) error {
	const op = "rename"
	if err := r.editable(op, from, true); err != nil {
		return err
	}
	info, err := r.Stat(from)
	if err != nil {
		return err
	}
	if err := dst.editable(op, to, info.Type == TypeDir); err != nil {
		return err
	}
	err = r.in(op, from, func(src *folder, name string) error {
		return dst.in(op, to, func(dir *folder, base string) error {
			if err := src.Move(name, dir, base); err != nil {
				return err
			}
			if err := dir.Sync(); err != nil {
				return err
			}
			return src.Sync()
		})
	})
	return Wrap(op, to.String(), err)
}
