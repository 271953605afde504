package vault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"quarry/fault"
)

// ErrNotMergeable says that a value can't be added to the one a property has.
var ErrNotMergeable = fault.New(fault.InvalidArgument, "the value can't be added to this property", "items go to lists, text to text, members to mappings; else set it anew")

// RenameProperty returns the splices that give a property another name; none if
// the note doesn't have it. Only the bytes of the key change. A note that has
// the new name too is refused.
func RenameProperty(text []byte, from, to string) ([]Splice, error) {
	fm := FindFrontMatter(text)
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil || root == nil {
		return nil, err
	}
	place, found, err := findKey(yml, root, from)
	if err != nil || !found || from == to {
		return nil, err
	}
	if valueOf(root, to) != nil {
		return nil, fmt.Errorf("%w: %s: the note has a property %s already", ErrUnsafeSplice, from, to)
	}
	entry, err := renderEntry(to, "x")
	if err != nil {
		return nil, err
	}
	key := entry[:entryColon(entry)-1]
	start := place.line + len(yml[place.line:place.colon]) - len(trimLeftBlank(yml[place.line:place.colon]))
	s := Splice{Span{start, place.colon - 1}, key}
	changed, err := ApplySplices(yml, []Splice{s})
	if err != nil {
		return nil, err
	}
	after, err := parseYAML(changed)
	if err != nil || after == nil || !sameRenamed(root, after, from, to) {
		return nil, fmt.Errorf("%w: %s", ErrUnsafeSplice, from)
	}
	s.Start, s.End = s.Start+fm.YAML.Start, s.End+fm.YAML.Start
	return []Splice{s}, nil
}

func trimLeftBlank(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	return s
}

// sameRenamed: b is a with one key called otherwise.
func sameRenamed(a, b *yaml.Node, from, to string) bool {
	if len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if i%2 == 0 && a.Content[i].Value == from {
			if b.Content[i].Value != to {
				return false
			}
			continue
		}
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// AddToProperty returns the splices that add a value to a property: items to a
// list, text to a text, members to a mapping; at the end, or at the beginning.
// A property that is missing is made. An item added to the end of a list with
// one item per line becomes a new line; the other lines keep their bytes.
func AddToProperty(text []byte, key string, value any, first bool) ([]Splice, error) {
	fm := FindFrontMatter(text)
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil {
		return nil, err
	}
	old := valueOf(root, key)
	if old == nil || old.Tag == "!!null" {
		return SetProperty(text, key, value)
	}
	var add yaml.Node
	if err := encodeNode(value, &add); err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	merged, err := mergeNodes(old, &add, first)
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	if old.Kind == yaml.SequenceNode && old.Style&yaml.FlowStyle == 0 && len(old.Content) > 0 && !first {
		if out, err := appendItems(text, fm, root, key, old, merged); err == nil {
			return out, nil
		}
	}
	return SetProperty(text, key, merged)
}

// appendItems writes the items a list gets as lines after its last.
func appendItems(text []byte, fm FrontMatter, root *yaml.Node, key string, old, merged *yaml.Node) ([]Splice, error) {
	yml := fm.YAML.In(text)
	place, found, err := findKey(yml, root, key)
	if err != nil || !found {
		return nil, fmt.Errorf("%w: %s", ErrUnsafeSplice, key)
	}
	eol := lineEnding(text)
	indent := strings.Repeat(" ", max(old.Column-1, 0))
	var b strings.Builder
	for _, item := range merged.Content[len(old.Content):] {
		if item.Kind != yaml.ScalarNode {
			return nil, ErrUnsafeSplice
		}
		entry, err := renderEntry("k", item)
		if err != nil || strings.Count(entry, "\n") != 1 {
			return nil, ErrUnsafeSplice
		}
		b.WriteString(eol + indent + "- " + strings.TrimSuffix(strings.TrimPrefix(entry, "k: "), "\n"))
	}
	s := Splice{Span{place.end, place.end}, b.String()}
	return checked(yml, root, key, s, fm.YAML.Start, merged, false)
}

func encodeNode(value any, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return into.Encode(value)
}

// mergeNodes returns old and add as one value, in this order.
func mergeNodes(old, add *yaml.Node, first bool) (*yaml.Node, error) {
	out := *old
	out.HeadComment, out.LineComment, out.FootComment = "", "", ""
	switch {
	case old.Anchor != "":
		return nil, ErrUnsafeSplice
	case old.Kind == yaml.SequenceNode:
		items := []*yaml.Node{add}
		if add.Kind == yaml.SequenceNode {
			items = add.Content
		}
		if first {
			out.Content = slices.Concat(items, old.Content)
		} else {
			out.Content = slices.Concat(old.Content, items)
		}
	case old.Kind == yaml.MappingNode && add.Kind == yaml.MappingNode:
		rest := add.Content
		if first {
			out.Content = slices.Clone(rest)
			rest = old.Content
		} else {
			out.Content = slices.Clone(old.Content)
		}
		for i := 0; i+1 < len(rest); i += 2 {
			at := slices.IndexFunc(out.Content, func(n *yaml.Node) bool { return n.Value == rest[i].Value })
			switch {
			case at < 0 || at%2 == 1:
				out.Content = append(out.Content, rest[i], rest[i+1])
			case !first:
				out.Content[at+1] = rest[i+1]
			}
		}
	case old.Tag == "!!str" && add.Tag == "!!str":
		out.Value, out.Style = old.Value+add.Value, 0
		if first {
			out.Value = add.Value + old.Value
		}
	default:
		return nil, ErrNotMergeable
	}
	return &out, nil
}

// PropertyNames returns the properties of a note in the order they stand.
func PropertyNames(text []byte) ([]string, error) {
	root, err := parseYAML(FindFrontMatter(text).YAML.In(text))
	if err != nil || root == nil {
		return nil, err
	}
	var out []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		out = append(out, root.Content[i].Value)
	}
	return out, nil
}

// PropertySpan returns where a property stands, key and value.
func PropertySpan(text []byte, key string) (Span, error) {
	fm := FindFrontMatter(text)
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil {
		return Span{}, err
	}
	place, found, err := findKey(yml, root, key)
	if err != nil {
		return Span{}, err
	}
	if !found {
		names, _ := PropertyNames(text)
		return Span{}, &NoPartError{Kind: "property", Want: key, Have: names}
	}
	return Span{place.line + fm.YAML.Start, place.end + fm.YAML.Start}, nil
}

// PropertySpans returns where all properties stand, in the order of PropertyNames. The
// span of one that can't be told from another is empty.
func PropertySpans(text []byte) ([]Span, error) {
	fm := FindFrontMatter(text)
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil || root == nil {
		return nil, err
	}
	spans := make([]Span, len(root.Content)/2)
	if root.Style&yaml.FlowStyle != 0 {
		return spans, nil
	}
	cur := newYAMLCursor(yml)
	starts := make([]int, len(spans)+1)
	starts[len(spans)] = len(yml)
	for i := range spans {
		k := root.Content[2*i]
		at, ok := cur.seek(k.Line, k.Column)
		if !ok {
			return spans, nil
		}
		starts[i] = bytes.LastIndexByte(yml[:at], '\n') + 1
	}
	for i := range spans {
		if from, limit := starts[i], starts[i+1]; from < limit {
			end, _ := lastContentLine(yml, from, limit)
			spans[i] = Span{from + fm.YAML.Start, end + fm.YAML.Start}
		}
	}
	return spans, nil
}

// TitleProperty returns the text of the property title, "" for none.
func TitleProperty(text []byte) string {
	root, err := parseYAML(FindFrontMatter(text).YAML.In(text))
	if err != nil {
		return ""
	}
	if v := valueOf(root, "title"); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// ParseValue is the value a text has in YAML: a number, true, a list, a mapping,
// or the text itself. A date, a wikilink and text that is not YAML stay text.
func ParseValue(s string) any {
	var v any
	if strings.HasPrefix(strings.TrimSpace(s), "[[") || parseValue(s, &v) != nil || v == nil && s != "null" {
		return s
	}
	if _, ok := v.(time.Time); ok {
		return s
	}
	return v
}

func parseValue(s string, into *any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return yaml.Unmarshal([]byte(s), into)
}

// ShowValue is a value of a property as text: a date without its time of day.
func ShowValue(v any) string {
	if t, ok := v.(time.Time); ok && t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	return fmt.Sprint(v)
}
