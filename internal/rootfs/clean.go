package rootfs

import (
	"context"
	"time"

	"quarry/fault"
	"quarry/internal/policy"
)

// doubtfulAge is the age at which a temporary file counts as abandoned if its maker
// can't be identified.
const doubtfulAge = time.Hour

// CleanTemps searches the folder p and everything below for temporary files whose
// makers have ended, and cleans up after them; see cleanTemp. It stops early if
// ctx is done.
func (r *Root) CleanTemps(ctx context.Context, p Path) (Cleaned, error) {
	return r.cleanTemps(ctx, p, true)
}

// CleanFolder is CleanTemps for the folder p without its subfolders.
func (r *Root) CleanFolder(ctx context.Context, p Path) (Cleaned, error) {
	return r.cleanTemps(ctx, p, false)
}

func (r *Root) cleanTemps(ctx context.Context, p Path, deep bool) (Cleaned, error) {
	var res Cleaned
	if err := r.writable("clean", p); err != nil {
		return res, err
	}
	d, err := r.OpenDir(p)
	if err != nil {
		return res, err
	}
	r.cleanDir(ctx, d, deep, &res)
	return res, ctx.Err()
}

// cleanDir cleans and closes d.
func (r *Root) cleanDir(ctx context.Context, d *Dir, deep bool, res *Cleaned) {
	defer d.Close()
	entries, err := d.Read(nil)
	if err != nil {
		res.Errors = append(res.Errors, err)
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		switch {
		case IsTemp(e.Name) && (e.Type == TypeFile || e.Type == TypeDir || e.Type == TypeSymlink):
			if err := r.cleanTemp(d, e, res); err != nil {
				res.Errors = append(res.Errors, Wrap("clean", d.path.child(e.Name).s, err))
			}
		case deep && e.Type == TypeDir && r.policy.Entry(d.path, e.Name, true) == policy.Allowed:
			sub, err := d.openDir(e.Name)
			if err == nil {
				r.cleanDir(ctx, sub, deep, res)
			} else if KindOf(err) != fault.NotFound {
				res.Errors = append(res.Errors, err)
			}
		}
	}
}

// Boot identifies the current boot of the machine. It is "" if unknown.
func (r *Root) Boot() string {
	if b := r.owner().boot; b != noBoot {
		return b
	}
	return ""
}

const noBoot = "00000000"
