package journal

import (
	"slices"
	"strings"
	"time"

	"quarry/internal/rootfs"
)

// If the power fails before a folder reaches the disk, a temporary file that was removed
// from it may come back. Syncing the folder would add a second sync to every edit.
// Instead, the first change after a boot creates a file boot-B, where B identifies the
// boot. If there is a file of another boot, the machine was restarted since, and the
// folders of the last changes must be cleaned.
const bootPrefix = "boot-"

// recently limits how much older than the newest change a returned change may be. It is
// much longer than any file system delays writes.
const recently = time.Hour

// markBoot records that changes are made in this boot. The caller holds the lock.
func (j *Journal) markBoot() error {
	boot := j.root.Boot()
	if boot == "" {
		return nil
	}
	f, err := j.root.OpenLog(j.root.Own(bootPrefix+boot), true)
	if err != nil {
		return err
	}
	return f.Close()
}

// otherBoots lists the files of other boots.
func (j *Journal) otherBoots() ([]string, error) {
	entries, err := j.root.List(rootfs.Path{})
	var found []string
	for _, e := range entries {
		if boot, ok := strings.CutPrefix(e.Name, bootPrefix); ok && boot != j.root.Boot() {
			found = append(found, e.Name)
		}
	}
	return found, err
}

// Restarted returns the last changes before the machine was restarted, including those
// that were rolled back. Without a restart it returns none. The caller cleans the folders
// around them and then calls Tidied.
func (j *Journal) Restarted() ([]Entry, error) {
	boots, err := j.otherBoots()
	if err != nil || len(boots) == 0 {
		return nil, err
	}
	var list []Entry
	err = j.eachSegment(func(s *segment) (bool, error) {
		for _, e := range slices.Backward(s.entries) {
			if len(list) > 0 && list[0].Time.Sub(e.Time) > recently {
				return false, nil
			}
			list = append(list, *e)
		}
		return true, nil
	})
	return list, err
}

// Tidied records that the folders of the changes returned by Restarted were cleaned.
func (j *Journal) Tidied() error {
	boots, err := j.otherBoots()
	for _, name := range boots {
		if e := j.remove(name); err == nil {
			err = e
		}
	}
	return err
}

// Folders lists the folders in which the entry's operations may have left temporary
// files, without duplicates.
func (e Entry) Folders() []rootfs.Path {
	var dirs []rootfs.Path
	seen := map[rootfs.Path]bool{}
	add := func(p rootfs.Path) {
		if !seen[p] {
			seen[p] = true
			dirs = append(dirs, p)
		}
	}
	for _, op := range e.Ops {
		add(op.Path.Dir())
		if op.Kind == Rename {
			add(op.To.Dir())
		}
		for _, n := range op.Nodes {
			if p, err := join(op.Path, n.Rel); err == nil && n.Type == rootfs.TypeDir && (op.Kind == Create || op.Kind == Remove) {
				add(p)
			}
		}
	}
	return dirs
}
