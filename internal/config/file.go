package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"quarry/internal/rootfs/outside"
)

// FileName is the name of the configuration file.
const FileName = "quarry.toml"

// File is a parsed and valid configuration file.
type File struct {
	Name   string // "" if there is none
	global map[string]placed
	roots  []rootSection
}

// placed is a value and its line number.
type placed struct {
	Value
	line int
}

// rootSection has the keys that apply to one folder and everything below it.
type rootSection struct {
	shown  string // as written
	dir    string // absolute, with symlinks resolved if possible
	line   int
	values map[string]placed
}

// FileError describes a mistake in a configuration file and its position.
type FileError struct {
	File    string
	Line    int
	Key     string // as written, with its section; "" for a syntax error
	Problem string
	// Wrong is the unknown part of Key, and Near the name that was probably intended.
	Wrong, Near string
}

func (e *FileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	if e.Near != "" {
		fmt.Fprintf(&b, "\n  did you mean %s?", e.Near)
	}
	return b.String()
}

// FilePath returns the path of the configuration file: the value of QUARRY_CONFIG, or a
// file in the user's configuration folder. given reports whether the variable is set.
func FilePath(env Env) (name string, given bool, err error) {
	if name := env("QUARRY_CONFIG"); name != "" {
		name, err := filepath.Abs(expandHome(name, homeDir(env)))
		return name, true, err
	}
	dir := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if dir, err = systemConfigDir(env); err != nil {
			return "", false, err
		}
	}
	return filepath.Join(dir, "quarry", FileName), false, nil
}

func systemConfigDir(env Env) (string, error) {
	if dir := env("APPDATA"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return dir, nil
	}
	home := homeDir(env)
	if home == "" {
		return "", ErrNoHome
	}
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(home, "AppData", "Roaming"), nil
	case "darwin":
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".config"), nil
}

func homeDir(env Env) string {
	if home := env("HOME"); filepath.IsAbs(home) {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return home
}

// Load reads the configuration file. A missing file counts as empty, unless QUARRY_CONFIG
// names it. Mistakes in the file are returned as *FileError.
func Load(env Env) (*File, error) {
	name, given, err := FilePath(env)
	if errors.Is(err, ErrNoHome) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	if isNull(name) {
		return &File{}, nil
	}
	data, info, err := outside.Read(name, maxFile)
	switch {
	case errors.Is(err, os.ErrNotExist) && !given:
		return &File{}, nil
	case err != nil && info != nil && (!info.Mode().IsRegular() || info.Size() > maxFile):
		return nil, fmt.Errorf("%s is not a configuration file", name)
	case err != nil && given:
		return nil, fmt.Errorf("QUARRY_CONFIG: %w", err)
	case err != nil:
		return nil, err
	case !outside.Ours(info):
		return nil, fmt.Errorf("%s belongs to another user, who could remove every limit with it; name a file of your own with QUARRY_CONFIG, or use --no-config", name)
	}
	return Parse(name, data, homeDir(env))
}

// isNull reports whether name is the absolute path of the null device, on Windows
// \\.\NUL.
func isNull(name string) bool {
	null, err := filepath.Abs(os.DevNull)
	if runtime.GOOS == "windows" {
		return err == nil && strings.EqualFold(name, null)
	}
	return name == null
}

// Parse parses a configuration file. name is used in errors, and home replaces ~.
func Parse(name string, data []byte, home string) (*File, error) {
	f := &File{Name: name, global: map[string]placed{}}
	// Skip a byte order mark, which some editors on Windows write.
	r := &reader{file: f, home: home, headers: map[string]int{}, keys: map[string]Key{}}
	for _, k := range Keys() {
		r.keys[k.Path()] = k
	}
	r.p.Reset(bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	for r.p.NextExpression() {
		if err := r.expression(r.p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := r.p.Error(); err != nil {
		line, problem := syntaxProblem(&r.p, err)
		return nil, r.fail(line, nil, "", "", "%s", problem)
	}
	// Sections of deeper folders take precedence.
	sort.SliceStable(f.roots, func(i, j int) bool { return len(f.roots[i].dir) > len(f.roots[j].dir) })
	return f, nil
}

// reader reads the values in a file.
type reader struct {
	file    *File
	p       unstable.Parser
	home    string
	table   []string       // parts of the current section header
	headers map[string]int // line of each header
	keys    map[string]Key
}

func (r *reader) fail(line int, key []string, wrong, near, format string, args ...any) error {
	return &FileError{File: r.file.Name, Line: line, Key: joinKey(key), Problem: fmt.Sprintf(format, args...), Wrong: wrong, Near: near}
}

func (r *reader) expression(n *unstable.Node) error {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		parts, first := keyParts(n.Key())
		line := lineOf(&r.p, first)
		if n.Kind == unstable.ArrayTable {
			return r.fail(line, parts, "", "", "a section has single brackets here")
		}
		name := joinKey(parts)
		if before, twice := r.headers[name]; twice {
			return r.fail(line, parts, "", "", "the section is there already, on line %d", before)
		}
		r.headers[name] = line
		r.table = parts
		return r.header(parts, line)
	case unstable.KeyValue:
		return r.pair(r.table, n)
	}
	return nil
}

// header checks a section header.
func (r *reader) header(parts []string, line int) error {
	rest := parts
	if parts[0] == "root" {
		if len(parts) < 2 {
			return r.fail(line, parts, "", "", `the section of a folder is [root."/path/of/it"]`)
		}
		if _, err := r.root(parts[1], line, parts); err != nil {
			return err
		}
		rest = parts[2:]
	}
	switch {
	case len(rest) == 0:
		return nil
	case !slices.Contains(Sections(), rest[0]):
		return r.unknown(line, parts, rest[0], append(Sections(), "root"), "unknown section")
	case len(rest) > 1:
		return r.fail(line, parts, "", "", "a section has no sections of its own")
	}
	return nil
}

func (r *reader) unknown(line int, parts []string, wrong string, known []string, problem string) error {
	return r.fail(line, parts, wrong, Nearest(wrong, known), "%s", problem)
}

// pair stores the value of a key. An inline table is treated like a section.
func (r *reader) pair(above []string, n *unstable.Node) error {
	parts, first := keyParts(n.Key())
	line := lineOf(&r.p, first)
	parts = append(slices.Clone(above), parts...)
	if v := n.Value(); v.Kind == unstable.InlineTable {
		it := v.Children()
		for it.Next() {
			if err := r.pair(parts, it.Node()); err != nil {
				return err
			}
		}
		return nil
	}
	values, inRoot := r.file.global, false
	rest := parts
	if parts[0] == "root" && len(parts) > 1 {
		section, err := r.root(parts[1], line, parts)
		if err != nil {
			return err
		}
		values, rest, inRoot = section.values, parts[2:], true
	}
	key, err := r.known(line, parts, rest, inRoot)
	if err != nil {
		return err
	}
	if before, twice := values[key.Path()]; twice {
		return r.fail(line, parts, "", "", "it is set already, on line %d", before.line)
	}
	v, err := r.value(&key, n.Value())
	if err != nil {
		return r.fail(line, parts, "", "", "%v", err)
	}
	values[key.Path()] = placed{v, line}
	return nil
}

// known returns the key named by rest, the parts after a root's.
func (r *reader) known(line int, parts, rest []string, inRoot bool) (Key, error) {
	if len(rest) == 0 {
		return Key{}, r.fail(line, parts, "", "", "a section needs keys, as search.hidden = true")
	}
	if !slices.Contains(Sections(), rest[0]) {
		if len(rest) == 1 {
			if near := sectionOf(rest[0]); near != "" {
				return Key{}, r.fail(line, parts, rest[0], near+"."+rest[0], "a key needs its section")
			}
		}
		return Key{}, r.unknown(line, parts, rest[0], append(Sections(), "root"), "unknown section")
	}
	if len(rest) == 1 {
		return Key{}, r.fail(line, parts, "", "", "this is a section: write %s.KEY = …, or [%s] and its keys below", rest[0], rest[0])
	}
	key, ok := r.keys[strings.Join(rest, ".")]
	if !ok || len(rest) != 2 {
		var names []string
		for _, k := range Keys() {
			if k.Section == rest[0] {
				names = append(names, k.Name)
			}
		}
		return Key{}, r.unknown(line, parts, strings.Join(rest[1:], "."), names, "unknown key")
	}
	if inRoot && key.Everywhere {
		return Key{}, r.fail(line, parts, "", "", "this can't be set for one folder: put it into [%s] at the top", key.Section)
	}
	return key, nil
}

// sectionOf returns the section that has a key of this name.
func sectionOf(name string) string {
	for _, k := range Keys() {
		if k.Name == name {
			return k.Section
		}
	}
	return ""
}

// root returns the section of a folder, and adds it if necessary.
func (r *reader) root(shown string, line int, parts []string) (*rootSection, error) {
	for i := range r.file.roots {
		if r.file.roots[i].shown == shown {
			return &r.file.roots[i], nil
		}
	}
	dir := shown
	if dir == "~" {
		dir = r.home
	}
	dir = expandHome(filepath.FromSlash(dir), r.home)
	if !filepath.IsAbs(dir) {
		return nil, r.fail(line, parts, "", "", "the folder of a section has to be absolute, or start with ~/")
	}
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, s := range r.file.roots {
		if s.dir == dir {
			return nil, r.fail(line, parts, "", "", "this is the folder of line %d", s.line)
		}
	}
	r.file.roots = append(r.file.roots, rootSection{shown: shown, dir: dir, line: line, values: map[string]placed{}})
	return &r.file.roots[len(r.file.roots)-1], nil
}

// kindNames names the constructs of a file.
var kindNames = map[unstable.Kind]string{
	unstable.Bool: "true or false", unstable.Integer: "a number", unstable.Float: "a number with a point", unstable.String: "a text",
	unstable.Array: "a list",
}

// value parses a value of the type that its key requires.
func (r *reader) value(k *Key, n *unstable.Node) (Value, error) {
	text := string(n.Data)
	switch n.Kind {
	case unstable.Bool:
		if k.Kind == Bool {
			return Value{Text: text}, nil
		}
	case unstable.Integer:
		if text = strings.ReplaceAll(text, "_", ""); k.Kind == Int || k.Kind == Size || k.Kind == Duration && text == "0" {
			return k.parseText(text)
		}
	case unstable.String:
		if k.Kind == List {
			return Value{List: []string{text}}, nil
		}
		if k.Kind != Bool && k.Kind != Int {
			return k.parseText(text)
		}
	case unstable.Array:
		if k.Kind == List {
			return listValue(n)
		}
	}
	found := kindNames[n.Kind]
	found = cmp.Or(found, "a date")
	want := "a " + k.Kind.String()
	if k.Kind == Bool {
		want = k.Kind.String()
	}
	return Value{}, fmt.Errorf("this is %s, it has to be %s", found, want)
}

func listValue(n *unstable.Node) (Value, error) {
	v := Value{List: []string{}}
	it := n.Children()
	for it.Next() {
		switch it.Node().Kind {
		case unstable.Comment:
		case unstable.String:
			v.List = append(v.List, string(it.Node().Data))
		default:
			return v, errors.New("every item of the list has to be a text in quotes")
		}
	}
	return v, nil
}
