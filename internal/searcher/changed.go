package searcher

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/gitdir"
	"quarry/internal/githead"
	"quarry/internal/rootfs"
	"quarry/search"
)

// changes determines which files changed since the last commit, for one search.
type changes struct {
	// ended, load and same are bound to the context of the search, because walks and
	// indexes test files without passing a context.
	ended func() error
	load  func(top *rootfs.Root) (*githead.Repo, error)
	same  func(*githead.Repo, *githead.File) (bool, error)

	root *rootfs.Root
	want search.Changed
	log  *slog.Logger

	mu    sync.Mutex
	repos map[rootfs.Path]*repository // by folder: the repository that its files belong to
	all   []*githead.Repo             // all open repositories
}

// repository is the git repository that a folder belongs to.
type repository struct {
	none   bool   // there is no repository
	top    string // path below the workspace, "" if it is the workspace or above it
	prefix string // path from the top of an outer repository to the workspace, with a slash
	repo   *githead.Repo
	err    error // why the repository can't be read
}

// newChanges prepares the test for changed files. It returns nil if the scope also
// accepts unchanged files.
func newChanges(ctx context.Context, d *Folder, s *search.Scope) (*changes, error) {
	if !s.Changed.Any() {
		return nil, nil
	}
	c := &changes{
		ended: ctx.Err,
		load:  func(top *rootfs.Root) (*githead.Repo, error) { return githead.Open(ctx, top) },
		same:  func(r *githead.Repo, f *githead.File) (bool, error) { return r.Same(ctx, f) },
		root:  d.Root, want: s.Changed, log: d.Logger, repos: map[rootfs.Path]*repository{},
	}
	if !s.Changed.Git {
		return c, nil
	}
	paths := s.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		at, isFile, err := d.start(p)
		if err == nil {
			if isFile {
				at = at.Dir()
			}
			err = c.check(at)
		}
		if err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// close closes the repositories.
func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.all {
		r.Close()
	}
	c.all, c.repos = nil, nil
}

// errNoRepository is returned by a search for changed files outside a repository.
var errNoRepository = fault.New(fault.InvalidArgument, "no git repository here, so nothing tells what changed",
	"leave changed out, or at the command line give a time: --changed=2h")

// check returns an error if a folder neither belongs to a repository nor directly contains
// one.
func (c *changes) check(at rootfs.Path) error {
	if r := c.around(at); !r.none {
		if r.err != nil {
			if err := c.ended(); err != nil {
				return err
			}
			return fault.New(fault.IOError, "the git repository can't be read: "+r.err.Error(), "ask for files changed since a time instead")
		}
		return nil
	}
	list, err := c.root.List(at)
	if err != nil {
		return err
	}
	for _, e := range list {
		if below, err := at.Child(e.Name); err == nil && e.Type == rootfs.TypeDir && c.isTop(below) {
			return nil
		}
	}
	return errNoRepository
}

// isTop reports whether a folder of the workspace is the top folder of a repository.
func (c *changes) isTop(at rootfs.Path) bool {
	d, err := c.root.OpenDir(at)
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = d.Stat(".git")
	return err == nil || rootfs.KindOf(err) == fault.ProtectedPath // a protected .git exists; a missing one is reported as not found
}

// around finds the repository that the files of a folder are in.
func (c *changes) around(at rootfs.Path) *repository {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(at)
}

func (c *changes) find(at rootfs.Path) *repository {
	if r, ok := c.repos[at]; ok {
		return r
	}
	r := &repository{}
	switch {
	case c.isTop(at):
		view, err := c.root.Inside(at)
		if !at.IsRoot() {
			r.top = at.String()
		}
		c.open(r, view, err, at.String())
	case at.IsRoot():
		c.above(r)
	default:
		r = c.find(at.Dir())
	}
	if c.repos != nil { // not after close
		c.repos[at] = r
	}
	return r
}

// above looks for a repository that contains the workspace. A repository owned by another
// user is not used.
func (c *changes) above(r *repository) {
	for dir := c.root.RealDir(); ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			r.none = true
			return
		}
		r.prefix = filepath.Base(dir) + "/" + r.prefix
		dir = parent
		if view, ours := gitdir.Above(dir); ours {
			c.open(r, view, nil, dir)
			return
		}
	}
}

// open opens the repository whose top is view, and closes view.
func (c *changes) open(r *repository, view *rootfs.Root, err error, shown string) {
	if r.err = err; err == nil {
		defer view.Close()
		r.repo, r.err = c.load(view)
	}
	if r.err != nil {
		c.log.Warn("a git repository can't be read: its files count as changed", "folder", shown, "err", r.err)
		return
	}
	c.all = append(c.all, r.repo)
}

// has reports whether a file changed. A file that can't be examined counts as unchanged.
// If its repository can't be read, it counts as changed.
func (c *changes) has(name string) bool {
	p, err := c.root.Known(name)
	if err != nil {
		return false
	}
	info, err := c.root.Stat(p)
	if err != nil || info.Type != rootfs.TypeFile { // reached through a symlink
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
	r := c.around(p.Dir())
	if r.none {
		return false
	}
	if r.err != nil {
		return true
	}
	rel := p.String()
	if r.top != "" {
		rel = strings.TrimPrefix(rel, r.top+"/")
	}
	same, err := c.same(r.repo, &githead.File{
		Path: r.prefix + rel, Mode: info.Mode, Size: info.Size, ModTime: info.ModTime, ChangeTime: info.ChangeTime, Ino: info.Ino,
		Open: func() (io.ReadCloser, error) { return c.root.OpenFile(p) },
	})
	return err != nil || !same
}
