package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Raw is a TOML value that is neither a text, a list nor a table, as it is
// written.
type Raw string

// Tree reads any TOML text: tables are map[string]any, lists []any, texts string,
// everything else Raw. It is for settings of other programs, which are only
// compared: numbers and dates aren't checked. go-toml's decoder returns the same
// (TestTree) but adds 200 KB to the program.
func Tree(data []byte) (map[string]any, error) {
	t := &tree{top: map[string]any{}, made: map[string]maker{}}
	t.p.Reset(bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	table, path := t.top, ""
	for t.p.NextExpression() {
		n := t.p.Expression()
		parts, first := keyParts(n.Key())
		var err error
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, path, err = t.header(parts, n.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			err = t.pair(table, path, n)
		}
		if err != nil {
			return nil, &FileError{Line: lineOf(&t.p, first), Key: joinKey(parts), Problem: err.Error()}
		}
	}
	if err := t.p.Error(); err != nil {
		line, problem := syntaxProblem(&t.p, err)
		return nil, &FileError{Line: line, Problem: problem}
	}
	return t.top, nil
}

// maker is what defined a table or a list. It decides what may be added.
type maker int

// tree is a Tree in the making.
type tree struct {
	p   unstable.Parser
	top map[string]any
	// made is by path: quoted keys and the numbers of items.
	made map[string]maker
}

const (
	byHeader maker = iota + 1 // [a.b] made b
	byPath                    // [a.b] made a
	byKey                     // a.b = 1 made a
	byValue                   // a = {} or [] did
	byItems                   // [[a]] did
)

var errTwice = errors.New("it is set already")

// header finds or makes the table a header names.
func (t *tree) header(parts []string, item bool) (map[string]any, string, error) {
	table, path := t.top, ""
	for _, part := range parts[:len(parts)-1] {
		path += "." + strconv.Quote(part)
		switch v := table[part].(type) {
		case nil:
			next := map[string]any{}
			table[part], t.made[path] = next, byPath
			table = next
		case map[string]any:
			if t.made[path] == byValue {
				return nil, "", errTwice
			}
			table = v
		case []any:
			if t.made[path] != byItems {
				return nil, "", errTwice
			}
			path = itemPath(path, len(v))
			table = v[len(v)-1].(map[string]any) // a list by headers has tables only, and one at least
		default:
			return nil, "", errTwice
		}
	}
	last := parts[len(parts)-1]
	path += "." + strconv.Quote(last)
	old, there := table[last]
	switch list, _ := old.([]any); {
	case item && (!there || t.made[path] == byItems):
		next := map[string]any{}
		table[last], t.made[path] = append(list, next), byItems
		return next, itemPath(path, len(list)+1), nil
	case !item && there && t.made[path] == byPath:
		t.made[path] = byHeader
		return old.(map[string]any), path, nil
	case there:
		return nil, "", errTwice
	}
	next := map[string]any{}
	table[last], t.made[path] = next, byHeader
	return next, path, nil
}

// pair sets a key, which may have dots, in a table.
func (t *tree) pair(table map[string]any, path string, n *unstable.Node) error {
	parts, _ := keyParts(n.Key())
	for _, part := range parts[:len(parts)-1] {
		path += "." + strconv.Quote(part)
		old, there := table[part]
		if !there {
			old = map[string]any{}
			table[part], t.made[path] = old, byKey
		}
		next, ok := old.(map[string]any)
		if !ok || t.made[path] != byKey {
			return errTwice
		}
		table = next
	}
	last := parts[len(parts)-1]
	if _, there := table[last]; there {
		return errTwice
	}
	path += "." + strconv.Quote(last)
	v, err := t.value(path, n.Value())
	table[last] = v
	return err
}

func (t *tree) value(path string, n *unstable.Node) (any, error) {
	t.made[path] = byValue
	switch n.Kind {
	case unstable.String:
		return string(n.Data), nil
	case unstable.Array:
		list := []any{}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			v, err := t.value(itemPath(path, len(list)+1), it.Node())
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case unstable.InlineTable:
		table := map[string]any{}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			if err := t.pair(table, path, it.Node()); err != nil {
				return nil, err
			}
		}
		return table, nil
	}
	return Raw(n.Data), nil
}

func itemPath(list string, n int) string { return list + "[" + strconv.Itoa(n) + "]" }

// lineOf is the line a node stands on.
func lineOf(p *unstable.Parser, n *unstable.Node) int {
	if n == nil || n.Raw.Length == 0 {
		return 1
	}
	return p.Shape(n.Raw).Start.Line
}

// syntaxProblem is where the parser stopped and why.
func syntaxProblem(p *unstable.Parser, err error) (line int, problem string) {
	var pe *unstable.ParserError
	if !errors.As(err, &pe) {
		return 1, err.Error()
	}
	at := min(int(p.Range(pe.Highlight[:0]).Offset), len(p.Data()))
	return 1 + bytes.Count(p.Data()[:at], []byte("\n")), pe.Message
}

// keyParts are the parts of a key with dots, and its first node.
func keyParts(it unstable.Iterator) (parts []string, first *unstable.Node) {
	for it.Next() {
		if first == nil {
			first = it.Node()
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, first
}

// BareKey reports a key that needs no quotes.
func BareKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// joinKey writes a key as the file would.
func joinKey(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p
		if !BareKey(p) {
			out[i] = fmt.Sprintf("%q", p)
		}
	}
	return strings.Join(out, ".")
}
