package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"quarry/fault"
	"quarry/internal/value"
)

// ErrNotMergeable is returned if a value can't be added to a property because of its
// current value.
var ErrNotMergeable = fault.New(fault.InvalidArgument, "the value can't be added to this property", "items go to lists, text to text, members to mappings; otherwise set the whole property")

// RenameProperty returns the splices that rename a property. There are none if the note
// doesn't have it. Only the bytes of the key change. It is an error if the note already
// has a property with the new name.
func RenameProperty(text []byte, from, to string) ([]Splice, error) {
	if strings.TrimSpace(to) == "" {
		return nil, errors.New("front matter: the key is empty")
	}
	return ifThere(changeProperty(text, from, value.Edit{At: value.Keys(from), Rename: to}))
}

// AddToProperty returns the splices that add a value to a property: items to a list, text
// to a text, or members to a mapping. They are added at the end or, if first is set, at
// the beginning. A missing property is created. Adding at the end changes no other bytes;
// adding at the beginning rewrites a list or mapping.
func AddToProperty(text []byte, key string, v any, first bool) ([]Splice, error) {
	d, err := header(text)
	if err != nil {
		return nil, err
	}
	old := d.Root.Get(key)
	if old == nil || old.Kind == value.Null {
		return SetProperty(text, key, v)
	}
	add, err := value.FromGo(v)
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	edits, err := additions(key, old, add, first)
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	return changeProperty(text, key, edits...)
}

// additions returns the edits that add the value add to the value old.
func additions(key string, old, add *value.Node, first bool) (edits []value.Edit, err error) {
	at := value.Keys(key)
	anew := &value.Node{Kind: old.Kind}
	switch {
	case old.Anchor != "":
		return nil, ErrUnsafeSplice
	case old.Kind == value.List:
		items := []*value.Node{add}
		if add.Kind == value.List {
			items = add.Items
		}
		for _, item := range items {
			edits = append(edits, value.Edit{At: append(value.Keys(key), value.Step{Kind: value.Next}), Value: item})
		}
		anew.Items = slices.Concat(items, old.Items)
	case old.Kind == value.Map && add.Kind == value.Map:
		anew.Members = slices.Clone(add.Members)
		for _, m := range add.Members {
			edits = append(edits, value.Edit{At: value.Keys(key, m.Key), Value: m.Value})
		}
		for _, m := range old.Members {
			if add.Get(m.Key) == nil {
				anew.Members = append(anew.Members, m)
			}
		}
	case old.Kind == value.Text && add.Kind == value.Text:
		both := old.Text + add.Text
		if first {
			both = add.Text + old.Text
		}
		return []value.Edit{{At: at, Value: value.Str(both)}}, nil
	default:
		return nil, ErrNotMergeable
	}
	if first {
		anew.Flow = old.InBrackets()
		return []value.Edit{{At: at, Value: anew}}, nil
	}
	return edits, nil
}

// PropertySpan returns the span of a property, including key and value.
func PropertySpan(ctx context.Context, text []byte, key string) (Span, error) {
	d, err := header(text)
	if err != nil {
		return Span{}, err
	}
	at := slices.IndexFunc(d.Root.Members, func(m *value.Member) bool { return m.Key == key })
	if at < 0 {
		names, _ := ReadHead(ctx, text).Names()
		return Span{}, &NoPartError{Kind: "property", Want: key, Have: names}
	}
	_, err = d.Find(value.Keys(key))
	span := d.Entries()[at]
	if err != nil || span.Len() == 0 {
		return Span{}, fmt.Errorf("%w: %s", ErrUnsafeSplice, key)
	}
	return span, nil
}

// PropertySpans returns the spans of all properties, in the order of Head.Names. The span
// of a property is empty if it can't be separated from another property.
func PropertySpans(ctx context.Context, text []byte) ([]Span, error) {
	d, err := value.Parse(value.Header, text)
	if err != nil {
		root, err := parseYAML(ctx, FindFrontMatter(text).YAML.In(text))
		if err != nil || root == nil {
			return nil, err
		}
		return make([]Span, len(root.Content)/2), nil
	}
	return d.Entries(), nil
}

// ParseValue returns the value of a text as YAML: a number, true, a list, a mapping, or
// the text itself. Dates, wikilinks and invalid YAML stay text.
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

// ShowValue formats a property's value. Dates are shown without a time of day.
func ShowValue(v any) string {
	if t, ok := v.(time.Time); ok && t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	return fmt.Sprint(v)
}
