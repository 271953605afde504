package env

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"quarry/fault"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/rootfs/outside"
)

// RootPath is like RealPath, for the folder of a workspace from a flag or the configuration. It
// expands ~/, because no shell has done so.
func RootPath(p string) (string, error) {
	real, err := RealPath(config.ExpandHome(p, os.Getenv))
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(real); err == nil && !info.IsDir() {
			err = errors.New("not a folder")
		}
	}
	if err != nil {
		return "", fmt.Errorf("--root %w", PathErrorNear(p, err))
	}
	return real, nil
}

func RealPath(p string) (string, error) {
	abs, err := Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Below returns path relative to root, and whether it is inside root.
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

// PathError explains an error about a path given by a person.
func PathError(given string, err error) error {
	if errors.Is(err, errGone) {
		return err
	}
	shown := printing.Escape(given)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", shown)
	}
	if file := FileAbove(given); errors.Is(err, syscall.ENOTDIR) && file != "" {
		return fmt.Errorf("%s: %s is a file, not a folder", shown, printing.Escape(file))
	}
	var pe *os.PathError
	var at *fault.PathError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &at) && (at.Kind == fault.Permission || at.Kind == fault.NotRegular):
		err = errors.New(at.Kind.Words())
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// PathErrorNear is like PathError and suggests a similar existing path.
func PathErrorNear(given string, err error) error {
	if near := Near(given); errors.Is(err, os.ErrNotExist) && near != "" {
		return fmt.Errorf("%w\n  did you mean %s?", PathError(given, err), printing.Escape(near))
	}
	return PathError(given, err)
}

// FileAbove returns the part of path that is a file although a folder is needed there; "" if there
// is none.
func FileAbove(path string) string {
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return ""
			}
			return path
		}
		if path == filepath.Dir(path) {
			return ""
		}
	}
}

// Near returns the path of the existing entry most similar to path, which does not exist; "" if
// there is none.
func Near(path string) string {
	path = filepath.Clean(path)
	dir, name := filepath.Dir(path), filepath.Base(path)
	if dir == path || name == ".." {
		return ""
	}
	if !Exists(dir) {
		if dir = Near(dir); dir == "" {
			return ""
		}
		if Exists(filepath.Join(dir, name)) {
			return filepath.Join(dir, name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Name() == name {
			return "" // a dangling symlink
		}
		if strings.EqualFold(e.Name(), name) {
			return filepath.Join(dir, e.Name())
		}
		names = append(names, e.Name())
	}
	if near := config.Nearest(name, names); near != "" {
		return filepath.Join(dir, near)
	}
	return ""
}

// errGone means that the current folder was deleted. It does not wrap the system's error, whose
// message would blame the given path.
var errGone = errors.New("the current folder no longer exists: change to another one")

// Here returns the current folder.
func Here() (string, error) {
	here, err := os.Getwd()
	if errors.Is(err, os.ErrNotExist) {
		return "", errGone
	}
	return here, err
}

// Abs is like filepath.Abs, but its error says if the current folder was deleted.
func Abs(p string) (string, error) {
	if !filepath.IsAbs(p) {
		if _, err := Here(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(p)
}

// FindRoot returns the given root, or else the one found from the current folder.
func FindRoot(given string) (string, error) {
	if given != "" {
		return RootPath(given)
	}
	here, err := Here()
	if err != nil {
		return "", err
	}
	return RealPath(config.FindRoot(here))
}

// StateDir makes the folder for a workspace's undo log. It is private to the user, because it
// contains old contents of files.
func (s Streams) StateDir(root string) (string, error) {
	dir, err := outside.JournalDir(s.Env(), root)
	if err != nil && dir == "" {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%w\n  the undo log is kept there, and without one nothing can be changed: set XDG_STATE_HOME to a folder of yours that can be written to", err)
	}
	if _, err := outside.CheckPrivate(dir); err != nil {
		return "", fmt.Errorf("%w\n  the undo log is kept there, and others could tamper with it: set XDG_STATE_HOME to a folder of yours", err)
	}
	return dir, nil
}

// TryWrite returns an error if no file can be created in a folder. It creates a file and removes
// it, because a sandbox may refuse access that the folder's mode allows.
func TryWrite(dir string) error {
	f, err := os.CreateTemp(dir, "try-*")
	if err != nil {
		return PathError(dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// ReviewDir makes the folder for the proposals of a workspace.
func (s Streams) ReviewDir(root string) (string, error) { return s.besideLog(root, "review") }

// ActivityDir makes the folder in which servers record the tool calls of a workspace.
func (s Streams) ActivityDir(root string) (string, error) { return s.besideLog(root, "activity") }

// ClientsDir makes the folder in which servers record the connected clients of a workspace.
func (s Streams) ClientsDir(root string) (string, error) { return s.besideLog(root, "clients") }

// besideLog makes a folder next to the workspace's undo log.
func (s Streams) besideLog(root, name string) (string, error) {
	journal, err := s.StateDir(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(journal), name)
	return dir, os.MkdirAll(dir, 0o700)
}

// ThemeFile returns the file that stores the page's theme, which is the same for all workspaces.
func (s Streams) ThemeFile() (string, error) {
	base, err := config.StateDir(s.Env())
	return filepath.Join(base, "page-theme"), err
}
