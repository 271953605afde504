package notebook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/notefields"
	"quarry/internal/vault"
)

// noteFilter decides whether a note may be in the answer.
type noteFilter struct {
	want   uint64 // the facts it needs
	admits func(ctx context.Context, path string, f *notefields.Facts) bool
}

// readFilters takes the filters out of a query and returns its words. A filter
// after a minus omits the notes that it would select.
func (s *noteSearch) readFilters(query string) (words string, err error) {
	var rest []string
	for _, field := range quotedFields(query) {
		name, value, ok := strings.Cut(field, ":")
		name, not := strings.CutPrefix(name, "-")
		make, known := noteFilters[strings.ToLower(name)]
		if !ok || !known {
			rest = append(rest, field)
			continue
		}
		if value == "" {
			return "", fmt.Errorf("%w %q", ErrFilter, field)
		}
		f, err := make(value)
		if err != nil {
			return "", err
		}
		if not {
			admits := f.admits
			f.admits = func(ctx context.Context, path string, facts *notefields.Facts) bool { return !admits(ctx, path, facts) }
		}
		s.filters = append(s.filters, f)
	}
	return strings.Join(rest, " "), nil
}

var noteFilters = map[string]func(value string) (noteFilter, error){
	"tag":      tagFilter,
	"property": propertyFilter,
	"path":     pathFilter,
	"heading":  headingFilter,
	"link":     linkFilter,
}

// linkFilter: the note has a link to a note of that name, or of a path that ends
// so. Whether such a note exists doesn't matter.
func linkFilter(value string) (noteFilter, error) {
	return noteFilter{notefields.Links, func(ctx context.Context, _ string, f *notefields.Facts) bool {
		found := false
		f.EachLink(ctx, func(_ int, l *vault.Link) bool {
			found = l.Names(value)
			return !found
		})
		return found
	}}, nil
}

func hasTag(ctx context.Context, f *notefields.Facts, tag string) bool {
	return slices.ContainsFunc(f.Tags(ctx), func(t string) bool { return vault.HasTag(t, tag) })
}

func tagFilter(value string) (noteFilter, error) {
	tag, err := vault.CleanTag(value)
	if err != nil {
		return noteFilter{}, err
	}
	return noteFilter{notefields.Tags, func(ctx context.Context, _ string, f *notefields.Facts) bool { return hasTag(ctx, f, tag) }}, nil
}

// propertyFilter: the note has the property, or with "=" one of its values is
// the text, in any case.
func propertyFilter(value string) (noteFilter, error) {
	name, want, valued := strings.Cut(value, "=")
	return noteFilter{notefields.Properties, func(ctx context.Context, _ string, f *notefields.Facts) bool {
		return slices.ContainsFunc(f.Properties(ctx), func(p notefields.Property) bool {
			return strings.EqualFold(p.Name, name) && (!valued || slices.ContainsFunc(p.Values, func(v string) bool { return strings.EqualFold(v, want) }))
		})
	}}, nil
}

func pathFilter(value string) (noteFilter, error) {
	value = strings.ToLower(norm.NFC.String(strings.Trim(value, "/")))
	return noteFilter{0, func(_ context.Context, path string, _ *notefields.Facts) bool {
		return strings.Contains(strings.ToLower(norm.NFC.String(path)), value)
	}}, nil
}

func headingFilter(value string) (noteFilter, error) {
	value = strings.ToLower(value)
	return noteFilter{notefields.Headings, func(ctx context.Context, _ string, f *notefields.Facts) bool {
		return slices.ContainsFunc(f.Headings(ctx), func(h string) bool { return strings.Contains(strings.ToLower(h), value) })
	}}, nil
}

// quotedFields splits at blanks outside quotes and drops the quotes.
func quotedFields(s string) []string {
	var out []string
	var b strings.Builder
	quoted := false
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for _, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ' ' || r == '\t' || r == '\n'):
			end()
		default:
			b.WriteRune(r)
		}
	}
	end()
	return out
}
