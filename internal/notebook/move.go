package notebook

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// MoveNote moves a note with its attachments, as one change. Attachments are moved if
// they are in the folder that the vault's settings choose for the note and if no other
// file links to them. If heading is set, the note's first heading is renamed, too,
// provided that it is the old name. MoveNote returns nil if only the note would move: an
// ordinary move is then enough.
func (b *Book) MoveNote(ctx context.Context, from, to string, links change.LinkUpdate, heading bool, o Options) (c *change.Change, attached int, err error) {
	moves, err := b.attachments(ctx, from, to)
	if err != nil {
		return nil, 0, err
	}
	var ops []change.Op
	kept := ""
	if heading {
		if ops, kept, err = b.retitle(ctx, from, to, links); err != nil {
			return nil, 0, err
		}
	}
	if len(moves)+len(ops) == 0 && kept == "" {
		return nil, 0, nil
	}
	summary := fmt.Sprintf("moved %s to %s", fault.Printable(from), fault.Printable(to))
	if len(ops) > 0 { // edits that rename the heading
		summary += ", with its heading"
	}
	move := change.Op{Verb: change.MovePath, Path: from, To: to, Links: links, Version: o.ExpectedVersion}
	if i := slices.IndexFunc(ops, func(op change.Op) bool { return op.Path == clean(from) }); i >= 0 { // combine the move with the edit of the same file
		move.Edits, move.Version = ops[i].Edits, cmp.Or(o.ExpectedVersion, ops[i].Version)
		ops = slices.Delete(ops, i, i+1)
	}
	ops = append(ops, move)
	for _, m := range moves {
		ops = append(ops, change.Op{Verb: change.MovePath, Path: m.From, To: m.To, Links: links})
	}
	if len(moves) > 0 {
		summary += ", with " + fault.Count(len(moves), "attachment")
	}
	c, err = b.apply(ctx, summary, o, ops...)
	if c != nil && kept != "" {
		c.Warnings = append(c.Warnings, kept)
	}
	return c, len(moves), err
}

// retitle plans to rename the first heading of a note that moves. Otherwise kept is the
// reason why the heading stays.
func (b *Book) retitle(ctx context.Context, from, to string, links change.LinkUpdate) (ops []change.Op, kept string, err error) {
	n, err := b.read(ctx, from)
	if err != nil {
		return nil, "", nil // the move will report the error
	}
	scan, err := vault.Scan(ctx, n.Text)
	if err != nil {
		return nil, "", err
	}
	stem := func(p string) string { return strings.TrimSuffix(path.Base(clean(p)), path.Ext(p)) }
	sections := scan.Sections(n.Text)
	if len(sections) == 0 {
		return nil, "the note has no heading", nil
	}
	first := sections[0].Heading.Text
	if !strings.EqualFold(first, stem(from)) {
		return nil, fmt.Sprintf("the first heading, %q, stays: it is not the old name", fault.Clip(first, 60)), nil
	}
	if first == stem(to) {
		return nil, "", nil
	}
	name := first // if several headings have this name, this selects the first
	if slices.ContainsFunc(sections[1:], func(s vault.Section) bool { return s.Heading.Text == first }) {
		name += "[1]"
	}
	_, ops, err = b.relink(ctx, n, Target{Heading: name}, stem(to), links == change.LinksKeepTexts)
	return ops, "", err
}

// attachments finds the files that move with a note. A note that can't be read has none;
// the move itself will report why.
func (b *Book) attachments(ctx context.Context, from, to string) ([]vault.Move, error) {
	if !strings.HasSuffix(strings.ToLower(from), ".md") {
		return nil, nil
	}
	settings, err := b.settings(ctx)
	if err != nil {
		return nil, err
	}
	n, err := b.read(ctx, from)
	if err != nil {
		return nil, nil
	}
	links, err := vault.ScanLinks(ctx, n.Path, n.Text)
	if err != nil {
		return nil, err
	}
	names := distinct(settings.AttachmentNames(n.Path, links))
	if len(names) == 0 {
		return nil, nil
	}
	f, err := b.mentioned(ctx, names, n)
	if err != nil {
		return nil, err
	}
	graph, err := vault.NewGraph(ctx, f, vault.Outside(b.ws.IsVaultAt))
	if err != nil {
		return nil, err
	}
	return graph.Attachments(&settings, vault.Move{From: n.Path, To: clean(to)}), nil
}
