package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"quarry/internal/config"
	"quarry/internal/index"
	"quarry/internal/owner"
	"quarry/internal/render"
	"quarry/internal/rootfs"
)

// Stored describes one of a user's indexes.
type Stored struct {
	Dir string `json:"dir"`
	// Folder is the indexed folder, or "" if that was not recorded.
	Folder string    `json:"folder"`
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"`
	// Kept is set if a process owns the index.
	Kept bool `json:"kept"`
	// Gone is set if Folder does not exist. It may be on a disk that is not mounted.
	Gone bool `json:"gone"`
}

// AllStored lists the indexes in the folder of all indexes, least recently used first.
func AllStored(home string) ([]Stored, error) {
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
	var list []Stored
	for _, s := range all {
		dir := filepath.Join(home, s.Name)
		kept, err := isKept(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, Stored{
			Dir: dir, Folder: s.Folder, Bytes: s.Bytes, Used: s.Used, Kept: kept,
			Gone: s.Folder != "" && gone(s.Folder),
		})
	}
	return list, nil
}

// gone reports whether a path doesn't exist. An inaccessible folder does exist.
func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// remove returns the command that deletes an index. It names the index's folder, unless that
// is unknown, or is this workspace's path, which leads to another index.
func (x *exam) remove(s Stored) string {
	if s.Folder == "" || s.Folder == x.Root {
		return "rm -rf " + render.ShellQuote(s.Dir)
	}
	return "quarry index delete --root " + render.ShellQuote(s.Folder)
}

// checkStored examines all indexes of the user. own is the location of this workspace's
// index.
func (x *exam) checkStored(own string) error {
	all, err := AllStored(filepath.Dir(own))
	if err != nil {
		return err
	}
	x.checkSeveral(own, all)
	x.checkGone(all)
	return x.checkCap(filepath.Dir(own), all)
}

// checkSeveral looks for other indexes that have files of this folder: of another path to
// it, of folders inside it, and of folders around it.
func (x *exam) checkSeveral(own string, all []Stored) {
	here, err := os.Stat(x.Root)
	if err != nil {
		return // already reported
	}
	for _, s := range all {
		if s.Dir == own || s.Folder == "" || s.Gone {
			continue
		}
		there, err := os.Stat(s.Folder)
		if err != nil {
			continue
		}
		size := render.Size(s.Bytes)
		f := Finding{
			ID: "index-nested", Note: true, Why: "What both folders have is read and stored twice. The answers are right.",
			Fix: "Leave it, or connect clients to one of the folders.",
		}
		switch {
		case os.SameFile(here, there):
			f = Finding{
				ID: "index-twice", What: fmt.Sprintf("This folder has a second index, %s, made for the path %s.", size, s.Folder),
				Why: "Two processes may each read and store all its files. The answers are right.",
				Fix: "Use one of the paths in the settings of all clients.",
			}
		case inside(x.Root, s.Folder):
			f.What = fmt.Sprintf("%s, a folder inside this one, has an index of its own, %s.", s.Folder, size)
		case inside(s.Folder, x.Root):
			f.What = fmt.Sprintf("%s, which has this folder in it, has an index too, %s.", s.Folder, size)
		default:
			continue
		}
		if !s.Kept {
			f.Fix += " To delete the other index:"
			f.Run = []string{x.remove(s)}
		}
		x.find(f)
	}
}

// checkGone looks for indexes of folders that don't exist.
func (x *exam) checkGone(all []Stored) {
	f := Finding{
		ID: "index-gone", Note: true,
		Why: "The folders were moved or deleted, or are on a disk that is not there now. Their indexes are deleted when all together become too large.",
		Fix: "To delete them now:",
	}
	var size int64
	for _, s := range all {
		if s.Gone && !s.Kept {
			size += s.Bytes
			f.Run = append(f.Run, x.remove(s))
		}
	}
	if n := len(f.Run); n > 0 {
		f.What = fmt.Sprintf("Indexes of folders that are not there are stored: %d, %s in all.", n, render.Size(size))
		x.find(f)
	}
}

// checkCap compares the total size of all indexes with the limit.
func (x *exam) checkCap(home string, all []Stored) error {
	file, err := x.Config()
	if err != nil {
		return nil // the invalid configuration is already reported
	}
	const name = "index.max-size"
	limit, err := file.Get(x.Getenv, x.Root, name)
	if err != nil {
		return nil // this is already reported too
	}
	if limit.Source == config.FromDefault {
		for _, k := range config.Keys() {
			if k.Path() == name {
				limit.Text = k.Default
			}
		}
	}
	most, err := config.ParseSize(limit.Text)
	if err != nil || most == 0 {
		return err
	}
	var total int64
	for _, s := range all {
		total += s.Bytes
	}
	if total <= most {
		return nil
	}
	f := Finding{
		ID: "index-cap", What: fmt.Sprintf("The indexes in %s take %s together, more than the %s of index.max-size.", home, render.Size(total), render.Size(most)),
		Why: "The next build deletes those used longest ago; an index larger than the limit is deleted each time.",
		Fix: "Allow more with index.max-size in quarry.toml, or delete what you no longer search; used longest ago:",
	}
	for _, s := range all {
		if total > most && !s.Kept {
			f.Run = append(f.Run, x.remove(s))
			total -= s.Bytes
		}
	}
	x.find(f)
	return nil
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
	return state.Held(owner.LockName)
}

// inside reports whether path is inside the folder dir.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
