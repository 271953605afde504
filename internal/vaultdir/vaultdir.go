// Package vaultdir adds the behavior of an Obsidian vault to a workspace: its settings,
// its trash, and the links that are updated after a move. A Dir is the Extension of
// package changer, which only knows files and bytes.
package vaultdir

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/changer"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
	"quarry/internal/vault"
	"quarry/internal/walk"
	"quarry/match"
)

// Dir is a folder that may be a vault. It is safe for concurrent use.
type Dir struct {
	root    *rootfs.Root
	workers int
	log     *slog.Logger
}

// New returns the Dir of a root. The caller closes the root.
func New(root *rootfs.Root, workers int, log *slog.Logger) *Dir { return &Dir{root, workers, log} }

// maxNote is the size of the largest note whose links are read.
const maxNote = 64 << 20

// Follow plans the edits that update links to moved files, if the folder is a vault or
// links requests it.
func (d *Dir) Follow(ctx context.Context, moves []changer.Move, links change.LinkUpdate, read func(path string) ([]byte, error)) (*changer.Followed, error) {
	settings, err := d.settings()
	if err != nil {
		return nil, err
	}
	whole := settings != nil
	if !whole {
		if links != change.LinksUpdate && links != change.LinksKeepTexts {
			return nil, nil
		}
		defaults := vault.DefaultSettings()
		defaults.NewLinkFormat = vault.Relative // the form that programs other than Obsidian support
		settings = &defaults
	}
	update := settings.AlwaysUpdateLinks
	if links != change.LinksDefault {
		update = links != change.LinksLeave
	}
	files, err := d.files(ctx, moves, d.mentions(ctx, moves))
	if err != nil {
		return nil, err
	}
	plain := vault.Outside(func(folder string) bool {
		if folder == "" {
			return whole
		}
		for _, m := range moves { // a vault in a moving folder is still at its old path
			if rest, ok := strings.CutPrefix(folder+"/", m.To.String()+"/"); ok {
				folder = strings.TrimSuffix(m.From.String()+"/"+rest, "/")
			}
		}
		return d.IsVault(folder)
	})
	graph, err := vault.NewGraph(ctx, files, plain)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		d.log.Warn("links of the vault", "err", err)
	}
	files.texts, files.read = nil, read
	plan, err := graph.Plan(ctx, files, planMoves(moves), vault.PlanOptions{
		Update: update, Format: settings.NewLinkFormat, KeepTexts: links == change.LinksKeepTexts,
	})
	if errors.Is(err, vault.ErrExists) {
		return nil, &fault.PathError{Op: "move", Path: moves[0].To.String(), Kind: fault.AlreadyExists}
	}
	if err != nil {
		return nil, err
	}
	out := &changer.Followed{Links: change.LinkReport{Updated: plan.Updated, Broken: plan.Broken, BrokenIn: plan.BrokenIn}}
	for _, e := range plan.Files {
		op := change.Op{Verb: change.EditFile, Path: e.From, To: e.To}
		for _, s := range e.Splices {
			op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New})
		}
		out.Files = append(out.Files, changer.Following{Op: op, Links: e.Links, Texts: e.Texts})
		if e.Texts > 0 {
			out.Links.Texts += e.Texts
			out.Links.TextsIn = append(out.Links.TextsIn, e.From)
		}
	}
	return out, nil
}

func planMoves(moves []changer.Move) []vault.Move {
	out := make([]vault.Move, len(moves))
	for i, m := range moves {
		out[i] = vault.Move{From: m.From.String(), To: m.To.String()}
	}
	return out
}

// noteFiles holds the files of a vault, and the texts of the notes that a move may
// affect.
type noteFiles struct {
	paths []string
	texts map[string][]byte
	// read is set after the graph was made. It reads the notes to rewrite once more, and
	// records their versions.
	read func(path string) ([]byte, error)
}

// Paths lists the files of the vault.
func (f *noteFiles) Paths() []string { return f.paths }

// Read returns the text of a note, or nil if the moves don't affect it.
func (f *noteFiles) Read(path string) ([]byte, error) {
	if f.read != nil {
		return f.read(path)
	}
	return f.texts[path], nil
}

// files lists the files of the vault and reads, in parallel, the notes that the moves may
// affect: the moved ones, and those that mention one of names, or all if names is nil.
// Hidden folders don't belong to a vault; ignored ones do.
func (d *Dir) files(ctx context.Context, moves []changer.Move, names *mention) (*noteFiles, error) {
	type part struct {
		noteFiles
		matcher *match.Matcher
	}
	parts := make([]part, d.workers)
	_, err := walk.Walk(ctx, d.root, &walk.Options{NoIgnore: true, Workers: d.workers}, func(v *walk.Visit) error {
		k := &parts[v.Worker]
		if k.texts == nil {
			k.texts = map[string][]byte{}
			if names != nil {
				k.matcher = names.pattern.NewMatcher()
			}
		}
		moved := slices.ContainsFunc(moves, func(m changer.Move) bool { return v.Path.Beneath(m.From) })
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
			if text != nil && (names == nil || moved || slices.ContainsFunc(moves, func(m changer.Move) bool { return m.From.String() == path }) || names.in(k.matcher, text)) {
				k.texts[path] = text
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f := &noteFiles{texts: map[string][]byte{}}
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
