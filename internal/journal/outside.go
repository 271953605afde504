package journal

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// A log of outside changes has the same form as our own log and is beside it. It has its own
// limits, so changes of other programs never displace the data that undoes our own changes.
// Its entries were made before they are recorded: intent and end are one write, and recovery
// ignores them. Undoing one is a change in our own log.

// beside returns the log of outside changes, if it exists.
func (j *Journal) beside() *Journal {
	if j.opts.Beside == nil {
		return nil
	}
	return j.opts.Beside()
}

// of returns the log of an entry.
func (j *Journal) of(e Entry) *Journal {
	if e.ID.Outside() && !j.opts.Outside {
		if b := j.beside(); b != nil {
			return b
		}
	}
	return j
}

// newestOutside returns the last id of the outside log, plus a margin: it leaves an id between that and our next
// change for an outside change that is discovered later but happened earlier.
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

// Newest returns the last id of this log, "" if it is empty.
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

// Record adds a change made by another program. Its operations include their contents: OldData
// of a Replace and of the one file of a Remove, NewData, or Blobs. The entry gets a place before
// our own change called before, if its id allows, else after the one called after. If a content
// is too large to keep, the entry can't be undone. The caller holds no lock of a journal.
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

// recorded checks an operation that was already made and completes it.
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

// recorded ends what Record began: the entry is in the log with its end.
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

// madeAt returns git's location of the content after the operation.
func (op *Op) madeAt() ref {
	if op.Kind == Create && len(op.Nodes) == 1 {
		return op.Nodes[0].at
	}
	return op.made
}

// Later returns the entries after own in this log and after outside in the log beside it,
// oldest first.
func (j *Journal) Later(own, outside ID) (list []Entry, err error) {
	err = j.each(func(e Entry) bool {
		if e.ID.Outside() && e.ID > outside || !e.ID.Outside() && e.ID > own {
			list = append(list, e)
		}
		return e.ID > min(own, outside)
	})
	slices.Reverse(list)
	return list, err
}

// OpenOutside opens the log of outside changes in the folder of our own log; nil if it does not
// exist and make is not set.
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

// OutsideDir is the folder of the log of outside changes in the state folder.
const OutsideDir = "outside"

// Size returns the log's space on disk.
func (j *Journal) Size() (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	u, err := j.measure()
	return u.total, err
}
