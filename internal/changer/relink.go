package changer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
	"quarry/internal/vault"
	"quarry/internal/walk"
	"quarry/match"
)

// vaultFiles are the files of a vault for a move. All notes are read at the
// start. Those to be rewritten are read again, and then their version is
// recorded.
type vaultFiles struct {
	ws    *Changer
	paths []string
	texts map[string][]byte    // nil once the graph is made
	read  map[string]*vaultDoc // those to be rewritten
}

type vaultDoc struct {
	path rootfs.Path
	data []byte
	sum  *rootfs.Sum
	doc  *textfile.Document
}

// maxNote is the largest note whose links are looked at.
const maxNote = 64 << 20

// Paths lists the files of the vault.
func (f *vaultFiles) Paths() []string { return f.paths }

// Read returns the text of a note, for the graph or to be rewritten.
func (f *vaultFiles) Read(path string) ([]byte, error) {
	if f.texts != nil {
		return f.texts[path], nil
	}
	p, err := f.ws.root.Known(path)
	if err != nil {
		return nil, err
	}
	data, _, err := f.ws.root.ReadContent(p, maxNote)
	if err != nil {
		return nil, err
	}
	doc, err := document(p, data)
	if err != nil {
		return nil, err
	}
	f.read[path] = &vaultDoc{p, data, rootfs.SumOf(data), doc}
	return doc.Text(), nil
}

// readVault lists the vault and reads, in parallel, the notes that a move may
// concern: those that are moved, and those that mention one of names; if names is
// nil, all of them. Hidden folders do not belong to a vault, ignored ones do.
func (w *Changer) readVault(ctx context.Context, moving []*task, names *mention) (*vaultFiles, error) {
	type part struct {
		paths   []string
		texts   map[string][]byte
		matcher *match.Matcher
	}
	parts := make([]part, w.opts.Workers)
	opts := &walk.Options{NoIgnore: true, Workers: w.opts.Workers}
	_, err := walk.Walk(ctx, w.root, opts, func(v *walk.Visit) error {
		k := &parts[v.Worker]
		if k.texts == nil {
			k.texts = map[string][]byte{}
			if names != nil {
				k.matcher = names.pattern.NewMatcher()
			}
		}
		moved := slices.ContainsFunc(moving, func(t *task) bool { return v.Path.Beneath(t.path) })
		prefix := ""
		if v.Shown != "" {
			prefix = v.Shown + "/"
		}
		for i := range v.Files {
			path := prefix + v.Files[i].Name
			k.paths = append(k.paths, path)
			if !vault.HasLinks(path) {
				continue
			}
			text := readNote(v.Dir, v.Files[i].Name)
			if text != nil && (names == nil || moved || slices.ContainsFunc(moving, func(t *task) bool { return t.path.String() == path }) || names.in(k.matcher, text)) {
				k.texts[path] = text
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f := &vaultFiles{ws: w, texts: map[string][]byte{}, read: map[string]*vaultDoc{}}
	for _, k := range parts {
		f.paths = append(f.paths, k.paths...)
		for path, text := range k.texts {
			f.texts[path] = text
		}
	}
	return f, nil
}

// readNote reads a note's text. A note that can't be read has no known links.
func readNote(dir *rootfs.Dir, name string) []byte {
	file, err := dir.OpenFile(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	size := file.Info().Size
	if size > maxNote {
		return nil
	}
	data := make([]byte, size)
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil
	}
	doc, err := textfile.New(data[:n])
	if err != nil {
		return nil
	}
	return doc.Text()
}

// linkPlan computes what moves mean for the links of a vault: the steps that
// rewrite notes at their old paths, and the report.
func (p *planner) linkPlan(ctx context.Context, tasks, moving []*task, settings *vault.Settings) error {
	w, c := p.w, p.c
	update := settings.AlwaysUpdateLinks
	if l := moving[0].Links; l != change.LinksDefault {
		update = l == change.LinksUpdate
	}
	files, err := w.readVault(ctx, moving, w.mentions(ctx, moving))
	if err != nil {
		return err
	}
	graph, err := vault.NewGraph(files)
	if err != nil {
		w.log.Warn("links of the vault", "err", err)
	}
	files.texts = nil
	moves := make([]vault.Move, len(moving))
	for i, t := range moving {
		moves[i] = vault.Move{From: t.path.String(), To: t.to.String()}
	}
	plan, err := graph.Plan(files, moves, vault.PlanOptions{Update: update, Format: settings.NewLinkFormat})
	if errors.Is(err, vault.ErrExists) {
		return &rootfs.Error{Op: "move", Path: moving[0].to.String(), Kind: rootfs.AlreadyExists}
	}
	if err != nil {
		return err
	}
	c.Links = &change.LinkReport{Updated: plan.Updated, Broken: plan.Broken, BrokenIn: plan.BrokenIn}
	edited, written := p.alsoChanged(tasks)
	for _, e := range plan.Files {
		var err error
		switch {
		case written[e.From]:
			err = errRewritten
		case edited[e.From]:
			p.relinks[e.From] = relinkEdits(e)
		default:
			err = p.relink(files.read[e.From], e)
		}
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("links in %s stay as they are: %v", rootfs.Printable(e.From), err))
			c.Links.Updated -= e.Links
			c.Links.Broken += e.Links
			if !slices.Contains(c.Links.BrokenIn, e.From) {
				c.Links.BrokenIn = append(c.Links.BrokenIn, e.From)
			}
			continue
		}
		c.Links.Files = append(c.Links.Files, e.To)
	}
	p.did.Updated, p.did.Files, p.did.Broken = c.Links.Updated, len(c.Links.Files), c.Links.Broken
	return nil
}

var errRewritten = errors.New("the set gives the note new content")

// alsoChanged returns the notes that other tasks edit, and apart from these the
// notes that they write anew or delete.
func (p *planner) alsoChanged(tasks []*task) (edited, written map[string]bool) {
	edited, written = map[string]bool{}, map[string]bool{}
	p.relinks = map[string][]change.Edit{}
	for _, t := range tasks {
		switch {
		case t.Verb == change.EditFile:
			edited[t.path.String()] = true
		case t.Verb != change.MovePath, len(t.Edits) > 0:
			written[t.path.String()] = true
		}
	}
	return edited, written
}

func relinkEdits(e vault.FileEdit) []change.Edit {
	edits := make([]change.Edit, len(e.Splices))
	for i, s := range e.Splices {
		edits[i] = change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New}
	}
	return edits
}

// relink rewrites the links of one note. It fails if the new name can't be
// written in the note's encoding.
func (p *planner) relink(d *vaultDoc, e vault.FileEdit) error {
	edited, err := textedit.Apply(d.doc, relinkEdits(e)...)
	if err != nil {
		return err
	}
	diff := editDiff(e.From, e.To, edited, p.limits())
	p.show(diff)
	s, err := (&source{path: d.path, data: d.data, sum: d.sum}).step(p.w, edited, diff.Hunks)
	if err != nil {
		return err
	}
	p.contents = append(p.contents, s)
	return nil
}
