package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// Settings of editors are JSON with comments and trailing commas, kept by hand.
// setMember changes one value in such a text and leaves every other byte as it
// is; the result is read again and compared before anybody gets it.

// setMember sets the value at a path of object keys, making what is missing.
// An empty text is an empty object.
func setMember(text []byte, path []string, value any) ([]byte, error) {
	body, hasBOM := bytes.CutPrefix(text, utf8BOM)
	if len(bytes.TrimSpace(body)) == 0 {
		body = append(bytes.Clone(body), "{}\n"...)
	}
	top, err := parse(body)
	if err != nil {
		return nil, err
	}
	before, err := plain(top)
	if err != nil {
		return nil, err
	}
	at, depth := &top, 0
	for depth < len(path)-1 && member(at, path[depth]) != nil {
		at = member(at, path[depth])
		if _, ok := at.Value.(*hujson.Object); !ok {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:depth+1], "."))
		}
		depth++
	}
	wanted := value
	for i := len(path) - 1; i > depth; i-- {
		wanted = map[string]any{path[i]: wanted}
	}
	if err := splice(body, &top, at, path[depth], wanted, depth+1); err != nil {
		return nil, err
	}
	after := top.Pack()
	if err := sameButFor(before, after, path, value); err != nil {
		return nil, err
	}
	if hasBOM {
		after = append(bytes.Clone(utf8BOM), after...)
	}
	return after, nil
}

var utf8BOM = []byte("\xef\xbb\xbf")

// maxDepth bounds how deep values nest: the parser calls itself.
const maxDepth = 200

// parse reads a text that holds one object. Two members of one name in an
// object are an error: nobody can say which one counts.
func parse(text []byte) (hujson.Value, error) {
	if tooDeep(text) {
		return hujson.Value{}, errors.New("values nest too deep")
	}
	top, err := hujson.Parse(text)
	if err != nil {
		return top, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := top.Value.(*hujson.Object); !ok {
		return top, errors.New("the file holds no object")
	}
	for v := range top.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		names := map[string]bool{}
		for _, m := range o.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if names[name] {
				line := 1 + bytes.Count(text[:m.Name.StartOffset], []byte("\n"))
				return top, fmt.Errorf("line %d: %q is there twice", line, name)
			}
			names[name] = true
		}
	}
	return top, nil
}

// tooDeep counts the brackets outside of strings and comments. Up to the first
// error of a text it sees them as the parser does.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		skip := 0
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if bytes.HasPrefix(text[i:], []byte("//")) {
				skip = bytes.IndexByte(text[i:], '\n')
			} else if bytes.HasPrefix(text[i:], []byte("/*")) {
				if skip = bytes.Index(text[i+2:], []byte("*/")); skip >= 0 {
					skip += 3
				}
			}
		}
		if skip < 0 {
			return false // a comment up to the end
		}
		i += skip
	}
	return false
}

// plain is a value as encoding/json decodes it, its numbers as written.
func plain(v hujson.Value) (map[string]any, error) {
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var out map[string]any
	return out, dec.Decode(&out)
}

// member is the value of that name in an object; nil if there is none.
func member(v *hujson.Value, name string) *hujson.Value {
	o := v.Value.(*hujson.Object)
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// splice sets one member of an object. A new one comes last, indented as the
// others are.
func splice(text []byte, top, at *hujson.Value, name string, value any, depth int) error {
	object := at.Value.(*hujson.Object)
	unit := indentUnit(text, top.Value.(*hujson.Object))
	indent := strings.Repeat(unit, depth)
	if len(object.Members) > 0 {
		if own, alone := lineIndent(text, object.Members[0].Name.StartOffset); alone {
			indent = own
		}
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	written, err := json.MarshalIndent(value, indent, unit)
	if err != nil {
		return err
	}
	parsed, err := hujson.Parse(bytes.ReplaceAll(written, []byte("\n"), []byte(newline)))
	if err != nil {
		return err
	}
	if old := member(at, name); old != nil {
		old.Value = parsed.Value
		return nil
	}
	// What is written after the last member on its line belongs to it.
	remark, rest := cutRemark(object.AfterExtra)
	var trailing hujson.Extra // a comma after the last member, unless nil
	if n := len(object.Members); n > 0 {
		trailing = object.Members[n-1].Value.AfterExtra
	} else {
		remark, rest = bytes.TrimRight(object.AfterExtra, " \t\r\n"), nil
	}
	if trailing != nil {
		trailing = hujson.Extra{}
	}
	if len(rest) == 0 {
		outer, _ := lineIndent(text, at.StartOffset)
		rest = []byte(newline + outer)
	}
	object.AfterExtra = rest
	object.Members = append(object.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(bytes.Clone(remark), newline+indent...), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: parsed.Value, AfterExtra: trailing},
	})
	return nil
}

// lineIndent is the white space a line begins with, and whether offset is the
// first thing on it.
func lineIndent(text []byte, offset int) (indent string, alone bool) {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[start:offset]
	n := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:n]), n == len(line) && start > 0
}

func indentUnit(text []byte, top *hujson.Object) string {
	if len(top.Members) > 0 {
		if indent, alone := lineIndent(text, top.Members[0].Name.StartOffset); alone && indent != "" {
			return indent
		}
	}
	return "  "
}

// cutRemark splits a text after the blanks and comments that it begins with, at
// the end of the line at the latest.
func cutRemark(text []byte) (remark, rest []byte) {
	for i := 0; i < len(text); {
		n := 1
		switch {
		case text[i] == ' ' || text[i] == '\t':
		case bytes.HasPrefix(text[i:], []byte("//")):
			n = bytes.IndexAny(text[i:], "\r\n")
		case bytes.HasPrefix(text[i:], []byte("/*")):
			n = bytes.Index(text[i+2:], []byte("*/")) + 4
		default:
			return text[:i], text[i:]
		}
		i += n
	}
	return text, nil
}

// sameButFor reads the new text and refuses it unless it is the old one with
// just the one value set.
func sameButFor(before map[string]any, after []byte, path []string, value any) error {
	top, err := parse(after)
	if err != nil {
		return fmt.Errorf("the result would be broken: %w", err)
	}
	got, err := plain(top)
	if err != nil {
		return err
	}
	// The wanted value in the form the decoder gives.
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var want any
	if err := dec.Decode(&want); err != nil {
		return err
	}
	at := before
	for _, name := range path[:len(path)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	at[path[len(path)-1]] = want
	if !reflect.DeepEqual(before, got) {
		return errors.New("the result would change other entries")
	}
	return nil
}
