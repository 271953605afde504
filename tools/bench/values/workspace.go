package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quarry"
	"quarry/change"
	"quarry/internal/value"
)

// workspace makes the changes as a user would, and undoes them.
type workspace struct {
	*quarry.Workspace
	dir string
}

func openWorkspace() (*workspace, error) {
	dir, err := os.MkdirTemp("", "quarry-values-")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "w"), 0o755), os.Mkdir(filepath.Join(dir, "s"), 0o700)); err != nil {
		return nil, err
	}
	ws, err := quarry.Open(filepath.Join(dir, "w"), &quarry.Options{StateDir: filepath.Join(dir, "s")})
	return &workspace{ws, dir}, err
}

func (w *workspace) close() {
	w.Close()
	os.RemoveAll(w.dir)
}

// names has the file name used for each format.
var names = map[value.Format]string{value.JSON: "f.json", value.YAML: "f.yml", value.TOML: "f.toml", value.INI: "f.ini", value.Header: "f.md"}

// there makes a change in the workspace, checks that it gives the same bytes, and undoes it.
func (w *workspace) there(f file, e value.Edit, after []byte) error {
	name := names[f.format]
	full := filepath.Join(w.dir, "w", name)
	if err := os.WriteFile(full, f.text, 0o644); err != nil {
		return err
	}
	edit := change.Edit{Verb: change.SetValue, At: e.At.String()}
	switch {
	case e.Delete:
		edit.Verb = change.DeleteValue
	case e.Rename != "":
		edit.Verb, edit.New = change.RenameKey, e.Rename
	default:
		edit.New = e.Value.JSON("", "")
	}
	c, err := w.Edit(context.Background(), name, []change.Edit{edit}, nil)
	if err != nil {
		return fmt.Errorf("refused in a workspace: %w", err)
	}
	now, err := os.ReadFile(full)
	if err != nil || !bytes.Equal(now, after) {
		return fmt.Errorf("another result in a workspace: %v", err)
	}
	if c.ID == "" {
		return nil // the change had no effect
	}
	if _, err := w.Undo(context.Background(), c.ID, nil); err != nil {
		return fmt.Errorf("can't be undone: %w", err)
	}
	if now, err = os.ReadFile(full); err != nil || !bytes.Equal(now, f.text) {
		return fmt.Errorf("the undo is not exact: %v", err)
	}
	return nil
}
