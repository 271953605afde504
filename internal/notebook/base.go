package notebook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/notefields"
	"quarry/internal/notefilter"
	"quarry/internal/vault"
)

// view reads the view of a base that a term selects: File.base#View, or the first view of
// the file. After @, the term may give the note that embeds the base.
func (b *Book) view(ctx context.Context, t *notefilter.Term) (*notefilter.View, noteFilter, error) {
	shown := notefilter.Shown{Now: time.Now()}
	view := t.Value
	if i := strings.LastIndexByte(view, '@'); i > 0 && !strings.Contains(view[i:], "#") && !strings.HasSuffix(strings.ToLower(view), ".base") {
		notes, err := b.targets(ctx, view[i+1:])
		if err == nil && len(notes) != 1 {
			err = &notefilter.Error{At: t.At, What: fmt.Sprintf("%s called %q", fault.Count(len(notes), "note"), view[i+1:])}
		}
		if err != nil {
			return nil, noteFilter{}, err
		}
		view, shown.This = view[:i], notes[0]
	}
	name, want, _ := strings.Cut(view, "#")
	if !strings.HasSuffix(strings.ToLower(name), ".base") {
		name += ".base"
	}
	n, _, err := b.readText(ctx, name)
	if errors.Is(err, fault.NotFound) && !strings.Contains(name, "/") {
		if paths, _ := b.named(ctx, false, name); len(paths) == 1 {
			n, _, err = b.readText(ctx, paths[0])
		}
	}
	if err != nil {
		return nil, noteFilter{}, err
	}
	views, err := notefilter.ReadBase(n.Text, shown)
	if err != nil {
		return nil, noteFilter{}, fault.New(fault.InvalidArgument, fmt.Sprintf("%s is not a base: %v", fault.Printable(n.Path), err), "")
	}
	var names []string
	for _, v := range views {
		if names = append(names, v.Name); want != "" && !strings.EqualFold(v.Name, want) {
			continue
		}
		if v.Err != nil {
			return nil, noteFilter{}, fault.New(fault.InvalidArgument, fmt.Sprintf("%s can't be answered: %v", fault.Printable(n.Path), v.Err), "select the notes with other filters")
		}
		if v.Filter == nil {
			return &v, noteFilter{admits: func(context.Context, string, *notefields.Facts) bool { return true }}, nil
		}
		f, err := b.filter(ctx, v.Filter)
		return &v, f, err
	}
	return nil, noteFilter{}, &notefilter.Error{At: t.At, What: fmt.Sprintf("%s has no view %q; it has %s", fault.Printable(n.Path), want, strings.Join(names, ", "))}
}

// baseTable answers with the rows of a base. It has the base's own columns unless the
// query asks for others.
func (b *Book) baseTable(ctx context.Context, term *notefilter.Term, q TableQuery) (*Table, error) {
	v, filter, err := b.view(ctx, term)
	if err != nil {
		return nil, filterError(err)
	}
	t := &Table{files: true, Unsupported: v.Unsupported, Group: strings.TrimPrefix(v.Group, "-")}
	var columns []column
	var sorts []order
	for _, name := range v.Columns {
		columns = append(columns, b.baseColumn(name))
	}
	if len(q.Columns) > 0 {
		columns = b.columns(q.Columns)
	}
	if v.Group != "" {
		sorts = append(sorts, order{b.baseColumn(t.Group), t.Group != v.Group})
	}
	for _, s := range v.Sort {
		name, desc := strings.CutPrefix(s, "-")
		sorts = append(sorts, order{b.baseColumn(name), desc})
	}
	err = b.fill(ctx, t, filter, columns, sorts)
	if len(q.Columns) > 0 {
		t.findEmpty(columns, nil)
	}
	if v.Limit > 0 && v.Limit < len(t.Rows) {
		t.Unsupported = append(t.Unsupported, fmt.Sprintf("%d more rows beyond its limit", len(t.Rows)-v.Limit))
		t.Rows = t.Rows[:v.Limit]
	}
	return t, err
}

// baseColumn makes a column from a name used in bases: note.age, age, or file.name.
func (b *Book) baseColumn(name string) column {
	if field, ok := strings.CutPrefix(name, "file."); ok {
		c, _ := b.fileColumn(baseField(field))
		c.name = name
		return c
	}
	name = strings.TrimPrefix(name, "note.")
	return column{name, notefields.Properties, func(ctx context.Context, _ string, f *notefields.Facts) []string {
		values, _ := property(ctx, f, name)
		return notefields.Filled(values)
	}}
}

// baseField returns the name that fileColumn uses for a base's file.x.
func baseField(field string) string {
	if plain, ok := map[string]string{"basename": "name", "name": "file name", "mtime": "modified", "ctime": "created"}[field]; ok {
		return plain
	}
	return field
}

// property returns the values of a property in the front matter.
func property(ctx context.Context, f *notefields.Facts, name string) (values []string, list bool) {
	for _, p := range f.Named(ctx, name, false) {
		return p.Values, p.List
	}
	return nil, false
}

// statementFilter makes the filter for a statement of a base.
func (b *Book) statementFilter(ctx context.Context, t *notefilter.Term) (noteFilter, error) {
	name, ofNote := strings.CutPrefix(t.Key, "note.")
	switch {
	case t.Op == "hasLink":
		f, err := b.linkFilter(ctx, t)
		if errors.Is(err, fault.NotFound) { // no file has that name
			return noteFilter{admits: func(context.Context, string, *notefields.Facts) bool { return false }}, nil
		}
		return f, err
	case t.Op == "inFolder":
		folder := strings.Trim(t.Value, "/")
		return noteFilter{admits: func(_ context.Context, path string, _ *notefields.Facts) bool {
			return folder == "" || strings.HasPrefix(path, folder+"/")
		}}, nil
	case t.Op == "has":
		return noteFilter{want: notefields.Names, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool {
			return slices.ContainsFunc(f.PropertyNames(ctx), func(n string) bool { return strings.EqualFold(n, name) })
		}}, nil
	case ofNote:
		return noteFilter{want: notefields.Properties, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool {
			values, list := property(ctx, f, name)
			return t.Holds(notefields.Filled(values), list)
		}}, nil
	}
	c := b.baseColumn(t.Key)
	list := t.Key == "file.tags" || t.Key == "file.links"
	if t.Key == "file.tags" {
		tag := *t
		tag.Value = "#" + strings.TrimPrefix(t.Value, "#")
		t = &tag
	}
	slow := slices.Contains([]string{"file.size", "file.mtime", "file.ctime"}, t.Key)
	return noteFilter{want: c.want, slow: slow, admits: func(ctx context.Context, path string, f *notefields.Facts) bool {
		values := c.cells(ctx, path, f)
		if t.Key == "file.links" {
			for i := range values {
				values[i] = "[[" + values[i] + "]]"
			}
		}
		return t.Holds(values, list)
	}}, nil
}

// others adds rows for files without text, which bases include.
func (b *Book) others(ctx context.Context, rows []*Row, look func(path string, f *notefields.Facts, text []byte) any) ([]*Row, error) {
	paths, err := b.paths(ctx, false)
	for _, p := range paths {
		if !vault.HasLinks(p) {
			if r, ok := look(p, notefields.Of(p, nil), nil).(*Row); ok {
				rows = append(rows, r)
			}
		}
	}
	return rows, err
}
