package doctor

import (
	"errors"
	"io/fs"
	"path/filepath"

	"quarry/internal/index"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
)

// stored is one of all indexes of a user.
type stored struct {
	Dir   string
	Bytes int64
	Kept  bool // a process has it in hand
	// Outdated is one of an earlier version of the format.
	Outdated bool
}

// examineStored lists the indexes in the folder that holds all of them, the one
// used longest ago first.
func examineStored(home string) ([]stored, error) {
	root, err := rootfs.Open(home, &rootfs.Options{Trusted: true, AllowAny: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, err := index.List(root)
	if err != nil {
		return nil, err
	}
	var list []stored
	for _, s := range all {
		dir := filepath.Join(home, s.Name)
		kept, err := isKept(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, stored{dir, s.Bytes, kept, s.Outdated})
	}
	return list, nil
}

func isKept(dir string) (bool, error) {
	state, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer state.Close()
	return held(state)
}

// held reports whether a process owns the folder of an index. To claim one that
// nobody ever had would make its lock, and looking changes nothing.
func held(state *rootfs.Root) (bool, error) {
	lock, err := state.Known("owner.lock")
	if err == nil {
		_, err = state.Stat(lock)
	}
	if rootfs.KindOf(err) == rootfs.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	lease, err := owner.Claim(state)
	if err != nil || lease == nil {
		return err == nil, err
	}
	return false, lease.Release()
}
