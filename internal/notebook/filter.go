package notebook

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/vault"
)

// noteFilter decides whether a note may be in the answer.
type noteFilter func(path string, text []byte) bool

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
			s.filters = append(s.filters, func(path string, text []byte) bool { return !f(path, text) })
			continue
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
	return func(_ string, text []byte) bool {
		return slices.ContainsFunc(vault.Scan(text).Links, func(l vault.Link) bool { return l.Names(value) })
	}, nil
}

func tagFilter(value string) (noteFilter, error) {
	tag, err := vault.CleanTag(value)
	if err != nil {
		return nil, err
	}
	return func(_ string, text []byte) bool {
		return slices.ContainsFunc(vault.Scan(text).AllTags(text), func(t string) bool { return vault.HasTag(t, tag) })
	}, nil
}

// propertyFilter: the note has the property, or with "=" one of its values is
// the text, in any case.
func propertyFilter(value string) (noteFilter, error) {
	name, want, valued := strings.Cut(value, "=")
	return func(_ string, text []byte) bool {
		props, err := vault.Properties(text)
		if err != nil {
			return false
		}
		for key, v := range props {
			if !strings.EqualFold(key, name) {
				continue
			}
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			if !valued || slices.ContainsFunc(list, func(v any) bool { return strings.EqualFold(vault.ShowValue(v), want) }) {
				return true
			}
		}
		return false
	}, nil
}

func pathFilter(value string) (noteFilter, error) {
	value = strings.ToLower(norm.NFC.String(strings.Trim(value, "/")))
	return func(path string, _ []byte) bool {
		return strings.Contains(strings.ToLower(norm.NFC.String(path)), value)
	}, nil
}

func headingFilter(value string) (noteFilter, error) {
	value = strings.ToLower(value)
	return func(_ string, text []byte) bool {
		return slices.ContainsFunc(vault.Scan(text).Headings, func(h vault.Heading) bool { return strings.Contains(strings.ToLower(h.Text), value) })
	}, nil
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
