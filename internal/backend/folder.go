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

// Folder gives access to the files of a folder.
type Folder struct {
	*searcher.Folder
	Changes
	journal *changer.Changer
	member  *owner.Member // nil if there is no index
	asked   asked
}

// FolderOptions are the options of OpenFolder.
type FolderOptions struct {
	Root  rootfs.Options
	Rules []ignore.File // ignore rules from outside the folder
	// Outside, if set, is called before each answer. It returns new rules if they have
	// changed.
	Outside func() (rules []ignore.File, changed bool)
	Index   *owner.Options  // location and ownership; nil means always scan
	Changes changer.Options // including where changes are kept
	// Extend, if set, makes the extension for the changer.
	Extend  func(root *rootfs.Root) changer.Extension
	Reviews string // folder for proposals; "" if there are none
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

// outside returns an error if our own data would be inside the folder, where searches
// would find it and changes could reach it. For the home folder and the root of the file
// system this can't be avoided, so it is allowed.
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

// refresh applies changed rules from outside the folder. Several searches may find new
// rules at the same time; they apply them one after another.
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

// flush makes the recording process, if any, record the changes that other programs have
// made so far.
func (f *Folder) flush() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushWait)
	defer cancel()
	return f.member.Flush(ctx)
}

// Undo undoes a change. Before an undo to a point, the changes made so far are recorded.
func (f *Folder) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	if o.To != nil {
		if err := f.flush(); err != nil {
			return nil, err
		}
	}
	return f.Changes.Undo(ctx, id, o)
}

// Point names the current state. The changes made so far are recorded before the point.
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

// Log lists the latest changes, including those of other programs up to now.
func (f *Folder) Log(limit int) (*change.Log, error) {
	err := f.flush()
	log, errLog := f.Changes.Log(limit)
	if log != nil && err != nil {
		log.Unrecorded = err.Error()
	}
	return log, errLog
}

// Close releases the index and closes the journal and the folder. Calls in progress fail.
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

// Verify compares the index with the files: it reads every file again and checks that the
// index has all its grams, that the list of paths equals a walk's, and that searches for
// words of the files give the same results as a scan.
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
