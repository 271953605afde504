package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Source is the origin of a setting's value. Later constants take precedence.
type Source string

const (
	FromDefault     Source = "default"
	FromFile        Source = "file"
	FromRoot        Source = "root section"
	FromEnvironment Source = "environment"
)

// Nearer reports whether a source takes precedence over another.
func (s Source) Nearer(than Source) bool {
	order := []Source{FromDefault, FromFile, FromRoot, FromEnvironment}
	return slices.Index(order, s) > slices.Index(order, than)
}

// Setting is a key with its value and the source of the value.
type Setting struct {
	Key
	Value
	Source Source
	Where  string // file and line, or the environment variable
}

// Shown returns the value as written in quarry.toml; "" if it isn't set.
func (s *Setting) Shown() string {
	if s.Source == FromDefault {
		return ""
	}
	return s.Value.format(s.Kind)
}

// FormatDefault formats a flag's default as in quarry.toml.
func (k *Key) FormatDefault(text string) string {
	switch {
	case k.Kind == List:
		return "[]"
	case k.Kind == Size && k.Default != "":
		return fmt.Sprintf("%q", k.Default)
	}
	return Value{Text: text}.format(k.Kind)
}

// Effective returns the value of every key for the folder dir. The environment takes
// precedence over the section of dir or its nearest parent folder with a section, which
// takes precedence over the rest of the file.
func (f *File) Effective(env Env, dir string) ([]Setting, error) {
	var list []Setting
	for _, k := range Keys() {
		s, err := f.Of(env, dir, &k)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Get returns the setting of one key, as Effective does.
func (f *File) Get(env Env, dir, path string) (Setting, error) {
	k, ok := Lookup(path)
	if !ok {
		return Setting{}, fmt.Errorf("unknown key %s", path)
	}
	return f.Of(env, dir, &k)
}

// VariableError means that an environment variable has an invalid value.
type VariableError struct {
	Name string
	Err  error
}

func (e *VariableError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the problem with the value.
func (e *VariableError) Unwrap() error { return e.Err }

// Of is Get for a Key.
func (f *File) Of(env Env, dir string, k *Key) (Setting, error) {
	s := Setting{Key: *k, Source: FromDefault}
	variable := k.Variable()
	if text := env(variable); text != "" {
		v, err := k.parseText(text)
		if err != nil {
			return s, &VariableError{variable, err}
		}
		s.Value, s.Source, s.Where = v, FromEnvironment, variable
		return s, nil
	}
	if len(f.roots) == 0 && len(f.global) == 0 {
		return s, nil
	}
	for i := range f.roots {
		if v, ok := f.roots[i].values[k.Path()]; ok && f.roots[i].holds(dir) {
			s.Value, s.Source, s.Where = v.Value, FromRoot, fmt.Sprintf("%s:%d", f.Name, v.line)
			return s, nil
		}
	}
	if v, ok := f.global[k.Path()]; ok {
		s.Value, s.Source, s.Where = v.Value, FromFile, fmt.Sprintf("%s:%d", f.Name, v.line)
	}
	return s, nil
}

func (r *rootSection) holds(dir string) bool {
	rel, err := filepath.Rel(r.dir, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// RootSection is the section of a folder in the file.
type RootSection struct {
	Shown, Dir string
	Line       int
}

// Roots lists the sections that apply to dir, or all sections if dir is "".
func (f *File) Roots(dir string) []RootSection {
	var list []RootSection
	for i := range f.roots {
		if r := &f.roots[i]; dir == "" || r.holds(dir) {
			list = append(list, RootSection{r.shown, r.dir, r.line})
		}
	}
	return list
}

// otherVariables are Quarry's variables that don't set a key. Most of them are for tests;
// see CONTRIBUTING.md.
var otherVariables = []string{"QUARRY_CONFIG", "QUARRY_NOSIMD", "QUARRY_RG", "QUARRY_NPM", "QUARRY_BENCH_TREE", "QUARRY_CHROMIUM", "QUARRY_SUITES"}

// Variable is an unknown environment variable that looks like one of Quarry's, and the
// variable probably intended.
type Variable struct{ Name, Near string }

// UnknownVariables finds unknown variables in environ (see os.Environ) with Quarry's
// prefix. They are probably misspelled.
func UnknownVariables(environ []string) []Variable {
	known := slices.Clone(otherVariables)
	for _, k := range Keys() {
		known = append(known, k.Variable())
	}
	var list []Variable
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "QUARRY_") && !slices.Contains(known, name) {
			list = append(list, Variable{name, Nearest(name, known)})
		}
	}
	return list
}
