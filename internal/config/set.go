package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"

	"quarry/internal/rootfs"
)

// SetText parses values that a person gives for a key, in the same way as flags
// and variables. For a list each text is one item.
func (k *Key) SetText(texts []string) (Value, error) {
	if k.Kind == List {
		return Value{List: slices.Clone(texts)}, nil
	}
	if len(texts) != 1 {
		return Value{}, fmt.Errorf("takes one value, not %d", len(texts))
	}
	return k.parseText(texts[0])
}

// Change sets or, with a nil value, unsets a key in the text of a configuration
// file: for one folder, or everywhere when root is "". Every other byte of the
// text stays, including comments and order. The result is parsed before it is
// returned, and all other keys must have the same values.
func Change(name string, text []byte, home string, k Key, root string, v *Value) ([]byte, error) {
	before, err := Parse(name, text, home)
	if err != nil {
		return nil, err
	}
	if root != "" && k.Everywhere {
		return nil, fmt.Errorf("%s can't be set for one folder; leave --root out", k.Path())
	}
	w := &changeOf{name: name, text: text, path: []string{k.Section, k.Name}}
	if root != "" {
		w.path = append([]string{"root", before.shownRoot(root, home)}, w.path...)
	}
	if err := w.find(); err != nil {
		return nil, err
	}
	var now []byte
	if v == nil {
		now = w.without()
	} else {
		now = w.with(v.format(k.Kind))
	}
	after, err := Parse(name, now, home)
	if err != nil {
		return nil, fmt.Errorf("the change would break the file, so it is left as it is: %w", err)
	}
	if !sameBeside(before, after, w.path, k.Path()) {
		return nil, fmt.Errorf("%s has a form in which %s can't be changed safely; edit it by hand", name, k.Path())
	}
	return now, nil
}

// shownRoot is how a folder is written in the file, or how we would write it.
func (f *File) shownRoot(root, home string) string {
	dir := filepath.Clean(root)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, r := range f.roots {
		if r.dir == dir {
			return r.shown
		}
	}
	if rest, err := filepath.Rel(home, dir); home != "" && err == nil && rest != "." && filepath.IsLocal(rest) {
		return "~/" + filepath.ToSlash(rest)
	}
	return filepath.ToSlash(dir)
}

// changeOf collects where a key is in the file, or where it has to be inserted.
type changeOf struct {
	name string
	text []byte
	path []string

	line, from, to int // of the pair: start of its line, and its value
	section        int // after the last line of the key's section, 0 if there is none
	dotted         int // after the last line search.hidden = true outside all sections
}

// find looks for the pair and its section.
func (w *changeOf) find() error {
	var p unstable.Parser
	bom := len(w.text) - len(bytes.TrimPrefix(w.text, []byte("\xef\xbb\xbf")))
	p.Reset(bytes.Clone(w.text[bom:]))
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind != unstable.Table && n.Kind != unstable.KeyValue {
			continue
		}
		parts, first := keyParts(n.Key())
		start := bom + int(first.Raw.Offset)
		if n.Kind == unstable.Table {
			table = parts
			if slices.Equal(table, w.sectionPath()) {
				w.section = w.lineEnd(start)
			}
			continue
		}
		full := append(slices.Clone(table), parts...)
		from := w.valueStart(n, bom)
		to := valueEnd(w.text, from)
		switch {
		case slices.Equal(full, w.path):
			w.line, w.from, w.to = w.lineStart(start), from, to
		case n.Value().Kind == unstable.InlineTable && len(full) < len(w.path) && slices.Equal(full, w.path[:len(full)]):
			return fmt.Errorf("%s: line %d has %s in braces; change it there", w.name, bytes.Count(w.text[:start], []byte("\n"))+1, joinKey(full))
		}
		if slices.Equal(table, w.sectionPath()) {
			w.section = w.lineEnd(to)
		}
		if len(table) == 0 && slices.Equal(full[:len(full)-1], w.sectionPath()) {
			w.dotted = w.lineEnd(to)
		}
	}
	return p.Error()
}

func (w *changeOf) sectionPath() []string { return w.path[:len(w.path)-1] }

func (w *changeOf) lineStart(at int) int { return bytes.LastIndexByte(w.text[:at], '\n') + 1 }

// lineEnd is after the line feed, or at the end of the text.
func (w *changeOf) lineEnd(at int) int {
	if i := bytes.IndexByte(w.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(w.text)
}

// valueStart is behind the equals sign of a pair.
func (w *changeOf) valueStart(n *unstable.Node, bom int) int {
	at := 0
	for it := n.Key(); it.Next(); {
		r := it.Node().Raw
		at = bom + int(r.Offset) + int(r.Length)
	}
	at += bytes.IndexByte(w.text[at:], '=') + 1
	for at < len(w.text) && (w.text[at] == ' ' || w.text[at] == '\t') {
		at++
	}
	return at
}

// valueEnd finds the end of a value that the parser accepted.
func valueEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch c := text[at]; c {
		case '"', '\'':
			at = stringEnd(text, at)
			if depth == 0 {
				return at
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case '#':
			if depth == 0 {
				return len(bytes.TrimRight(text[:at], " \t"))
			}
			for at < len(text) && text[at] != '\n' {
				at++
			}
			continue
		case '\n':
			if depth == 0 {
				return len(bytes.TrimRight(text[:at], " \t\r"))
			}
		}
		at++
	}
	return at
}

// stringEnd is behind the string that starts at at.
func stringEnd(text []byte, at int) int {
	quote := text[at]
	long := bytes.Repeat(text[at:at+1], 3)
	if bytes.HasPrefix(text[at:], long) {
		for at += 3; at < len(text); at++ {
			if quote == '"' && text[at] == '\\' {
				at++
			} else if bytes.HasPrefix(text[at:], long) {
				for at += 3; at < len(text) && text[at] == quote; at++ { // up to two quotes of the text itself
				}
				return at
			}
		}
		return at
	}
	for at++; at < len(text) && text[at] != quote; at++ {
		if quote == '"' && text[at] == '\\' {
			at++
		}
	}
	return min(at+1, len(text))
}

// with is the text with the key set to a value.
func (w *changeOf) with(value string) []byte {
	if w.to > 0 {
		return splice(w.text, w.from, w.to, value)
	}
	newline := "\n"
	if bytes.Contains(w.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	at, line := w.section, joinKey(w.path[len(w.path)-1:])+" = "+value+newline
	switch {
	case w.section > 0:
	case w.dotted > 0:
		at, line = w.dotted, joinKey(w.path)+" = "+value+newline
	default:
		at = len(w.text)
		line = "[" + joinKey(w.sectionPath()) + "]" + newline + line
		if len(w.text) > 0 {
			line = newline + line
		}
	}
	if at > 0 && w.text[at-1] != '\n' {
		line = newline + line
	}
	return splice(w.text, at, at, line)
}

// without is the text without the line of the key.
func (w *changeOf) without() []byte {
	if w.to == 0 {
		return w.text
	}
	return splice(w.text, w.line, w.lineEnd(w.to), "")
}

func splice(text []byte, from, to int, by string) []byte {
	return slices.Concat(text[:from], []byte(by), text[to:])
}

// sameBeside reports whether two files are equal except for one key.
func sameBeside(a, b *File, path []string, key string) bool {
	flat := func(f *File) map[string]string {
		all := map[string]string{}
		for k, v := range f.global {
			all[k] = strconv.Quote(v.Text) + fmt.Sprintf("%q", v.List)
		}
		for _, r := range f.roots {
			for k, v := range r.values {
				all[strconv.Quote(r.shown)+k] = strconv.Quote(v.Text) + fmt.Sprintf("%q", v.List)
			}
		}
		if len(path) > 2 {
			key = strconv.Quote(path[1]) + path[2] + "." + path[3]
		}
		delete(all, key)
		return all
	}
	return maps.Equal(flat(a), flat(b))
}

// ChangeFile sets or unsets a key in the user's configuration file, which is
// made if it is missing, and returns its name and whether it was changed. The
// file is replaced in one step; if it is a link, its target is.
func ChangeFile(env Env, k Key, root string, v *Value) (name string, changed bool, err error) {
	name, _, err = FilePath(env)
	if err != nil {
		return "", false, err
	}
	target := name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		target = real
	}
	mode := fs.FileMode(0o644)
	old, _, err := rootfs.ReadPlain(target, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return name, false, err
		}
	case err != nil:
		return name, false, err
	default:
		if info, err := os.Stat(target); err == nil {
			mode = info.Mode().Perm()
		}
	}
	now, err := Change(name, old, homeDir(env), k, root, v)
	if err != nil || bytes.Equal(now, old) {
		return name, false, err
	}
	fresh := target + ".new"
	if err := WriteNew(fresh, now, mode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s is there: another quarry config set is under way, or was cut short; delete it in that case", fresh)
		}
		return name, false, err
	}
	if err := os.Rename(fresh, target); err != nil {
		return name, false, errors.Join(err, os.Remove(fresh))
	}
	return name, true, nil
}
