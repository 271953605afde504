package env

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

func OrDot(s string) string {
	if s == "" {
		return "."
	}
	return s
}

// RootPath is realPath for the folder of a workspace from a flag or the
// configuration, where no shell has expanded ~/.
func RootPath(p string) (string, error) { return RealPath(config.ExpandHome(p, os.Getenv)) }

func RealPath(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Below returns path relative to root if it is inside.
func Below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func PathError(given string, err error) error {
	given = printing.Escape(given)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", given)
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", given, err)
}

// FindRoot is the root given, else the one found from the current folder.
func FindRoot(given string) (string, error) {
	if given != "" {
		return RootPath(given)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return RealPath(config.FindRoot(here))
}

// StateDir makes the folder for the journal of a workspace. It is private to the
// user, since it holds old contents of files.
func (s Streams) StateDir(root string) (string, error) {
	base, err := config.StateDir(s.Env())
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, config.RootID(root), "journal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w\n  the undo log is kept there: make it writable, or set XDG_STATE_HOME to a folder of yours", err)
	}
	return dir, nil
}

// ReviewDir makes the folder that keeps the proposals of a workspace.
func (s Streams) ReviewDir(root string) (string, error) {
	journal, err := s.StateDir(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(journal), "review")
	return dir, os.MkdirAll(dir, 0o700)
}

// ClientsDir makes the folder in which the servers of a workspace record who is
// connected.
func (s Streams) ClientsDir(root string) (string, error) {
	journal, err := s.StateDir(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(journal), "clients")
	return dir, os.MkdirAll(dir, 0o700)
}
