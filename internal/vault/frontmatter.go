package vault

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"quarry/fault"
)

// FrontMatter says where the properties of a note stand.
type FrontMatter struct {
	Found bool
	Span  Span // from the opening --- to the end of the closing line
	YAML  Span // the lines between
	Body  int  // where the note's text begins; without front matter after a BOM
}

// FindFrontMatter finds the block between a first line "---" and a line "---"
// or "...". A block that doesn't close is text.
func FindFrontMatter(text []byte) FrontMatter {
	start := 0
	if bytes.HasPrefix(text, []byte(bom)) {
		start = len(bom)
	}
	none := FrontMatter{Body: start}
	end, at := lineEnd(text, start)
	if !isFence(text[start:end], "---") || at == end {
		return none
	}
	yamlStart := at
	for at < len(text) {
		end, next := lineEnd(text, at)
		if line := text[at:end]; isFence(line, "---") || isFence(line, "...") {
			return FrontMatter{Found: true, Span: Span{start, next}, YAML: Span{yamlStart, at}, Body: next}
		}
		at = next
	}
	return none
}

func isFence(line []byte, mark string) bool {
	return bytes.HasPrefix(line, []byte(mark)) && len(bytes.TrimRight(line[len(mark):], " \t")) == 0
}

// Refusals of a change to front matter.
var (
	// ErrNotMapping: the front matter is YAML, but not "key: value" lines.
	ErrNotMapping = fault.New(fault.InvalidArgument, "front matter is not a block of \"key: value\" lines", "edit the text of the file instead")
	// ErrUnsafeSplice: the change would alter more than the key.
	ErrUnsafeSplice = fault.New(fault.InvalidArgument, "front matter can't be changed at this key alone", "edit the text of the file instead")
)

// parseYAML gives the root mapping; nil for an empty document.
func parseYAML(text []byte) (root *yaml.Node, err error) {
	if len(text) > maxFrontMatter {
		return nil, fmt.Errorf("front matter: it has %d KB, and at most %d are read", len(text)>>10, maxFrontMatter>>10)
	}
	// yaml.v3 turns its own failures into errors; this is for the others.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("front matter: the YAML parser failed: %v", r)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil, nil
	}
	root = doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil // comments only
	}
	if root.Kind != yaml.MappingNode {
		return nil, ErrNotMapping
	}
	return root, nil
}

// Properties decodes the front matter. A note without front matter has no
// properties.
func Properties(text []byte) (map[string]any, error) {
	root, err := parseYAML(FindFrontMatter(text).YAML.In(text))
	if err != nil || root == nil {
		return nil, err
	}
	var m map[string]any
	if hasLarge(root) {
		m, err = decodeMapping(root)
	} else {
		err = decodeNode(root, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	return m, nil
}

// maxFrontMatter is the largest front matter that is read: half a second of parsing.
const maxFrontMatter = 1 << 20

// maxCompared is how many keys a mapping may have that yaml.v3 decodes: it compares
// each with each other.
const maxCompared = 1000

// decodeMapping decodes a mapping of any size in linear time.
func decodeMapping(n *yaml.Node) (map[string]any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("line %d: mapping key %q already defined", n.Content[i].Line, key)
		}
		v, err := decodeValue(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

func decodeValue(n *yaml.Node) (v any, err error) {
	switch {
	case !hasLarge(n):
		err = decodeNode(n, &v)
	case n.Kind == yaml.MappingNode:
		v, err = decodeMapping(n)
	default:
		list := make([]any, len(n.Content))
		for i, one := range n.Content {
			if list[i], err = decodeValue(one); err != nil {
				return nil, err
			}
		}
		v = list
	}
	return v, err
}

// hasLarge reports whether a value is, or holds, a mapping that yaml.v3 would take
// long for.
func hasLarge(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) > 2*maxCompared || slices.ContainsFunc(n.Content, hasLarge)
}

func decodeNode(n *yaml.Node, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML decoder failed: %v", r)
		}
	}()
	return n.Decode(into)
}

// Aliases returns the other names of a note: aliases, or alias.
func Aliases(text []byte) []string { return stringsOf(text, false, "aliases", "alias") }

// FrontMatterTags returns the tags of the front matter, tags or tag, without #.
func FrontMatterTags(text []byte) []string {
	tags := stringsOf(text, true, "tags", "tag")
	for i, t := range tags {
		tags[i] = strings.TrimPrefix(t, "#")
	}
	return tags
}

// stringsOf reads a list, or a string of comma-separated ones; tags may also be
// separated by spaces. The case of keys doesn't matter. Invalid YAML has none.
func stringsOf(text []byte, spaces bool, keys ...string) []string {
	root, err := parseYAML(FindFrontMatter(text).YAML.In(text))
	if err != nil || root == nil {
		return nil
	}
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !slices.Contains(keys, strings.ToLower(root.Content[i].Value)) {
			continue
		}
		switch v := root.Content[i+1]; v.Kind {
		case yaml.SequenceNode:
			for _, item := range v.Content {
				if item.Kind == yaml.ScalarNode && item.Tag != "!!null" {
					add(item.Value)
				}
			}
		case yaml.ScalarNode:
			if v.Tag == "!!null" {
				continue
			}
			for _, s := range strings.FieldsFunc(v.Value, func(r rune) bool {
				return r == ',' || r == '\n' || spaces && r == ' '
			}) {
				add(s)
			}
		}
	}
	return out
}

// SetProperty returns the splices that give key a value: in place if the key
// exists, else at the end of the front matter, else in new front matter.
// Nothing else changes; this is verified by parsing the result. If it can't be
// done, the error is [ErrUnsafeSplice].
func SetProperty(text []byte, key string, value any) ([]Splice, error) {
	fm := FindFrontMatter(text)
	value = plainDates(value)
	entry, err := renderEntry(key, value)
	if err != nil {
		return nil, err
	}
	eol := lineEnding(text)
	entry = strings.ReplaceAll(entry, "\n", eol)
	if !fm.Found {
		return []Splice{{Span{fm.Body, fm.Body}, "---" + eol + entry + "---" + eol}}, nil
	}
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil {
		return nil, err
	}
	var s Splice
	place, found, err := findKey(yml, root, key)
	switch {
	case err != nil:
		return nil, err
	case !found:
		s = Splice{Span{len(yml), len(yml)}, entry}
	default:
		s = place.replace(yml, entry[:len(entry)-len(eol)], eol)
	}
	return checked(yml, root, key, s, fm.YAML.Start, value, false)
}

// plainDates makes dates given as text dates without quotes, as Obsidian writes
// them.
func plainDates(value any) any {
	switch v := value.(type) {
	case string:
		if _, err := time.Parse("2006-01-02", v); err == nil {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: v}
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainDates(v[i])
		}
		return out
	}
	return value
}

// RemoveProperty returns the splices that remove key with its value; none if it
// is missing.
func RemoveProperty(text []byte, key string) ([]Splice, error) {
	fm := FindFrontMatter(text)
	yml := fm.YAML.In(text)
	root, err := parseYAML(yml)
	if err != nil || root == nil {
		return nil, err
	}
	place, found, err := findKey(yml, root, key)
	if err != nil || !found {
		return nil, err
	}
	return checked(yml, root, key, Splice{Span: Span{place.line, place.next}}, fm.YAML.Start, nil, true)
}

func lineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// renderEntry writes "key: value" with its line ending.
func renderEntry(key string, value any) (out string, err error) {
	defer func() {
		if r := recover(); r != nil { // Marshal panics on channels and functions
			out, err = "", fmt.Errorf("front matter: %s: %v", key, r)
		}
	}()
	if strings.TrimSpace(key) == "" {
		return "", errors.New("front matter: the key is empty")
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(map[string]any{key: value}); err != nil {
		return "", fmt.Errorf("front matter: %s: %w", key, err)
	}
	if err := enc.Close(); err != nil {
		return "", fmt.Errorf("front matter: %s: %w", key, err)
	}
	return buf.String(), nil
}

// checked verifies on the parsed result that only the key changed.
func checked(yml []byte, root *yaml.Node, key string, s Splice, off int, value any, removed bool) ([]Splice, error) {
	changed, err := ApplySplices(yml, []Splice{s})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrUnsafeSplice, key, err)
	}
	// Where the block ends must not change either: a value with a line "---".
	framed := append(append([]byte("---\n"), changed...), "---\n"...)
	if fm := FindFrontMatter(framed); fm.Body != len(framed) {
		return nil, fmt.Errorf("%w: %s: the value would end the block", ErrUnsafeSplice, key)
	}
	after, err := parseYAML(changed)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrUnsafeSplice, key, err)
	}
	if !sameBut(root, after, key) {
		return nil, fmt.Errorf("%w: %s: other keys would change", ErrUnsafeSplice, key)
	}
	if got := valueOf(after, key); removed != (got == nil) || !removed && !hasValue(got, key, value) {
		return nil, fmt.Errorf("%w: %s: the value would not read back", ErrUnsafeSplice, key)
	}
	s.Start += off
	s.End += off
	return []Splice{s}, nil
}

func hasValue(got *yaml.Node, key string, value any) bool {
	text, err := renderEntry(key, value)
	if err != nil {
		return false
	}
	want, err := parseYAML([]byte(text))
	return err == nil && sameNode(got, valueOf(want, key))
}

func valueOf(root *yaml.Node, key string) *yaml.Node {
	if root != nil {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == key {
				return root.Content[i+1]
			}
		}
	}
	return nil
}

// sameBut compares two mappings, order included, without one key.
func sameBut(a, b *yaml.Node, key string) bool {
	rest := func(n *yaml.Node) []*yaml.Node {
		var out []*yaml.Node
		if n != nil {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value != key {
					out = append(out, n.Content[i], n.Content[i+1])
				}
			}
		}
		return out
	}
	return slices.EqualFunc(rest(a), rest(b), sameNode)
}

// sameNode compares meaning: kind, tag, value and anchors, not place or style.
func sameNode(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}
