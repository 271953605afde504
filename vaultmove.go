package quarry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
	"quarry/internal/vault"
	"quarry/internal/walk"
	"quarry/match"
)

// vault is the settings of the vault; nil if the folder is none.
func (w *Workspace) vault() (*vault.Settings, error) { return vault.Load(w.root, w.log) }

// vaultFiles is what a move sees of a vault. All notes are read at the start;
// those to be rewritten once more, and then the version counts.
type vaultFiles struct {
	ws    *Workspace
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

// readVault lists the vault and reads, in parallel, the notes that moving from
// may concern: what is moved, and what mentions names; all if that is nil. Hidden folders are no part of a vault, ignored ones are.
func (w *Workspace) readVault(ctx context.Context, from rootfs.Path, names *mention) (*vaultFiles, error) {
	type part struct {
		paths   []string
		texts   map[string][]byte
		matcher *match.Matcher
	}
	parts := make([]part, w.workers)
	opts := &walk.Options{NoIgnore: true, Workers: w.workers}
	_, err := walk.Walk(ctx, w.root, opts, func(v *walk.Visit) error {
		k := &parts[v.Worker]
		if k.texts == nil {
			k.texts = map[string][]byte{}
			if names != nil {
				k.matcher = names.pattern.NewMatcher()
			}
		}
		moved := v.Path.Beneath(from)
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
			if text != nil && (names == nil || moved || path == from.String() || names.in(k.matcher, text)) {
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

// readNote reads a note's text; one that can't be read has no links we know.
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

// linkPlan works out what moving from to to means for the links of a vault: the
// steps that rewrite notes, where they are before the move, and the report.
func (w *Workspace) linkPlan(ctx context.Context, c *Change, from, to rootfs.Path, update bool, format vault.LinkFormat) ([]step, error) {
	files, err := w.readVault(ctx, from, w.mentions(ctx, from, to))
	if err != nil {
		return nil, err
	}
	graph, err := vault.NewGraph(files)
	if err != nil {
		w.log.Warn("links of the vault", "err", err)
	}
	files.texts = nil
	plan, err := graph.Plan(files, []vault.Move{{From: from.String(), To: to.String()}}, vault.PlanOptions{Update: update, Format: format})
	if errors.Is(err, vault.ErrExists) {
		return nil, &rootfs.Error{Op: "move", Path: to.String(), Kind: rootfs.AlreadyExists}
	}
	if err != nil {
		return nil, err
	}
	c.Links = &LinkReport{Updated: plan.Updated, Broken: plan.Broken, BrokenIn: plan.BrokenIn}
	var steps []step
	shown := 0
	for _, e := range plan.Files {
		s, diff, err := w.relinkStep(files.read[e.From], e)
		if err != nil {
			// The new name can't be written in this file's encoding.
			c.Warnings = append(c.Warnings, fmt.Sprintf("links in %s stay as they are: %v", rootfs.Printable(e.From), err))
			c.Links.Updated -= e.Links
			c.Links.Broken += e.Links
			if !slices.Contains(c.Links.BrokenIn, e.From) {
				c.Links.BrokenIn = append(c.Links.BrokenIn, e.From)
			}
			continue
		}
		c.Links.Files = append(c.Links.Files, e.To)
		if shown < maxDiffLines {
			c.Diffs = append(c.Diffs, diff)
			shown += strings.Count(diff.Hunks, "\n") + 2
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// maxDiffLines is where the diffs of further files are left out of a Change.
const maxDiffLines = 400

// relinkStep rewrites the links of one note.
func (w *Workspace) relinkStep(d *vaultDoc, e vault.FileEdit) (step, change.PathDiff, error) {
	edits := make([]change.Edit, len(e.Splices))
	for i, s := range e.Splices {
		edits[i] = change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New}
	}
	edited, err := textedit.Apply(d.doc, edits...)
	if err != nil {
		return step{}, change.PathDiff{}, err
	}
	diff := editDiff(e.From, e.To, edited)
	return w.spliceStep(d.path, d.sum, d.data, edited, diff.Hunks), diff, nil
}
