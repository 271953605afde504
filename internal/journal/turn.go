package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Changes of all processes take turns. A change of several files is made alone. Changes
// of one file may run concurrently, because a conflict can't stop them half-way. Every
// change passes the gate first. A change that waits to be alone holds the gate, so that
// later ones can't delay it forever.
type turn struct{ gate, place *rootfs.Log }

// Turn waits until the caller may change the folder: alone, or concurrently with other
// changes that need not be alone. It waits at most for Options.TurnWait. The caller ends
// its turn by calling done.
func (j *Journal) Turn(ctx context.Context, alone bool) (done func(), err error) {
	t, err := j.freeTurn()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(j.opts.TurnWait)
	if err = j.wait(ctx, end, t.gate, true); err == nil {
		err = j.wait(ctx, end, t.place, alone)
		err = errors.Join(err, t.gate.Unlock())
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return func() {
		if t.place.Unlock() != nil {
			t.close()
			return
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.closed {
			t.close()
			return
		}
		j.turns = append(j.turns, t)
	}, nil
}

// freeTurn opens the files of a turn, or reuses those of a finished one.
func (j *Journal) freeTurn() (t turn, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return t, rootfs.ErrClosed
	}
	if n := len(j.turns); n > 0 {
		t, j.turns = j.turns[n-1], j.turns[:n-1]
		return t, nil
	}
	if t.gate, err = j.root.OpenLog(j.root.Own("gate"), true); err != nil {
		return t, err
	}
	if t.place, err = j.root.OpenLog(j.root.Own("turn"), true); err != nil {
		return t, errors.Join(err, t.gate.Close())
	}
	return t, nil
}

func (t turn) close() error { return errors.Join(t.gate.Close(), t.place.Close()) }

func (j *Journal) wait(ctx context.Context, end time.Time, l *rootfs.Log, alone bool) error {
	err := poll(ctx, end, func() (bool, error) { return l.TryLock(alone) })
	if errors.Is(err, errHeld) {
		return j.whoseTurn()
	}
	return err
}

// whoseTurn returns an error that names the change in progress.
func (j *Journal) whoseTurn() error {
	what := "another change"
	_ = j.each(func(e Entry) bool {
		if e.Status == Pending {
			what = fmt.Sprintf("change %s (%s)", e.ID, e.Tool)
		}
		return e.Status == Pending
	})
	return fault.New(fault.Timeout, fmt.Sprintf("%s of this folder has not ended for %v, and changes of several files are made one after the other; nothing was changed", what, j.opts.TurnWait),
		"repeat this change later; if a quarry process was stopped, as by Ctrl-Z or a debugger, let it continue or end it")
}

// poll calls try until it succeeds. It polls because a thread that blocks in the system
// waiting for a lock can't be interrupted.
func poll(ctx context.Context, end time.Time, try func() (bool, error)) error {
	for wait := 20 * time.Microsecond; ; wait = min(2*wait, 2*time.Millisecond) {
		ok, err := try()
		switch {
		case ok || err != nil:
			return err
		case time.Now().After(end):
			return errHeld
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
