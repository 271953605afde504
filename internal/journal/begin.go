package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Tx is a change in progress.
type Tx struct {
	j     *Journal
	entry *Entry
	plan  *Plan // set if the change is an undo
	over  bool
}

func (tx *Tx) ID() ID { return tx.entry.ID }

func (tx *Tx) Entry() Entry { return *tx.entry }

var (
	errNoOps    = errors.New("a change needs at least one operation")
	errNoPath   = errors.New("an operation needs a path")
	errNoOld    = errors.New("a replacement needs the old version")
	errNoNodes  = errors.New("a creation needs the new version or nodes")
	errBadNodes = errors.New("nodes must be ordered, the top first")
	errOver     = errors.New("the change is over")
)

// Begin records a change before it is made. It reads from ws the old content that c does
// not contain, and returns when everything needed to undo the change is durable. If a
// file no longer has the Old version, the error is a fault.Conflict. The caller then
// carries out the operations in order and calls Commit or Abort.
func (j *Journal) Begin(ctx context.Context, ws *rootfs.Root, c Change) (*Tx, error) {
	tx, err := j.begin(ctx, ws, c)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return tx, nil
}

func (j *Journal) begin(ctx context.Context, ws *rootfs.Root, c Change) (*Tx, error) {
	if len(c.Ops) == 0 {
		return nil, errNoOps
	}
	k := &keeper{j: j, ws: ws, en: &Entry{Change: c}, inline: map[rootfs.Version][]byte{}}
	k.en.Ops = append([]Op(nil), c.Ops...)
	if err := k.survey(ctx); err != nil {
		return nil, err
	}
	var err error
	if k.owner, err = j.beOwner(); err != nil {
		return nil, err
	}
	if err := k.collect(ctx); err != nil {
		k.discard()
		return nil, err
	}
	tx, seg, holds, err := k.write()
	if err != nil {
		k.discard()
		return nil, err
	}
	err = j.sync(seg, holds.end)
	j.mu.Lock()
	defer j.mu.Unlock()
	seg.syncing--
	if err != nil {
		// The record may have reached the disk; it must not look like a change.
		delete(j.running, k.en.ID)
		return nil, errors.Join(err, j.abandon(k.en.ID))
	}
	j.claimDurable(seg, holds)
	return tx, nil
}

// check refuses an operation that could not be undone.
func (op *Op) check() error {
	switch {
	case op.Kind < Create || op.Kind > Chmod:
		return fmt.Errorf("unknown kind of operation %d", op.Kind)
	case op.Path.IsRoot(), op.Kind == Rename && op.To.IsRoot():
		return errNoPath
	case op.Kind == Replace && op.Old.IsZero() && op.OldData == nil:
		return errNoOld
	case op.Kind == Create && len(op.Nodes) == 0 && op.New.IsZero() && op.NewData == nil:
		return errNoNodes
	}
	for i, n := range op.Nodes {
		if (n.Rel == "") != (i == 0) || strings.HasPrefix(n.Rel, "/") {
			return errBadNodes
		}
	}
	return nil
}

// beOwner makes and locks a file that shows other processes that this one is running. It
// returns the file's name.
func (j *Journal) beOwner() (token string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ownerF == nil {
		err = j.locked(true, j.newOwner)
	}
	return j.owner, err
}

// newOwner is beOwner with the lock held.
func (j *Journal) newOwner() error {
	if j.ownerF == nil {
		for _, dir := range [...]string{"owners", "packs"} {
			if err := j.root.MkdirPrivate(j.root.Own(dir)); err != nil && !errors.Is(err, fault.AlreadyExists) {
				return err
			}
		}
		if err := j.tidy(); err != nil {
			return err
		}
		if err := j.alone(); err != nil {
			return err
		}
		if err := j.markBoot(); err != nil {
			return err
		}
		token := ownerPrefix + randomToken()
		f, err := j.root.Hold("owners/"+token, true)
		if err != nil {
			return err
		}
		j.owner, j.ownerF = token, f
	}
	return nil
}

// ownerPrefix begins the tokens of all processes that write this format.
var ownerPrefix = fmt.Sprintf("v%dx", format)

// alone returns an error if a process that writes another format may have begun changes.
// It is called after tidy, so all remaining owner files belong to running processes.
func (j *Journal) alone() error {
	return j.eachIn("owners", func(name string, _ rootfs.Info) error {
		if !strings.HasPrefix(name, ownerPrefix) {
			return ErrShared
		}
		return nil
	})
}

// write appends the entry to the log. It returns the transaction, the segment, marked as
// syncing, and the claim for the segment's contents. The segment must be synced up to the
// end of that claim.
func (k *keeper) write() (tx *Tx, seg *segment, holds claim, err error) {
	j := k.j
	last, err := j.newestOutside()
	if err != nil {
		return nil, nil, claim{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.locked(true, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		if err := j.appendLate(); err != nil {
			return err
		}
		if k.en.Undoes != "" {
			if err := j.notUndone(k.en.Undoes); err != nil {
				return err
			}
		}
		if err := j.rotate(); err != nil {
			return err
		}
		if err := j.newOwner(); err != nil { // our token may have been retired since the call of beOwner
			return err
		}
		seg = j.tail
		if err := k.namePack(seg.num); err != nil {
			return err
		}
		_, claimed, err := j.newestClaimed()
		if err != nil {
			return err
		}
		now := j.opts.Now()
		last = max(last, claimed, j.gone, seg.last, k.en.Undoes, k.en.PartOf)
		k.en.ID, k.en.Time, k.en.owner, k.en.seg = nextID(now, last, j.opts.Outside), now, j.owner, seg.num
		if k.outside != nil {
			k.outside(seg.last)
		}
		before := seg.end
		if err := seg.appendAll(j.root, func(at int64) []byte { return k.records(seg, at) }); err != nil {
			return err
		}
		if n := len(seg.entries); n == 0 || seg.entries[n-1].ID != k.en.ID {
			return fmt.Errorf("%w: it can't be read back", ErrDamaged)
		}
		k.en.Status = Pending
		holds = seg.holds()
		if j.total >= 0 {
			j.total += seg.end - before + k.packed
		}
		return nil
	})
	if err != nil {
		return nil, nil, claim{}, err
	}
	seg.syncing++
	tx = &Tx{j: j, entry: k.en}
	j.running[k.en.ID] = tx
	return tx, seg, holds, nil
}

// records encodes the blobs, diffs and the intent of the entry.
func (k *keeper) records(seg *segment, at int64) []byte {
	var b []byte
	put := func(t recType, body []byte) int64 {
		start := at + int64(len(b))
		b = appendRecord(b, seg.m, at+int64(len(b)), t, body)
		return start
	}
	place := func(r *ref, v rootfs.Version) {
		if r.place != inSegment {
			return
		}
		have, ok := seg.blobs[v]
		if !ok {
			if have, ok = k.placed[v]; !ok {
				body, head, c := encodeBlob(v, k.inline[v])
				start := put(recBlob, body)
				have = ref{inSegment, c, start + headLen + int64(head), int64(len(body) - head), int64(len(k.inline[v])), "", nil}
				k.placed[v] = have
			}
		}
		*r = have
	}
	k.placed = map[rootfs.Version]ref{}
	for i := range k.en.Ops {
		op := &k.en.Ops[i]
		place(&op.old, op.Old)
		if op.old.place == asEdits {
			body := encodeBack(op.Shown, k.backs[i])
			op.old.off, op.old.stored = put(recBack, body), int64(len(body))
		}
		for n := range op.Nodes {
			place(&op.Nodes[n].at, op.Nodes[n].Version)
		}
		if edits := k.diffs[i]; edits != nil {
			if body := encodeDiff(k.en.ID, i, edits); body != nil {
				put(recDiff, body)
				op.hasDiff = true
			}
		}
	}
	put(recIntent, encodeIntent(k.en))
	if k.outside != nil { // the change was already made
		put(recCommit, commit{id: k.en.ID, done: len(k.en.Ops)}.encode())
	}
	return b
}

// sync makes the segment durable up to the offset end. One sync serves several callers: a
// caller that waited for another sync usually finds its own data durable.
func (j *Journal) sync(seg *segment, end int64) error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	if j.synced[seg] >= end {
		return nil
	}
	upTo, err := seg.log.Size() // everything appended so far, by any caller
	if err != nil {
		return err
	}
	if err := seg.log.Sync(); err != nil {
		return err
	}
	j.synced[seg] = max(upTo, end)
	return nil
}

// Commit records that all operations were carried out. results has facts that were
// unknown to Begin.
func (tx *Tx) Commit(results ...Result) error { return tx.CommitPart(len(tx.entry.Ops), results...) }

// CommitPart is like Commit, but only the first done operations were carried out.
func (tx *Tx) CommitPart(done int, results ...Result) error {
	if done <= 0 {
		return tx.Abort()
	}
	return tx.end(func(j *Journal) error {
		return j.settle(commit{tx.entry.ID, min(done, len(tx.entry.Ops)), results})
	})
}

// Abort records that nothing was changed, or that the change was rolled back.
func (tx *Tx) Abort() error {
	return tx.end(func(j *Journal) error { return j.abandon(tx.entry.ID) })
}

// Leave ends a change that could neither be completed nor rolled back. It writes no end
// record, so every process, including this one, treats the change as interrupted:
// Unfinished returns it.
func (tx *Tx) Leave() error {
	return tx.end(func(j *Journal) error {
		j.retired = append(j.retired, retiredOwner{j.owner, j.ownerF})
		j.owner, j.ownerF = "", nil
		return j.release()
	})
}

// retiredOwner is a token of this process that new changes no longer use. Its file stays
// locked while older changes use it.
type retiredOwner struct {
	token string
	file  *rootfs.Log
}

// release removes the files of retired tokens that no running change needs.
func (j *Journal) release() error {
	var errs []error
	j.retired = slices.DeleteFunc(j.retired, func(o retiredOwner) bool {
		for _, tx := range j.running {
			if tx.entry.owner == o.token {
				return false
			}
		}
		// If the file can't be removed, tidy will do it, because the file isn't locked.
		_ = j.remove("owners/" + o.token)
		errs = append(errs, o.file.Close())
		return true
	})
	return errors.Join(errs...)
}

func (tx *Tx) end(f func(*Journal) error) error {
	j := tx.j
	j.mu.Lock()
	defer j.mu.Unlock()
	if tx.over {
		return errOver
	}
	tx.over = true
	delete(j.running, tx.entry.ID)
	if len(j.retired) > 0 {
		_ = j.release() // closing a file releases its lock even if it returns an error
	}
	if err := f(j); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// ending is a record that ends an entry.
type ending struct {
	typ  recType
	body []byte
}

// settle appends a commit record and applies the limits. It only syncs if there are
// results: the rest can be determined from the files.
func (j *Journal) settle(c commit) error {
	return j.finish(ending{recCommit, c.encode()}, func() error {
		if len(c.results) > 0 {
			if err := j.sync(j.tail, j.tail.end); err != nil {
				return err
			}
		}
		// The change is recorded and succeeds even if old changes could not be dropped.
		// Dropped reports that error.
		j.capErr = j.enforce()
		return nil
	})
}

func (j *Journal) abandon(id ID) error {
	var e encoder
	e.str(string(id))
	return j.finish(ending{recAbort, e.b}, func() error { return nil })
}

// finish appends the end record of an entry. If that fails, the record is appended later.
// Without it, a change that was rolled back and repeated would appear twice as complete.
func (j *Journal) finish(end ending, then func() error) error {
	j.late = append(j.late, end)
	return j.locked(true, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		if err := j.appendLate(); err != nil {
			return err
		}
		return then()
	})
}

// appendLate appends end records that are not in the log yet. The caller holds the lock
// and has updated the tail.
func (j *Journal) appendLate() error {
	_ = j.noteLoss() // if the head can't be written, a loss may go unnoticed, but the change is fine
	for len(j.late) > 0 {
		if j.tail == nil {
			return ErrNotFound
		}
		if err := j.tail.append(j.root, j.late[0].typ, j.late[0].body); err != nil {
			return err
		}
		j.late = j.late[1:]
	}
	return nil
}
