package quarry

import (
	"context"
	"time"

	"quarry/change"
)

// Apply makes a set of operations on any number of files: all of them or none,
// also across a crash. It is one entry of the journal and is undone as one. All
// texts and line numbers are those of the files as they are before it.
func (w *Workspace) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return w.b.Apply(ctx, set)
}

// Plan works out what Apply would do and changes nothing. The plan is kept: a
// Set with nothing but the Digest of its answer applies exactly that, or is
// refused.
func (w *Workspace) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return w.b.Plan(ctx, set)
}

// one makes a change of one operation.
func (w *Workspace) one(ctx context.Context, op change.Op, name string, opts *change.Options) (*change.Change, error) {
	var o change.Options
	if opts != nil {
		o = *opts
	}
	do := w.Apply
	if o.DryRun {
		do = w.Plan
	}
	c, err := do(ctx, o.Set(name, op))
	if c != nil {
		c.Files, c.Digest = nil, "" // one file has told everything
	}
	return c, err
}

// Edit changes parts of a text file. All edits are found in the file as it is
// and made at once; if one can't be, none is. Every byte outside the spans they
// name stays, and so do encoding, mode, owner and extended attributes. New text
// takes the file's encoding and line ending.
func (w *Workspace) Edit(ctx context.Context, path string, edits []change.Edit, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.EditFile, Path: path, Edits: edits}, "edit", opts)
}

// Write gives a file new content, which is written byte for byte as it is
// given; what encoding or line ending the file had before plays no part. A file
// that exists keeps its mode, owner and extended attributes, and is refused if
// it is not the expected version; one that doesn't is made, with the folders on
// the way.
func (w *Workspace) Write(ctx context.Context, path string, content []byte, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.WriteFile, Path: path, Content: content}, "write", opts)
}

// Mkdir makes a folder and those above it that are missing. One that exists is
// no change.
func (w *Workspace) Mkdir(ctx context.Context, path string, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.MakeFolder, Path: path}, "mkdir", opts)
}

// Delete deletes a file, a symlink, or a folder with everything in it: into the
// trash, unless the options, the workspace's or the vault's settings say
// otherwise.
func (w *Workspace) Delete(ctx context.Context, path string, opts *change.DeleteOptions) (*change.Change, error) {
	if opts == nil {
		opts = &change.DeleteOptions{}
	}
	return w.one(ctx, change.Op{Verb: change.DeletePath, Path: path, Trash: opts.Trash}, "delete", &opts.Options)
}

// Move moves or renames a file, a symlink, or a folder with everything in it.
// It never overwrites, makes the folders that are missing, and may change no
// more than the case of a name. In a vault, links that would point elsewhere
// are rewritten in the same change, or counted.
func (w *Workspace) Move(ctx context.Context, from, to string, opts *change.MoveOptions) (*change.Change, error) {
	if opts == nil {
		opts = &change.MoveOptions{}
	}
	return w.one(ctx, change.Op{Verb: change.MovePath, Path: from, To: to, Links: opts.Links}, "move", &opts.Options)
}

// Undo undoes the change called id, all of it, or the last one that was not
// undone yet when id is "". It refuses when any file is not what the change
// left, and then changes nothing. An undo is a change itself: Undo with its id
// makes the first change again.
func (w *Workspace) Undo(ctx context.Context, id string, opts *change.Options) (*change.Change, error) {
	if opts == nil {
		opts = &change.Options{}
	}
	return w.b.Undo(ctx, id, *opts)
}

// Diff shows a change as a unified diff; "" is the last one. It works from what
// the journal kept, so it doesn't matter what became of the files.
func (w *Workspace) Diff(ctx context.Context, id string) (*change.Change, error) {
	return w.b.Diff(id)
}

// Changes lists the newest changes, newest first; a limit of 0 is all.
func (w *Workspace) Changes(ctx context.Context, limit int) (*change.Log, error) {
	return w.b.Log(limit)
}

// Clean looks through the whole workspace for temporary files that dead
// processes left and settles their changes. Open does as much for the folders
// that the journal names; this finds the rest.
func (w *Workspace) Clean(ctx context.Context) (*change.Cleaned, error) {
	return w.b.Clean(ctx)
}

// Trashed lists what was deleted from this workspace and is in a trash, newest
// first in each. Problems are trashes and records that can't be read.
func (w *Workspace) Trashed(context.Context) (items []change.Trashed, problems []string, err error) {
	return w.b.Trashed()
}

// RestoreTrashed moves something from a trash to where it was, or to another
// path. what is an item's id, or the path it had: then the one deleted last.
func (w *Workspace) RestoreTrashed(ctx context.Context, what, to string, opts *change.Options) (*change.Change, error) {
	if opts == nil {
		opts = &change.Options{}
	}
	return w.b.Restore(ctx, what, to, *opts)
}

// EmptyTrash deletes for good what was deleted from this workspace before a
// moment, or all of it if that is zero. Those deletions can't be undone any
// more.
func (w *Workspace) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	return w.b.EmptyTrash(ctx, before)
}
