//go:build !linux || portable

package rootfs

import "time"

// LeftOver reports whether an entry is a temporary file that CleanTemps would
// treat: one of ours whose maker is gone, as far as its age can tell.
func (r *Root) LeftOver(name string, info Info) bool {
	t, err := parseTempName(name)
	return err == nil && (r.temps.leftOver(t) || time.Since(info.ModTime) >= doubtfulAge)
}
