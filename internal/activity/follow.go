package activity

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"sync"
	"time"

	"quarry/internal/rootfs"
)

// maxFollowed is how many of the last calls a follower keeps.
const maxFollowed = 1000

// Follower reads the calls of all servers as they are made. It reads each byte once.
type Follower struct {
	dir string
	now func() time.Time

	mu    sync.Mutex
	read  map[rootfs.Path]int64 // how far; guarded by mu
	calls []Numbered            // oldest first; guarded by mu
	next  int                   // guarded by mu
	epoch int                   // changes when lines were removed; guarded by mu
}

// Numbered is a call, numbered in the order of reading.
type Numbered struct {
	N int `json:"n"`
	Call
	file rootfs.Path
}

// Follow returns a Follower of the calls in a folder.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, now: time.Now, read: map[rootfs.Path]int64{}}
}

// Look reads new calls. last is the number of the last call; epoch changes when earlier
// calls were removed.
func (f *Follower) Look() (last, epoch int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := open(f.dir)
	if err != nil {
		return f.next, f.epoch, err
	}
	defer root.Close()
	expire(root, f.now())
	there := files(root)
	var fresh []Numbered
	for _, p := range there {
		fresh = append(fresh, f.file(root, p)...)
	}
	for p := range f.read {
		if !slices.Contains(there, p) {
			f.forget(p)
		}
	}
	sort.SliceStable(fresh, func(i, j int) bool { return fresh[i].ends().Before(fresh[j].ends()) })
	for _, c := range fresh {
		f.next++
		c.N = f.next
		f.calls = append(f.calls, c)
	}
	old := slices.IndexFunc(f.calls, func(c Numbered) bool { return f.now().Sub(c.Time) <= Kept })
	if old < 0 {
		old = len(f.calls)
	}
	f.calls = f.calls[max(old, len(f.calls)-maxFollowed):]
	return f.next, f.epoch, nil
}

func (c *Numbered) ends() time.Time { return c.Time.Add(time.Duration(c.Millis) * time.Millisecond) }

// file reads the lines appended to a file. The caller holds mu.
func (f *Follower) file(root *rootfs.Root, p rootfs.Path) (list []Numbered) {
	log, err := root.OpenLog(p, false)
	if err != nil {
		return nil
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil || size == f.read[p] || size > 4*maxFile {
		return nil
	}
	if size < f.read[p] { // it was purged or shortened
		f.forget(p)
	}
	data := make([]byte, size-f.read[p])
	if _, err := log.ReadAt(data, f.read[p]); err != nil {
		return nil
	}
	end := bytes.LastIndexByte(data, '\n') + 1 // the rest is still being written
	f.read[p] += int64(end)
	for line := range bytes.Lines(data[:end]) {
		var c Call
		if json.Unmarshal(line, &c) == nil && f.now().Sub(c.Time) <= Kept {
			list = append(list, Numbered{Call: c, file: p})
		}
	}
	return list
}

// forget drops the calls of a file. The caller holds mu.
func (f *Follower) forget(p rootfs.Path) {
	delete(f.read, p)
	f.epoch++
	f.calls = slices.DeleteFunc(f.calls, func(c Numbered) bool { return c.file == p })
}

// Since returns the calls after number n, oldest first. If there are more than most, it returns the newest ones.
func (f *Follower) Since(n, most int) []Numbered {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.calls, func(c Numbered) bool { return c.N > n })
	if i < 0 {
		return []Numbered{}
	}
	list := f.calls[i:]
	return slices.Clone(list[max(0, len(list)-most):])
}

// Purge removes all lines.
func (f *Follower) Purge() error { return Purge(f.dir) }
