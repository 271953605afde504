package vault

import (
	"bytes"
	"fmt"
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
