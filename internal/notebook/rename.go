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

// RenamePart gives a heading another text or a block another id. Links to it
// follow, all in one change; those that can't be made to follow are counted in
// the change's report.
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
	ix, err := b.namesakes(ctx, true, n.Path)
	if err != nil {
		return nil, err
	}
	ix.Add(n.Path)
	exprs, ok := vault.Mentions([]string{n.Path})
	if !ok {
		exprs = nil
	}
	sources, err := b.mentioning(ctx, true, exprs, notesGlobs...)
	if err != nil {
		return nil, err
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
	var r *vault.Relink
	switch {
	case t.Heading != "":
		r, err = vault.RenameHeading(ctx, n.Path, n.Text, t.Heading, to, sources, read, resolve, o.KeepTexts)
	case t.Block != "":
		r, err = vault.RenameBlock(ctx, n.Path, n.Text, t.Block, to, sources, read, resolve)
	default:
		err = fault.New(fault.InvalidArgument, "name a heading or a block to rename", "properties and tags are renamed by the tools properties and tags")
	}
	if err != nil {
		return nil, err
	}
	var ops []change.Op
	var files []string
	texts := 0
	for _, f := range r.Files {
		ops = append(ops, seen[f.From].edit(f.Splices))
		texts += f.Texts
		if f.Links > 0 {
			files = append(files, f.From)
		}
	}
	summary := fmt.Sprintf("renamed %s of %s to %q", t, fault.Printable(n.Path), strings.TrimSpace(to))
	c, err := b.apply(ctx, summary, o, ops...)
	if c != nil {
		c.Links = &change.LinkReport{Updated: r.Links, Texts: texts, Files: files, Broken: r.Broken, BrokenIn: r.BrokenIn}
	}
	return c, err
}
