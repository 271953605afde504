package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/internal/rootfs/names"
	"quarry/search"
)

// target is one path of a command line with the workspace that contains it. Any path is allowed:
// only agents are confined to the sandbox.
type target struct {
	ws     *quarry.Workspace
	given  string // as typed; "" if none was given
	path   string // relative to the workspace
	isFile bool
	stdin  bool   // the path is -, standard input
	stream string // file to read in place of stdin
	root   string // the workspace's folder
	here   string // the current folder relative to root; "" if it is outside
	// outside is "" if the path is inside the workspace of --root or of the current folder.
	// Otherwise it is that workspace's folder.
	outside string
}

// outsideError is the error for a path in another workspace, which --root has to name.
func outsideError(given, root, there string) error {
	which := ""
	if !config.IsRoot(root) {
		which = ", which is the current folder since no folder above has a .git or another marker"
	}
	return fmt.Errorf("%s is not in the workspace %s%s; if you mean it, add --root %s", render.Quote(given), printing.EscapeLines(root), which, render.ShellQuote(there))
}

// workspaces opens each root at most once.
type workspaces struct {
	open    map[string]*quarry.Workspace
	workers int
	streams bool // allow devices and pipes, such as those made by a shell
}

func (w *workspaces) get(root string) (*quarry.Workspace, error) {
	if ws := w.open[root]; ws != nil {
		return ws, nil
	}
	opts := env.Personal(root, w.workers)
	env.Asking(root, opts)
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

// find returns the targets for the given paths. A path inside named belongs to the workspace named,
// if that isn't "". Without paths the target is the current folder, or named if the current folder
// is outside it. A path that can't be used is passed to complain and skipped.
func (w *workspaces) find(named string, paths []string, complain func(error)) ([]target, error) {
	root, err := env.FindRoot(named)
	if err != nil {
		return nil, err
	}
	implicit := len(paths) == 0
	if implicit {
		paths = []string{""}
		if named != "" && !hereBelow(root) {
			paths = []string{named}
		}
	}
	var targets []target
	for _, p := range paths {
		if p == "" && !implicit {
			complain(errEmptyPath)
			continue
		}
		t, err := w.target(root, p)
		if err != nil {
			complain(err)
			continue
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// withinDepth removes all folders if none is set, because --max-depth then excludes their contents.
func withinDepth(targets []target, none bool) []target {
	return slices.DeleteFunc(targets, func(t target) bool { return none && !t.isFile })
}

// hereBelow reports whether the current folder exists and is root or inside it.
func hereBelow(root string) bool {
	here, err := env.RealPath(".")
	if err != nil {
		return false
	}
	_, inside := env.Below(root, here)
	return inside
}

var errEmptyPath = errors.New("a path is empty; . is the current folder")

// isStream reports whether a path is a device such as /dev/null, or the pipe that a shell
// substitutes for <(command). Both are read to the end, like standard input. Other pipes are not
// opened, because they may never get a writer.
func isStream(given string) bool {
	if clean := filepath.Clean(given); !strings.HasPrefix(clean, "/dev/") && !strings.HasPrefix(clean, "/proc/self/fd/") {
		return false
	}
	info, err := os.Stat(given)
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
}

func (w *workspaces) target(root, given string) (target, error) {
	t := target{given: filepath.ToSlash(given)}
	if given == "-" {
		t.isFile, t.stdin = true, true
		return t, nil
	}
	if err := names.CheckTyped(given); err != nil {
		if strings.ContainsAny(given, "*?") { // Unix shells expand globs themselves
			err = fmt.Errorf("no file has this name; -g %s selects the files that match", given)
		}
		return t, env.PathError(given, err)
	}
	if w.streams && isStream(given) {
		t.isFile, t.stdin, t.stream = true, true, given
		return t, nil
	}
	real, err := env.RealPath(filepath.FromSlash(cmp.Or(given, ".")))
	if err != nil {
		return t, env.PathErrorNear(given, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return t, env.PathErrorNear(given, err)
	}
	t.isFile = !info.IsDir()
	rel, inside := env.Below(root, real)
	if !inside {
		dir := real
		if t.isFile {
			dir = filepath.Dir(real)
		}
		t.outside = root
		root = config.FindRoot(dir)
		rel, _ = env.Below(root, real)
	}
	t.path, t.root = filepath.ToSlash(rel), root
	if here, err := env.RealPath("."); err == nil {
		if rel, inside := env.Below(root, here); inside {
			t.here = filepath.ToSlash(rel)
		}
	}
	t.ws, err = w.get(root)
	return t, err
}

// shown returns the printed form of a workspace path: relative to the path as given, as in ripgrep.
func (t *target) shown(path string) string {
	if t.stdin && t.stream == "" {
		return "<stdin>"
	}
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

// time returns when a file was created or last read, as which says; zero if unknown.
func (t *target) time(path, which string) time.Time {
	if t.ws == nil {
		return time.Time{}
	}
	if which == "created" {
		if info, err := t.ws.Stat(context.Background(), path); err == nil {
			return info.Created
		}
		return time.Time{}
	}
	return accessTime(filepath.Join(t.root, filepath.FromSlash(path)))
}

// arg returns the target's name for messages.
func (t *target) arg() string { return cmp.Or(t.given, ".") }

// reportSkips prints to stderr which files could not be searched, and which of the named files are
// binary.
func (r *searching) reportSkips(t *target, s *search.Summary) {
	for _, k := range s.Skipped {
		if k.Reason == search.TooLarge && k.Detail == "" && r.q.Structure != "" {
			k.Detail = "code over 16 MB, or too hard to take apart: not searched"
		}
		switch k.Reason {
		case search.Unreadable, search.Loop, search.TooLarge, search.Outside:
			r.complain(skipError(t, k))
		case search.NotRegular:
			if t.isFile {
				r.complain(skipError(t, k))
			}
		case search.Binary:
			if t.isFile && !r.f.noMessages && !r.f.quiet {
				fmt.Fprintf(r.s.Err, "quarry: %s: binary file, not searched; -a searches it as text\n", shownName(t, k))
				r.binaryTold++
			}
		}
	}
}

func shownName(t *target, k search.Skip) []byte {
	return printing.AppendEscaped(nil, []byte(t.shown(k.Path)))
}

func skipError(t *target, k search.Skip) error {
	detail := k.Detail
	switch {
	case k.Reason == search.TooLarge && detail == "":
		detail = "a line is over 16 MB, or with -U the file over 1 GB; the rest of it was not searched"
	case k.Reason == search.Outside:
		detail = "leads out of the workspace: not followed"
	case detail == "":
		detail = string(k.Reason)
	}
	return fmt.Errorf("%s: %s", shownName(t, k), detail)
}
