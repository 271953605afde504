package changer

import (
	"bytes"
	"fmt"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// A state folder belongs to one folder: contents and paths of its journal are
// those of that folder, and an undo in another one would write them there. The
// first change writes down which folder it is.
//
// A folder that was moved is known by its number and birth time, one that was
// restored from a copy or checked out again by its path. The device may have
// another number after a restart or where it is mounted now. So it counts only if
// the old path still leads to such a folder: then there are two, and one is a
// snapshot or a copy of the disk.

// folderFile is the name of the record in the state folder.
const folderFile = "folder"

// identity tells a folder from others.
type identity struct {
	path     string
	dev, ino uint64
	born     int64 // ns; 0 where the file system doesn't know
}

func identify(root *rootfs.Root) (identity, error) {
	info, err := root.Stat(rootfs.Path{})
	if err != nil {
		return identity{}, err
	}
	id := identity{path: root.RealDir(), dev: info.Dev, ino: info.Ino}
	if !info.BirthTime.IsZero() {
		id.born = info.BirthTime.UnixNano()
	}
	return id, nil
}

const folderFormat = "folder 1\npath %q\ndev %d\nino %d\nborn %d\n"

func (id identity) String() string {
	return fmt.Sprintf(folderFormat, id.path, id.dev, id.ino, id.born)
}

func parseIdentity(data []byte) (id identity, ok bool) {
	n, err := fmt.Sscanf(string(data), folderFormat, &id.path, &id.dev, &id.ino, &id.born)
	return id, err == nil && n == 4 && id.String() == string(data)
}

// is reports whether the recorded folder is now.
func (id identity) is(now identity) bool {
	if id.path == now.path {
		return true
	}
	if id.ino == 0 || id.ino != now.ino || id.born != now.born {
		return false
	}
	return id.dev == now.dev || id.born != 0 && !id.stillThere()
}

// stillThere reports whether the recorded path leads to a folder of the recorded
// number.
func (id identity) stillThere() bool {
	root, err := rootfs.Open(id.path, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
	if err != nil {
		return false
	}
	defer root.Close()
	there, err := identify(root)
	return err == nil && there.ino == id.ino && there.born == id.born
}

// belongs refuses a state folder of another folder.
func (w *Changer) belongs() error {
	_, _, _, err := w.recorded()
	return err
}

// recorded reads which folder the state belongs to and refuses any but this one.
// Without a record, or with one that was cut short, the state has no owner yet.
func (w *Changer) recorded() (p rootfs.Path, data []byte, version rootfs.Version, err error) {
	if p, err = w.state.root.Known(folderFile); err != nil {
		return p, nil, version, err
	}
	data, version, _, err = w.state.root.ReadFile(p, 1<<16)
	if rootfs.KindOf(err) == rootfs.NotFound {
		return p, nil, version, nil
	}
	was, ok := parseIdentity(data)
	if err != nil || !ok {
		return p, data, version, err
	}
	now, err := identify(w.root)
	if err == nil && !was.is(now) {
		err = otherFolder(w.state.root.Dir(), was.path)
	}
	return p, data, version, err
}

// claim writes down, once, that the state belongs to this folder. If that fails,
// the change is made all the same: the next one tries again.
func (w *Changer) claim() error {
	if w.state.claimed.Load() {
		return nil
	}
	p, data, version, err := w.recorded()
	if err != nil {
		return err
	}
	now, err := identify(w.root)
	if err != nil {
		return err
	}
	text := []byte(now.String())
	switch {
	case data == nil:
		_, _, err = w.state.root.Create(p, text, nil)
	case !bytes.Equal(data, text):
		_, err = w.state.root.Replace(p, text, version, nil)
	}
	switch rootfs.KindOf(err) {
	case "":
		w.state.claimed.Store(true)
		return nil
	case rootfs.AlreadyExists, rootfs.Conflict: // another process was faster
		return w.belongs()
	}
	w.log.Warn("state folder: it is not recorded which folder it belongs to", "err", err)
	return nil
}

func otherFolder(state, path string) error {
	return fault.New(fault.InvalidArgument, fmt.Sprintf("the state folder %s belongs to another workspace, %s", state, path),
		"give each workspace a StateDir of its own; if this is the same folder, copied to another place, delete the file "+folderFile+" in the state folder")
}
