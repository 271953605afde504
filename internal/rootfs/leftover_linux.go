//go:build linux && !portable

package rootfs

// LeftOver reports whether an entry is a temporary file that CleanTemps would
// treat: one of ours whose maker is gone.
func (r *Root) LeftOver(name string, info Info) bool {
	t, err := parseTempName(name)
	return err == nil && r.abandoned(t, info)
}

// leave notes that a folder wants to be cleaned.
func (t *temps) leave(dir Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == nil {
		t.left = map[Path]struct{}{}
	}
	t.left[dir] = struct{}{}
}
