package notebook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// RenamePart changes the text of a heading or the id of a block. Links to it are updated
// in the same change. Links that can't be updated are counted in the change's report.
func (b *Book) RenamePart(ctx context.Context, path string, t Target, to string, o Options) (*change.Change, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := n.expect(o); err != nil {
		return nil, err
	}
	if n.Path, err = b.resolve(ctx, n.Path); err != nil {
		return nil, err
	}
	r, ops, err := b.relink(ctx, n, t, to, o.KeepTexts)
	if err != nil {
		return nil, err
	}
	links := &change.LinkReport{Updated: r.Links, Broken: r.Broken, BrokenIn: r.BrokenIn}
	for _, f := range r.Files {
		links.Texts += f.Texts
		if f.Links > 0 {
			links.Files = append(links.Files, f.From)
		}
	}
	summary := fmt.Sprintf("renamed %s of %s to %q", t, fault.Printable(n.Path), strings.TrimSpace(to))
	c, err := b.apply(ctx, summary, o, ops...)
	if c != nil {
		c.Links = links
		if r.Already > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s had the new name already", fault.Count(r.Already, "link")))
		}
	}
	return c, err
}

// relink plans to rename a heading or block. The operations edit the note and the files
// that link to it.
func (b *Book) relink(ctx context.Context, n *Note, t Target, to string, keepTexts bool) (r *vault.Relink, ops []change.Op, err error) {
	ix, err := b.namesakes(ctx, true, n.Path)
	if err != nil {
		return nil, nil, err
	}
	ix.Add(n.Path)
	exprs, ok := vault.Mentions([]string{n.Path})
	if !ok {
		exprs = nil
	}
	sources, err := b.mentioning(ctx, true, exprs, notesGlobs...)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(sources, n.Path) {
		sources = append(sources, n.Path)
	}
	seen := map[string]*Note{n.Path: n}
	read := func(p string) ([]byte, error) {
		if seen[p] == nil {
			note, err := b.read(ctx, p)
			if err != nil {
				return nil, err
			}
			seen[p] = note
		}
		return seen[p].Text, nil
	}
	resolve := func(source string, l *vault.Link) (string, bool) {
		if l.Path != "" && vault.NameKey(l.Path) != vault.NameKey(n.Path) {
			return "", false
		}
		return ix.ResolveLink(source, l)
	}
	switch {
	case t.Heading != "":
		r, err = vault.RenameHeading(ctx, n.Path, n.Text, t.Heading, to, sources, read, resolve, keepTexts)
	case t.Block != "":
		r, err = vault.RenameBlock(ctx, n.Path, n.Text, t.Block, to, sources, read, resolve)
	default:
		err = fault.New(fault.InvalidArgument, "name a heading or a block to rename", "properties and tags are renamed by the tools properties and tags")
	}
	if err != nil {
		return nil, nil, err
	}
	for _, f := range r.Files {
		ops = append(ops, seen[f.From].edit(f.Splices))
	}
	return r, ops, nil
}
