package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"quarry"
	"quarry/internal/config"
)

// target is one path of a command line and the workspace it lies in. A person
// may name any path: the sandbox is for agents.
type target struct {
	ws     *quarry.Workspace
	given  string // as typed; "" when nothing was
	path   string // in the workspace
	isFile bool
}

// workspaces opens each root once.
type workspaces struct {
	open    map[string]*quarry.Workspace
	workers int
}

func (w *workspaces) get(root string) (*quarry.Workspace, error) {
	if ws := w.open[root]; ws != nil {
		return ws, nil
	}
	opts := &quarry.Options{
		Trusted: true, AllowAny: true, Workers: w.workers,
		GlobalIgnore: config.GlobalExcludes(os.Getenv),
	}
	for _, f := range config.RulesAbove(root) {
		opts.IgnoreAbove = append(opts.IgnoreAbove, quarry.IgnoreFile(f))
	}
	ws, err := quarry.Open(root, opts)
	if err != nil {
		return nil, err
	}
	w.open[root] = ws
	return ws, nil
}

func (w *workspaces) close() {
	for _, ws := range w.open {
		ws.Close()
	}
}

// find makes targets of the paths given, the current folder when there are
// none. root, when not "", is the workspace to use where a path lies in it. A
// path that can't be used is reported and left out.
func (w *workspaces) find(root string, paths []string, complain func(error)) ([]target, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if root == "" {
		root = config.FindRoot(here)
	}
	if root, err = realPath(root); err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{""}
	}
	var targets []target
	for _, p := range paths {
		t, err := w.target(root, p)
		if err != nil {
			complain(err)
			continue
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (w *workspaces) target(root, given string) (target, error) {
	t := target{given: given}
	real, err := realPath(filepath.FromSlash(orDot(given)))
	if err != nil {
		return t, clearPathError(given, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return t, clearPathError(given, err)
	}
	t.isFile = !info.IsDir()
	rel, inside := below(root, real)
	if !inside {
		dir := real
		if t.isFile {
			dir = filepath.Dir(real)
		}
		root = config.FindRoot(dir)
		rel, _ = below(root, real)
	}
	t.path = filepath.ToSlash(rel)
	t.ws, err = w.get(root)
	return t, err
}

func orDot(s string) string {
	if s == "" {
		return "."
	}
	return s
}

func realPath(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// below gives path relative to root when it lies in it.
func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

func clearPathError(given string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", given)
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", given, err)
}

// shown is how a path of the workspace is printed: as ripgrep does, with the
// path given in front.
func (t *target) shown(path string) string {
	if t.isFile {
		return t.given
	}
	rel := path
	if t.path != "." {
		rel = strings.TrimPrefix(path, t.path+"/")
	}
	if t.given == "" {
		return rel
	}
	return strings.TrimRight(t.given, "/") + "/" + rel
}

// arg names the target in messages.
func (t *target) arg() string { return orDot(t.given) }

// reportSkips says on stderr what could not be read.
func reportSkips(w io.Writer, s *quarry.Summary) {
	for _, k := range s.Skipped {
		if k.Reason == quarry.Unreadable || k.Reason == quarry.Loop || k.Reason == quarry.TooLarge {
			detail := k.Detail
			if detail == "" {
				detail = string(k.Reason)
			}
			fmt.Fprintf(w, "quarry: %s: %s\n", appendEscaped(nil, []byte(k.Path)), detail)
		}
	}
}
