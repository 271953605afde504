package journal

import (
	"context"
	"errors"
	"path/filepath"
	"sort"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// The log of outside changes has the same format as Quarry's own log and is next to it.
// It has its own limits, so changes of other programs never displace undo data of
// Quarry's changes. Its entries are recorded after the change, with intent and commit in
// one write, so recovery ignores them. Undoing an outside change is an entry in Quarry's
// own log.

// beside returns the log of outside changes, if it exists.
func (j *Journal) beside() *Journal {
	if j.opts.Beside == nil {
		return nil
	}
	return j.opts.Beside()
}

// of returns the log that contains e.
func (j *Journal) of(e Entry) *Journal {
	if e.ID.Outside() && !j.opts.Outside {
		if b := j.beside(); b != nil {
			return b
		}
	}
	return j
}

// newestOutside returns the last id of the outside log plus 2. This leaves an id for an
// outside change that happens before our next change but is discovered after it.
func (j *Journal) newestOutside() (ID, error) {
	b := j.beside()
	if b == nil {
		return "", nil
	}
	id, err := b.Newest()
	if n, ok := id.number(); ok {
		id = idOf(n + 2)
	}
	return id, err
}

// Newest returns the last id of this log, or "" if it is empty.
func (j *Journal) Newest() (id ID, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.locked(false, func() error {
		err := j.catchUp()
		if err == nil && j.tail != nil {
			id = j.tail.last
		}
		return err
	})
	return id, err
}

// Record adds a change made by another program. Its operations include the contents:
// OldData for a Replace and for a Remove of one file, NewData, or Blobs. before and after
// are ids of our own changes: the entry gets the id just below before if that is free,
// and otherwise one greater than after. If a content is too large to be stored, the entry
// can't be undone. The caller must not hold a journal's lock.
func (j *Journal) Record(ctx context.Context, c Change, before, after ID) (Entry, error) {
	k := &keeper{j: j, en: &Entry{Change: c}, inline: map[rootfs.Version][]byte{}}
	k.en.Ops = append([]Op(nil), c.Ops...)
	for i := range k.en.Ops {
		op := &k.en.Ops[i]
		if err := op.recorded(); err != nil {
			return Entry{}, err
		}
		k.size += int64(len(op.OldData))
	}
	if limit := j.opts.MaxBytes / 2; k.size > limit {
		k.size = 0
		for i := range k.en.Ops {
			if op := &k.en.Ops[i]; op.OldData != nil {
				op.Lost, op.OldData, op.NewData = (&TooLargeError{int64(len(op.OldData)), limit}).Error(), nil, nil
			}
		}
	}
	k.large = k.size > maxInline
	k.outside = func(last ID) {
		if n, ok := before.number(); ok && n > 0 && idOf(n-1) > last {
			k.en.ID = idOf(n - 1)
		} else if k.en.ID < after {
			k.en.ID = nextID(k.en.Time, after, true)
		}
		if !c.At.IsZero() {
			k.en.Time = c.At
		}
	}
	var err error
	if k.owner, err = j.beOwner(); err != nil {
		return Entry{}, err
	}
	if err = k.collect(ctx); err == nil {
		var seg *segment
		var holds claim
		if _, seg, holds, err = k.write(); err == nil {
			return *k.en, j.recorded(k.en.ID, seg, holds)
		}
	}
	k.discard()
	return Entry{}, err
}

// recorded checks and completes an operation that was already carried out.
func (op *Op) recorded() error {
	if op.Kind < Create || op.Kind > Chmod || op.Kind == Rename || op.Path.IsRoot() {
		return errNoPath
	}
	if op.Kind == Remove && len(op.Nodes) != 1 || op.Kind == Create && len(op.Nodes) != 1 {
		return errBadNodes
	}
	if op.Kind == Create {
		op.New = op.Nodes[0].Version
		op.Nodes = append([]Node(nil), op.Nodes...)
		op.Nodes[0].at = op.Blobs[1].ref()
	}
	if op.Kind == Remove {
		op.Old = op.Nodes[0].Version
		op.Nodes = append([]Node(nil), op.Nodes...)
	}
	if op.Kind == Replace && op.Blobs[0].ID == "" && op.OldData != nil && version.Of(op.OldData) != op.Old {
		return conflict(op.Path)
	}
	return nil
}

// recorded completes Record after the entry was written.
func (j *Journal) recorded(id ID, seg *segment, holds claim) error {
	err := j.sync(seg, holds.end)
	j.mu.Lock()
	defer j.mu.Unlock()
	seg.syncing--
	delete(j.running, id)
	if err != nil {
		return err
	}
	j.claimDurable(seg, holds)
	j.capErr = j.locked(true, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		return j.enforce()
	})
	return nil
}

// madeAt returns the location in git of the content after the operation.
func (op *Op) madeAt() ref {
	if op.Kind == Create && len(op.Nodes) == 1 {
		return op.Nodes[0].at
	}
	return op.made
}

// Later returns the entries newer than own in this log and newer than outside in the
// outside log, oldest first. Of each log it reads only these entries.
func (j *Journal) Later(own, outside ID) (list []Entry, err error) {
	read := func(j *Journal, after ID) error {
		if newest, err := j.Newest(); err != nil || newest <= after {
			return err
		}
		return j.eachSegment(j.entries(undoings{map[ID]ID{}, map[ID][]ID{}}, func(e Entry) bool {
			if e.ID > after {
				list = append(list, e)
			}
			return e.ID > after
		}))
	}
	if err = read(j, own); err == nil && j.beside() != nil {
		err = read(j.beside(), outside)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list, err
}

// OpenOutside opens the log of outside changes in dir, the state folder. It returns nil
// if the log does not exist and make is not set.
func OpenOutside(dir *rootfs.Root, make bool, opts *Options) (*Journal, *rootfs.Root, error) {
	return openOutside(dir, OutsideDir, make, opts)
}

func openOutside(dir *rootfs.Root, name string, make bool, opts *Options) (*Journal, *rootfs.Root, error) {
	p := dir.Own(name)
	if make {
		if err := dir.MkdirPrivate(p); err != nil && !errors.Is(err, fault.AlreadyExists) {
			return nil, nil, err
		}
	}
	in, err := rootfs.Open(filepath.Join(dir.RealDir(), name), &rootfs.Options{Trusted: true, AllowAny: true, Private: dir.Layer() == nil, Layer: dir.Layer()})
	if err != nil {
		if errors.Is(err, fault.NotFound) && !make {
			err = nil
		}
		return nil, nil, err
	}
	o := *opts
	o.Outside, o.Beside = true, nil
	j, err := Open(in, &o)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return j, in, nil
}

// OutsideDir is the subfolder of the state folder with the log of outside changes.
const OutsideDir = "outside"

// Size returns the disk space that the log uses.
func (j *Journal) Size() (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	u, err := j.measure()
	return u.total, err
}
