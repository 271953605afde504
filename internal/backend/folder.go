package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/changer"
	"quarry/internal/ignore"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/internal/searcher"
	"quarry/search"
)

// Folder accesses the files of a folder.
type Folder struct {
	*searcher.Folder
	Changes
	journal *changer.Changer
	member  *owner.Member // nil without an index
	asked   asked
}

// FolderOptions are the options of OpenFolder.
type FolderOptions struct {
	Root  rootfs.Options
	Rules []ignore.File // ignore rules from outside the folder
	// Outside, if set, is called before each answer. If the rules have changed, it
	// returns new ones.
	Outside func() (rules []ignore.File, changed bool)
	Index   *owner.Options  // location and ownership; nil means always scan
	Changes changer.Options // including where changes are kept
	// Extend, if set, makes the extension of the changer.
	Extend  func(root *rootfs.Root) changer.Extension
	Reviews string // the folder of proposals; "" if there is none
	Workers int
	Logger  *slog.Logger
}

// OpenFolder opens a folder: its files, its index and its journal.
func OpenFolder(dir string, opts *FolderOptions) (*Folder, error) {
	root, err := rootfs.Open(dir, &opts.Root)
	if err != nil {
		return nil, err
	}
	if err := opts.outside(root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &Folder{Folder: &searcher.Folder{Root: root, Workers: opts.Workers, Logger: opts.Logger}}
	f.asked.folder = f
	view := owner.View{Trusted: opts.Root.Trusted, Allow: opts.Root.Rules.Allow, Deny: opts.Root.Rules.Deny, Rules: opts.Rules}
	if f.Rules, err = ParseRules(opts.Rules); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if opts.Index != nil {
		o := *opts.Index
		o.View, o.Workers, o.Logger = view, opts.Workers, opts.Logger
		f.member = owner.New(root, o)
		f.asked.serve(f.member.Requests())
	}
	f.Folder.Index = f.member.FilteredBy(owner.NewFilter(&view, root, f.Rules))
	if opts.Outside != nil {
		f.Refresh = func() { f.refresh(view, opts.Outside) }
	}
	changes := opts.Changes
	changes.Workers, changes.Logger, changes.Touched = opts.Workers, opts.Logger, f.member.Touched
	if opts.Extend != nil {
		changes.Extension = opts.Extend(root)
	}
	c, err := changer.Open(root, &changes)
	f.Changes, f.journal = c, c
	if err == nil && f.member != nil {
		err = f.member.Join()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// outside refuses to keep our own data among the files of the folder, where searches would
// find it and changes could reach it. For the home folder and the root of the file system
// this can't be avoided.
func (o *FolderOptions) outside(root *rootfs.Root) error {
	if o.Root.AllowAny {
		return nil
	}
	list := []struct{ name, dir string }{{"StateDir", o.Changes.StateDir}, {"Review.Dir", o.Reviews}}
	if o.Index != nil {
		list = append(list, struct{ name, dir string }{"Index.Dir", o.Index.Dir})
	}
	for _, d := range list {
		if d.dir == "" {
			continue
		}
		if in, err := root.Holds(d.dir); err != nil {
			return err
		} else if in {
			return fault.New(fault.InvalidArgument, fmt.Sprintf("%s %s is inside the workspace", d.name, d.dir), "give a folder outside the workspace")
		}
	}
	return nil
}

// refresh applies changed rules from outside. If several searches find new rules at once,
// each applies them in turn.
func (f *Folder) refresh(view owner.View, outside func() ([]ignore.File, bool)) {
	files, changed := outside()
	if !changed {
		return
	}
	rules, err := ParseRules(files)
	if err != nil {
		f.Logger.Warn("ignore rules from outside the folder", "err", err)
		return
	}
	view.Rules = files
	f.member.Look(view)
	f.Renew(rules, f.member.FilteredBy(owner.NewFilter(&view, f.Root, rules)))
}

// ParseRules reads ignore rules from outside a folder.
func ParseRules(files []ignore.File) ([]ignore.Set, error) {
	var sets []ignore.Set
	for _, f := range files {
		set, ok := f.Set(cmp.Or(f.Name, "global excludes"))
		if !ok {
			return nil, fmt.Errorf("unknown ignore file %q", f.Name)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// flushWait limits how long a listing waits for the recorder.
const flushWait = 10 * time.Second

// flush records the changes of other programs up to now, if a process records.
func (f *Folder) flush() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushWait)
	defer cancel()
	return f.member.Flush(ctx)
}

// Undo is the changer's. An undo to a point first records the changes up to now.
func (f *Folder) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	if o.To != nil {
		if err := f.flush(); err != nil {
			return nil, err
		}
	}
	return f.Changes.Undo(ctx, id, o)
}

// Point is the changer's. Changes up to now are recorded first, before the point.
func (f *Folder) Point(name string) error {
	if err := f.flush(); err != nil {
		return err
	}
	return f.Changes.Point(name)
}

// Purge removes the records of other programs' changes to a path, or all of them.
func (f *Folder) Purge(ctx context.Context, path string) error {
	if done, err := f.member.Purge(ctx, path); done || err != nil {
		return err
	}
	return f.journal.Purge(ctx, path)
}

// Log lists the newest changes, including other programs' changes up to now.
func (f *Folder) Log(limit int) (*change.Log, error) {
	err := f.flush()
	log, errLog := f.Changes.Log(limit)
	if log != nil && err != nil {
		log.Unrecorded = err.Error()
	}
	return log, errLog
}

// Close releases the index and closes the journal and the folder. Calls in progress end
// with an error.
func (f *Folder) Close() error {
	err := f.member.Close()
	f.asked.close()
	return errors.Join(err, f.journal.Close(), f.Root.Close())
}

// Dir returns the absolute path of the folder.
func (f *Folder) Dir() string { return f.Root.RealDir() }

// Inside converts an absolute path to a path in the folder.
func (f *Folder) Inside(path string) (string, bool) { return cut(f.Dir(), path) }

// Index returns the index of the folder.
func (f *Folder) Index() Index { return folderIndex{f.member, f.Folder} }

type folderIndex struct {
	*owner.Member
	files *searcher.Folder
}

// Verify compares the index with the files: every file is read again and the index must
// have all its grams, the list of paths must equal a walk's, and searches for words of the
// files must find the same as a scan.
func (f folderIndex) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	if err := f.Follow(ctx, func(search.Progress) {}); err != nil {
		return nil, err
	}
	out := &search.Verification{Remote: !f.Owns()}
	tell := func(path, what string) {
		out.Faults++
		fault(path, what)
	}
	if !out.Remote {
		res, err := f.Member.Verify(ctx, tell, progress)
		if err != nil {
			return nil, err
		}
		out.Files, out.Bytes, out.Changed = res.Files, res.Bytes, res.Changed
	}
	var err error
	if out.Listed, out.Searches, err = f.files.CompareAnswers(ctx, tell); err != nil {
		return nil, err
	}
	return out, nil
}
