//go:build linux && !portable

package rootfs

// LeftOver reports whether an entry is a temporary file that CleanTemps would
// treat: one of ours whose maker is gone.
func (r *Root) LeftOver(name string, info Info) bool {
	t, err := parseTempName(name)
	return err == nil && r.abandoned(t, info)
}
