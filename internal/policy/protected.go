package policy

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed protected.txt
var protectedText string

// protected is an entry of protected.txt: a folder's name, its first six letters as in an
// 8.3 short name, and the files in it that Quarry itself reads.
type protected struct {
	name, short string
	files       []string
}

var protectedFolders = sync.OnceValue(func() (list []protected) {
	for line := range strings.Lines(protectedText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		name := fields[0]
		list = append(list, protected{name: name, short: name[1:min(len(name), 7)], files: fields[1:]})
	}
	return list
})

// ProtectedNames lists the protected folders.
func ProtectedNames() []string {
	var names []string
	for _, p := range protectedFolders() {
		names = append(names, p.name)
	}
	return names
}

// SystemFile reports whether Quarry itself may read a file in a protected folder. rel
// begins with that folder's name.
func SystemFile(rel string) bool {
	name, file, inside := strings.Cut(rel, "/")
	if !inside {
		file = "."
	}
	return slices.ContainsFunc(protectedFolders(), func(p protected) bool { return p.name == name && slices.Contains(p.files, file) })
}

// LeadsToSystemFile reports whether a folder contains, at any depth, a file that Quarry
// itself may read. rel begins with the name of a protected folder.
func LeadsToSystemFile(rel string) bool {
	name, below, _ := strings.Cut(rel, "/")
	for _, p := range protectedFolders() {
		if p.name == name {
			return slices.ContainsFunc(p.files, func(f string) bool { return f != "." && (below == "" || strings.HasPrefix(f, below+"/")) })
		}
	}
	return false
}
