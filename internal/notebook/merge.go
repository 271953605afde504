package notebook

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// TargetError is an error about the second of two notes.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return e.Err.Error() }
func (e *TargetError) Unwrap() error { return e.Err }

// Merge puts the text of a note at the end of another and deletes it, as one
// change. Links that meant it mean the other, its own links keep their targets.
// Properties the other lacks come along; lists such as tags and aliases are
// joined; a property both have keeps the value of the other.
func (b *Book) Merge(ctx context.Context, from, into string, o Options) (*change.Change, error) {
	source, err := b.Read(ctx, from)
	if err != nil {
		return nil, err
	}
	target, err := b.Read(ctx, into)
	if err != nil {
		return nil, &TargetError{err}
	}
	if source.Path, err = b.resolve(ctx, source.Path); err != nil {
		return nil, err
	}
	if target.Path, err = b.resolve(ctx, target.Path); err != nil {
		return nil, err
	}
	if source.Path == target.Path {
		return nil, fault.New(fault.InvalidArgument, "a note can't be merged into itself", "")
	}
	files, err := b.concerned(ctx, source, target)
	if err != nil {
		return nil, err
	}
	graph, err := vault.NewGraph(ctx, files)
	if err != nil {
		return nil, err
	}
	settings, err := b.settings(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := graph.PlanMerge(ctx, files, source.Path, target.Path, vault.PlanOptions{Update: true, Format: settings.NewLinkFormat})
	if err != nil {
		return nil, err
	}
	ops := []change.Op{}
	body, merged := source.Text, target.Text
	var linked []string
	for _, f := range plan.Files {
		switch f.From {
		case source.Path:
			body, err = vault.ApplySplices(source.Text, f.Splices)
		case target.Path:
			merged, err = vault.ApplySplices(target.Text, f.Splices)
		default:
			ops = append(ops, files.read[f.From].edit(f.Splices))
			linked = append(linked, f.From)
		}
		if err != nil {
			return nil, err
		}
	}
	if merged, err = mergeTexts(ctx, merged, body); err != nil {
		return nil, err
	}
	ops = append([]change.Op{narrow(target, change.Op{Verb: change.EditFile, Path: target.Path, Version: target.Version}, merged)}, ops...)
	ops = append(ops, change.Op{Verb: change.DeletePath, Path: source.Path, Version: source.Version})
	summary := fmt.Sprintf("merged %s into %s", fault.Printable(source.Path), fault.Printable(target.Path))
	c, err := b.apply(ctx, summary, o, ops...)
	if c != nil {
		c.Links = &change.LinkReport{Updated: plan.Updated, Files: linked, Broken: plan.Broken, BrokenIn: plan.BrokenIn}
	}
	return c, err
}

// mergeTexts appends the body of one note to another and joins their properties.
func mergeTexts(ctx context.Context, into, from []byte) ([]byte, error) {
	head := vault.ReadHead(ctx, from)
	values, err := head.Properties()
	if err != nil {
		return nil, err
	}
	names, _ := head.Names()
	have, err := vault.ReadHead(ctx, into).Properties()
	if err != nil {
		return nil, err
	}
	out := into
	for _, name := range names {
		var splices []vault.Splice
		old, both := have[name]
		list, isList := values[name].([]any)
		switch {
		case !both:
			splices, err = vault.SetProperty(out, name, values[name])
		case isList:
			if items, ok := old.([]any); ok {
				list = slices.DeleteFunc(slices.Clone(list), func(v any) bool {
					return slices.ContainsFunc(items, func(w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) })
				})
			}
			if len(list) > 0 {
				splices, err = vault.AddToProperty(out, name, list, false)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("property %s: %w", name, err)
		}
		if out, err = vault.ApplySplices(out, splices); err != nil {
			return nil, err
		}
	}
	body := bytes.Trim(from[vault.FindFrontMatter(from).Body:], "\r\n")
	if len(bytes.TrimSpace(body)) == 0 {
		return out, nil
	}
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	splices, err := vault.EditSection(ctx, out, "", vault.PartEdit{Operation: vault.OpAppend, Content: "\n" + text + "\n"})
	if err != nil {
		return nil, err
	}
	return vault.ApplySplices(out, splices)
}

// files are the files of a vault as a plan sees them.
type files struct {
	paths []string
	read  map[string]*Note
}

// Paths lists them.
func (f *files) Paths() []string { return f.paths }

// Read returns the text of one; of a file that links to none in question it is
// empty.
func (f *files) Read(path string) ([]byte, error) {
	if n := f.read[path]; n != nil {
		return n.Text, nil
	}
	return nil, nil
}

// concerned reads the notes that may link to one of these, and them.
func (b *Book) concerned(ctx context.Context, notes ...*Note) (*files, error) {
	var names []string
	for _, n := range notes {
		names = append(names, n.Path)
	}
	return b.mentioned(ctx, names, notes...)
}

// mentioned reads the notes that may link to files of these names, and those
// given.
func (b *Book) mentioned(ctx context.Context, names []string, notes ...*Note) (*files, error) {
	f := &files{read: map[string]*Note{}}
	var err error
	if f.paths, err = b.paths(ctx, true); err != nil {
		return nil, err
	}
	for _, n := range notes {
		if !slices.Contains(f.paths, n.Path) {
			f.paths = append(f.paths, n.Path)
		}
	}
	exprs, ok := vault.Mentions(names)
	if !ok {
		exprs = nil
	}
	sources, err := b.mentioning(ctx, true, exprs, notesGlobs...)
	if err != nil {
		return nil, err
	}
	err = b.eachNote(ctx, sources, func(n *Note) error {
		f.read[n.Path] = n
		return nil
	})
	for _, n := range notes {
		f.read[n.Path] = n
	}
	return f, err
}

// settings are those of the vault; what is wrong in them keeps its default.
func (b *Book) settings(ctx context.Context) (vault.Settings, error) {
	data, err := b.ws.VaultFile(ctx, "app.json")
	if err != nil {
		return vault.DefaultSettings(), err
	}
	s, _ := vault.ParseSettings(data)
	return s, nil
}
