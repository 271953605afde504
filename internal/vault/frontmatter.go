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

// changeProperty changes one property. Package value ensures that nothing else changes.
func changeProperty(text []byte, key string, edits ...value.Edit) ([]Splice, error) {
	if strings.TrimSpace(key) == "" {
		return nil, errors.New("front matter: the key is empty")
	}
	if _, err := header(text); err != nil {
		return nil, err
	}
	out, err := value.Apply(value.Header, text, edits...)
	if refused, ok := errors.AsType[*value.Refused](err); ok {
		return nil, fmt.Errorf("%w: %s: %s", ErrUnsafeSplice, key, refused.Why)
	}
	return out, err
}

// SetProperty returns the splices that set a property: in place if key exists, otherwise
// at the end of the front matter, which is created if missing. If this would change
// anything else, the error is [ErrUnsafeSplice].
func SetProperty(text []byte, key string, v any) ([]Splice, error) {
	n, err := value.FromGo(plainDates(v))
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	return changeProperty(text, key, value.Edit{At: value.Keys(key), Value: n})
}

// plainDates marks texts that are dates, with or without a time of day, to be written
// unquoted as Obsidian does.
func plainDates(value any) any {
	switch v := value.(type) {
	case string:
		for _, form := range []string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if _, err := time.Parse(form, v); err == nil {
				return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: v}
			}
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
