package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"quarry/internal/rootfs/outside"
	"quarry/internal/splice"
	"quarry/internal/value"
)

// SetText parses a value given by the user, as for flags and variables. For a list, each
// text is an item.
func (k *Key) SetText(texts []string) (Value, error) {
	if k.Kind == List {
		return Value{List: slices.Clone(texts)}, nil
	}
	if len(texts) != 1 {
		return Value{}, fmt.Errorf("takes one value, not %d", len(texts))
	}
	return k.parseText(texts[0])
}

// Change sets a key in the text of a configuration file, or unsets it if v is nil: for
// the folder root, or everywhere if root is "". Package value keeps all other bytes,
// including comments and order.
func Change(name string, text []byte, home string, k Key, root string, v *Value) ([]byte, error) {
	before, err := Parse(name, text, home)
	if err != nil {
		return nil, err
	}
	if root != "" && k.Everywhere {
		return nil, fmt.Errorf("%s can't be set for one folder; leave --root out", k.Path())
	}
	path := []string{k.Section, k.Name}
	if root != "" {
		path = append([]string{"root", before.shownRoot(root, home)}, path...)
	}
	e := value.Edit{At: value.Keys(path...), Delete: v == nil}
	if v != nil {
		e.Value = v.node(k.Kind)
	}
	out, err := value.Apply(value.TOML, text, e)
	var missing *value.MissingError
	switch {
	case errors.As(err, &missing):
		return text, nil // nothing to unset
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	now, err := splice.Apply(text, out)
	if err != nil {
		return nil, err
	}
	if _, err := Parse(name, now, home); err != nil {
		return nil, fmt.Errorf("the change would break the file, so it is left as it is: %w", err)
	}
	return now, nil
}

// shownRoot returns the notation of a folder in the file, or the one to use if it has no
// section.
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

// ChangeFile sets or unsets a key in the user's configuration file. It creates the file
// if necessary. It returns the file's name and whether it changed. The file is replaced
// atomically; if it is a symlink, its target is replaced.
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
	old, _, err := outside.Read(target, maxFile)
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
			err = fmt.Errorf("%s exists: another quarry config set is running, or was interrupted; in that case delete it", fresh)
		}
		return name, false, err
	}
	if err := os.Rename(fresh, target); err != nil {
		return name, false, errors.Join(err, os.Remove(fresh))
	}
	return name, true, nil
}
