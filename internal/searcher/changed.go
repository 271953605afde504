package searcher

import (
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/githead"
	"quarry/internal/rootfs"
	"quarry/search"
)

// changes tells which files changed, for one search.
type changes struct {
	root *rootfs.Root
	want search.Changed
	log  *slog.Logger

	mu    sync.Mutex
	repos map[string]*repository // by absolute folder: the repository of its files
}

// repository is a repository around a folder; a nil repo is one that can't be
// read, top is "" where there is none.
type repository struct {
	top  string
	repo *githead.Repo
	err  error
}

// newChanges prepares a test of which files of a scope changed; nil accepts all
// files.
func newChanges(d *Folder, s *search.Scope) (*changes, error) {
	if !s.Changed.Any() {
		return nil, nil
	}
	c := &changes{root: d.Root, want: s.Changed, log: d.Logger, repos: map[string]*repository{}}
	if !s.Changed.Git {
		return c, nil
	}
	paths := s.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		at, isFile, err := d.start(p)
		if err != nil {
			return nil, err
		}
		if isFile {
			at = at.Dir()
		}
		if err := c.check(at); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// errNoRepository is returned for a search for changed files outside of a
// repository.
var errNoRepository = fault.New(fault.InvalidArgument, "no git repository here, so nothing tells what changed",
	"leave changed out, or at the command line give a time: --changed=2h")

// check refuses a folder that is in no repository and has none just below it.
func (c *changes) check(at rootfs.Path) error {
	dir := filepath.Join(c.root.Dir(), filepath.FromSlash(at.String()))
	if r := c.around(dir); r.top != "" {
		if r.err != nil {
			return fault.New(fault.IOError, "the git repository can't be read: "+r.err.Error(), "ask for files changed since a time instead")
		}
		return nil
	}
	d, err := c.root.OpenDir(at)
	if err != nil {
		return err
	}
	defer d.Close()
	list, _ := d.Read(nil)
	for _, e := range list {
		if e.Type == rootfs.TypeDir && githead.Has(filepath.Join(dir, e.Name)) {
			return nil
		}
	}
	return errNoRepository
}

// around finds the repository that the files of a folder are in.
func (c *changes) around(dir string) *repository {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(dir)
}

func (c *changes) find(dir string) *repository {
	if r, ok := c.repos[dir]; ok {
		return r
	}
	r := &repository{}
	if githead.Has(dir) {
		r.top = dir
		if r.repo, r.err = githead.Open(dir); r.err != nil {
			c.log.Warn("a git repository can't be read: its files count as changed", "folder", dir, "err", r.err)
		}
	} else if parent := filepath.Dir(dir); parent != dir {
		r = c.find(parent)
	}
	c.repos[dir] = r
	return r
}

// has reports whether a file changed. A file that can't be examined counts as
// unchanged, and one whose repository can't be read as changed.
func (c *changes) has(name string) bool {
	p, err := c.root.Known(name)
	if err != nil {
		return false
	}
	info, err := c.root.Stat(p)
	if err != nil || info.Type != rootfs.TypeFile { // by way of a symlink
		if p, err = c.root.Resolve(name); err != nil {
			return false
		}
		if info, err = c.root.Stat(p); err != nil || info.Type != rootfs.TypeFile {
			return false
		}
	}
	if !c.want.Since.IsZero() && info.ModTime.Before(c.want.Since) {
		return false
	}
	return !c.want.Git || c.differs(p, &info)
}

// differs reports whether a file differs from its repository's last commit.
func (c *changes) differs(p rootfs.Path, info *rootfs.Info) bool {
	full := path.Join(filepath.ToSlash(c.root.Dir()), p.String())
	r := c.around(filepath.FromSlash(path.Dir(full)))
	if r.top == "" {
		return false
	}
	if r.err != nil {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(full, filepath.ToSlash(r.top)), "/")
	same, err := r.repo.Same(&githead.File{
		Path: rel, Mode: info.Mode, Size: info.Size, ModTime: info.ModTime, ChangeTime: info.ChangeTime, Ino: info.Ino,
		Open: func() (io.ReadCloser, error) { return c.root.OpenFile(p) },
	})
	return err != nil || !same
}
