package notefilter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/value"
)

// View is a view of an Obsidian base, a .base file.
type View struct {
	Name    string
	Filter  *Expr    // of the base and of the view
	Columns []string // as written: age, note.age, file.name
	Sort    []string // columns; a leading - means descending
	Group   string   // a column, possibly with a leading -
	Limit   int
	// Unsupported lists the ignored parts of the base and of the view.
	Unsupported []string
	// Err is the reason why the filters can't be evaluated.
	Err error
}

// looks lists keys of a view that affect only the appearance of rows.
var looks = []string{"type", "columnSize", "rowHeight", "cardSize", "image", "imageFit", "imageAspectRatio", "indentProperties", "markers"}

// Shown describes when and where a base is shown.
type Shown struct {
	Now  time.Time // the time of now() and today()
	This string    // the path of the note that shows the base, or ""
}

// ReadBase reads the views of a base. Views with filters that can't be evaluated have an
// error.
func ReadBase(text []byte, shown Shown) (views []View, err error) {
	d, err := value.Parse(value.YAML, text)
	if err != nil {
		return nil, err
	}
	root, err := d.Root.Go()
	top, ok := root.(map[string]any)
	if err != nil || !ok && root != nil {
		return nil, fmt.Errorf("it has to be a mapping with filters and views")
	}
	var others []string
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains([]string{"filters", "formulas", "properties", "views"}, key) {
			others = append(others, key)
		}
	}
	list, _ := top["views"].([]any)
	if len(list) == 0 {
		list = []any{map[string]any{}}
	}
	for _, item := range list {
		m, _ := item.(map[string]any)
		v := View{Unsupported: slices.Clone(others)}
		both := &Expr{}
		for _, filters := range []any{top["filters"], m["filters"]} {
			if e, err := readCond(filters, shown); err != nil {
				v.Err = err
			} else if e != nil {
				both.All = append(both.All, e)
			}
		}
		if len(both.All) > 0 {
			v.Filter = both
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			v.read(key, m[key])
		}
		views = append(views, v)
	}
	return views, nil
}

func (v *View) read(key string, val any) {
	list, _ := val.([]any)
	switch key {
	case "name":
		v.Name = fmt.Sprint(val)
	case "order":
		for _, c := range list {
			if name := fmt.Sprint(c); v.supports("column", name) {
				v.Columns = append(v.Columns, name)
			}
		}
	case "sort":
		for _, s := range list {
			if name := v.readOrder("sort", s); name != "" {
				v.Sort = append(v.Sort, name)
			}
		}
	case "groupBy":
		v.Group = v.readOrder("group", val)
	case "limit":
		v.Limit, _ = strconv.Atoi(fmt.Sprint(val))
	case "filters":
	default:
		if !slices.Contains(looks, key) {
			v.Unsupported = append(v.Unsupported, key)
		}
	}
}

// supports reports whether a column can be shown, and records it as unsupported if not.
func (v *View) supports(what, name string) bool {
	field, isFile := strings.CutPrefix(name, "file.")
	if strings.HasPrefix(name, "formula.") || isFile && !slices.Contains(fileFields, field) {
		v.Unsupported = append(v.Unsupported, what+" "+name)
		return false
	}
	return true
}

func (v *View) readOrder(what string, from any) string {
	m, _ := from.(map[string]any)
	name, _ := m["property"].(string)
	if older, ok := m["column"].(string); ok && name == "" {
		name = older
	}
	if name == "" || !v.supports(what, name) {
		return ""
	}
	if strings.EqualFold(fmt.Sprint(m["direction"]), "desc") {
		return "-" + name
	}
	return name
}

// readCond reads a filter: a statement, or a group of filters with and, or, or not. A not
// group passes if none of its filters does.
func readCond(from any, shown Shown) (*Expr, error) {
	group, ok := from.(map[string]any)
	if !ok {
		if from == nil {
			return nil, nil
		}
		return parseStatement(fmt.Sprint(from), shown)
	}
	for kind, items := range group {
		list, ok := items.([]any)
		if !ok && items != nil {
			list = []any{items}
		}
		var parts []*Expr
		for _, item := range list {
			e, err := readCond(item, shown)
			if err != nil {
				return nil, err
			}
			if e != nil {
				parts = append(parts, e)
			}
		}
		switch {
		case len(group) > 1 || kind != "and" && kind != "or" && kind != "not":
			return nil, fmt.Errorf("a group of filters is one of and, or and not, not %s", strings.Join(slices.Sorted(maps.Keys(group)), ", "))
		case len(parts) == 0: // an empty group selects all notes
			return nil, nil
		case kind == "and":
			return &Expr{All: parts}, nil
		case kind == "or":
			return &Expr{Any: parts}, nil
		}
		return &Expr{Not: &Expr{Any: parts}}, nil
	}
	return nil, nil
}
