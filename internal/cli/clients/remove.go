package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrNoEntry is when there is nothing to remove.
var ErrNoEntry = errors.New("there is no such entry")

// Remove takes an entry out of the text of a client's settings.
func (c *Client) Remove(old []byte, name string) ([]byte, error) {
	if c.toml {
		return removeTable(old, c.key, name)
	}
	return removeMember(old, c.key, name)
}

func removeMember(text []byte, key, name string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, ErrNoEntry
	}
	top, err := parseCommented(text)
	if err != nil {
		return nil, err
	}
	servers := top.member(key)
	if servers == nil || servers.value.member(name) == nil {
		return nil, ErrNoEntry
	}
	before, _ := top.plain.(map[string]any)
	out := cutMember(text, &servers.value, name)
	got, err := parseCommented(out)
	if err != nil {
		return nil, fmt.Errorf("the result would be broken: %w", err)
	}
	after, _ := got.plain.(map[string]any)
	if got.member(key).value.member(name) != nil || !sameBeside(before, after, key, name) {
		return nil, errors.New("it can't be removed without changing more than the entry")
	}
	return out, nil
}

// cutMember leaves out one member of an object, with the line or lines it has
// for itself. Where it was the last, the comma before it goes as well: plain
// JSON has none at the end.
func cutMember(text []byte, in *jsonValue, name string) []byte {
	i := slices.IndexFunc(in.members, func(m jsonMember) bool { return m.name == name })
	m := &in.members[i]
	from, to := m.keyStart, m.value.end
	if m.comma > 0 {
		to = m.comma
	}
	to = endOfRemark(text, to, in.end-1)
	if indent, alone := lineIndent(text, from); alone {
		from -= len(indent)
		if bytes.HasPrefix(text[to:], []byte("\r\n")) {
			to += 2
		} else if text[to] == '\n' {
			to++
		}
	}
	if i > 0 && m.comma == 0 {
		if last := &in.members[i-1]; last.comma > 0 {
			return join(text[:last.comma-1], text[last.comma:from], text[to:])
		}
	}
	return join(text[:from], text[to:])
}

func removeTable(text []byte, key, name string) ([]byte, error) {
	before, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	if entryOf(before, key, name) == nil {
		return nil, ErrNoEntry
	}
	start, end, found := findTable(text, key, name)
	if !found {
		return nil, fmt.Errorf("it has %s.%s in a form that can't be removed; take it out by hand", key, name)
	}
	// The blank line that set it apart goes with it.
	head := text[:start]
	if end == len(text) || bytes.HasPrefix(bytes.TrimLeft(text[end:], "\r"), []byte("\n")) {
		for _, blank := range [][]byte{[]byte("\r\n\r\n"), []byte("\n\n")} {
			if bytes.HasSuffix(head, blank) {
				head = head[:len(head)-len(blank)/2]
				break
			}
		}
	}
	out := join(head, text[end:])
	after, err := readTOML(out)
	if err != nil || entryOf(after, key, name) != nil || !sameBeside(before, after, key, name) {
		return nil, errors.Join(errors.New("it can't be removed without changing more than the entry"), err)
	}
	return out, nil
}
