package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"quarry/internal/config"
)

// setTable puts a server's table, [key.name], into TOML text. It replaces an
// existing table, or adds one at the end. Everything else stays byte for byte:
// the result is parsed again, and nothing is changed if anything except the entry
// differs.
func setTable(text []byte, key, name string, e *Entry) ([]byte, error) {
	before, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	if e.sameAs(entryOf(before, key, name)) {
		return text, nil
	}
	ending := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		ending = "\r\n"
	}
	table := strings.ReplaceAll(tableText(key, name, e), "\n", ending)
	start, end, found := findTable(text, key, name)
	var out []byte
	switch {
	case found:
		out = append(out, text[:start]...)
		out = append(out, table...)
		if end < len(text) {
			out = append(out, ending...)
		}
		out = append(out, text[end:]...)
	case entryOf(before, key, name) != nil:
		return nil, fmt.Errorf("it has %s.%s in a form that can't be replaced", key, name)
	default:
		out = append(out, text...)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, ending...)
		}
		if len(out) > 0 {
			out = append(out, ending...)
		}
		out = append(out, table...)
	}
	after, err := readTOML(out)
	if err != nil || !e.sameAs(entryOf(after, key, name)) || !sameBeside(before, after, key, name) {
		return nil, errors.Join(errors.New("it can't be changed without changing more than the entry"), err)
	}
	return out, nil
}

func readTOML(text []byte) (map[string]any, error) {
	all, err := config.Tree(text)
	var bad *config.FileError
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("line %d: %s", bad.Line, strings.TrimPrefix(bad.Error(), fmt.Sprintf(":%d: ", bad.Line)))
	}
	return all, err
}

func entryOf(all map[string]any, key, name string) map[string]any {
	servers, _ := all[key].(map[string]any)
	entry, _ := servers[name].(map[string]any)
	return entry
}

// sameAs reports an entry that starts the same program.
func (e *Entry) sameAs(entry map[string]any) bool {
	var args []any
	for _, a := range e.Args {
		args = append(args, a)
	}
	return entry != nil && entry["command"] == any(e.Command) && reflect.DeepEqual(entry["args"], any(args))
}

// sameBeside compares two settings but for the entry.
func sameBeside(a, b map[string]any, key, name string) bool {
	without := func(all map[string]any) map[string]any {
		out := map[string]any{}
		for k, v := range all {
			out[k] = v
		}
		rest := map[string]any{}
		if servers, ok := all[key].(map[string]any); ok {
			for k, v := range servers {
				if k != name {
					rest[k] = v
				}
			}
		}
		out[key] = rest
		return out
	}
	return reflect.DeepEqual(without(a), without(b))
}

// findTable gives the bytes of a table: its heading and the lines up to the
// next, without blank lines and comments that belong to that.
func findTable(text []byte, key, name string) (start, end int, found bool) {
	heads := map[string]bool{"[" + key + "." + name + "]": true, "[" + key + "." + quoteTOML(name) + "]": true, "[" + key + ".'" + name + "']": true}
	at, last := 0, 0
	for line := range bytes.Lines(text) {
		stripped, _, _ := strings.Cut(string(line), "#")
		compact := strings.Join(strings.Fields(stripped), "")
		switch {
		case !found && heads[compact]:
			start, found = at, true
			last = at + len(line)
		case found && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("[")) && !strings.HasPrefix(compact, "[\""):
			return start, last, true
		case found && compact != "":
			last = at + len(line)
		}
		at += len(line)
	}
	return start, last, found
}

// tableText is an entry as a table.
func tableText(key, name string, e *Entry) string {
	if !config.BareKey(name) {
		name = quoteTOML(name)
	}
	var args []string
	for _, a := range e.Args {
		args = append(args, quoteTOML(a))
	}
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = [%s]\n", key, name, quoteTOML(e.Command), strings.Join(args, ", "))
}

// quoteTOML writes a basic string, whose escapes are those of JSON.
func quoteTOML(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}
