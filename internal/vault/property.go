package vault

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	if d, err := header(text); err == nil {
		own, other := ownName(d, from), ownName(d, to)
		if d.Root.Get(own) != nil && d.Root.Get(other) != nil && own != other {
			return nil, fmt.Errorf("%w: %s: there is a %q already", ErrUnsafeSplice, own, other)
		}
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
	key = ownName(d, key)
	old := d.Root.Get(key)
	if old == nil || old.Kind == value.Null {
		return SetProperty(text, key, v)
	}
	add, err := newValue(key, v)
	if err != nil {
		return nil, err
	}
	if names := listed(text, key); names != nil && old.Kind < value.List {
		items := []*value.Node{add}
		if add.Kind == value.List {
			items = add.Items
		}
		if first {
			items = append(items, names...)
		} else {
			items = append(names, items...)
		}
		return changeProperty(text, key, value.Edit{At: value.Keys(key), Value: value.ListOf(items...)})
	}
	if typed, ok := v.(*value.Node); ok && old.Kind == value.Text && add.Kind < value.List {
		add = value.Str(typed.Text) // also a number, and blanks
	}
	edits, err := additions(key, old, add, first)
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	return changeProperty(text, key, edits...)
}

// listed returns the values of a property that is a list even if it is written as a text:
// tags and aliases.
func listed(text []byte, key string) (out []*value.Node) {
	head, key := ReadHead(context.Background(), text), strings.ToLower(key)
	if tags := key == "tags" || key == "tag"; tags || key == "aliases" || key == "alias" {
		for _, s := range head.texts(tags, key) {
			out = append(out, value.Str(s))
		}
	}
	return out
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
	key = ownName(d, key)
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

// ParseValue returns the value of a text that was typed as YAML, for [SetProperty] and
// [AddToProperty]: a list, a mapping in braces or on several lines, or else the text itself.
// Numbers, booleans and null are those that Obsidian shows as they were typed: 1.10 is a
// text. Blanks around a scalar are kept for a text that it is added to.
func ParseValue(s string) any {
	typed := strings.TrimSpace(s)
	itself := value.Str(strings.Trim(s, "\r\n"))
	text := []byte(typed)
	d, err := value.Parse(value.YAML, text)
	if err == nil {
		_, err = d.Root.Go() // a key may be there twice
	}
	if err != nil || linkLike(typed) || strings.HasPrefix(typed, "!") || strings.Contains("\n"+typed, "\n---") {
		return itself
	}
	lined := strings.Contains(typed, "\n")
	switch root := d.Root; {
	case (!lined || root.Kind < value.List) && (root.Start > 0 || root.End < len(text)) && !root.InBrackets(), // a comment
		root.Kind == value.Map && !root.InBrackets() && (!lined || len(root.Members) == 0), // as in Dune: Part Two
		root.Quote() == '|' && !lined:
	case root.Kind == value.Text && root.Quote() == 0 && root.Tag+root.Anchor == "":
		return itself // of several lines, too
	default:
		if !asTyped(root, text, lined) {
			return itself
		}
		if root.Text == typed {
			root.Text = itself.Text
		}
		return root
	}
	return itself
}

// asTyped makes texts of the scalars and links in n that Obsidian would show differently
// from how they were typed. It returns false if all of it has to be a text.
func asTyped(n *value.Node, typed []byte, lined bool) bool {
	source := string(n.In(typed))
	switch {
	case n.Tag+n.Anchor != "" || n.Kind == value.Alias || source == "" && (!lined || n.Kind != value.Null):
		return false
	case n.Kind == value.List && linkLike(source),
		n.Kind == value.Number && !canonical(source),
		n.Kind == value.Bool && source != "true" && source != "false",
		n.Kind == value.Null && source != "null" && source != "":
		*n = *value.Str(source)
	case n.Kind == value.Text && n.Quote() == 0:
		n.Plain = plainDate(n.Text)
	}
	for _, item := range n.Items {
		if !asTyped(item, typed, lined) {
			return false
		}
	}
	for _, m := range n.Members {
		if !asTyped(m.Value, typed, lined) {
			return false
		}
	}
	n.Spread()
	return true
}

// linkLike reports whether a text begins with a wikilink, not with a list of lists.
func linkLike(s string) bool {
	end := strings.IndexByte(s, ']')
	return end > 2 && strings.HasPrefix(s, "[[") && s[2] != '[' && strings.HasPrefix(s[end:], "]]")
}

// canonical reports whether JavaScript writes a number in the same way.
func canonical(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && s != "-0" && strconv.FormatFloat(f, 'f', -1, 64) == s && (f == 0 || math.Abs(f) >= 1e-6 && math.Abs(f) < 1e21)
}
