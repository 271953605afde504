package notebook

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/notefields"
	"quarry/internal/notefilter"
	"quarry/internal/vault"
)

// TableQuery is a query for values of the notes that filters select.
type TableQuery struct {
	Query string // filters, or a single base, which has its own columns and order
	// Columns are names of properties and inline fields, or one of path, name, folder, tags,
	// links, tasks, modified and created. If a note has a property with one of these names,
	// it takes precedence, except over path and tags. As in bases, note.x and property:x are
	// properties, and file.x is a field of the file, such as file.size. The first column of
	// the table is always the path.
	Columns []string
	Sort    []string // columns to sort by, then by path; a leading - means descending
	Group   string   // the column to group rows by
}

// Table is the answer to a TableQuery.
type Table struct {
	Columns []string
	Rows    []Row
	Group   string // the column by which rows are grouped
	// Unsupported lists the parts of a base that the table ignores.
	Unsupported []string

	// Empty lists the requested columns, including those to sort or group by, that have no
	// value in any row.
	Empty []string

	files bool // rows may be files that aren't notes
}

// Row is a note and its values.
type Row struct {
	Path  string
	Cells []string // one cell for each column after the path
	Group string

	keys []sortKey
}

// column computes the values of one column.
type column struct {
	name  string
	want  uint64
	cells func(ctx context.Context, path string, f *notefields.Facts) []string
}

// order is a column to sort rows by.
type order struct {
	column
	desc bool
}

// sortKey is the sort key of a cell: numbers come first, then dates, then texts ignoring
// case, then empty cells.
type sortKey struct {
	rank   int
	number float64
	text   string
}

// keyOf returns the sort key of a cell. joined is the text of all values.
func keyOf(values []string, joined string) sortKey {
	if len(values) == 0 || values[0] == "" {
		return sortKey{rank: empty}
	}
	key := sortKey{rank: 2, text: strings.ToLower(joined)}
	if n, ok := notefilter.ReadNumber(values[0]); ok {
		key.rank, key.number = 0, n
	} else if at, ok := notefilter.ReadDate(values[0]); ok {
		key.rank, key.number = 1, float64(at.Unix())
	}
	if key.rank < 2 && len(values) == 1 {
		key.text = ""
	}
	return key
}

// empty is the rank of an empty cell.
const empty = 3

// Table lists values of the notes that filters select.
func (b *Book) Table(ctx context.Context, q TableQuery) (*Table, error) {
	expr, err := onlyFilters(q.Query)
	if err != nil {
		return nil, err
	}
	if t := expr.Term; t != nil && t.Name == "base" {
		return b.baseTable(ctx, t, q)
	}
	filter, err := b.filter(ctx, expr)
	if err != nil {
		return nil, filterError(err)
	}
	t := &Table{Group: q.Group}
	columns := b.columns(q.Columns)
	var sorts []order
	if q.Group != "" {
		sorts = append(sorts, order{b.column(q.Group), false})
	}
	for _, name := range q.Sort {
		name, desc := strings.CutPrefix(name, "-")
		sorts = append(sorts, order{b.column(name), desc})
	}
	err = b.fill(ctx, t, filter, columns, sorts)
	t.findEmpty(columns, sorts)
	return t, err
}

// findEmpty lists the columns without a value.
func (t *Table) findEmpty(columns []column, sorts []order) {
	add := func(c column, filled func(r Row) bool) {
		if len(t.Rows) > 0 && !slices.Contains(t.Empty, c.name) && !slices.ContainsFunc(t.Rows, filled) {
			t.Empty = append(t.Empty, c.name)
		}
	}
	for i, c := range columns {
		add(c, func(r Row) bool { return r.Cells[i] != "" })
	}
	for i, s := range sorts {
		add(s.column, func(r Row) bool { return r.keys[i].rank < empty })
	}
}

func (b *Book) columns(names []string) (out []column) {
	for _, name := range names {
		if name != "path" {
			out = append(out, b.column(name))
		}
	}
	return out
}

// fill finds the rows of a table and sorts them. If the table is grouped, the first order
// is the group.
func (b *Book) fill(ctx context.Context, t *Table, filter noteFilter, columns []column, sorts []order) error {
	q := factQuery{globs: onlyNotes, want: filter.want}
	for _, c := range columns {
		t.Columns, q.want = append(t.Columns, c.name), q.want|c.want
	}
	shown := make([]int, len(sorts)) // the index of each sorted column among the columns, -1 if it isn't one
	for i, s := range sorts {
		q.want |= s.want
		shown[i] = slices.IndexFunc(columns, func(c column) bool { return c.name == s.name })
	}
	q.look = func(path string, f *notefields.Facts, _ []byte) any {
		if !filter.admits(ctx, path, f) {
			return nil
		}
		r := &Row{Path: path, Cells: make([]string, len(columns)), keys: make([]sortKey, len(sorts))}
		for i, c := range columns {
			values := c.cells(ctx, path, f)
			r.Cells[i] = strings.Join(values, ", ")
			for k, at := range shown {
				if at == i {
					r.keys[k] = keyOf(values, r.Cells[i])
				}
			}
		}
		for k, at := range shown {
			text := ""
			if at < 0 {
				values := sorts[k].cells(ctx, path, f)
				text = strings.Join(values, ", ")
				r.keys[k] = keyOf(values, text)
			} else {
				text = r.Cells[at]
			}
			if k == 0 && t.Group != "" {
				r.Group = text
			}
		}
		return r
	}
	if t.files {
		q.globs = notesGlobs
	}
	var rows []*Row
	err := b.eachFact(ctx, q, func(_ string, found any) { rows = append(rows, found.(*Row)) })
	if err == nil && t.files {
		rows, err = b.others(ctx, rows, q.look)
		slices.SortFunc(rows, func(a, b *Row) int { return strings.Compare(a.Path, b.Path) })
	}
	for k := len(sorts) - 1; k >= 0; k-- {
		rows = sorted(rows, k, sorts[k].desc)
	}
	t.Rows = make([]Row, len(rows))
	for i, r := range rows {
		if t.Rows[i] = *r; i > 0 && t.Group != "" && r.keys[0] == rows[i-1].keys[0] {
			t.Rows[i].Group = t.Rows[i-1].Group // which may be in other letter case
		}
	}
	return err
}

// sorted sorts rows by their key k. Rows with equal keys keep their order. It only compares
// different keys, which are few in most columns: for 10,000 rows with three keys, comparing
// rows took 12 ms.
func sorted(rows []*Row, k int, desc bool) []*Row {
	equal := map[sortKey][]*Row{}
	for _, r := range rows {
		equal[r.keys[k]] = append(equal[r.keys[k]], r)
	}
	rows = rows[:0]
	for _, key := range slices.SortedFunc(maps.Keys(equal), func(x, y sortKey) int {
		by := cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.number, y.number), strings.Compare(x.text, y.text))
		if desc && x.rank < empty && y.rank < empty { // empty cells are last in either direction
			return -by
		}
		return by
	}) {
		rows = append(rows, equal[key]...)
	}
	return rows
}

// column makes the column with a name. A property may also be an inline field.
func (b *Book) column(name string) column {
	lower := strings.ToLower(name)
	for _, prefix := range []string{"note.", "property:"} {
		if strings.HasPrefix(lower, prefix) {
			return propertyColumn(name, name[len(prefix):])
		}
	}
	if field, ok := strings.CutPrefix(lower, "file."); ok {
		if c, ok := b.fileColumn(baseField(field)); ok {
			c.name = name
			return c
		}
	}
	own := propertyColumn(name, name)
	c, known := b.fileColumn(lower)
	switch {
	case !known || slices.Contains([]string{"size", "ext", "file name"}, lower): // without the prefix file. these names are not fields of the file
		return own
	case lower == "path" || lower == "tags":
		c.name = name
		return c
	}
	return column{name, own.want | c.want, func(ctx context.Context, path string, f *notefields.Facts) []string {
		if out := own.cells(ctx, path, f); len(out) > 0 {
			return out
		}
		return c.cells(ctx, path, f)
	}}
}

// propertyColumn makes a column of property values.
func propertyColumn(name, property string) column {
	return column{name, notefields.Properties | notefields.Inline, func(ctx context.Context, _ string, f *notefields.Facts) (out []string) {
		for i, p := range f.Named(ctx, property, true) {
			if i == 0 {
				out = slices.Clip(p.Values) // most notes have at most one such property
			} else {
				out = append(out, p.Values...)
			}
		}
		return notefields.Filled(out)
	}}
}

// fileColumn makes a column whose values are not from a property. ok is false if there is
// no such column.
func (b *Book) fileColumn(name string) (c column, ok bool) {
	c.name = name
	ofPath := func(of func(p string) string) {
		c.cells = func(_ context.Context, p string, _ *notefields.Facts) []string { return []string{of(p)} }
	}
	ofFile := func(of func(at time.Time, size int64) string) {
		infos := fileInfos{b: b, created: name == "created"}
		c.cells = func(ctx context.Context, p string, _ *notefields.Facts) []string {
			at, size, ok := infos.of(ctx, p)
			if !ok || at.IsZero() {
				return nil
			}
			return []string{of(at, size)}
		}
	}
	switch name {
	case "path":
		ofPath(func(p string) string { return p })
	case "name":
		ofPath(func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) })
	case "file name":
		ofPath(path.Base)
	case "ext":
		ofPath(func(p string) string { return strings.TrimPrefix(path.Ext(p), ".") })
	case "folder":
		ofPath(func(p string) string { return strings.TrimSuffix(strings.TrimSuffix(p, path.Base(p)), "/") })
	case "modified", "created":
		ofFile(func(at time.Time, _ int64) string { return at.Local().Format(minutes) })
	case "size":
		ofFile(func(_ time.Time, size int64) string { return strconv.FormatInt(size, 10) })
	case "tags":
		c.want, c.cells = notefields.Tags, func(ctx context.Context, _ string, f *notefields.Facts) (out []string) {
			for _, t := range distinct(f.Tags(ctx)) {
				out = append(out, "#"+t)
			}
			return out
		}
	case "links":
		c.want, c.cells = notefields.Links, func(ctx context.Context, _ string, f *notefields.Facts) (out []string) {
			f.EachLink(ctx, func(_ int, l *vault.Link) bool { out = append(out, l.Path+l.Subpath); return true })
			return distinct(out)
		}
	case "tasks":
		c.want, c.cells = notefields.Tasks, func(ctx context.Context, _ string, f *notefields.Facts) []string {
			open, done := 0, 0
			f.EachTask(ctx, func(t *vault.Task) bool {
				if t.Open {
					open++
				} else if t.Done {
					done++
				}
				return true
			})
			if open+done == 0 {
				return nil
			}
			return []string{strconv.Itoa(open) + " open, " + strconv.Itoa(done) + " done"}
		}
	}
	return c, c.cells != nil
}

// minutes is the format of times in a table.
const minutes = "2006-01-02 15:04"
