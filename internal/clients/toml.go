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
		out = append(out, withEntry(text[start:end], e, ending)...)
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
	if err != nil || !e.sameAs(entryOf(after, key, name)) || !sameBeside(before, after, key, name) || !sameOptions(entryOf(before, key, name), entryOf(after, key, name)) {
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

// sameOptions compares what two entries have beside the command. One that was
// there before has to be there after; there may be none before.
func sameOptions(before, after map[string]any) bool {
	for name, value := range before {
		if name != "command" && name != "args" && !reflect.DeepEqual(value, after[name]) {
			return false
		}
	}
	return true
}

// withEntry sets the command and the arguments in a table of an entry. Its other
// lines stay.
func withEntry(table []byte, e *Entry, ending string) []byte {
	var args []string
	for _, a := range e.Args {
		args = append(args, quoteTOML(a))
	}
	list := "[" + strings.Join(args, ", ") + "]"
	out, hasArgs := setTableKey(table, "args", list)
	out, hasCommand := setTableKey(out, "command", quoteTOML(e.Command))
	head := bytes.IndexByte(out, '\n') + 1
	if head == 0 { // the heading has no line ending
		out = append(bytes.Clone(out), ending...)
		head = len(out)
	}
	var missing string
	if !hasCommand {
		missing = "command = " + quoteTOML(e.Command) + ending
	}
	if !hasArgs {
		missing += "args = " + list + ending
	}
	if hasCommand && missing != "" { // after the command
		_, end := tableKey(out, "command")
		if line := bytes.IndexByte(out[end:], '\n'); line >= 0 {
			head = end + line + 1
		} else {
			out = append(bytes.Clone(out), ending...)
			head = len(out)
		}
	}
	return join(out[:head], []byte(missing), out[head:])
}

// setTableKey replaces the value of a key in a table; a remark after it stays.
func setTableKey(table []byte, key, value string) ([]byte, bool) {
	start, end := tableKey(table, key)
	if end == 0 {
		return table, false
	}
	return join(table[:start], []byte(value), table[end:]), true
}

// tableKey finds the value of a key in the text of one table; end is 0 without it.
func tableKey(table []byte, key string) (start, end int) {
	for at := 0; at < len(table); {
		line := table[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		name, _, isKey := bytes.Cut(line, []byte("="))
		trimmed := strings.Trim(strings.TrimSpace(string(name)), `"'`)
		if !isKey || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "[") {
			at += len(line)
			continue
		}
		from := at + len(name) + 1
		from += len(table[from:]) - len(bytes.TrimLeft(table[from:], " \t"))
		to := valueEnd(table, from)
		if trimmed == key {
			return from, to
		}
		if n := bytes.IndexByte(table[to:], '\n'); n >= 0 {
			at = to + n + 1
		} else {
			at = len(table)
		}
	}
	return 0, 0
}

// valueEnd is the offset after a value of TOML that begins at from. It only has to
// be right for a text that was parsed before; what it gets wrong is found when
// the result is parsed again.
func valueEnd(text []byte, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			quote := text[i : i+1]
			if three := bytes.Repeat(quote, 3); bytes.HasPrefix(text[i:], three) {
				quote = three
			}
			i += len(quote)
			for i < len(text) && !bytes.HasPrefix(text[i:], quote) {
				if text[i] == '\\' && c == '"' {
					i++
				}
				i++
			}
			i += len(quote) - 1
			if depth == 0 {
				return min(i+1, len(text))
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '#' && depth > 0:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case depth == 0 && (c == '\n' || c == '#'):
			return from + len(bytes.TrimRight(text[from:i], " \t\r"))
		}
	}
	return len(text)
}

// findTable gives the bytes of a table: its heading and the lines up to the
// next, without blank lines and comments that belong to that.
func findTable(text []byte, key, name string) (start, end int, found bool) {
	heads := map[string]bool{"[" + key + "." + name + "]": true, "[" + key + "." + quoteTOML(name) + "]": true, "[" + key + ".'" + name + "']": true}
	return tableAt(text, func(heading string) bool { return heads[heading] })
}

// findSubtable gives the bytes of a table below that of an entry.
func findSubtable(text []byte, key, name string) (start, end int, found bool) {
	return tableAt(text, func(heading string) bool {
		for _, spelled := range []string{name, quoteTOML(name), "'" + name + "'"} {
			if strings.HasPrefix(heading, "["+key+"."+spelled+".") {
				return true
			}
		}
		return false
	})
}

// tableAt gives the bytes of the first table whose heading, without blanks, is the
// one that is looked for.
func tableAt(text []byte, wanted func(heading string) bool) (start, end int, found bool) {
	at, last := 0, 0
	for line := range bytes.Lines(text) {
		stripped, _, _ := strings.Cut(string(line), "#")
		compact := strings.Join(strings.Fields(stripped), "")
		switch {
		case !found && wanted(compact):
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
