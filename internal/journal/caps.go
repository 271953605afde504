package journal

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// usage is the disk space used by the journal.
type usage struct {
	found []segmentFile
	size  map[uint32]int64    // size of each segment and its packs
	packs map[uint32][]string // names of each segment's packs
	total int64
}

func (j *Journal) measure() (usage, error) {
	found, err := j.listSegments()
	if err != nil {
		return usage{}, err
	}
	u := usage{found: found, size: map[uint32]int64{}, packs: map[uint32][]string{}}
	for _, f := range found {
		info, err := j.root.Stat(j.root.Own(segmentName(f.num, f.m)))
		if err != nil {
			return u, err
		}
		u.size[f.num] += info.Size
		u.total += info.Size
	}
	err = j.eachPack(func(name string, info rootfs.Info) error {
		if num, ok := packSegment(name); ok {
			u.size[num] += info.Size
			u.packs[num] = append(u.packs[num], name)
		}
		u.total += info.Size
		return nil
	})
	return u, err
}

func packSegment(name string) (uint32, bool) {
	digits, _, ok := strings.Cut(name, "-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil && len(digits) >= 8
}

func (j *Journal) eachPack(f func(name string, info rootfs.Info) error) error {
	return j.eachIn("packs", f)
}

func (j *Journal) eachIn(folder string, f func(name string, info rootfs.Info) error) error {
	d, err := j.root.OpenDir(j.root.Own(folder))
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := d.Stat(e.Name)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f(strings.Clone(e.Name), info); err != nil {
			return err
		}
	}
	return nil
}

// enforce drops the oldest segments beyond the limits. The caller holds the lock
// exclusively and has updated the tail.
func (j *Journal) enforce() error {
	if j.total >= 0 && j.total <= j.opts.MaxBytes && j.measured == j.tail {
		return nil
	}
	u, err := j.measure()
	if err != nil {
		return err
	}
	j.total, j.measured = u.total, j.tail
	limit, err := j.dropLimit(u.found)
	if err != nil {
		return err
	}
	var drop []segmentFile
	gone := j.tail.dropped
	oldest := j.opts.Now().Add(-j.opts.MaxAge)
	for i, f := range u.found {
		if f.num >= limit {
			break
		}
		s, err := j.load(f)
		if err != nil {
			return err
		}
		newest := time.Time{}
		if n := len(s.entries); n > 0 {
			newest = s.entries[n-1].Time
		}
		if u.total <= j.opts.MaxBytes && !newest.Before(oldest) {
			break
		}
		next, err := j.load(u.found[i+1]) // exists, because the tail is never dropped
		if err != nil {
			return err
		}
		for _, e := range s.entries {
			if !s.aborts[e.ID] && !next.aborts[e.ID] { // an entry almost always ends in its own or the next segment
				gone.count++
				gone.newest = e.Time
			}
		}
		drop = append(drop, f)
		u.total -= u.size[f.num]
	}
	return j.drop(drop, gone, u)
}

// dropLimit returns the number of the first segment that must be kept, because it has the
// newest entry or an entry in progress.
func (j *Journal) dropLimit(found []segmentFile) (uint32, error) {
	limit := j.tail.num
	for i := len(found) - 1; i >= 0; i-- {
		s, err := j.load(found[i])
		if err != nil {
			return 0, err
		}
		limit = min(limit, s.num)
		if len(s.entries) > 0 {
			break
		}
	}
	open, err := j.openEntries()
	for _, o := range open {
		limit = min(limit, o.seg)
	}
	return limit, err
}

// drop removes segments, after durably recording that. Each segment is removed before its
// packs, so that no entry lacks its contents.
func (j *Journal) drop(files []segmentFile, gone dropped, u usage) error {
	if len(files) == 0 {
		return nil
	}
	if err := j.tail.append(j.root, recDrop, gone.encode()); err != nil {
		return err
	}
	if err := j.sync(j.tail, j.tail.end); err != nil {
		return err
	}
	// Dropped entries must not be reported as lost, even after a power failure.
	if err := j.loadHead(); err != nil {
		return err
	}
	if j.head != nil {
		if err := j.addToHead(headFirst, files[len(files)-1].num+1, claim{}); err != nil {
			return err
		}
		if err := j.head.log.Sync(); err != nil {
			return err
		}
	}
	for _, f := range files {
		if s := j.segs[f.num]; s != nil {
			j.unload(s)
		}
		if err := j.remove(segmentName(f.num, f.m)); err != nil {
			return err
		}
		for _, name := range u.packs[f.num] {
			if err := j.remove("packs/" + name); err != nil {
				return err
			}
		}
	}
	j.total = u.total
	return nil
}

func (j *Journal) remove(rel string) error {
	err := j.root.Remove(j.root.Own(rel))
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// tidy removes files of dead processes: packs without an entry, packs of dropped
// segments, and lock files.
func (j *Journal) tidy() error {
	found, err := j.listSegments()
	if err != nil {
		return err
	}
	if _, err := j.root.CleanTemps(context.Background(), j.root.Own("packs")); err != nil {
		return err
	}
	err = j.eachPack(func(name string, _ rootfs.Info) error {
		if num, ok := packSegment(name); ok {
			if len(found) > 0 && num >= found[0].num {
				return nil
			}
			return j.remove("packs/" + name)
		}
		rest, ours := strings.CutPrefix(name, "tmp-")
		owner, _, _ := strings.Cut(rest, "-")
		if alive, err := j.alive(owner); !ours || alive || err != nil {
			return err
		}
		return j.remove("packs/" + name)
	})
	if err != nil {
		return err
	}
	return j.eachIn("owners", func(name string, _ rootfs.Info) error {
		if alive, err := j.alive(name); alive || err != nil {
			return err
		}
		return j.remove("owners/" + name)
	})
}

// alive reports whether the process with this token is running: a running process holds
// the lock on its file.
func (j *Journal) alive(owner string) (bool, error) {
	if owner == j.owner && owner != "" {
		return true, nil
	}
	return j.root.Held("owners/" + owner)
}
