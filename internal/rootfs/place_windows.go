package rootfs

// MarkSystem marks the file or folder at p as hidden and as a system file.
func (r *Root) MarkSystem(p Path) error {
	if err := r.editable("chmod", p, true); err != nil {
		return err
	}
	return r.in("chmod", p, func(dir *folder, base string) error { return dir.MarkSystem(base) })
}

// renameWithin moves an entry between folders of the root, in one step and
// never overwriting; a name may change its own case.
func (r *Root) renameWithin(op string, from, to Path) error {
	return r.in(op, from, func(src *folder, name string) error {
		return r.in(op, to, func(dir *folder, base string) error { return src.Move(name, dir, base) })
	})
}
