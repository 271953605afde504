package quarry

import (
	"context"
	"errors"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// Write gives a file new content, which is written byte for byte as it is
// given; what encoding or line ending the file had before plays no part. A file
// that exists keeps its mode, owner and extended attributes, and is refused if
// it is not the expected version; one that doesn't is made, with the folders on
// the way.
func (w *Workspace) Write(ctx context.Context, path string, content []byte, opts *ChangeOptions) (*Change, error) {
	o := given(opts)
	return w.write(ctx, path, content, toolOf(o, "write"), o, false)
}

// write is Write; with onlyNew it never overwrites.
func (w *Workspace) write(ctx context.Context, path string, content []byte, tool string, o ChangeOptions, onlyNew bool) (*Change, error) {
	if w.elsewhere != nil {
		return w.inCheckout(ctx, path, func(ws *Workspace, rel string) (*Change, error) {
			return ws.write(ctx, rel, content, tool, o, onlyNew)
		})
	}
	if err := w.changeable("write"); err != nil {
		return nil, err
	}
	p, err := w.root.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsRoot() {
		return nil, &rootfs.Error{Op: "write", Path: path, Kind: rootfs.NotRegular}
	}
	c := &Change{Tool: tool, Paths: []string{p.String()}, DryRun: o.DryRun, Size: int64(len(content))}
	return settled(c, w.withFolders(ctx, p, func() error { return w.writeOnce(ctx, c, p, content, o, onlyNew) }))
}

// withFolders runs f with p locked, and with it the folders that have to be
// made first. f is run again when another process made one of them meanwhile.
func (w *Workspace) withFolders(ctx context.Context, p rootfs.Path, f func() error) error {
	for range maxPlans {
		top := p
		missing, err := w.missing(p.Dir())
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			top = missing[0]
		}
		unlock, err := w.state.locks.lock(ctx, top)
		if err != nil {
			return err
		}
		if again, err := w.missing(p.Dir()); err != nil || len(again) > len(missing) {
			unlock()
			if err != nil {
				return err
			}
			continue
		}
		err = f()
		unlock()
		if !errors.Is(err, errReplan) {
			return err
		}
	}
	return &rootfs.Error{Op: "mkdir", Path: p.Dir().String(), Kind: rootfs.Conflict, Err: errReplan}
}

func (w *Workspace) writeOnce(ctx context.Context, c *Change, p rootfs.Path, content []byte, o ChangeOptions, onlyNew bool) error {
	old, version, _, err := w.root.ReadFile(p, maxRead)
	switch {
	case err == nil && onlyNew:
		return &rootfs.Error{Op: "create", Path: p.String(), Kind: rootfs.AlreadyExists}
	case err == nil:
		return w.overwrite(ctx, c, p, old, version, content, o)
	case rootfs.KindOf(err) != rootfs.NotFound && rootfs.KindOf(err) != rootfs.NotFolder:
		return err
	case o.ExpectedVersion != "":
		return &rootfs.Error{Op: "write", Path: p.String(), Kind: rootfs.Conflict, Err: &VersionError{Want: o.ExpectedVersion}}
	}
	steps, err := w.folderSteps(p.Dir(), true)
	if err != nil {
		return err
	}
	c.Created, c.Folders = true, madeFolders(steps)
	c.Version = rootfs.VersionOf(content).String()
	did(c, change.Action{Verb: change.Created, Path: p.String(), Count: len(content)}, o)
	showDiff(c, diffOf("", p.String(), nil, content, diffLimits()))
	if o.DryRun {
		return nil
	}
	return w.carryOut(ctx, c, append(steps, w.createStep(p, content)))
}

func (w *Workspace) overwrite(ctx context.Context, c *Change, p rootfs.Path, old []byte, version rootfs.Version, content []byte, o ChangeOptions) error {
	if err := checkVersion(p, version, o.ExpectedVersion); err != nil {
		return err
	}
	if content == nil {
		content = []byte{}
	}
	next := rootfs.VersionOf(content)
	c.Version, c.Unchanged = next.String(), next == version
	did(c, change.Action{Verb: change.Overwrote, Path: p.String(), Count: len(content)}, o)
	if c.Unchanged {
		return nil
	}
	diff := diffOf(p.String(), p.String(), old, content, diffLimits())
	showDiff(c, diff)
	if o.DryRun {
		return nil
	}
	return w.carryOut(ctx, c, []step{{
		op: journal.Op{Kind: journal.Replace, Path: p, Old: version, New: next, OldData: old, NewData: content, Shown: diff.Hunks},
		do: func(*journal.Tx) error {
			_, err := w.root.Replace(p, content, version, nil)
			return err
		},
		back: func() error {
			_, err := w.root.Replace(p, old, next, nil)
			return err
		},
	}})
}

// Mkdir makes a folder and those above it that are missing. One that exists is
// no change.
func (w *Workspace) Mkdir(ctx context.Context, path string, opts *ChangeOptions) (*Change, error) {
	if w.elsewhere != nil {
		return w.inCheckout(ctx, path, func(ws *Workspace, rel string) (*Change, error) { return ws.Mkdir(ctx, rel, opts) })
	}
	o := given(opts)
	if err := w.changeable("mkdir"); err != nil {
		return nil, err
	}
	p, err := w.root.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsRoot() {
		return nil, &rootfs.Error{Op: "mkdir", Path: path, Kind: rootfs.InvalidArgument, Err: errRootFolder}
	}
	c := &Change{Tool: toolOf(o, "mkdir"), Paths: []string{p.String()}, DryRun: o.DryRun}
	did(c, change.Action{Verb: change.MadeFolder, Path: p.String()}, o)
	return settled(c, w.withFolders(ctx, p, func() error {
		steps, err := w.folderSteps(p, true)
		if err != nil {
			return err
		}
		c.Unchanged, c.Created = len(steps) == 0, len(steps) > 0
		c.Folders = madeFolders(steps)
		if c.Unchanged || o.DryRun {
			return nil
		}
		return w.carryOut(ctx, c, steps)
	}))
}

var errRootFolder = errors.New("the path names the workspace itself")
