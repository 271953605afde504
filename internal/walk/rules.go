package walk

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/ignore"
	"quarry/internal/rootfs"
)

// maxRules limits the size of an ignore file. The largest in practice have about 100 KB.
const maxRules = 8 << 20

// pushRules adds the rules from the ignore files in a folder's listing to the rules of the folders
// above.
func (w *worker) pushRules(frame *ignore.Frame, dir *rootfs.Dir, shown string, entries []rootfs.Entry) *ignore.Frame {
	if w.opts.NoIgnore {
		return frame
	}
	var sets []ignore.Set
	repo := false
	git := !w.opts.RequireGit || frame.InRepo() || slices.ContainsFunc(entries, func(e rootfs.Entry) bool { return e.Name == ".git" })
	if git && w.opts.RequireGit && !frame.InRepo() {
		sets = append(sets, w.opts.GitRules...)
	}
	for i := range entries {
		name := entries[i].Name
		if name[0] != '.' {
			continue
		}
		if name == ".git" && !w.opts.NoVCS {
			repo = true
			if !w.opts.NoExclude {
				sets = w.addExclude(sets, dir.Path(), shown)
			}
			continue
		}
		if kind, ok := w.fileKind(name); ok && w.reads(kind) && (git || kind != ignore.Git) {
			sets = w.addFile(sets, kind, dir, shown, name)
		}
	}
	return frame.Push(shown, repo, sets...)
}

const fdIgnore = ".fdignore"

// fileKind is like ignore.FileKind, but follows fd's names with Options.Fd.
func (w *walker) fileKind(name string) (ignore.Kind, bool) {
	kind, ok := ignore.FileKind(name)
	if !w.opts.Fd {
		return kind, ok
	}
	if name == fdIgnore {
		return ignore.Rg, true
	}
	return kind, ok && kind <= ignore.Dot
}

func (w *walker) reads(k ignore.Kind) bool {
	if k == ignore.Git {
		return !w.opts.NoVCS
	}
	return !w.opts.NoDot
}

func (w *worker) addFile(sets []ignore.Set, kind ignore.Kind, dir *rootfs.Dir, shown, name string) []ignore.Set {
	data, err := readAll(dir, name)
	if err != nil {
		if rootfs.KindOf(err) != fault.NotFound {
			w.skip(join(shown, name), Unreadable, err)
		}
		return sets
	}
	return append(sets, ignore.Set{Kind: kind, Rules: ignore.Parse(join(shown, name), data)})
}

// addExclude adds the rules of info/exclude in the repository whose top folder is dir. Most
// repositories have no such file, or one with only comments. A worktree uses the file of its
// repository if the repository is inside the root.
func (w *worker) addExclude(sets []ignore.Set, dir rootfs.Path, shown string) []ignore.Set {
	const name = excludeName
	data, err := w.root.ReadSystem(dir, name)
	if err != nil {
		switch rootfs.KindOf(err) {
		case fault.NotFolder:
			return w.addCommon(sets, dir)
		case fault.NotFound:
		default:
			w.skip(join(shown, name), Unreadable, err)
		}
		return sets
	}
	return append(sets, ignore.Set{Kind: ignore.Exclude, Rules: ignore.Parse(join(shown, name), data)})
}

// addCommon adds the exclude file that the worktree dir shares with its repository, if the
// repository is inside the root. The worktree's file .git contains "gitdir:
// <repository>/.git/worktrees/<name>".
func (w *worker) addCommon(sets []ignore.Set, dir rootfs.Path) []ignore.Set {
	text, err := w.root.ReadSystem(dir, ".git")
	if err != nil {
		return sets
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if to = filepath.FromSlash(strings.TrimSpace(to)); !ok || to == "" {
		return sets
	}
	top := w.root.RealDir()
	if !filepath.IsAbs(to) {
		to = filepath.Join(top, filepath.FromSlash(dir.String()), to)
	}
	to, err = filepath.Rel(top, to)
	if err != nil || !filepath.IsLocal(to) {
		return sets
	}
	parts := strings.Split(filepath.ToSlash(to), "/")
	n := len(parts)
	if n < 3 || parts[n-3] != ".git" || parts[n-2] != "worktrees" {
		return sets // not a worktree, for example a submodule, which has its own rules
	}
	repo := rootfs.Path{}
	if n > 3 {
		if repo, err = w.root.Known(strings.Join(parts[:n-3], "/")); err != nil {
			return sets
		}
	}
	data, err := w.root.ReadSystem(repo, excludeName)
	if err != nil {
		return sets
	}
	return append(sets, ignore.Set{Kind: ignore.Exclude, Rules: ignore.Parse(join(plainPath(repo), excludeName), data)})
}

const excludeName = ".git/info/exclude"

func readAll(dir *rootfs.Dir, name string) ([]byte, error) {
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := f.Info().Size
	if size > maxRules {
		return nil, fmt.Errorf("ignore file of %d bytes is too large", size)
	}
	buf := make([]byte, size+1) // one byte more, so that the first read reaches the end of the file
	n := 0
	for {
		k, err := f.Read(buf[n:])
		n += k
		if err == io.EOF || err == nil && k == 0 {
			return buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
		if n == len(buf) {
			if n > maxRules {
				return nil, fmt.Errorf("ignore file of more than %d bytes is too large", maxRules)
			}
			buf = append(buf, make([]byte, n)...)
		}
	}
}

// framesAbove returns the rules that the folders above Start impose on it.
func (w *worker) framesAbove() *ignore.Frame {
	var frame *ignore.Frame
	if w.opts.NoIgnore {
		return nil
	}
	frame = frame.Push("", false, w.opts.Rules...)
	if w.opts.NoParents || w.opts.Start.IsRoot() {
		return frame
	}
	start := w.opts.Start.String()
	for i := range len(start) {
		end := 0
		if i > 0 {
			if start[i] != '/' {
				continue
			}
			end = i
		}
		dir, err := w.openAbove(start[:end])
		if err != nil {
			w.skip(start[:end], Unreadable, err)
			continue
		}
		frame = w.pushNamed(frame, dir, start[:end])
		dir.Close()
	}
	return frame
}

func (w *worker) openAbove(path string) (*rootfs.Dir, error) {
	if path == "" {
		return w.root.OpenDir(rootfs.Path{})
	}
	p, err := w.root.Known(path)
	if err != nil {
		return nil, err
	}
	return w.root.OpenDir(p)
}

// pushNamed does the same as pushRules for a folder without a listing. It tries each file name.
func (w *worker) pushNamed(frame *ignore.Frame, dir *rootfs.Dir, shown string) *ignore.Frame {
	var sets []ignore.Set
	repo := false
	if !w.opts.NoVCS {
		// If .git exists but is protected, Stat returns a policy error, not "not found".
		info, err := dir.Stat(".git")
		if repo = err == nil || rootfs.KindOf(err) == fault.ProtectedPath; repo && !w.opts.NoExclude && (err != nil || info.Type == rootfs.TypeDir || info.Type == rootfs.TypeFile) {
			sets = w.addExclude(sets, dir.Path(), shown)
		}
	}
	git := !w.opts.RequireGit || frame.InRepo() || repo
	if repo && w.opts.RequireGit && !frame.InRepo() {
		sets = append(sets, w.opts.GitRules...)
	}
	names := ignore.FileNames[:]
	if w.opts.Fd {
		names = []string{".gitignore", ".ignore", fdIgnore}
	}
	for _, name := range names {
		if kind, ok := w.fileKind(name); ok && w.reads(kind) && (git || kind != ignore.Git) {
			sets = w.addFile(sets, kind, dir, shown, name)
		}
	}
	return frame.Push(shown, repo, sets...)
}
