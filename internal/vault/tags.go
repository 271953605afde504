package vault

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"quarry/fault"
)

// ErrTag is for a name that can't be a tag.
var ErrTag = fault.New(fault.InvalidArgument, "invalid tag", "use letters, digits, _, - and / for nesting, and not digits alone")

// CleanTag returns a tag's name without "#", and an error if it can't be one.
func CleanTag(name string) (string, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "#")
	numeric := true
	for i, r := range name {
		_, n := utf8.DecodeRuneInString(name[i:])
		if !isTagRune(r, n) {
			return "", fmt.Errorf("%w: %q", ErrTag, clip(name, 60))
		}
		numeric = numeric && '0' <= r && r <= '9'
	}
	if numeric || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//") {
		return "", fmt.Errorf("%w: %q", ErrTag, clip(name, 60))
	}
	return name, nil
}

// HasTag reports whether a tag is another, or nested in it, in any case.
func HasTag(tag, of string) bool {
	tag, of = fold(tag), fold(of)
	return tag == of || strings.HasPrefix(tag, of+"/")
}

// AllTags returns the tags of a note, those of its properties first, each as
// often as it occurs.
func (n *Note) AllTags(text []byte) []string {
	out := FrontMatterTags(text)
	for _, t := range n.Tags {
		out = append(out, t.Name)
	}
	return out
}

// AddTag returns the splices that give a note a tag in its front matter; none if it
// has the tag there already. An item of the list that is empty becomes the tag.
func AddTag(text []byte, tag string) ([]Splice, error) {
	if slices.ContainsFunc(FrontMatterTags(text), func(t string) bool { return fold(t) == fold(tag) }) {
		return nil, nil
	}
	names, err := PropertyNames(text)
	if err != nil {
		return nil, err
	}
	key := "tags"
	if at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, "tags") || strings.EqualFold(n, "tag") }); at >= 0 {
		key = names[at]
	}
	fm := FindFrontMatter(text)
	root, err := parseYAML(fm.YAML.In(text))
	if err != nil {
		return nil, err
	}
	old := valueOf(root, key)
	switch {
	case old != nil && old.Kind == yaml.SequenceNode:
		if s, ok := fillItem(text, fm, root, key, old, tag); ok {
			return s, nil
		}
	case old != nil && old.Kind == yaml.ScalarNode && old.Tag != "!!null":
		return SetProperty(text, key, append(FrontMatterTags(text), tag))
	case old == nil || old.Tag == "!!null":
		return SetProperty(text, key, []string{tag})
	}
	return AddToProperty(text, key, tag, false)
}

// emptyItem is a line of a list that has no value.
var emptyItem = regexp.MustCompile(`(?m)^[ \t]*-([ \t]*)\r?$`)

// fillItem puts a value into the one empty item of a list.
func fillItem(text []byte, fm FrontMatter, root *yaml.Node, key string, list *yaml.Node, value string) ([]Splice, bool) {
	filled := *list
	filled.Content = slices.Clone(list.Content)
	at := slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return n.Tag == "!!null" })
	if at < 0 {
		return nil, false
	}
	filled.Content[at] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	yml := fm.YAML.In(text)
	place, found, err := findKey(yml, root, key)
	if err != nil || !found {
		return nil, false
	}
	empty := emptyItem.FindAllSubmatchIndex(yml[place.line:place.end], -1)
	if len(empty) != 1 {
		return nil, false
	}
	s := Splice{Span{place.line + empty[0][2], place.line + empty[0][3]}, " " + value}
	out, err := checked(yml, root, key, s, fm.YAML.Start, &filled, false)
	return out, err == nil
}

// RenameTag returns the splices that rename a tag, and those nested in it, in
// the text of a note and in its properties; none where the note has no such
// tag. Tags count in any case.
func RenameTag(text []byte, from, to string) ([]Splice, error) {
	from, err := CleanTag(from)
	if err != nil {
		return nil, err
	}
	if to, err = CleanTag(to); err != nil {
		return nil, err
	}
	n := Scan(text)
	var out []Splice
	for _, t := range n.Tags {
		if HasTag(t.Name, from) {
			out = append(out, renamedTag(Span{t.Span.Start + 1, t.Span.End}, t.Name, from, to))
		}
	}
	if !n.FrontMatter.Found || !slices.ContainsFunc(FrontMatterTags(text), func(t string) bool { return HasTag(t, from) }) {
		return out, nil
	}
	props, err := renamePropertyTags(text, n.FrontMatter, from, to)
	if err != nil {
		return nil, err
	}
	return append(props, out...), nil
}

// renamedTag replaces as much of a tag as the old name covers.
func renamedTag(at Span, name, from, to string) Splice {
	end, runes := at.Start, utf8.RuneCountInString(from)
	for range runes {
		_, n := utf8.DecodeRuneInString(name[end-at.Start:])
		end += n
	}
	return Splice{Span{at.Start, end}, to}
}

// renamePropertyTags renames the tags of the properties, where they stand on one
// line each.
func renamePropertyTags(text []byte, fm FrontMatter, from, to string) ([]Splice, error) {
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil || root == nil {
		return nil, err
	}
	var splices []Splice
	cur := newYAMLCursor(yml)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k := strings.ToLower(root.Content[i].Value); k != "tags" && k != "tag" {
			continue
		}
		values := []*yaml.Node{root.Content[i+1]}
		if values[0].Kind == yaml.SequenceNode {
			values = values[0].Content
		}
		for _, v := range values {
			if v.Kind != yaml.ScalarNode {
				continue
			}
			found, err := scalarTags(yml, cur, v, from, to)
			if err != nil {
				return nil, err
			}
			splices = append(splices, found...)
		}
	}
	changed, err := ApplySplices(yml, splices)
	if err != nil {
		return nil, err
	}
	want := FrontMatterTags(text)
	for i, t := range want {
		if HasTag(t, from) {
			want[i] = renameIn(t, from, to)
		}
	}
	if got := FrontMatterTags(slices.Concat([]byte("---\n"), changed, []byte("---\n"))); !slices.Equal(got, want) {
		return nil, fmt.Errorf("%w: tags", ErrUnsafeSplice)
	}
	for i := range splices {
		splices[i].Start, splices[i].End = splices[i].Start+fm.YAML.Start, splices[i].End+fm.YAML.Start
	}
	return splices, nil
}

func renameIn(tag, from, to string) string {
	s := renamedTag(Span{0, len(tag)}, tag, from, to)
	return s.New + tag[s.End:]
}

// scalarTags finds the tags of one value: the whole, or words between commas.
func scalarTags(yml []byte, cur *yamlCursor, v *yaml.Node, from, to string) ([]Splice, error) {
	at, ok := cur.seek(v.Line, v.Column)
	end, ok2 := scalarEnd(yml, at, v)
	if !ok || !ok2 {
		if strings.Contains(fold(v.Value), fold(from)) {
			return nil, fmt.Errorf("%w: tags over several lines", ErrUnsafeSplice)
		}
		return nil, nil
	}
	var out []Splice
	for at < end {
		if bytes.IndexByte([]byte(" ,\"'\t#"), yml[at]) >= 0 {
			at++
			continue
		}
		word := at
		for at < end && bytes.IndexByte([]byte(" ,\"'\t"), yml[at]) < 0 {
			at++
		}
		if name := string(yml[word:at]); HasTag(name, from) {
			out = append(out, renamedTag(Span{word, at}, name, from, to))
		}
	}
	return out, nil
}
