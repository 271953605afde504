package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/rootfs"
)

// replica holds the files of a folder and looks only at reported paths, so it is stale if a
// change is not reported.
type replica struct {
	dir   string
	files map[string]string // content by path
}

func (m *replica) look(p string) {
	data, err := os.ReadFile(filepath.Join(m.dir, p))
	if err != nil {
		delete(m.files, p)
		return
	}
	m.files[p] = string(data)
}

func (m *replica) apply(c *Changes) {
	for _, t := range c.Trees {
		for p := range m.files {
			if t.IsRoot() || p == t.String() || strings.HasPrefix(p, t.String()+"/") {
				delete(m.files, p)
			}
		}
		filepath.WalkDir(filepath.Join(m.dir, t.String()), func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(m.dir, p)
				m.look(filepath.ToSlash(rel))
			}
			return nil
		})
	}
	for _, f := range c.Files {
		m.look(f.Path.String())
	}
}

// differs compares with the disk.
func (m *replica) differs() string {
	now := replica{dir: m.dir, files: map[string]string{}}
	now.apply(&Changes{Trees: []rootfs.Path{{}}})
	for p, text := range now.files {
		if have, ok := m.files[p]; !ok || have != text {
			return fmt.Sprintf("%s is %q, known as %q (%v)", p, text, have, ok)
		}
	}
	for p := range m.files {
		if _, ok := now.files[p]; !ok {
			return p + " is gone, but known"
		}
	}
	return ""
}
