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

func OrDot(s string) string {
	if s == "" {
		return "."
	}
	return s
}

// RootPath is realPath for the folder of a workspace from a flag or the
// configuration, where no shell has expanded ~/.
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

// PathError says what is wrong with a path that a person gave.
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

// PathErrorNear is PathError, and names what was probably meant.
func PathErrorNear(given string, err error) error {
	if near := Near(given); errors.Is(err, os.ErrNotExist) && near != "" {
		return fmt.Errorf("%w\n  did you mean %s?", PathError(given, err), printing.Escape(near))
	}
	return PathError(given, err)
}

// FileAbove is the part of a path that is a file where a folder has to be; "" if
// none is.
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

// Near is the path of an entry that is most like a path that does not exist; ""
// if none is.
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
			return "" // a link that leads nowhere, as one of a pipe does
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

// errGone says that someone has deleted the current folder. It does not wrap the
// system's error: messages would blame a path that was given.
var errGone = errors.New("the current folder no longer exists: change to another one")

// Here is the current folder.
func Here() (string, error) {
	here, err := os.Getwd()
	if errors.Is(err, os.ErrNotExist) {
		return "", errGone
	}
	return here, err
}

// Abs is filepath.Abs with an error that says so if the current folder was deleted.
func Abs(p string) (string, error) {
	if !filepath.IsAbs(p) {
		if _, err := Here(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(p)
}

// FindRoot is the root given, else the one found from the current folder.
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

// StateDir makes the folder for the journal of a workspace. It is private to the
// user, since it holds old contents of files.
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

// TryWrite says why no file can be made in a folder. Sandboxes refuse what the mode of a
// folder promises, so it makes one and removes it.
func TryWrite(dir string) error {
	f, err := os.CreateTemp(dir, "try-*")
	if err != nil {
		return PathError(dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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

// ThemeFile is where the theme is kept that was chosen on the page, for all
// workspaces.
func (s Streams) ThemeFile() (string, error) {
	base, err := config.StateDir(s.Env())
	return filepath.Join(base, "page-theme"), err
}

// ActivityDir makes the folder in which the servers of a workspace note the calls of
// tools.
func (s Streams) ActivityDir(root string) (string, error) {
	journal, err := s.StateDir(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(journal), "activity")
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
