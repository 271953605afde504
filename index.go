package quarry

import (
	"context"
	"errors"
	"time"

	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/internal/searcher"
	"quarry/search"
)

// IndexOptions say where the index of a workspace lives and who may own it.
type IndexOptions struct {
	// Dir is the folder of this index, private to its user and outside the
	// workspace. All workspaces of a folder share one, whatever policy and rules
	// they have.
	Dir string
	// Socket is where the process that owns the index answers others; ""
	// shares with nobody.
	Socket string
	// Home is the folder in which the indexes of all workspaces lie, Dir among
	// them. With it, Dir is made when it is missing, and the indexes used
	// longest ago are deleted when all together have more than MaxBytes; those
	// that a process owns stay.
	Home string
	// MaxBytes bounds all indexes in Home together; 0 is 10 GB.
	MaxBytes int64
	// Ask only uses an index that another process owns. It is for short-lived
	// programs: without one, they scan.
	Ask bool
	// MaxWatches bounds the folders watched; 0 leaves it to the system.
	MaxWatches int
	// Progress hears how a build goes, from any goroutine.
	Progress func(search.Progress)
}

func (o *IndexOptions) owner(w *Workspace, v owner.View) owner.Options {
	return owner.Options{
		Dir: o.Dir, Socket: o.Socket, Home: o.Home, MaxBytes: o.MaxBytes, Ask: o.Ask, MaxWatches: o.MaxWatches,
		Progress: o.Progress, View: v, As: w.as, Workers: w.workers, Logger: w.log,
	}
}

// view is how a workspace with these options sees its folder.
func (o *Options) view() owner.View {
	v := owner.View{Trusted: o.Trusted, Allow: o.Allow, Deny: o.Deny}
	if len(o.GlobalIgnore) > 0 {
		v.Rules = append(v.Rules, owner.RuleFile{Data: o.GlobalIgnore})
	}
	for _, f := range o.IgnoreAbove {
		v.Rules = append(v.Rules, owner.RuleFile(f))
	}
	return v
}

// optionsOf is the reverse of view.
func optionsOf(v *owner.View) *Options {
	o := &Options{Trusted: v.Trusted, Allow: v.Allow, Deny: v.Deny, AllowAny: true, ReadOnly: true}
	for _, f := range v.Rules {
		if f.Name == "" {
			o.GlobalIgnore = f.Data
		} else {
			o.IgnoreAbove = append(o.IgnoreAbove, IgnoreFile(f))
		}
	}
	return o
}

// as gives the searches of another process's view of the folder, by the index of
// this one. Nothing that the view denies is opened, counted or named.
func (w *Workspace) as(v *owner.View) (owner.Searches, func() error, error) {
	opts := optionsOf(v)
	rules, err := outsideRules(opts)
	if err != nil {
		return nil, nil, err
	}
	root, err := rootfs.Open(w.root.RealDir(), &rootfs.Options{
		Rules: rootfs.Rules{Allow: v.Allow, Deny: v.Deny}, Trusted: v.Trusted, AllowAny: true, ReadOnly: true,
	})
	if err != nil {
		return nil, nil, err
	}
	here, err := w.root.Place()
	if there, errThere := root.Place(); err != nil || errThere != nil || here != there {
		return nil, nil, errors.Join(rootfs.ErrReplaced, err, errThere, root.Close())
	}
	files := &searcher.Folder{Root: root, Rules: rules, Workers: w.workers, Logger: w.log}
	files.Index = w.member.Through(owner.NewEyes(v, root, rules))
	return files, root.Close, nil
}

var (
	// ErrIndexInUse is returned for an index that a process owns.
	ErrIndexInUse = owner.ErrInUse
	// ErrNotKeeper is for what only the process that owns the index can do.
	ErrNotKeeper = owner.ErrNotOwner
	// ErrNoIndex is for a workspace whose index no process owns.
	ErrNoIndex = owner.ErrNobody
)

// DeleteIndex deletes an index that no process owns, and reports whether there
// was one. Home has to be set.
func DeleteIndex(opts *IndexOptions) (bool, error) {
	return owner.Delete(&owner.Options{Dir: opts.Dir, Home: opts.Home})
}

// WaitIndex waits until this process has built the index. It fails when that
// isn't possible.
func (w *Workspace) WaitIndex(ctx context.Context) error { return w.member.Wait(ctx) }

// FollowIndex waits until the index is ready, whichever process owns it, and
// reports how far it is about ten times a second, on the calling goroutine.
func (w *Workspace) FollowIndex(ctx context.Context, report func(search.Progress)) error {
	return w.member.Follow(ctx, report)
}

// IndexStatus tells how the index is doing. Without a process that owns it the
// state is not_found; DiskBytes then tells what an earlier one has left.
func (w *Workspace) IndexStatus(ctx context.Context) (*search.IndexStatus, error) {
	if w.elsewhere != nil {
		return w.elsewhere.IndexStatus(ctx)
	}
	return w.member.Status(ctx), nil
}

// IndexIdle is how long no other process has asked anything.
func (w *Workspace) IndexIdle() time.Duration { return w.member.Idle() }

// VerifyIndex compares the index with the files: every file is read again and
// must have in the index all that a search would look for, the list of paths
// must be a walk's, and searches for words of the files must find what a scan
// finds. Every difference is told to fault. progress may be nil.
func (w *Workspace) VerifyIndex(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	if err := w.FollowIndex(ctx, func(search.Progress) {}); err != nil {
		return nil, err
	}
	out := &search.Verification{Remote: !w.member.Owns()}
	tell := func(path, what string) {
		out.Faults++
		fault(path, what)
	}
	if !out.Remote {
		res, err := w.member.Verify(ctx, tell, progress)
		if err != nil {
			return nil, err
		}
		out.Files, out.Bytes, out.Changed = res.Files, res.Bytes, res.Changed
	}
	var err error
	out.Listed, out.Searches, err = w.files.CompareAnswers(ctx, tell)
	if err != nil {
		return nil, err
	}
	return out, nil
}
