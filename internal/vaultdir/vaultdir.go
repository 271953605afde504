// Package vaultdir has the behaviour that an Obsidian vault adds to a workspace: its
// settings, where they put deleted files, and the links that follow a move. Package
// changer knows files and bytes only; a Dir is handed to it as its Extension.
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

// New makes the Dir of a root, which the caller closes.
func New(root *rootfs.Root, workers int, log *slog.Logger) *Dir { return &Dir{root, workers, log} }

// maxNote is the largest note whose links are looked at.
const maxNote = 64 << 20

// Follow plans the edits that keep links whole when files move, if the folder is
// a vault or the moves ask for it.
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
		defaults.NewLinkFormat = vault.Relative // what other programs than Obsidian follow
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
		for _, m := range moves { // a vault in a folder that moves is still at its old path
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

// noteFiles are the files of a vault, and the texts of the notes that a move may
// concern.
type noteFiles struct {
	paths []string
	texts map[string][]byte
	// read is set once the graph is made. It reads the notes that are to be
	// rewritten again, and records their versions.
	read func(path string) ([]byte, error)
}

// Paths lists the files of the vault.
func (f *noteFiles) Paths() []string { return f.paths }

// Read returns the text of a note; none if the moves don't concern it.
func (f *noteFiles) Read(path string) ([]byte, error) {
	if f.read != nil {
		return f.read(path)
	}
	return f.texts[path], nil
}

// files lists the vault and reads, in parallel, the notes that a move may
// concern: those that are moved, and those that mention one of names; if names is
// nil, all of them. Hidden folders do not belong to a vault, ignored ones do.
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
