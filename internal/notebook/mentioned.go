package notebook

import (
	"context"
	"slices"

	"quarry/internal/vault"
)

// files are the files of a vault that a plan may access.
type files struct {
	paths []string
	read  map[string]*Note
}

// Paths lists all files.
func (f *files) Paths() []string { return f.paths }

// Read returns the text of a file, or an empty text if the file can't contain relevant
// links.
func (f *files) Read(path string) ([]byte, error) {
	if n := f.read[path]; n != nil {
		return n.Text, nil
	}
	return nil, nil
}

// mentioned reads the given notes, and those that may link to files with these names.
func (b *Book) mentioned(ctx context.Context, names []string, notes ...*Note) (*files, error) {
	f := &files{read: map[string]*Note{}}
	var err error
	if f.paths, err = b.paths(ctx, true); err != nil {
		return nil, err
	}
	for _, n := range notes {
		if !slices.Contains(f.paths, n.Path) {
			f.paths = append(f.paths, n.Path)
		}
	}
	exprs, ok := vault.Mentions(names)
	if !ok {
		exprs = nil
	}
	sources, err := b.mentioning(ctx, true, exprs, notesGlobs...)
	if err != nil {
		return nil, err
	}
	err = b.eachNote(ctx, sources, func(n *Note) error {
		f.read[n.Path] = n
		return nil
	})
	for _, n := range notes {
		f.read[n.Path] = n
	}
	return f, err
}

// settings returns the vault's settings. Invalid ones have their default value.
func (b *Book) settings(ctx context.Context) (vault.Settings, error) {
	data, err := b.ws.VaultFile(ctx, "app.json")
	if err != nil {
		return vault.DefaultSettings(), err
	}
	s, _ := vault.ParseSettings(data)
	return s, nil
}
