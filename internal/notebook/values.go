package notebook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/fuzzy"
	"quarry/internal/notefields"
	"quarry/internal/notefilter"
)

// PropertyValues lists the values of a property or inline field in the notes that filters
// select, or in all notes, the most frequent first. Values that differ only in case are
// counted together. notes is the number of notes that have the property, even without a
// value.
func (b *Book) PropertyValues(ctx context.Context, name, where string) (values []Name, notes int, err error) {
	words, filter, err := b.readFilters(ctx, where)
	if err == nil && words != "" {
		err = errWords
	}
	if err != nil {
		return nil, 0, err
	}
	q := factQuery{globs: onlyNotes, want: notefields.Properties | notefields.Inline}
	if filter != nil {
		q.want |= filter.want
	}
	q.look = func(path string, f *notefields.Facts, _ []byte) any {
		if filter != nil && !filter.admits(ctx, path, f) {
			return nil
		}
		found := f.Named(ctx, name, true)
		if len(found) == 0 {
			return nil
		}
		values := []string{}
		for _, p := range found {
			for _, v := range notefields.Filled(p.Values) {
				values = append(values, strings.Clone(v))
			}
		}
		return values
	}
	counts := map[string]*Name{}
	err = b.eachFact(ctx, q, func(_ string, found any) {
		notes++
		seen := map[string]bool{}
		for _, v := range found.([]string) {
			key := strings.ToLower(v)
			if v == "" || seen[key] {
				continue
			}
			seen[key] = true
			if counts[key] == nil {
				counts[key] = &Name{Name: v}
			}
			counts[key].Notes++
		}
	})
	return byCount(counts), notes, err
}

// Unmet lists at most unmetValues values of a property, for at most unmetTerms
// properties.
const unmetValues, unmetTerms = 5, 3

// Unmet explains why property filters select no note: it lists the values that the
// property has, or says that no note has the property. Negated filters are not explained.
func (b *Book) Unmet(ctx context.Context, query string) (out []string) {
	_, expr, err := notefilter.Parse(query)
	if err != nil {
		return nil
	}
	var seen []string
	for _, t := range propertyTerms(expr, nil) {
		if len(out) == unmetTerms || slices.Contains(seen, t.Key) {
			continue
		}
		seen = append(seen, t.Key)
		values, notes, err := b.PropertyValues(ctx, t.Key, "")
		test, _ := t.Comparison(time.Now())
		switch {
		case err != nil: // ignored, since the explanation is optional
		case notes == 0:
			out = append(out, b.NoProperty(ctx, t.Key))
		case t.Op != "" && len(values) > 0 && !slices.ContainsFunc(values, func(v Name) bool { return test.Passes([]string{v.Name}) }):
			var list []string
			for _, v := range values[:min(len(values), unmetValues)] {
				list = append(list, fmt.Sprintf("%s (%d)", fault.Printable(fault.Clip(v.Name, 60)), v.Notes))
			}
			if more := len(values) - len(list); more > 0 {
				list = append(list, fmt.Sprintf("and %d more", more))
			}
			out = append(out, t.Key+" has: "+strings.Join(list, ", "))
		}
	}
	return out
}

// propertyTerms appends the property terms of e that are not negated.
func propertyTerms(e *notefilter.Expr, out []*notefilter.Term) []*notefilter.Term {
	if e == nil {
		return out
	}
	if e.Term != nil && e.Term.Name == "property" {
		return append(out, e.Term)
	}
	for _, part := range slices.Concat(e.All, e.Any) {
		out = propertyTerms(part, out)
	}
	return out
}

// NoProperty returns a message that no note has a property, with suggestions of similar
// names.
func (b *Book) NoProperty(ctx context.Context, name string) string {
	says := fmt.Sprintf("unknown property %q", name)
	names, err := b.PropertyNames(ctx)
	if err != nil {
		return says
	}
	far := max(1, len(name)/3) + 1
	var near []string
	for _, n := range names {
		if len(near) < 3 && fuzzy.Distance(strings.ToLower(name), strings.ToLower(n.Name), far) < far {
			near = append(near, fault.Printable(n.Name))
		}
	}
	if len(near) > 0 {
		says += "; the nearest: " + strings.Join(near, ", ")
	}
	return says
}
