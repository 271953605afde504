package changer

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

var errIntoItself = errors.New("a folder can't be moved into itself")

func (w *Changer) resolveMove(t *task) (err error) {
	if t.path, err = w.root.ResolveEntry(t.Path); err != nil {
		return &change.MoveError{Source: true, Path: t.Path, Err: err}
	}
	if t.to, err = w.root.ResolveTarget(t.To); err != nil {
		return &change.MoveError{Path: t.To, Err: err}
	}
	if t.path.IsRoot() || t.to.IsRoot() {
		err := &fault.PathError{Op: "move", Path: ".", Kind: fault.InvalidArgument, Err: errRootFolder}
		return &change.MoveError{Source: t.path.IsRoot(), Path: ".", Err: err}
	}
	return nil
}

// planMoves plans all moves of a set, and the changes that they require in other files.
func (p *planner) planMoves(ctx context.Context, tasks []*task) error {
	var moving []*task
	for _, t := range tasks {
		if t.Verb != change.MovePath {
			continue
		}
		moved, err := p.move(ctx, t)
		if err != nil {
			p.refuse(t, err)
		} else if moved {
			moving = append(moving, t)
		}
	}
	if p.w.opts.Extension == nil || len(moving) == 0 || len(p.failures.failed) > 0 {
		return nil
	}
	err := p.follow(ctx, tasks, moving)
	var busy *lockError
	if errors.As(err, &busy) {
		return err
	}
	if err != nil {
		p.failures.add(moving[0].index, err)
	}
	return nil
}

// move plans the move or rename of a file, a symlink, or a folder with its contents. It
// never overwrites. It creates missing folders. The new path may differ from the old only
// in case. moved is false if there is nothing to do.
func (p *planner) move(ctx context.Context, t *task) (moved bool, err error) {
	info, err := p.checkMove(t)
	if err != nil {
		return false, err
	}
	p.did = change.Action{Verb: change.Moved, Path: t.path.String(), To: t.to.String()}
	if t.path == t.to {
		return false, nil
	}
	if info.Type == rootfs.TypeDir {
		if err := p.w.staysClosed(ctx, t.path, t.to); err != nil {
			return false, &change.MoveError{Source: true, Path: t.path.String(), Err: err}
		}
	}
	p.show(change.PathDiff{Kind: change.DiffRenamed, Old: t.path.String(), New: t.to.String()})
	if len(t.Edits) > 0 || t.Executable != nil {
		if err := p.edit(ctx, t, t.path, t.to); err != nil {
			return false, err
		}
	}
	if err := p.needFolders(t.to.Dir()); err != nil {
		return false, &change.MoveError{Path: t.to.String(), Err: err}
	}
	var diff change.PathDiff
	if n := len(p.c.Diffs); len(t.Edits) > 0 && n > 0 {
		diff = p.c.Diffs[n-1]
	}
	p.file(t, change.File{Path: t.path.String(), To: t.to.String(), Did: change.Moved}, diff)
	root := p.w.root
	p.moves = append(p.moves, step{
		op: journal.Op{Kind: journal.Rename, Path: t.path, To: t.to, Nodes: []journal.Node{{Type: info.Type}}},
		do: func(*journal.Tx) error {
			err := root.Rename(t.path, t.to)
			if err != nil {
				return err
			}
			// Another process may have changed the files after the first check.
			if err = p.w.guardTree(context.WithoutCancel(ctx), t.to, t.to.String()); err != nil {
				return errors.Join(err, root.Rename(t.to, t.path))
			}
			return nil
		},
	})
	return true, nil
}

// checkMove returns an error if the entry can't be moved.
func (p *planner) checkMove(t *task) (rootfs.Info, error) {
	root := p.w.root
	info, err := root.Stat(t.path)
	if err != nil {
		return info, &change.MoveError{Source: true, Path: t.path.String(), Err: err}
	}
	if t.Version != "" {
		if err := p.w.checkDeletable(t.path, info, t.Version); err != nil {
			return info, &change.MoveError{Source: true, Path: t.path.String(), Err: err}
		}
	}
	if t.path == t.to {
		return info, nil
	}
	if t.to.Beneath(t.path) {
		err := &fault.PathError{Op: "move", Path: t.to.String(), Kind: fault.InvalidArgument, Err: errIntoItself}
		return info, &change.MoveError{Path: t.to.String(), Err: err}
	}
	there, err := root.Stat(t.to)
	if err == nil && !(there.SameFile(info) && sameName(t.path, t.to)) {
		return info, &change.MoveError{Path: t.to.String(), Err: &fault.PathError{Op: "move", Path: t.to.String(), Kind: fault.AlreadyExists}}
	}
	return info, nil
}

// sameName reports whether a file system may treat two paths as equal.
func sameName(a, b rootfs.Path) bool {
	return strings.EqualFold(norm.NFC.String(a.String()), norm.NFC.String(b.String()))
}
