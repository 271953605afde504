package changer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// Extension makes the further changes that special kinds of files require, such as
// updating links. It must be safe for concurrent use.
type Extension interface {
	// Trash returns where deleted files go if neither the caller nor the options select a
	// trash. "" means the default.
	Trash() (change.TrashKind, error)
	// Follow returns the edits of files that refer to moved files; nil if there are none.
	// All moves of a set are passed at once, because one moved file may refer to another.
	// Follow obtains the text of each file it edits from read, and changes nothing
	// itself. The edited files are then locked together with those of the set.
	Follow(ctx context.Context, moves []Move, links change.LinkUpdate, read func(path string) ([]byte, error)) (*Followed, error)
}

// Move is a file or a folder and its new path.
type Move struct{ From, To rootfs.Path }

// Followed holds the further changes that a set of moves requires.
type Followed struct {
	Files []Following
	Links change.LinkReport // its Files field is not set
}

// Following is the edit of one file because of moves. Op has the file's paths before and
// after the moves, which differ only if the file itself moves. Op's edits are spans of
// the text returned by read.
type Following struct {
	change.Op
	Links int // number of links that would break without the edits
	Texts int // number of links whose displayed text changes
}

// maxFollowed is the size of the largest file that is edited because another one moves.
const maxFollowed = 64 << 20

// followedFile is a file that an Extension has read.
type followedFile struct {
	source
	doc *textfile.Document
}

// readFollowed reads a file for the Extension and remembers it with its version.
func (p *planner) readFollowed(path string) ([]byte, error) {
	at, err := p.w.root.Known(path)
	if err != nil {
		return nil, err
	}
	data, info, err := p.w.root.ReadContent(at, maxFollowed)
	if err != nil {
		return nil, err
	}
	doc, err := document(at, data)
	if err != nil {
		return nil, err
	}
	p.followed[path] = &followedFile{source{path: at, info: info, data: data, sum: version.SumOf(data)}, doc}
	return doc.Text(), nil
}

// follow plans the further changes that the moves of a set require: steps that edit files
// at their old paths, and a report.
func (p *planner) follow(ctx context.Context, tasks, moving []*task) error {
	moves := make([]Move, len(moving))
	for i, t := range moving {
		moves[i] = Move{t.path, t.to}
	}
	p.followed = map[string]*followedFile{}
	var gone []rootfs.Path
	found, err := p.w.opts.Extension.Follow(ctx, moves, moving[0].Links, func(path string) ([]byte, error) {
		text, err := p.readFollowed(path)
		if at, known := p.w.root.Known(path); known == nil && rootfs.KindOf(err) == fault.NotFound {
			gone = append(gone, at)
		}
		return text, err
	})
	if len(gone) > 0 {
		return &lockError{gone} // it was deleted meanwhile
	}
	if err != nil || found == nil {
		return err
	}
	if err := p.holdFollowed(found.Files); err != nil {
		return err
	}
	c := p.c
	c.Links = &found.Links
	edited, written := p.alsoChanged(tasks)
	for _, e := range found.Files {
		var err error
		switch {
		case written[e.Path]:
			err = errRewritten
		case edited[e.Path]:
			p.relinks[e.Path] = e.Edits
		default:
			err = p.editFollowed(p.followed[e.Path], &e.Op)
		}
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("links in %s stay as they are: %v", fault.Printable(e.Path), err))
			c.Links.Updated -= e.Links
			c.Links.Texts -= e.Texts
			c.Links.TextsIn = slices.DeleteFunc(c.Links.TextsIn, func(p string) bool { return p == e.Path })
			c.Links.Broken += e.Links
			if !slices.Contains(c.Links.BrokenIn, e.Path) {
				c.Links.BrokenIn = append(c.Links.BrokenIn, e.Path)
			}
			continue
		}
		c.Links.Files = append(c.Links.Files, e.To)
	}
	p.did.Updated, p.did.Files, p.did.Broken = c.Links.Updated, len(c.Links.Files), c.Links.Broken
	return nil
}

// holdFollowed locks the files that are edited because others move. They were read
// without a lock. If another change locks them or has locked them since, the plan is made
// again with these files locked from the start.
func (p *planner) holdFollowed(files []Following) error {
	paths := make([]rootfs.Path, 0, len(files))
	for _, f := range files {
		file := p.followed[f.Path]
		if file == nil {
			return fmt.Errorf("%s is to be edited but was not read", fault.Printable(f.Path))
		}
		paths = append(paths, file.path)
	}
	if !p.hold.extend(paths) {
		return &lockError{paths}
	}
	for _, path := range paths {
		file := p.followed[path.String()]
		if now, err := p.w.root.Stat(path); err != nil || !now.SameFile(file.info) || !rootfs.Unchanged(file.info, now) {
			return &lockError{paths}
		}
	}
	return nil
}

// moveTurn serializes changes that move files. An Extension reads all files of the
// folder. If another change moved a file meanwhile, from a folder not yet read to one
// already read, the Extension would miss its references. Changes that don't move files
// needn't wait: if one adds a reference to the old name, it counts as made after the
// move.
func (w *Changer) moveTurn(ctx context.Context, moves bool) (done func(), err error) {
	if w.opts.Extension == nil || !moves {
		return func() {}, nil
	}
	return w.state.moves.lock(ctx, rootfs.Path{})
}

// lockError means that the plan must be made again with paths locked too.
type lockError struct{ paths []rootfs.Path }

func (e *lockError) Error() string { return "a file that refers to a moved one is being changed" }

var errRewritten = errors.New("the set gives the file new content")

// alsoChanged returns the files that other tasks edit, and those that they overwrite or
// delete.
func (p *planner) alsoChanged(tasks []*task) (edited, written map[string]bool) {
	edited, written = map[string]bool{}, map[string]bool{}
	p.relinks = map[string][]change.Edit{}
	for _, t := range tasks {
		switch {
		case t.Verb == change.EditFile, t.Verb == change.MovePath && len(t.Edits) > 0:
			edited[t.path.String()] = true
		case t.Verb != change.MovePath:
			written[t.path.String()] = true
		}
	}
	return edited, written
}

// editFollowed plans the edits of one file. It fails if the file's encoding can't
// represent the new text.
func (p *planner) editFollowed(file *followedFile, op *change.Op) error {
	edited, err := textedit.Apply(file.doc, op.Edits...)
	if err != nil {
		return err
	}
	diff := editDiff(op.Path, op.To, edited, p.limits())
	p.show(diff)
	s, err := file.step(p.w, edited, diff.Hunks)
	if err != nil {
		return err
	}
	p.contents = append(p.contents, s)
	return nil
}
