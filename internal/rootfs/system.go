package rootfs

import (
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/policy"
)

// systemFiles are the only files in protected folders that Quarry itself needs.
// They control Quarry; their text is never part of an answer.
var systemFiles = []string{".git", ".git/info/exclude", ".obsidian/app.json", ".obsidian/daily-notes.json", ".obsidian/plugins/periodic-notes/data.json"}

// maxSystemFile is far above any real one.
const maxSystemFile = 4 << 20

// ReadSystem reads one of the few files in protected folders that Quarry itself
// needs: rel is one of systemFiles, in folder dir. No
// symlink is followed in rel.
func (r *Root) ReadSystem(dir Path, rel string) ([]byte, error) {
	shown := dir.child(rel).s
	if !slices.Contains(systemFiles, rel) {
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
