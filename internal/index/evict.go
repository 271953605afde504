package index

import (
	"cmp"
	"errors"
	"io"
	"sort"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Stored is one of the indexes in a home folder.
type Stored struct {
	Name string // name of the index's folder
	// Folder is the path of the folder that was indexed, "" if unknown.
	Folder string
	Bytes  int64
	Used   time.Time // time when it was last opened
}

// MarkUsed records that the index in dir is in use, for Evict. It also records the path of
// the indexed folder, to be shown to users. home is the trusted root that contains the
// folders of all indexes.
func MarkUsed(home *rootfs.Root, dir rootfs.Path, folder string, now time.Time) error {
	lock, err := dir.Child(lockName)
	if err != nil {
		return err
	}
	note, err := dir.Child(folderName)
	if err != nil {
		return err
	}
	old, version, _, err := home.ReadFile(note, maxFolder)
	switch {
	case rootfs.KindOf(err) == fault.NotFound:
		_, _, err = home.Create(note, []byte(folder), &rootfs.CreateOptions{Mode: 0o600})
	case err == nil && string(old) != folder:
		_, err = home.Replace(note, []byte(folder), version, nil)
	}
	return errors.Join(err, home.SetMeta(lock, 0o600, now))
}

const (
	// folderName is the name of the file that contains the path of the indexed folder.
	folderName = "folder"
	maxFolder  = 64 << 10
)

// List lists the indexes, the least recently used first.
func List(home *rootfs.Root) ([]Stored, error) {
	dir, err := home.OpenDir(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.Read(nil)
	if err != nil {
		return nil, err
	}
	var all []Stored
	var errs []error
	for _, e := range entries {
		if e.Type != rootfs.TypeDir {
			continue
		}
		s, err := measure(dir, e.Name)
		if err != nil {
			if rootfs.KindOf(err) != fault.NotFound && err != errNotIndex {
				errs = append(errs, err)
			}
			continue
		}
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[i].Used.Compare(all[j].Used), cmp.Compare(all[i].Name, all[j].Name)) < 0
	})
	return all, errors.Join(errs...)
}

// errNotIndex is returned for a folder that has other contents and so is not deleted.
var errNotIndex = errors.New("not an index")

func measure(home *rootfs.Dir, name string) (Stored, error) {
	s := Stored{Name: name}
	dir, err := home.OpenDir(name)
	if err != nil {
		return s, err
	}
	defer dir.Close()
	entries, err := dir.Read(nil)
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		if !ours(e.Name) {
			return s, errNotIndex
		}
		info, err := dir.Stat(e.Name)
		if err != nil {
			continue // removed in the meantime
		}
		s.Bytes += info.Size
		switch e.Name {
		case lockName:
			s.Used = info.ModTime
		case folderName:
			s.Folder = readFolder(dir)
		}
	}
	return s, nil
}

func readFolder(dir *rootfs.Dir) string {
	f, err := dir.OpenFile(folderName)
	if err != nil {
		return ""
	}
	defer f.Close()
	path, err := io.ReadAll(io.NewSectionReader(f, 0, maxFolder))
	if err != nil {
		return ""
	}
	return string(path)
}

// ours reports whether an index's folder may contain a file of that name.
func ours(name string) bool {
	return name == lockName || name == folderName || strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, manifestPrefix) || strings.HasPrefix(name, segmentPrefix) || rootfs.IsTemp(name)
}

// Evict deletes the least recently used indexes until their total size is at most most bytes,
// and returns the deleted ones. It keeps the index named keep, indexes in use by a process, and
// folders that are not indexes.
func Evict(home *rootfs.Root, most int64, keep string) ([]Stored, error) {
	all, err := List(home)
	var total int64
	for _, s := range all {
		total += s.Bytes
	}
	var gone []Stored
	errs := []error{err}
	for _, s := range all {
		if total <= most && !strings.HasPrefix(s.Name, goingPrefix) {
			continue
		}
		dir, err := rootfs.Path{}.Child(s.Name)
		if err != nil || s.Name == keep {
			continue
		}
		ok, err := Delete(home, dir)
		if err != nil {
			errs = append(errs, err)
		}
		if ok {
			total -= s.Bytes
			gone = append(gone, s)
		}
	}
	return gone, errors.Join(errs...)
}

// goingPrefix is the prefix of a folder that is being deleted. The folder remains if the
// process dies during the deletion.
const goingPrefix = "deleted-"

// Delete deletes the index in a folder of home. It returns false if a process holds the index's
// lock. The folder is renamed first, so that other processes never find a partly deleted index.
// A process that opens an index must check afterwards that the folder is still at its path.
func Delete(home *rootfs.Root, dir rootfs.Path) (bool, error) {
	lock, err := home.Hold(dir.String()+"/"+lockName, false)
	if lock == nil {
		return false, err
	}
	defer lock.Close()
	if !strings.HasPrefix(dir.String(), goingPrefix) {
		going, err := rootfs.Path{}.Child(goingPrefix + dir.String())
		if err != nil {
			return false, err
		}
		if err := home.RemoveAll(going); err != nil && rootfs.KindOf(err) != fault.NotFound {
			return false, err
		}
		if err := home.Rename(dir, going); err != nil {
			return false, err
		}
		dir = going
	}
	return true, home.RemoveAll(dir)
}
