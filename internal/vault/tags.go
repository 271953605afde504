package vault

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/value"
)

// ErrTag is returned for an invalid tag name.
var ErrTag = fault.New(fault.InvalidArgument, "invalid tag", "use letters, digits, _, - and / for nesting, and not digits alone")

// CleanTag returns a tag's name without "#", or an error if it is invalid.
func CleanTag(name string) (string, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "#")
	numeric := true
	for i, r := range name {
		_, n := utf8.DecodeRuneInString(name[i:])
		if !isTagRune(r, n) {
			return "", fmt.Errorf("%w: %q", ErrTag, fault.Clip(name, 60))
		}
		numeric = numeric && '0' <= r && r <= '9'
	}
	if numeric || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//") {
		return "", fmt.Errorf("%w: %q", ErrTag, fault.Clip(name, 60))
	}
	return name, nil
}

// HasTag reports whether tag equals of or is nested in it, ignoring case.
func HasTag(tag, of string) bool {
	tag, of = fold(tag), fold(of)
	return tag == of || strings.HasPrefix(tag, of+"/")
}

// AllTags returns the tags of a note, including repetitions. Those in properties come
// first.
func (n *Note) AllTags(head *Head) []string {
	out := head.Tags()
	for _, t := range n.Tags {
		out = append(out, t.Name)
	}
	return out
}

// AddTag returns the splices that add a tag to a note's front matter. There are none if
// the front matter already has it. If the list has an empty item, the tag replaces it.
func AddTag(ctx context.Context, text []byte, tag string) ([]Splice, error) {
	head := ReadHead(ctx, text)
	if slices.ContainsFunc(head.Tags(), func(t string) bool { return fold(t) == fold(tag) }) {
		return nil, nil
	}
	names, err := head.Names()
	if err != nil {
		return nil, err
	}
	key := "tags"
	if at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, "tags") || strings.EqualFold(n, "tag") }); at >= 0 {
		key = names[at]
	}
	d, err := header(text)
	if err != nil {
		return nil, err
	}
	switch old := d.Root.Get(key); {
	case old == nil || old.Kind == value.Null:
		return SetProperty(text, key, []string{tag})
	case old.Kind == value.List:
		if i := slices.IndexFunc(old.Items, func(n *value.Node) bool { return n.Kind == value.Null }); i >= 0 {
			return changeProperty(text, key, value.Edit{At: append(value.Keys(key), value.Step{Kind: value.ByIndex, Index: i}), Value: value.Str(tag)})
		}
	}
	return AddToProperty(text, key, tag, false)
}

// RenameTag returns the splices that rename a tag, and the tags nested in it, in a note's
// text and properties. There are none if the note doesn't have the tag. Case is ignored.
func RenameTag(ctx context.Context, text []byte, from, to string) ([]Splice, error) {
	from, err := CleanTag(from)
	if err != nil {
		return nil, err
	}
	if to, err = CleanTag(to); err != nil {
		return nil, err
	}
	n, err := Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	var out []Splice
	for _, t := range n.Tags {
		if HasTag(t.Name, from) {
			out = append(out, renamedTag(Span{Start: t.Span.Start + 1, End: t.Span.End}, t.Name, from, to))
		}
	}
	if !n.FrontMatter.Found || !slices.ContainsFunc(ReadHead(ctx, text).Tags(), func(t string) bool { return HasTag(t, from) }) {
		return out, nil
	}
	props, err := renamePropertyTags(ctx, text, from, to)
	if err != nil {
		return nil, err
	}
	return append(props, out...), nil
}

// renamedTag replaces the part of the tag at that is the name from.
func renamedTag(at Span, name, from, to string) Splice {
	end, runes := at.Start, utf8.RuneCountInString(from)
	for range runes {
		_, n := utf8.DecodeRuneInString(name[end-at.Start:])
		end += n
	}
	return Splice{Span: Span{Start: at.Start, End: end}, New: to}
}

// renamePropertyTags renames tags in properties whose tags are each on a single line.
func renamePropertyTags(ctx context.Context, text []byte, from, to string) ([]Splice, error) {
	d, err := value.Parse(value.Header, text)
	if err != nil {
		return nil, fmt.Errorf("%w: tags: %v", ErrUnsafeSplice, err)
	}
	var splices []Splice
	for _, m := range d.Root.Members {
		if k := strings.ToLower(m.Key); k != "tags" && k != "tag" {
			continue
		}
		values := []*value.Node{m.Value}
		if m.Value.Kind == value.List {
			values = m.Value.Items
		}
		for _, v := range values {
			found, err := scalarTags(text, v, from, to)
			if err != nil {
				return nil, err
			}
			splices = append(splices, found...)
		}
	}
	changed, err := ApplySplices(text, splices)
	if err != nil {
		return nil, err
	}
	want := ReadHead(ctx, text).Tags()
	for i, t := range want {
		if HasTag(t, from) {
			want[i] = renameIn(t, from, to)
		}
	}
	if got := ReadHead(ctx, changed).Tags(); !slices.Equal(got, want) {
		return nil, fmt.Errorf("%w: tags", ErrUnsafeSplice)
	}
	return splices, nil
}

func renameIn(tag, from, to string) string {
	s := renamedTag(Span{Start: 0, End: len(tag)}, tag, from, to)
	return s.New + tag[s.End:]
}

// scalarTags finds the tags in one value, which is a tag or a list of words separated by
// commas.
func scalarTags(text []byte, v *value.Node, from, to string) ([]Splice, error) {
	if v.Kind == value.List || v.Kind == value.Map || v.Kind == value.Alias {
		return nil, nil
	}
	at, end := v.Body, v.End
	if bytes.IndexByte(text[at:end], '\n') >= 0 {
		if strings.Contains(fold(v.Text), fold(from)) {
			return nil, fmt.Errorf("%w: tags over several lines", ErrUnsafeSplice)
		}
		return nil, nil
	}
	var out []Splice
	for at < end {
		if bytes.IndexByte([]byte(" ,\"'\t#"), text[at]) >= 0 {
			at++
			continue
		}
		word := at
		for at < end && bytes.IndexByte([]byte(" ,\"'\t"), text[at]) < 0 {
			at++
		}
		if name := string(text[word:at]); HasTag(name, from) {
			out = append(out, renamedTag(Span{Start: word, End: at}, name, from, to))
		}
	}
	return out, nil
}
