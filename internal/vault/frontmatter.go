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
	Span  Span // from the opening --- to the end of the closing line
	YAML  Span // the lines between
	Body  int  // start of the note's text; without front matter after a BOM
}

// FindFrontMatter finds the block between a first line "---" and a line "---" or "...".
// An unclosed block is text.
func FindFrontMatter(text []byte) FrontMatter {
	all, inner, found := value.FindHeader(text)
	return FrontMatter{Found: found, Span: all, YAML: inner, Body: all.End}
}

// Errors for a change to front matter.
var (
	// ErrNotMapping is returned for front matter that is YAML, but not "key: value" lines.
	ErrNotMapping = fault.New(fault.InvalidArgument, "front matter is not a block of \"key: value\" lines", "edit the text of the file instead")
	// ErrUnsafeSplice is returned for a change that would alter more than the key.
	ErrUnsafeSplice = fault.New(fault.InvalidArgument, "front matter can't be changed at this key alone", "edit the text of the file instead")
)

// parseYAML returns the root mapping; nil for an empty document.
func parseYAML(ctx context.Context, text []byte) (root *yaml.Node, err error) {
	if len(text) > maxFrontMatter {
		return nil, fmt.Errorf("front matter: it has %d KB, and at most %d are read", len(text)>>10, maxFrontMatter>>10)
	}
	// yaml.v3 turns its own panics into errors; this recovers the others.
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

// untilDone delivers a text in pieces as long as err is nil. The parser reads as it goes,
// so it stops when its context ends.
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

// maxFrontMatter is the largest front matter that is read: half a second of parsing.
const maxFrontMatter = 1 << 20

// maxCompared limits the keys of a mapping decoded by yaml.v3, which compares every two of
// them.
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

// header parses the front matter for a change.
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

// changeProperty changes one property; package value ensures that nothing else changes.
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

// SetProperty returns the splices that give key a value: in place if the key exists, else
// at the end of the front matter, else in new front matter. If that would change anything
// else, the error is [ErrUnsafeSplice].
func SetProperty(text []byte, key string, v any) ([]Splice, error) {
	n, err := value.FromGo(plainDates(v))
	if err != nil {
		return nil, fmt.Errorf("front matter: %s: %w", key, err)
	}
	return changeProperty(text, key, value.Edit{At: value.Keys(key), Value: n})
}

// plainDates makes text dates unquoted, as Obsidian writes them, with or without a time
// of day.
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

// RemoveProperty returns the splices that remove key with its value; none if it
// is missing.
func RemoveProperty(text []byte, key string) ([]Splice, error) {
	return ifThere(changeProperty(text, key, value.Edit{At: value.Keys(key), Delete: true}))
}

// ifThere turns the error for a missing property into no change.
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
