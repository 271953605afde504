package changer

import (
	"context"
	"errors"
	"sync"

	"quarry/internal/githead"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// outside is the log of changes by other programs. It is opened on first use, if it
// exists.
type outside struct {
	state *rootfs.Root
	files *rootfs.Root // of the workspace

	mu      sync.Mutex
	journal *journal.Journal
	folder  *rootfs.Root
	blobs   *githead.Blobs
	top     *rootfs.Root
}

// log returns the open log, or nil if nothing was recorded.
func (o *outside) log() *journal.Journal {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.journal != nil && o.folder.InPlace() != nil { // purged
		_ = o.shut()
	}
	if o.journal == nil {
		var err error
		if o.journal, o.folder, err = journal.OpenOutside(o.state, false, &journal.Options{Blob: o.blob}); err != nil {
			return nil // the log of Quarry's changes must work without this one
		}
	}
	return o.journal
}

// blob returns the content of a git blob.
func (o *outside) blob(id string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.blobs == nil {
		if o.top = githead.Checkout(o.files.RealDir()); o.top == nil {
			return nil, errors.New("the folder is in no repository now")
		}
		var err error
		if o.blobs, err = githead.OpenBlobs(context.Background(), o.top); err != nil {
			return nil, errors.Join(err, o.top.Close())
		}
	}
	return o.blobs.Blob(context.Background(), id)
}

func (o *outside) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.shut()
}

// shut is close with the lock held.
func (o *outside) shut() (err error) {
	if o.journal != nil {
		err = errors.Join(o.journal.Close(), o.folder.Close())
	}
	if o.blobs != nil {
		o.blobs.Close()
		err = errors.Join(err, o.top.Close())
	}
	o.journal, o.folder, o.blobs, o.top = nil, nil, nil, nil
	return err
}
