package rootfs

import (
	"path/filepath"

	"quarry/internal/policy"
)

// notOwn refuses to change an entry of Options.Own or anything beneath one, even through
// symlinks, hard links, mounts, or names exchanged since the path was resolved. dir is
// the open folder of p. here describes the entry; it is zero if there is none.
func (r *Root) notOwn(op string, dir *folder, p Path, here Info) error {
	if len(r.own) == 0 {
		return nil
	}
	full := filepath.Join(r.real, filepath.FromSlash(p.s))
	known := make([]Info, 0, len(r.own))
	for _, place := range r.own {
		real := RealPath(place)
		info, err := infoOf(real)
		if pathEqual(filepath.ToSlash(real), filepath.ToSlash(full)) || err == nil && info.SameFile(here) {
			return r.policy.refusal(op, p.s, p, policy.Denied)
		}
		if err == nil && info.Type == TypeDir {
			known = append(known, info)
		}
	}
	beneath, err := isBeneath(dir, known)
	if err == nil && beneath {
		err = r.policy.refusal(op, p.s, p, policy.Denied)
	}
	return err
}
