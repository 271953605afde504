package journal

import (
	"errors"
	"fmt"
	"slices"

	"quarry/fault"
)

// maxLoaded is the number of segments kept in memory: the newest, which is used most, and
// the last one read. The entries of a 4 MiB segment with small edits take about 13 MB,
// and a full journal has 64 such segments.
const maxLoaded = 2

// load reads a segment, or the records appended to it since the last load. The next load
// may close the returned segment.
func (j *Journal) load(f segmentFile) (*segment, error) {
	s := j.segs[f.num]
	if s == nil {
		log, err := j.root.OpenLog(j.root.Own(segmentName(f.num, f.m)), false)
		if err != nil {
			return nil, err
		}
		s = newSegment(f.num, f.m, log)
	}
	err := s.read(j.root)
	if err == nil && s.hasStart && s.start.format != format {
		if err = ErrNewer; s.start.format < format {
			err = fault.New(fault.Conflict, "the undo log was written by an older version of Quarry, and its changes can't be undone any more", "delete its folder "+j.root.RealDir())
		}
	}
	if err != nil {
		if j.segs[f.num] == nil {
			s.log.Close()
		}
		return nil, err
	}
	j.keep(s)
	return s, nil
}

// keep records that s was used, and closes the least recently used segments, except the
// tail and those that must be synced.
func (j *Journal) keep(s *segment) {
	j.uses++
	s.used = j.uses
	j.segs[s.num] = s
	for len(j.segs) > maxLoaded {
		var idle *segment
		for _, o := range j.segs {
			if o != s && o != j.tail && o.syncing == 0 && (idle == nil || o.used < idle.used) {
				idle = o
			}
		}
		if idle == nil {
			return
		}
		j.unload(idle)
	}
}

func (j *Journal) unload(s *segment) {
	s.log.Close() // everything is written, and no sync is pending
	delete(j.segs, s.num)
	j.syncMu.Lock()
	delete(j.synced, s)
	j.syncMu.Unlock()
}

// forget closes segments that other processes have dropped.
func (j *Journal) forget(found []segmentFile) {
	for num, s := range j.segs {
		if !slices.ContainsFunc(found, func(f segmentFile) bool { return f.num == num }) {
			j.unload(s)
		}
	}
}

// segmentOf returns the segment with the contents of e. The caller holds mu, but not the
// lock file.
func (j *Journal) segmentOf(e Entry) (*segment, error) {
	if s := j.segs[e.seg]; s != nil {
		j.keep(s)
		return s, nil
	}
	var s *segment
	err := j.locked(false, func() error {
		found, err := j.listSegments()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(found, func(f segmentFile) bool { return f.num == e.seg })
		if i < 0 {
			return fault.NotFound
		}
		s, err = j.load(found[i])
		return err
	})
	if errors.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("%w: %s was dropped", ErrNotFound, e.ID)
	}
	return s, err
}
