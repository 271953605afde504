package changer

import (
	"bytes"
	"fmt"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

// A state folder belongs to one workspace folder: its journal has the contents and paths
// of that folder, and an undo would write them into any other. The first change records
// the folder's identity.
//
// A folder that was moved is recognized by its inode number and birth time. One that was
// restored from a copy or checked out again is recognized by its path. The device number
// may change after a restart or a new mount. It is only compared if the old path still
// leads to a folder with the recorded inode number: then there are two folders, and one
// is a snapshot or a copy of the disk.

// folderFile is the name of the record in the state folder.
const folderFile = "folder"

// identity identifies a folder.
type identity struct {
	path     string
	dev, ino uint64
	born     int64 // ns; 0 if unknown to the file system
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

const (
	folderHead   = "folder 1\n"
	folderFormat = folderHead + "path %q\ndev %d\nino %d\nborn %d\n"
)

func (id identity) String() string {
	return fmt.Sprintf(folderFormat, id.path, id.dev, id.ino, id.born)
}

// lastIdentity returns the last complete record of a log.
func lastIdentity(log []byte) (id identity, ok bool) {
	for end := len(log); ; {
		start := bytes.LastIndex(log[:end], []byte(folderHead))
		if start < 0 {
			return id, false
		}
		n, err := fmt.Sscanf(string(log[start:]), folderFormat, &id.path, &id.dev, &id.ino, &id.born)
		if err == nil && n == 4 && bytes.HasPrefix(log[start:], []byte(id.String())) {
			return id, true
		}
		end = start
	}
}

// is reports whether id and now identify the same folder.
func (id identity) is(now identity) bool {
	if id.path == now.path {
		return true
	}
	if id.ino == 0 || id.ino != now.ino || id.born != now.born {
		return false
	}
	return id.dev == now.dev || id.born != 0 && !id.stillThere()
}

// stillThere reports whether the recorded path leads to a folder with the recorded inode
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

// belongs returns an error if the state folder is missing or belongs to another folder.
// A state folder without a record has no owner yet.
func (w *Changer) belongs() error {
	if w.state == nil {
		return change.ErrNoState
	}
	log, err := w.state.root.OpenLog(w.state.root.Own(folderFile), false)
	if rootfs.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	now, err := identify(w.root)
	if err != nil {
		return err
	}
	_, _, err = w.recorded(log, now)
	return err
}

// recorded reads the identity recorded in the state folder. It returns an error if that
// is not now.
func (w *Changer) recorded(log *rootfs.Log, now identity) (was identity, size int64, err error) {
	if size, err = log.Size(); err != nil {
		return was, 0, err
	}
	data := make([]byte, size)
	if n, err := log.ReadAt(data, 0); err != nil && n < len(data) {
		return was, 0, err
	}
	was, ok := lastIdentity(data)
	if ok && !was.is(now) {
		err = otherFolder(w.state.root.Dir(), was.path)
	}
	return was, size, err
}

// claim records, once, that the state folder belongs to this workspace folder. If that
// fails, the change is refused: the journal, in the same state folder, would fail too.
func (w *Changer) claim() error {
	if w.state.claimed.Load() {
		return nil
	}
	err := w.claimOnce()
	w.state.claimed.Store(err == nil)
	if kind := rootfs.KindOf(err); kind == fault.ReadOnly || kind == fault.Permission {
		return fault.New(fault.ReadOnly, fmt.Sprintf("the undo log can't be written to, so nothing can be changed (%v)", err),
			"set XDG_STATE_HOME to a folder of yours that can be written to")
	}
	return err
}

func (w *Changer) claimOnce() error {
	now, err := identify(w.root)
	if err != nil {
		return err
	}
	log, err := w.state.root.Hold(folderFile, true)
	if err != nil {
		return err
	}
	defer log.Close() // this also unlocks it
	was, size, err := w.recorded(log, now)
	if err != nil || was == now {
		return err
	}
	if err := log.Append([]byte(now.String()), size); err != nil {
		return err
	}
	return log.Sync()
}

func otherFolder(state, path string) error {
	return fault.New(fault.InvalidArgument, fmt.Sprintf("the state folder %s belongs to another workspace, %s", state, path),
		"give each workspace a StateDir of its own; if this is the same folder, copied to another place, delete the file "+folderFile+" in the state folder")
}
