package rootfs

import (
	"strings"

	"quarry/fault"
	"quarry/internal/policy"
)

// maxSystemFile is far above the size of any real one.
const maxSystemFile = 4 << 20

// ReadSystem reads one of the few files in protected folders that Quarry itself needs
// (policy.SystemFile). Their text is never part of an answer. rel is relative to the folder
// dir, and no symlink in it is followed.
func (r *Root) ReadSystem(dir Path, rel string) ([]byte, error) {
	shown := dir.child(rel).s
	if !policy.SystemFile(rel) {
		return nil, &fault.PathError{Op: "read", Path: shown, Kind: fault.ProtectedPath, Rule: policy.Protected.String(), Name: rel}
	}
	d, err := r.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	names := strings.Split(rel, "/")
	for _, name := range names[:len(names)-1] {
		sub, err := d.openDir(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = sub
	}
	defer d.Close()
	f, err := d.openFile(names[len(names)-1])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.readAll(shown, maxSystemFile)
}
