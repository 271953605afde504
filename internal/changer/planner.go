package changer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
)

// planner computes the steps of a set and the Change that reports them. It does not
// change files.
type planner struct {
	w        *Changer
	set      *change.Set
	c        *change.Change
	failures failures
	versions map[int]string      // by operation: the file's version when it was read
	files    map[int]change.File // by operation
	moded    map[int]bool        // operations that change a mode
	linked   map[fileID]journal.Op
	shown    int           // number of diff lines so far
	did      change.Action // the summary, if the set is one task

	// The steps, in the order of execution. Deletions are last, because only their undo
	// depends on more than the journal.
	modes, contents, folders, made, moves, gone []step
	folderSet                                   map[rootfs.Path]bool
	hold                                        *pathHold
	followed                                    map[string]*followedFile // files read by the Extension, by path
	relinks                                     map[string][]change.Edit // by path: the Extension's edits of files that a task also edits
	opened                                      []*rootfs.File           // large files, open until the plan is carried out
	held                                        int64                    // bytes of file contents in memory
	effort                                      textedit.Effort
}

// close closes the files of the plan.
func (p *planner) close() {
	for _, f := range p.opened {
		f.Close()
	}
}

func newPlanner(w *Changer, set *change.Set, dry bool) *planner {
	return &planner{
		w: w, set: set, failures: failures{set: set}, versions: map[int]string{}, files: map[int]change.File{}, moded: map[int]bool{}, linked: map[fileID]journal.Op{}, folderSet: map[rootfs.Path]bool{},
		c: &change.Change{Tool: toolOf(set.Tool, verbName(set)), DryRun: dry},
	}
}

func (p *planner) steps() []step {
	var all []step
	for _, list := range [][]step{p.modes, p.contents, p.folders, p.made, p.moves, p.gone} {
		all = append(all, list...)
	}
	return all
}

// Once a Change has this many diff lines, further files are shown without a diff.
const (
	maxDiffLines = 400
	maxFullLines = 200_000 // for a plan shown to a user
)

func (p *planner) full() bool { return p.set.FullDiff && p.c.DryRun }

// limits bounds the diff of one file.
func (p *planner) limits() *textedit.DiffOptions {
	if p.full() {
		return fullDiff(p.set.AllLines)
	}
	return diffLimits()
}

// show adds diffs to the change until its limit is reached.
func (p *planner) show(diffs ...change.PathDiff) {
	most := maxDiffLines
	if p.full() {
		most = maxFullLines
	}
	for _, d := range diffs {
		if p.shown < most || p.full() && p.set.AllLines {
			p.c.Diffs = append(p.c.Diffs, d)
			p.shown += strings.Count(d.Hunks, "\n") + 2
		}
	}
}

// file adds a file to the report. Tasks are planned in the order of the operations.
func (p *planner) file(t *task, f change.File, d change.PathDiff) {
	f.Ops = t.ops
	f.Hunks, f.Added, f.Removed = d.Counts()
	if p.moded[t.index] {
		f.Executable = t.Executable
	}
	p.files[t.index] = f
}

// planAll plans every task. If any fail, it refuses the set with all their errors.
func (p *planner) planAll(ctx context.Context, tasks []*task) error {
	if err := p.planMoves(ctx, tasks); err != nil {
		return err
	}
	watch := progress.Of(ctx)
	steps := 3 // each task is read, journaled and carried out
	if p.c.DryRun {
		steps = 1
	}
	watch.Expect(steps*len(tasks), false)
	for _, t := range tasks {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		watch.Step()
		var err error
		switch t.Verb {
		case change.EditFile:
			err = p.edit(ctx, t, t.path, t.path)
		case change.WriteFile, change.CreateFile:
			err = p.write(ctx, t)
		case change.MakeFolder:
			err = p.mkdir(t)
		case change.DeletePath:
			err = p.remove(ctx, t)
		}
		if errors.Is(err, errReplan) {
			return err
		}
		p.refuse(t, err)
	}
	if err := p.failures.err(); err != nil {
		return err
	}
	p.finish(tasks)
	return nil
}

// refuse records the errors of a task, which may be one per edit.
func (p *planner) refuse(t *task, err error) {
	if err == nil {
		return
	}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		list := several.Unwrap()
		notEdit := func(err error) bool { _, ok := err.(*change.EditError); return !ok }
		if !slices.ContainsFunc(list, notEdit) {
			for _, one := range list {
				p.blame(t, one)
			}
			return
		}
	}
	p.blame(t, err)
}

// blame records an error for its operation. An edit is numbered within its operation,
// unless it is the only one.
func (p *planner) blame(t *task, err error) {
	var edit *change.EditError
	if !errors.As(err, &edit) || edit.Index >= len(t.from) {
		p.failures.add(t.index, err)
		return
	}
	op := t.from[edit.Index]
	if len(p.set.Ops) == 1 {
		p.failures.add(op, err)
		return
	}
	first := slices.Index(t.from, op)
	if len(p.set.Ops[op].Edits) == 1 {
		p.failures.add(op, edit.Err)
	} else {
		p.failures.add(op, &change.EditError{Index: edit.Index - first, Err: edit.Err})
	}
}

// finish completes the report with diffs, files, paths and a summary.
func (p *planner) finish(tasks []*task) {
	c := p.c
	showDiff(c, c.Diffs...)
	for _, t := range tasks {
		if f, ok := p.files[t.index]; ok {
			c.Files = append(c.Files, f)
		}
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
	record(c, a, p.set.Summary, p.set.Client)
	c.Proposal, c.Rule = p.set.Proposal, p.set.Rule
}

// content plans new content for a file. A file with several hard links is written once,
// because they share the content.
func (p *planner) content(info rootfs.Info, s step) error {
	if info.Nlink > 1 {
		id := fileID{info.Dev, info.Ino}
		if first, ok := p.linked[id]; ok {
			if first.New == s.op.New {
				return nil
			}
			return &sameFileError{Path: s.op.Path.String(), Other: first.Path.String()}
		}
		p.linked[id] = s.op
	}
	p.contents = append(p.contents, s)
	return nil
}

// fileID identifies a file by device and inode.
type fileID struct{ dev, ino uint64 }

// needFolders plans the creation of dir and its parents, as far as they are missing.
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
