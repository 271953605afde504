package backend

import (
	"context"
	"errors"
	"io"
	"time"

	"quarry/internal/owner"
	"quarry/internal/searcher"
	"quarry/search"
)

// Folder is the files of a folder.
type Folder struct {
	*searcher.Folder
	Changes
	member *owner.Member // nil without an index
}

// NewFolder puts a folder's backend together. What it is made of is closed with
// it.
func NewFolder(files *searcher.Folder, changes Changes, member *owner.Member) *Folder {
	return &Folder{files, changes, member}
}

// Close gives the index up and closes the journal and the folder. Calls under
// way end with an error.
func (f *Folder) Close() error {
	err := f.member.Close()
	if c, ok := f.Changes.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return errors.Join(err, f.Root.Close())
}

// Dir is the absolute path of the folder.
func (f *Folder) Dir() string { return f.Root.RealDir() }

// Inside is the path that an absolute one in the folder means.
func (f *Folder) Inside(path string) (string, bool) { return cut(f.Dir(), path) }

// Index is the index of the folder.
func (f *Folder) Index() Index { return (*folderIndex)(f) }

type folderIndex Folder

func (f *folderIndex) Status(ctx context.Context) (*search.IndexStatus, error) {
	return f.member.Status(ctx), nil
}

func (f *folderIndex) Wait(ctx context.Context) error { return f.member.Wait(ctx) }

func (f *folderIndex) Follow(ctx context.Context, report func(search.Progress)) error {
	return f.member.Follow(ctx, report)
}

func (f *folderIndex) Idle() time.Duration { return f.member.Idle() }

// Verify compares the index with the files: every file is read again and must
// have in the index all that a search would look for, the list of paths must be
// a walk's, and searches for words of the files must find what a scan finds.
func (f *folderIndex) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	if err := f.member.Follow(ctx, func(search.Progress) {}); err != nil {
		return nil, err
	}
	out := &search.Verification{Remote: !f.member.Owns()}
	tell := func(path, what string) {
		out.Faults++
		fault(path, what)
	}
	if !out.Remote {
		res, err := f.member.Verify(ctx, tell, progress)
		if err != nil {
			return nil, err
		}
		out.Files, out.Bytes, out.Changed = res.Files, res.Bytes, res.Changed
	}
	var err error
	if out.Listed, out.Searches, err = f.CompareAnswers(ctx, tell); err != nil {
		return nil, err
	}
	return out, nil
}
