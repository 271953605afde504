package changer

import (
	"context"
	"errors"
	"strings"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
)

// planner works a set out: the steps of its tasks, and the change as it will be
// told. It changes nothing.
type planner struct {
	w        *Changer
	set      *change.Set
	c        *change.Change
	failures failures
	versions map[int]string // of each operation's file, as it was read
	shown    int            // lines of diffs so far
	did      change.Action  // of the only task

	// The steps in the order in which they are done: contents where the files
	// are, folders, new files, moves, and what goes last, because only that
	// takes more than the journal to bring back.
	contents, folders, made, moves, gone []step
	folderSet                            map[rootfs.Path]bool
	relinks                              map[string][]change.Edit // of notes a task edits too
}

func newPlanner(w *Changer, set *change.Set, dry bool) *planner {
	return &planner{
		w: w, set: set, failures: failures{set: set}, versions: map[int]string{}, folderSet: map[rootfs.Path]bool{},
		c: &change.Change{Tool: toolOf(set.Tool, verbName(set)), DryRun: dry},
	}
}

func (p *planner) steps() []step {
	var all []step
	for _, list := range [][]step{p.contents, p.folders, p.made, p.moves, p.gone} {
		all = append(all, list...)
	}
	return all
}

// maxDiffLines is where the diffs of further files are left out of a Change.
const maxDiffLines = 400

// show adds diffs to the change, as long as an answer can carry them.
func (p *planner) show(diffs ...change.PathDiff) {
	for _, d := range diffs {
		if p.shown < maxDiffLines {
			p.c.Diffs = append(p.c.Diffs, d)
			p.shown += strings.Count(d.Hunks, "\n") + 2
		}
	}
}

// file adds a line to the report.
func (p *planner) file(f change.File, d change.PathDiff) {
	f.Hunks, f.Added, f.Removed = d.Counts()
	p.c.Files = append(p.c.Files, f)
}

// planAll plans every task, and refuses the set with all that is wrong.
func (p *planner) planAll(ctx context.Context, tasks []*task, settings *vault.Settings) error {
	if err := p.planMoves(ctx, tasks, settings); err != nil {
		return err
	}
	for _, t := range tasks {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var err error
		switch t.Verb {
		case change.EditFile:
			err = p.edit(t, t.path, t.path)
		case change.WriteFile, change.CreateFile:
			err = p.write(t)
		case change.MakeFolder:
			err = p.mkdir(t)
		case change.DeletePath:
			err = p.remove(ctx, t)
		}
		if errors.Is(err, errReplan) {
			return err
		}
		if err != nil {
			p.failures.add(p.blame(t, err), err)
		}
	}
	if err := p.failures.err(); err != nil {
		return err
	}
	p.finish(tasks)
	return nil
}

// blame finds the operation an error is about.
func (p *planner) blame(t *task, err error) int {
	var edit *change.EditError
	if errors.As(err, &edit) && edit.Index < len(t.from) {
		return t.from[edit.Index]
	}
	return t.index
}

// finish words the change.
func (p *planner) finish(tasks []*task) {
	c := p.c
	showDiff(c, c.Diffs...)
	for _, t := range tasks {
		c.Paths = append(c.Paths, t.path.String())
		if t.Verb == change.MovePath {
			c.Paths = append(c.Paths, t.to.String())
		}
	}
	for _, s := range p.folders {
		c.Folders = append(c.Folders, s.op.Path.String())
	}
	c.Unchanged = len(p.steps()) == 0
	a := p.did
	if len(tasks) > 1 {
		a = change.Action{Verb: change.Applied, Count: len(c.Files)}
		c.Version, c.Size, c.Created, c.Edits, c.Trash = "", 0, false, nil, nil
	}
	did(c, a, p.set.Summary, p.set.Client)
}

// needFolders plans the folders above a path.
func (p *planner) needFolders(dir rootfs.Path) error {
	missing, err := p.w.missing(dir)
	if err != nil {
		return err
	}
	for _, d := range missing {
		if !p.folderSet[d] {
			p.folderSet[d] = true
			p.folders = append(p.folders, p.w.folderStep(d))
		}
	}
	return nil
}
