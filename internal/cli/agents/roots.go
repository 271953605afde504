package agents

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"quarry/internal/cli/env"
)

// namedRoot is a folder to serve.
type namedRoot struct{ name, dir string }

// flag formats the root as a value of --root, with its folder written as dir.
func (r namedRoot) flag(dir string) string {
	if r.name == "" {
		return dir
	}
	return r.name + "=" + dir
}

// parseRoots parses the values of --root. Several roots get different names.
func parseRoots(values []string) ([]namedRoot, error) {
	var list []namedRoot
	names, dirs := map[string]string{}, map[string]string{}
	given := map[string]bool{} // names chosen by the user
	for _, v := range values {
		if before, _, found := strings.Cut(v, "="); found && !env.Exists(v) {
			given[before] = true
		}
	}
	for _, v := range values {
		if v == "" {
			return nil, errors.New("--root is empty")
		}
		name, dir := "", v
		if before, after, found := strings.Cut(v, "="); found && !env.Exists(v) {
			if !isRootName(before) {
				return nil, fmt.Errorf("--root %s: a name has letters, digits, - and _ only", v)
			}
			name, dir = before, after
		}
		real, err := env.RootPath(dir)
		if err != nil {
			return nil, err
		}
		if name == "" && len(values) > 1 {
			if name = nameOf(filepath.Base(real)); name == "" {
				return nil, fmt.Errorf("--root %s: with several roots, name it: name=%s", v, v)
			}
			// Two folders may have the same name, for example if they were chosen in a desktop
			// client.
			taken := func(name string) bool { return names[name] != "" || given[name] }
			for n, folder := 2, name; taken(name); n++ {
				name = fmt.Sprintf("%s-%d", folder, n)
			}
		}
		if other, twice := dirs[real]; twice {
			return nil, fmt.Errorf("--root %s is the same folder as %s", v, other)
		}
		if other, twice := names[name]; twice {
			return nil, fmt.Errorf("--root %s and %s are both called %s: give them different names, as name=folder", other, v, name)
		}
		dirs[real], names[name] = v, v
		list = append(list, namedRoot{name, real})
	}
	return list, nil
}

func isRootName(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, notInName)
}

func notInName(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// nameOf derives the name of a root from the name of its folder: My Notes becomes My-Notes. It is
// needed for desktop clients, where people can choose folders but not name them.
func nameOf(folder string) string {
	return strings.TrimLeft(strings.Join(strings.FieldsFunc(folder, notInName), "-"), "-")
}
