package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"quarry/internal/value"
)

// Head is the parsed front matter of a note. It is empty if the note has none.
type Head struct {
	root *yaml.Node // nil if there is none
	err  error      // set if the front matter is invalid
}

// ReadHead parses the front matter of a note.
func ReadHead(ctx context.Context, text []byte) *Head {
	root, err := parseYAML(ctx, FindFrontMatter(text).YAML.In(text))
	return &Head{root, err}
}

// Properties returns the decoded properties. Dates are texts, and so are numbers that would
// not be shown as they are written.
func (h *Head) Properties() (map[string]any, error) {
	if h.err != nil || h.root == nil {
		return nil, h.err
	}
	asWritten(h.root)
	var m map[string]any
	var err error
	if hasLarge(h.root) {
		m, err = decodeMapping(h.root)
	} else {
		err = decodeNode(h.root, &m)
	}
	if err != nil {
		return nil, value.YAMLError(err)
	}
	textKeys(m)
	return m, nil
}

// textKeys makes texts of all keys in a value, as in JSON: {1: a} is decoded otherwise.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, val := range v {
			out[fmt.Sprint(key)] = textKeys(val)
		}
		return out
	case map[string]any:
		for key, val := range v {
			v[key] = textKeys(val)
		}
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	}
	return v
}

// ShowValue formats a property's value, mappings and lists in lists as JSON.
func ShowValue(v any) string {
	switch v.(type) {
	case map[string]any, []any:
		if data, err := json.Marshal(v); err == nil {
			return string(data)
		}
	}
	return fmt.Sprint(v)
}

// asWritten makes texts of the numbers and dates that would be decoded to others: 1.10,
// 0301234.
func asWritten(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && (n.Tag == "!!timestamp" || (n.Tag == "!!int" || n.Tag == "!!float") && !canonical(n.Value)) {
		n.Tag = "!!str"
	}
	for _, in := range n.Content {
		asWritten(in)
	}
}

// Names returns the names of the properties in file order.
func (h *Head) Names() (names []string, err error) {
	for key := range h.each {
		names = append(names, key)
	}
	return names, h.err
}

// each calls yield for each property in file order.
func (h *Head) each(yield func(key string, v *yaml.Node) bool) {
	if h.root == nil {
		return
	}
	for i := 0; i+1 < len(h.root.Content); i += 2 {
		if !yield(h.root.Content[i].Value, h.root.Content[i+1]) {
			return
		}
	}
}

// Title returns the property title, or "" if it is not a text.
func (h *Head) Title() string {
	for key, v := range h.each {
		if key == "title" {
			if v.Kind == yaml.ScalarNode {
				return v.Value
			}
			break
		}
	}
	return ""
}

// Aliases returns the values of the properties aliases and alias: other names of the
// note.
func (h *Head) Aliases() []string { return h.texts(false, "aliases", "alias") }

// Tags returns the tags of the properties tags and tag, without #.
func (h *Head) Tags() []string {
	tags := h.texts(true, "tags", "tag")
	for i, t := range tags {
		tags[i] = strings.TrimPrefix(t, "#")
	}
	return tags
}

// texts returns the values of the given keys, in any case. A value is a list or a string
// separated by commas; if spaces is set, also by spaces.
func (h *Head) texts(spaces bool, keys ...string) (out []string) {
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	for key, v := range h.each {
		if !slices.Contains(keys, strings.ToLower(key)) {
			continue
		}
		switch v.Kind {
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
