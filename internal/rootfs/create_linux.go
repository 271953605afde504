//go:build linux && !portable

package rootfs

// removable opens the place of p and checks its entry.
func (r *Root) removable(op string, p Path) (place, error) {
	if err := r.editable(op, p, true); err != nil {
		return place{}, err
	}
	at, err := r.place(op, p)
	if err != nil {
		return at, err
	}
	info, err := r.sys.InfoAt(at.dir, at.name)
	if err == nil {
		err = r.policy.check(op, p.String(), at.path, info.Type == TypeDir)
	}
	if err != nil {
		at.close()
		return place{}, Wrap(op, p.String(), err)
	}
	return at, nil
}
