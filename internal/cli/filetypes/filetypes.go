// Package filetypes holds the file types for -t and -T of quarry search, with the changes of
// --type-add and --type-clear.
//
// The table is ripgrep 15's; a test compares it with rg --type-list.
package filetypes

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed types.txt
var table string

// All returns the globs of each type name: ripgrep 15's, as listed by rg --type-list. The table is
// built on first use, because most runs don't need it.
var All = sync.OnceValue(func() Set {
	types := Set{}
	for line := range strings.Lines(table) {
		name, globs, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		types[name] = strings.Split(globs, ", ")
	}
	return types
})

// aliases maps alternative names to names in the table.
var aliases = map[string]string{
	"bash": "sh", "cs": "csharp", "dockerfile": "docker", "hs": "haskell", "javascript": "js", "kt": "kotlin",
	"md": "markdown", "python": "py", "rb": "ruby", "rs": "rust", "terraform": "tf", "typescript": "ts",
	"golang": "go", "proto": "protobuf", "yml": "yaml", "text": "txt",
}

// Set maps the name of a file type to its globs.
type Set map[string][]string

// Known returns all types after applying --type-clear and --type-add.
func Known(clear, add []string) (Set, error) {
	if len(add)+len(clear) == 0 {
		return All(), nil
	}
	known := maps.Clone(All())
	for _, name := range clear {
		delete(known, known.name(name))
	}
	for _, spec := range add {
		if err := known.add(spec); err != nil {
			return nil, fmt.Errorf("--type-add %q: %w", spec, err)
		}
	}
	return known, nil
}

// add applies a definition of the form name:glob or name:include:others.
func (k Set) add(spec string) error {
	name, glob, ok := strings.Cut(spec, ":")
	if !ok || name == "" || glob == "" || name == "all" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		return errors.New("it is name:glob, as web:*.html, or name:include:other,types; a name has letters and digits, and is not all")
	}
	others, ok := strings.CutPrefix(glob, "include:")
	if !ok {
		k[name] = append(slices.Clone(k[name]), glob)
		return nil
	}
	for other := range strings.SplitSeq(others, ",") {
		list, ok := k[k.name(other)]
		if !ok {
			return fmt.Errorf("unknown file type %q: --type-list shows the known ones", other)
		}
		k[name] = append(slices.Clone(k[name]), list...)
	}
	return nil
}

// name returns the table's name for name, which may be an alias.
func (k Set) name(name string) string {
	if _, ok := k[name]; !ok && aliases[name] != "" {
		return aliases[name]
	}
	return name
}

// Globs returns the globs for type names given to -t, or to -T if not is set; the latter exclude
// files.
func (k Set) Globs(names []string, not bool) ([]string, error) {
	var globs []string
	for _, name := range names {
		lists := [][]string{k[k.name(name)]}
		if name == "all" {
			lists = nil
			for _, name := range k.Names() {
				lists = append(lists, k[name])
			}
		} else if lists[0] == nil {
			return nil, fmt.Errorf("unknown file type %q: --type-list shows the known ones", name)
		}
		for _, g := range slices.Concat(lists...) {
			if not {
				g = "!" + g
			}
			globs = append(globs, g)
		}
	}
	return globs, nil
}

// Names returns the sorted names of all types.
func (k Set) Names() []string { return slices.Sorted(maps.Keys(k)) }

// List returns the output of --type-list.
func (k Set) List() string {
	var b strings.Builder
	for _, name := range k.Names() {
		globs := slices.Clone(k[name])
		slices.Sort(globs)
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(globs, ", "))
	}
	return b.String()
}
