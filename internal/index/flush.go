package index

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"
)

// Flush reads the dirty files and adds them to new segments. Files that change in the
// meantime stay dirty. After the first sweep all files are dirty, so this builds the
// index.
func (ix *Index) Flush(ctx context.Context) error {
	if ix.opts.ReadOnly {
		return ErrReadOnly
	}
	ix.writing.Lock()
	defer ix.writing.Unlock()
	jobs := ix.takeJobs()
	next, done := ix.opts.limitMemory(len(jobs))
	defer done()
	for all := len(jobs); len(jobs) > 0; {
		next(ix.opts.budget + int64(ix.opts.Workers)*workerMemory)
		n, err := ix.flushSome(ctx, jobs)
		if err != nil {
			return err
		}
		clear(jobs[:n]) // free the paths, which are now in the segment
		if jobs = jobs[n:]; len(jobs) < all/2 {
			jobs, all = slices.Clone(jobs), len(jobs)
			ix.shrinkDirty()
		}
	}
	return nil
}

// shrinkDirty frees the memory of finished changes. For 300,000 files the map takes 14
// MB, while the new segments need memory.
func (ix *Index) shrinkDirty() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	left := make(map[string]*change, len(ix.dirty))
	maps.Copy(left, ix.dirty)
	ix.dirty = left
}

// takeJobs lists the dirty files in path order.
func (ix *Index) takeJobs() []job {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	jobs := make([]job, 0, len(ix.dirty))
	for path, c := range ix.dirty {
		if c.member {
			jobs = append(jobs, job{path, c.as, c.seq})
		}
	}
	sort.Slice(jobs, func(i, j int) bool { return jobs[i].path < jobs[j].path })
	return jobs
}

// flushSome makes one segment of the first jobs and returns how many it took.
func (ix *Index) flushSome(ctx context.Context, jobs []job) (int, error) {
	b := &build{
		root: ix.root, workers: ix.opts.Workers, budget: ix.opts.budget, racy: ix.opts.racy, progress: ix.opts.Progress, extractor: ix.opts.Fields, scans: &ix.scans,
		jobs: jobs[:min(len(jobs), jobBudget)],
	}
	b.outcomes = make([]outcome, len(b.jobs))
	n, err := b.read(ctx)
	if err != nil {
		return 0, err
	}
	ix.mu.Lock()
	ix.keepComparing(b.outcomes[:n])
	ix.mu.Unlock()
	var seg *segment
	if slices.ContainsFunc(b.outcomes[:n], func(o outcome) bool { return o.state == indexed }) {
		seg, err = createSegment(ix.state, ix.newName(), ix.opts.Fields, func(w *segmentWriter) error { return b.finish(w, n) })
		if err != nil {
			return 0, err
		}
	}
	if err := ix.commit(seg, b.jobs[:n], b.outcomes[:n]); err != nil {
		return 0, err
	}
	return n, nil
}

func (ix *Index) newName() string {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.names++
	return numbered(segmentPrefix, ix.names)
}

// commit adds a segment to the index: first on disk, then in memory.
func (ix *Index) commit(seg *segment, jobs []job, outcomes []outcome) error {
	var fresh *held
	if seg != nil {
		fresh = newHeld(seg, nil)
	}
	// The documents that the new ones replace.
	var old []place
	ix.mu.Lock()
	for i := range jobs {
		if outcomes[i].state == indexed || outcomes[i].state == gone {
			if c := ix.dirty[jobs[i].path]; c != nil && c.in != nil {
				old = append(old, place{c.in, c.id, jobs[i].path})
			}
		}
	}
	ix.mu.Unlock()
	if err := ix.writeManifest(func(h *held) *held { return h }, fresh, old); err != nil {
		ix.discard(seg)
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, p := range old {
		p.in.kill(p.id)
	}
	if fresh != nil {
		ix.segs = append(slices.Clone(ix.segs), fresh)
	}
	id := 0
	for i := range jobs {
		out := outcomes[i]
		mine := -1
		if out.state == indexed {
			mine = id
			id++
		}
		if out.state != unstable {
			ix.settleJob(&jobs[i], fresh, mine)
		}
	}
	ix.forgetSnapshot()
	return nil
}

// settleJob ends the change of a job, unless the file has changed again. ix.mu must be
// held.
func (ix *Index) settleJob(j *job, fresh *held, id int) {
	c := ix.dirty[j.path]
	if c == nil { // deleted while it was read
		if id >= 0 {
			fresh.kill(id)
		}
		return
	}
	if id < 0 {
		c.in = nil
	} else {
		c.in, c.id = fresh, id
	}
	if c.seq == j.seq && c.member && !c.pending {
		delete(ix.dirty, j.path)
	} else if id >= 0 {
		fresh.hide(id)
	}
}

// discard deletes a segment that no manifest names.
func (ix *Index) discard(seg *segment) {
	if seg == nil {
		return
	}
	seg.release()
	if err := remove(ix.state, seg.name); err != nil {
		ix.log.Warn("index: can't remove an unused segment", "err", err)
	}
}

// writeManifest writes the next manifest and syncs it. It contains the segments that keep
// returns, additional dead documents, and the segment fresh.
func (ix *Index) writeManifest(keep func(*held) *held, fresh *held, dead []place) error {
	ix.mu.Lock()
	m := &manifest{number: ix.number + 1}
	for _, h := range ix.segs {
		if h = keep(h); h == nil {
			continue
		}
		bits := slices.Clone(h.dead)
		for _, p := range dead {
			if p.in == h {
				bits.set(p.id)
			}
		}
		m.segs = append(m.segs, manifestSegment{h.seg.name, h.seg.size, h.seg.sum, bits})
	}
	if fresh != nil {
		m.segs = append(m.segs, manifestSegment{fresh.seg.name, fresh.seg.size, fresh.seg.sum, fresh.dead})
	}
	last := ix.inForce
	ix.number++ // even if it fails, because numbers must not be reused
	ix.mu.Unlock()
	if _, _, err := ix.state.Create(ix.state.Own(numbered(manifestPrefix, m.number)), m.encode(), nil); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	ix.mu.Lock()
	ix.inForce = m.number
	ix.mu.Unlock()
	if last > 0 {
		if err := remove(ix.state, numbered(manifestPrefix, last)); err != nil {
			ix.log.Warn("index: can't remove the old manifest", "err", err)
		}
	}
	return nil
}

const (
	// A flush is due when this many files are dirty, or when nothing has changed for a
	// while. A flush syncs two files to disk, so it is cheaper to read a few dirty files
	// in each search.
	flushAt   = 256
	flushIdle = 3 * time.Second
)

// Maintain flushes and merges in the background until ctx ends.
func (ix *Index) Maintain(ctx context.Context) error {
	idle := time.NewTimer(flushIdle)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ix.wake:
			idle.Reset(flushIdle)
			if ix.Status().Dirty < flushAt {
				continue
			}
		case <-idle.C:
		}
		if ix.Status().Dirty == 0 {
			continue
		}
		if err := ix.Flush(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			ix.log.Warn("index: flush failed", "err", err)
			idle.Reset(flushIdle)
			continue
		}
		if err := ix.Merge(ctx); err != nil && ctx.Err() == nil {
			ix.log.Warn("index: merge failed", "err", err)
		}
	}
}
