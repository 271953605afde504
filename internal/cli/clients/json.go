package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Settings files of editors are JSON with comments and trailing commas, kept by
// hand. setMember changes one value in such a text and leaves every other byte
// as it is; the result is read again and compared before anybody gets it.

// jsonValue is a value of a text: where it stands, and what it holds.
type jsonValue struct {
	start, end int
	members    []jsonMember // of an object
	object     bool
	plain      any // as encoding/json would decode it
}

type jsonMember struct {
	name     string
	keyStart int
	value    jsonValue
	comma    int // offset after the comma that follows, 0 without one
}

func (v *jsonValue) member(name string) *jsonMember {
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i]
		}
	}
	return nil
}

// setMember sets the value at a path of object keys, making what is missing.
// An empty text is an empty object.
func setMember(text []byte, path []string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, utf8BOM))) == 0 {
		text = append(bytes.Clone(text), "{}\n"...)
	}
	before, err := parseCommented(text)
	if err != nil {
		return nil, err
	}
	if !before.object {
		return nil, errors.New("the file holds no object")
	}
	at, depth := before, 0
	for depth < len(path)-1 {
		m := at.member(path[depth])
		if m == nil {
			break
		}
		if !m.value.object {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:depth+1], "."))
		}
		at, depth = &m.value, depth+1
	}
	wanted := value
	for i := len(path) - 1; i > depth; i-- {
		wanted = map[string]any{path[i]: wanted}
	}
	after, err := splice(text, before, at, path[depth], wanted, depth+1)
	if err != nil {
		return nil, err
	}
	return after, sameButFor(before, after, path, value)
}

var utf8BOM = []byte("\xef\xbb\xbf")

// splice writes the text with one member of an object set.
func splice(text []byte, top, at *jsonValue, name string, value any, depth int) ([]byte, error) {
	unit := indentUnit(text, top)
	indent := strings.Repeat(unit, depth)
	if len(at.members) > 0 {
		if own, alone := lineIndent(text, at.members[0].keyStart); alone {
			indent = own
		}
	}
	written, err := json.MarshalIndent(value, indent, unit)
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
		written = bytes.ReplaceAll(written, []byte("\n"), []byte(newline))
	}
	if m := at.member(name); m != nil {
		return join(text[:m.value.start], written, text[m.value.end:]), nil
	}
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	member := newline + indent + string(key) + ": " + string(written)
	if len(at.members) == 0 {
		outer, _ := lineIndent(text, at.start)
		inside := text[at.start+1 : at.end-1]
		if len(bytes.TrimSpace(inside)) > 0 { // comments stay where they are
			return join(text[:at.start+1], bytes.TrimRight(inside, " \t\r\n"), []byte(member), []byte(newline+outer), text[at.end-1:]), nil
		}
		return join(text[:at.start+1], []byte(member), []byte(newline+outer), text[at.end-1:]), nil
	}
	last := &at.members[len(at.members)-1]
	comma, from := ",", last.value.end
	if last.comma > 0 { // a trailing comma: the new member gets one too
		comma, from, member = "", last.comma, member+","
	}
	// What is written behind the last member on its line belongs to it.
	to := endOfRemark(text, from, at.end-1)
	if text[to] == '}' {
		outer, _ := lineIndent(text, at.start)
		member += newline + outer
	}
	return join(text[:from], []byte(comma), text[from:to], []byte(member), text[to:]), nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// lineIndent is the white space a line begins with, and whether offset is the
// first thing on it.
func lineIndent(text []byte, offset int) (indent string, alone bool) {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[start:offset]
	n := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:n]), n == len(line) && start > 0
}

func indentUnit(text []byte, top *jsonValue) string {
	if len(top.members) > 0 {
		if indent, alone := lineIndent(text, top.members[0].keyStart); alone && indent != "" {
			return indent
		}
	}
	return "  "
}

// endOfRemark passes blanks and comments up to the end of the line.
func endOfRemark(text []byte, from, limit int) int {
	for i := from; i < limit; {
		switch {
		case text[i] == '\r' || text[i] == '\n':
			return i
		case text[i] == ' ' || text[i] == '\t':
			i++
		case bytes.HasPrefix(text[i:], []byte("//")):
			n := bytes.IndexAny(text[i:limit], "\r\n")
			if n < 0 {
				return limit
			}
			return i + n
		case bytes.HasPrefix(text[i:], []byte("/*")):
			n := bytes.Index(text[i:limit], []byte("*/"))
			if n < 0 {
				return limit
			}
			i += n + 2
		default:
			return i
		}
	}
	return limit
}

// sameButFor reads the new text and refuses it unless it is the old one with
// just the one value set.
func sameButFor(before *jsonValue, after []byte, path []string, value any) error {
	got, err := parseCommented(after)
	if err != nil {
		return fmt.Errorf("the result would be broken: %w", err)
	}
	// The wanted value in the form the parser gives.
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	want, err := parseCommented(raw)
	if err != nil {
		return err
	}
	at, _ := before.plain.(map[string]any)
	for _, name := range path[:len(path)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	at[path[len(path)-1]] = want.plain
	if !reflect.DeepEqual(before.plain, got.plain) {
		return errors.New("the result would change other entries")
	}
	return nil
}
