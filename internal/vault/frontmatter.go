package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"quarry/fault"
	"quarry/internal/value"
)

// FrontMatter locates the properties of a note.
type FrontMatter struct {
	Found bool
	Span  Span // from the opening --- through the closing line
	YAML  Span // the lines between
	Body  int  // start of the note's text: after the front matter, or after the BOM
}

// FindFrontMatter finds the block between a first line "---" and a line "---" or "...". A
// block that isn't closed is text.
func FindFrontMatter(text []byte) FrontMatter {
	all, inner, found := value.FindHeader(text)
	return FrontMatter{Found: found, Span: all, YAML: inner, Body: all.End}
}

// Errors for a change to front matter.
var (
	// ErrNotMapping is returned if the front matter is valid YAML, but not "key: value"
	// lines.
	ErrNotMapping = fault.New(fault.InvalidArgument, "front matter is not a block of \"key: value\" lines", "edit the text of the file instead")
	// ErrUnsafeSplice is returned if a change of one key would alter other text, too.
	ErrUnsafeSplice = fault.New(fault.InvalidArgument, "front matter can't be changed at this key alone", "edit the text of the file instead")
)

// parseYAML returns the root mapping, or nil for an empty document.
func parseYAML(ctx context.Context, text []byte) (root *yaml.Node, err error) {
	if len(text) > maxFrontMatter {
		return nil, fmt.Errorf("front matter: it has %d KB, and at most %d are read", len(text)>>10, maxFrontMatter>>10)
	}
	// yaml.v3 converts its own panics to errors. This recovers all others.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("front matter: the YAML parser failed: %v", r)
		}
	}()
	var doc yaml.Node
	if err := yaml.NewDecoder(&untilDone{ctx.Err, text}).Decode(&doc); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil && err != io.EOF {
		return nil, value.YAMLError(err)
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

// untilDone reads a text piece by piece until err returns an error. The parser reads as
// it goes, so this stops it when its context ends.
type untilDone struct {
	err  func() error
	text []byte
}

func (r *untilDone) Read(b []byte) (int, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.text)
	r.text = r.text[n:]
	return n, nil
}

// maxFrontMatter is the size of the largest front matter that is parsed. That takes half
// a second.
const maxFrontMatter = 1 << 20

// maxCompared is the largest number of keys of a mapping that yaml.v3 decodes. It compares
// each key with all others, so we decode larger mappings ourselves.
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

// hasLarge reports whether a value is, or contains, a mapping too large for yaml.v3.
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

// header parses the front matter in order to change it.
func header(text []byte) (*value.Doc, error) {
	d, err := value.Parse(value.Header, text)
	if err != nil {
		if _, err := parseYAML(context.Background(), FindFrontMatter(text).YAML.In(text)); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %v", ErrUnsafeSplice, err)
	}
	if d.Root.InBrackets() {
		return nil, ErrNotMapping
	}
	return d, nil
}

// PropertyName returns the name among those of a note that a name means: in any letter case,
// unless the note has exactly it.
func PropertyName(names []string, name string) string {
	if !slices.Contains(names, name) {
		for _, n := range names {
			if strings.EqualFold(n, name) {
				return n
			}
		}
	}
	return name
}

func ownName(d *value.Doc, name string) string {
	names := make([]string, len(d.Root.Members))
	for i, m := range d.Root.Members {
		names[i] = m.Key
	}
	return PropertyName(names, name)
}

// changeProperty changes one property. Package value ensures that nothing else changes.
func changeProperty(text []byte, key string, edits ...value.Edit) ([]Splice, error) {
	if strings.TrimSpace(key) == "" {
		return nil, errors.New("front matter: the key is empty")
	}
	d, err := header(text)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		e.At[0].Key = ownName(d, key)
	}
	out, err := value.Apply(value.Header, text, edits...)
	if refused, ok := errors.AsType[*value.Refused](err); ok {
		return nil, fmt.Errorf("%w: %s: %s", ErrUnsafeSplice, key, refused.Why)
	}
	return out, err
}

// SetProperty returns the splices that set a property: in place if key exists, otherwise
// at the end of the front matter, which is created if missing. A value from [ParseValue]
// that the note has as it was typed is left unchanged. If this would change anything else,
// the error is [ErrUnsafeSplice].
func SetProperty(text []byte, key string, v any) ([]Splice, error) {
	n, err := newValue(key, v)
	if err != nil {
		return nil, err
	}
	if _, typed := v.(*value.Node); typed {
		if d, err := header(text); err == nil && written(text, d.Root.Get(ownName(d, key)), n) {
			return nil, nil
		}
	}
	return changeProperty(text, key, value.Edit{At: value.Keys(key), Value: n})
}

// newValue converts a value from ParseValue or of Go to one that can be written.
func newValue(key string, v any) (*value.Node, error) {
	if n, ok := v.(*value.Node); ok {
		out := *n
		if out.Text = strings.TrimSpace(n.Text); n.Quote() != 0 {
			out.Text = n.Text
		} else if n.Kind == value.Text {
			out.Plain = plainDate(out.Text)
		}
		return &out, nil
	}
	n, err := value.FromGo(v)
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	return plainDates(n), nil
}

// written reports whether a note has a value as it was typed. Its text may be a number to
// YAML that, typed, would be quoted.
func written(text []byte, old, typed *value.Node) bool {
	switch {
	case old == nil:
		return false
	case typed.Kind == value.Text && typed.Quote() == 0 && old.Kind < value.List && old.Len() > 0 && string(old.In(text)) == typed.Text:
		return true
	case old.Tag+old.Anchor != "":
		return false
	case old.Kind != typed.Kind || old.Text != typed.Text || len(old.Items) != len(typed.Items) || len(old.Members) != len(typed.Members):
		return false
	}
	for i, m := range old.Members {
		if m.Key != typed.Members[i].Key || !written(text, m.Value, typed.Members[i].Value) {
			return false
		}
	}
	for i, item := range old.Items {
		if !written(text, item, typed.Items[i]) {
			return false
		}
	}
	return true
}

// plainDates marks the texts in a value that are dates to be written unquoted.
func plainDates(n *value.Node) *value.Node {
	n.Plain = n.Plain || n.Kind == value.Text && plainDate(n.Text)
	for _, item := range n.Items {
		plainDates(item)
	}
	return n
}

// plainDate reports whether Obsidian writes a text as a date, with or without a time of day,
// without quotes.
func plainDate(s string) bool {
	return slices.ContainsFunc([]string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"}, func(form string) bool {
		_, err := time.Parse(form, s)
		return err == nil
	})
}

// RemoveProperty returns the splices that remove a property: none if it is missing.
func RemoveProperty(text []byte, key string) ([]Splice, error) {
	return ifThere(changeProperty(text, key, value.Edit{At: value.Keys(key), Delete: true}))
}

// ifThere ignores the error for a missing property.
func ifThere(out []Splice, err error) ([]Splice, error) {
	if _, missing := errors.AsType[*value.MissingError](err); missing {
		return nil, nil
	}
	return out, err
}

func lineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
