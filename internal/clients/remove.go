package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
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
	body, _ := bytes.CutPrefix(text, utf8BOM)
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, ErrNoEntry
	}
	top, err := parse(body)
	if err != nil {
		return nil, err
	}
	before, err := plain(top)
	if err != nil {
		return nil, err
	}
	servers := member(&top, key)
	if servers == nil || servers.Value.Kind() != '{' || member(servers, name) == nil {
		return nil, ErrNoEntry
	}
	out := cutMember(body, servers, name)
	if top, err = parse(out); err != nil {
		return nil, fmt.Errorf("the result would be broken: %w", err)
	}
	after, err := plain(top)
	if err != nil || entryOf(after, key, name) != nil || !sameBeside(before, after, key, name) {
		return nil, errors.Join(errors.New("it can't be removed without changing more than the entry"), err)
	}
	return join(text[:len(text)-len(body)], out), nil
}

// cutMember leaves out one member of an object, with the line or lines it has
// for itself. Where it was the last, the comma before it goes as well: plain
// JSON has none at the end.
func cutMember(text []byte, in *hujson.Value, name string) []byte {
	members := in.Value.(*hujson.Object).Members
	i := slices.IndexFunc(members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
	m := &members[i]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	comma := commaAfter(text, &m.Value)
	if comma > 0 {
		to = comma
	}
	remark, _ := cutRemark(text[to : in.EndOffset-1])
	to += len(remark)
	if indent, alone := lineIndent(text, from); alone {
		from -= len(indent)
		if bytes.HasPrefix(text[to:], []byte("\r\n")) {
			to += 2
		} else if text[to] == '\n' {
			to++
		}
	}
	if i > 0 && comma == 0 {
		if last := commaAfter(text, &members[i-1].Value); last > 0 {
			return join(text[:last-1], text[last:from], text[to:])
		}
	}
	return join(text[:from], text[to:])
}

// commaAfter is the offset after the comma that follows a member; 0 without one.
func commaAfter(text []byte, v *hujson.Value) int {
	if at := v.EndOffset + len(v.AfterExtra); text[at] == ',' {
		return at + 1
	}
	return 0
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

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
	for { // [key.name.env] and the like belong to it
		start, end, found := findSubtable(out, key, name)
		if !found {
			break
		}
		out = join(out[:start], out[end:])
	}
	after, err := readTOML(out)
	if err != nil || entryOf(after, key, name) != nil || !sameBeside(before, after, key, name) {
		return nil, errors.Join(errors.New("it can't be removed without changing more than the entry"), err)
	}
	return out, nil
}
