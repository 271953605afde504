package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"quarry/internal/splice"
	"quarry/internal/value"
)

// ErrNoEntry means that the settings have no entry with this name.
var ErrNoEntry = errors.New("the settings have no entry of this name")

func (c *Client) format() value.Format {
	if c.toml {
		return value.TOML
	}
	return value.JSON
}

// Servers parses a client's settings and returns its servers by name.
func (c *Client) Servers(text []byte) (map[string]any, error) {
	all, err := readSettings(c.format(), text)
	list, _ := all[c.key].(map[string]any)
	return list, err
}

// readSettings parses settings, which must be one object or table. Duplicate names are an
// error, because they are ambiguous.
func readSettings(format value.Format, text []byte) (map[string]any, error) {
	d, err := value.Parse(format, text)
	if bad, ok := errors.AsType[*value.SyntaxError](err); ok && bad.Line > 0 {
		return nil, fmt.Errorf("line %d: %s", bad.Line, bad.Problem)
	}
	if err != nil {
		return nil, err
	}
	v, err := d.Root.Go()
	if err != nil {
		return nil, err
	}
	all, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the file contains no object")
	}
	return all, nil
}

// Set adds or changes an entry in the text of a client's settings. An existing entry
// keeps its other members, such as env, timeout, disabled and alwaysAllow. An entry of
// another kind, such as a server with a URL, is replaced.
func (c *Client) Set(old []byte, name string, e *Entry) ([]byte, error) {
	servers, err := c.Servers(old)
	if err != nil {
		return nil, err
	}
	entry, _ := servers[name].(map[string]any)
	members := c.members(e)
	if entry["command"] == nil {
		return setMember(c.format(), old, []string{c.key, name}, members)
	}
	text := old
	for _, m := range members {
		if reflect.DeepEqual(entry[m.Name], m.Value) {
			continue // unchanged, so keep its bytes and layout
		}
		if text, err = setMember(c.format(), text, []string{c.key, name, m.Name}, m.Value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// setMember sets the value at a path of keys, creating missing parents.
func setMember(format value.Format, text []byte, path []string, v any) ([]byte, error) {
	if _, err := readSettings(format, text); err != nil {
		return nil, err
	}
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	n, err := value.FromJSON(data)
	if err != nil {
		return nil, err
	}
	return edited(format, text, value.Edit{At: value.Keys(path...), Value: n})
}

// encode encodes a value as JSON and keeps the order of members.
func encode(v any) ([]byte, error) {
	members, ok := v.([]Member)
	if !ok {
		return json.Marshal(v)
	}
	out := []byte{'{'}
	for i, m := range members {
		data, err := json.Marshal(map[string]any{m.Name: m.Value})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, data[1:len(data)-1]...)
	}
	return append(out, '}'), nil
}

// Remove removes an entry from the text of a client's settings.
func (c *Client) Remove(old []byte, name string) ([]byte, error) {
	servers, err := c.Servers(old)
	if err != nil {
		return nil, err
	}
	if _, there := servers[name]; !there {
		return nil, ErrNoEntry
	}
	return edited(c.format(), old, value.Edit{At: value.Keys(c.key, name), Delete: true})
}

func edited(format value.Format, text []byte, e value.Edit) ([]byte, error) {
	out, err := value.Apply(format, text, e)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return bytes.Clone(text), nil
	}
	return splice.Apply(text, out)
}
