package notebook

import (
	"context"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// MoveNote moves a note with its attachments, as one change: those that lie
// where the vault's setting keeps the attachments of the note, and that nothing
// else links to. attached is how many there are; if it is 0 nothing was done,
// since the move is then one like any other.
func (b *Book) MoveNote(ctx context.Context, from, to string, links change.LinkUpdate, o Options) (c *change.Change, attached int, err error) {
	moves, err := b.attachments(ctx, from, to)
	if err != nil || len(moves) == 0 {
		return nil, 0, err
	}
	ops := []change.Op{{Verb: change.MovePath, Path: from, To: to, Links: links, Version: o.ExpectedVersion}}
	for _, m := range moves {
		ops = append(ops, change.Op{Verb: change.MovePath, Path: m.From, To: m.To, Links: links})
	}
	summary := fmt.Sprintf("moved %s to %s, with %s", fault.Printable(from), fault.Printable(to), fault.Count(len(moves), "attachment"))
	c, err = b.apply(ctx, summary, o, ops...)
	return c, len(moves), err
}

// attachments finds the files that go with a note. A note that can't be read has
// none: what is wrong with it the move itself will tell.
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
	graph, err := vault.NewGraph(ctx, f)
	if err != nil {
		return nil, err
	}
	return graph.Attachments(&settings, vault.Move{From: n.Path, To: clean(to)}), nil
}
