package rootfs

import (
	"errors"
	"syscall"

	"quarry/fault"
	"quarry/internal/rootfs/file"
)

// MkdirAll makes the folder p and its missing parents. It returns the new ones, outermost
// first, also when it fails half-way. An existing folder is not an error.
func (r *Root) MkdirAll(p Path) ([]Path, error) {
	if err := r.writable("mkdir", p); err != nil {
		return nil, err
	}
	var missing []Path
	for q := p; !q.IsRoot(); q = q.Dir() {
		t, _, err := r.sys.probe(q.s)
		if err == nil && t == TypeDir || err == file.ErrSwapped {
			break
		}
		if err == nil {
			return nil, &fault.PathError{Op: "mkdir", Path: q.String(), Kind: fault.AlreadyExists, Err: syscall.ENOTDIR}
		}
		if kindOfErrno(err) != fault.NotFound {
			return nil, Wrap("mkdir", q.String(), err)
		}
		missing = append(missing, q)
	}
	var made []Path
	for i := len(missing) - 1; i >= 0; i-- {
		err := r.Mkdir(missing[i])
		if errors.Is(err, fault.AlreadyExists) {
			if info, e := r.Stat(missing[i]); e == nil && info.Type == TypeDir {
				continue // another process created it
			}
		}
		if err != nil {
			return made, err
		}
		made = append(made, missing[i])
	}
	return made, nil
}
