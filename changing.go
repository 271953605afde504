package quarry

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/replacer"
	"quarry/search"
)

// Apply applies operations on any number of files: all of them or none, even if the program
// crashes. They form one entry of the undo log and are undone as one. All texts and line numbers
// refer to the files before the change.
func (w *Workspace) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return changing(ctx, w, func(ctx context.Context) (*change.Change, error) { return w.b.Apply(ctx, set) })
}

// Plan computes the effect of Apply and changes nothing. It stores the plan: to apply exactly that
// plan, call Apply with a Set that has only the Digest of the returned change. Apply refuses if its
// result would differ from the plan.
func (w *Workspace) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return answer(ctx, w, func(ctx context.Context) (*change.Change, error) { return w.b.Plan(ctx, set) })
}

// one makes a change with a single operation. name is the name of the calling method.
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
		c.Files, c.Digest = nil, "" // only for sets; a single file has Paths and Diff
	}
	return c, err
}

// Edit changes parts of a text file. All edits refer to the file's current content, and either all
// are made or none. Everything outside the edited spans stays the same, as do the encoding, mode,
// owner and extended attributes. New text gets the file's encoding and line ending.
func (w *Workspace) Edit(ctx context.Context, path string, edits []change.Edit, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.EditFile, Path: path, Edits: edits}, "edit", opts)
}

// ReplaceOptions are the options of Replace; nil means the zero value.
type ReplaceOptions struct {
	change.Options
	// Literal makes Replace insert the text as it is. Otherwise $1, ${1} and ${name} in the text
	// refer to groups of the pattern, and $$ is a dollar sign.
	Literal bool
	// Expected is the required number of matches; if there are more or fewer, nothing is replaced.
	// 0 accepts any number.
	Expected int
}

// Replace replaces all matches of a query by a text, in all files of its scope, as one
// change. For Query.Structure the text is code with the same holes. The detail, order and
// limits of the query are ignored. A pattern that ends with \n matches up to the end of its
// line and takes the line's ending.
//
// If a file can't be read, or the search ends early, Replace fails and changes nothing,
// because some matches would stay. Binary files and files that the policy closes are skipped
// as by Search, whose Summary counts them. Naming only binary files in Query.Paths fails
// with fault.NotText, naming a closed one with fault.ProtectedPath. If nothing matches,
// Replace fails with fault.NotFound.
//
// With DryRun the change is only planned: Change.Diff shows it, and Apply with its Digest
// makes it. Unless Options.Summary is set, Change.Summary has the number of matches and files.
// To replace only a known number of matches, pass Summary.Matches of a Search with
// Query.CountMatches as ReplaceOptions.Expected. Change.Warnings name matches of a structure
// that can't be replaced safely.
func (w *Workspace) Replace(ctx context.Context, q search.Query, text string, opts *ReplaceOptions) (*change.Change, error) {
	opts = cmp.Or(opts, &ReplaceOptions{})
	found, err := replacer.Find(ctx, w, replacer.Query{Query: q, Replacement: text, Literal: opts.Literal, Expected: opts.Expected})
	if err != nil {
		return nil, err
	}
	set := opts.Set("replace", change.Op{})
	set.Ops = found.Ops
	set.Summary = cmp.Or(set.Summary, fmt.Sprintf("replaced %s in %s", fault.Count(found.Matches, "match", "matches"), fault.Count(len(found.Ops), "file")))
	do := w.Apply
	if opts.DryRun {
		do = w.Plan
	}
	c, err := do(ctx, set)
	if left := replacer.RefusedText(found.Refused, found.Places); c != nil && left != "" {
		c.Warnings = append(c.Warnings, left)
	}
	return c, err
}

// Write replaces the content of a file. Unless Options.Text is set it writes the bytes as given,
// whatever encoding or line ending the file had. An existing file keeps its mode, owner and
// extended attributes. If the file's version differs from the expected version, Write refuses. A
// missing file and its missing parent folders are created.
func (w *Workspace) Write(ctx context.Context, path string, content []byte, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.WriteFile, Path: path, Content: content}, "write", opts)
}

// Mkdir makes a folder and its missing parents. If the folder exists, nothing changes.
func (w *Workspace) Mkdir(ctx context.Context, path string, opts *change.Options) (*change.Change, error) {
	return w.one(ctx, change.Op{Verb: change.MakeFolder, Path: path}, "mkdir", opts)
}

// Delete deletes a file, a symlink, or a folder with its contents. It moves them to the trash,
// unless opts or the settings of the workspace or the vault say otherwise.
func (w *Workspace) Delete(ctx context.Context, path string, opts *change.DeleteOptions) (*change.Change, error) {
	opts = cmp.Or(opts, &change.DeleteOptions{})
	return w.one(ctx, change.Op{Verb: change.DeletePath, Path: path, Trash: opts.Trash}, "delete", &opts.Options)
}

// Move moves or renames a file, a symlink, or a folder with everything in it. It never
// overwrites a file, and it makes missing folders. The new name may differ from the old one
// only in case. In a vault, links that would break are rewritten in the same change, or
// counted, as its settings or MoveOptions.Links say. In another folder change.LinksUpdate
// and change.LinksKeepTexts rewrite them, and otherwise they are neither rewritten nor
// counted. Outside any vault, Markdown links and images are paths from the file's folder, or
// with a leading "/" from the workspace's top, as for GitHub; wikilinks name files anywhere.
func (w *Workspace) Move(ctx context.Context, from, to string, opts *change.MoveOptions) (*change.Change, error) {
	opts = cmp.Or(opts, &change.MoveOptions{})
	return w.one(ctx, change.Op{Verb: change.MovePath, Path: from, To: to, Links: opts.Links}, "move", &opts.Options)
}

// Undo undoes the change called id, or only the parts of it that opts names. If id is "", it undoes
// the last change that is not undone yet. Later edits elsewhere in the files are kept. If the same
// or an adjacent place was edited later, Undo changes nothing and returns a change.UndoError that
// shows both edits. An undo is itself a change; undoing it restores the original change.
func (w *Workspace) Undo(ctx context.Context, id string, opts *change.Options) (*change.Change, error) {
	opts = cmp.Or(opts, &change.Options{})
	return changing(ctx, w, func(ctx context.Context) (*change.Change, error) { return w.b.Undo(ctx, id, *opts) })
}

// Diff returns a change with its unified diff; if id is "", the last change. The diff is made from
// the contents in the undo log, so later changes of the files do not matter. It has at most 2,000
// lines per file, or with the option AllLines all lines, up to 64 MB in total. It reports how many
// lines it omits.
func (w *Workspace) Diff(ctx context.Context, id string, o *change.Options) (*change.Change, error) {
	return answer(ctx, w, func(context.Context) (*change.Change, error) { return w.b.Diff(id, o) })
}

// DiffAll returns several changes with one combined diff. The diff compares each file's state
// before the first of the changes with its state after the last.
func (w *Workspace) DiffAll(ctx context.Context, ids []string) (*change.Change, error) {
	return answer(ctx, w, func(context.Context) (*change.Change, error) { return w.b.DiffAll(ids) })
}

// Authors reports which change in the undo log last modified each line of a text file.
func (w *Workspace) Authors(ctx context.Context, path string) (*change.Authors, error) {
	return answer(ctx, w, func(ctx context.Context) (*change.Authors, error) { return w.b.Authors(ctx, path) })
}

// Changes returns the latest changes, newest first; a limit of 0 means all.
func (w *Workspace) Changes(ctx context.Context, limit int) (*change.Log, error) {
	return answer(ctx, w, func(context.Context) (*change.Log, error) { return w.b.Log(limit) })
}

// PurgeRecord deletes the records of other programs' changes to a file or folder, or all such
// records if path is "". The undo log of the workspace's own changes is kept.
func (w *Workspace) PurgeRecord(ctx context.Context, path string) error {
	_, err := answer(ctx, w, func(ctx context.Context) (bool, error) { return true, w.b.Purge(ctx, path) })
	return err
}

// Point gives the present state a name, which Options.To of an undo can refer to.
func (w *Workspace) Point(ctx context.Context, name string) error {
	_, err := answer(ctx, w, func(context.Context) (bool, error) { return true, w.b.Point(name) })
	return err
}

// Clean removes temporary files of ended processes from the whole workspace, and completes or rolls
// back the changes these belong to. Open does the same only for folders named in the undo log.
func (w *Workspace) Clean(ctx context.Context) (*change.Cleaned, error) {
	return changing(ctx, w, func(ctx context.Context) (*change.Cleaned, error) { return w.b.Clean(ctx) })
}

// Trashed lists the files of this workspace that are in a trash, newest first within each trash.
// problems lists the trashes and records that can't be read.
func (w *Workspace) Trashed(ctx context.Context) (items []change.Trashed, problems []string, err error) {
	items, err = answer(ctx, w, func(context.Context) (list []change.Trashed, err error) {
		list, problems, err = w.b.Trashed()
		return list, err
	})
	return items, problems, err
}

// RestoreTrashed moves an item from a trash to its original path or, unless to is "", to another
// path. what is the item's id or its original path. If several items have that path, the one
// deleted last is restored.
func (w *Workspace) RestoreTrashed(ctx context.Context, what, to string, opts *change.Options) (*change.Change, error) {
	opts = cmp.Or(opts, &change.Options{})
	return changing(ctx, w, func(ctx context.Context) (*change.Change, error) { return w.b.Restore(ctx, what, to, *opts) })
}

// EmptyTrash permanently deletes files of this workspace from the trash: those deleted before the
// given time, or all if the time is zero. Their deletion can then no longer be undone.
func (w *Workspace) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	return changing(ctx, w, func(ctx context.Context) (int, error) { return w.b.EmptyTrash(ctx, before) })
}
