package quarry

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/zoekt"
)

// Find lists the paths that pass a scope. Folders are those that files lie in:
// a commit has no others.
func (r *remote) Find(ctx context.Context, q FindQuery) (*FindResult, error) {
	started := time.Now()
	f, err := r.filter(&q.Scope)
	if err != nil {
		return nil, err
	}
	q.Stat = q.Stat || q.Order == BySize || q.Order == ByModTime
	run := &remoteFind{remoteRun: &remoteRun{
		r: r, q: &Query{Scope: q.Scope}, ctx: ctx, filter: f, down: map[int]bool{},
		collect: newCollector(&Query{}, nil), tiny: func() bool { return true },
	}, q: &q, listed: map[string]bool{}}
	if err := run.places(run.place); err != nil {
		return nil, err
	}
	out := &FindResult{Entries: run.found, Summary: run.collect.sum}
	out.Stats.Remote, out.Stats.Plan = true, fmt.Sprintf("zoekt: %d names, %d servers", run.asked, r.client.Servers())
	if q.Order == BySize {
		if err := run.sizes(out.Entries); err != nil {
			return nil, err
		}
	}
	out.page(&q)
	if q.Stat && q.Order != BySize {
		if err := run.sizes(out.Entries); err != nil {
			return nil, err
		}
	}
	out.Exact = out.Exact && len(run.down) == 0
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// remoteFind is one path search under way.
type remoteFind struct {
	*remoteRun
	q      *FindQuery
	found  []Entry
	listed map[string]bool // folders
}

func (r *remoteFind) place(at *place) error {
	if at.isFile {
		if r.q.Kind != OnlyFolders {
			r.collect.sum.Stats.Considered++
			r.found = append(r.found, r.entry(at))
		}
		return nil
	}
	// A glob on a folder's own name says nothing about what is in it, and a
	// folder at the depth limit is listed, though not entered.
	f := *r.filter
	if r.q.Kind != OnlyFiles {
		f.opts.Filter, f.types, f.opts.MaxDepth = nil, nil, 0
	}
	return r.below(at, &f, r.local, r.part)
}

// entry is a named file.
func (r *remoteFind) entry(at *place) Entry {
	e := Entry{Path: at.path}
	if at.repo != nil {
		e.ModTime = at.repo.Changed
	} else if info, err := at.checkout.ws.Stat(r.ctx, at.rel); err == nil {
		e.Size, e.ModTime = info.Size, info.ModTime
	}
	return e
}

// part lists repositories.
func (r *remoteFind) part(repos []*zoekt.Repo, scope *remoteScope, at *place) error {
	if r.q.Kind != OnlyFiles {
		// Folders are made of the files in them, whatever globs say of those.
		r.remoteRun.q = &Query{Scope: r.q.Scope}
		r.remoteRun.q.Globs, r.remoteRun.q.Types = nil, nil
	}
	files, err := r.candidates(repos, scope, at)
	if err != nil {
		return err
	}
	for i := range files {
		f := &files[i]
		if r.q.Kind != OnlyFiles {
			r.folders(f, scope)
		}
		if r.q.Kind == OnlyFolders || r.q.Kind != OnlyFiles && !r.shows(f.path[scope.below:], false) {
			continue
		}
		r.collect.sum.Stats.Considered++
		r.found = append(r.found, Entry{Path: f.path, ModTime: f.repo.Changed})
	}
	return nil
}

// folders adds the folders a file lies in, below the searched one.
func (r *remoteFind) folders(f *remoteFile, scope *remoteScope) {
	for i := scope.below; i < len(f.path); i++ {
		if f.path[i] == '/' && r.shows(f.path[scope.below:i], true) {
			r.addFolder(f.path[:i], f.repo.Changed)
		}
	}
}

// addFolder adds a folder once: several repositories may lie in it.
func (r *remoteFind) addFolder(path string, changed time.Time) {
	if !r.listed[path] {
		r.listed[path] = true
		r.found = append(r.found, Entry{Path: path, Folder: true, ModTime: changed})
	}
}

// shows applies depth, globs and types to an entry of a listing with folders.
func (r *remoteFind) shows(shown string, folder bool) bool {
	if r.q.MaxDepth > 0 && strings.Count(shown, "/") >= r.q.MaxDepth {
		return false
	}
	name := shown[strings.LastIndexByte(shown, '/')+1:]
	if g := r.filter.opts.Filter; g != nil && (folder && !g.MatchDir(shown) || !folder && !g.MatchFile(shown)) {
		return false
	}
	return folder || r.filter.types == nil || r.filter.types.MatchFile(name)
}

// local lists a checkout.
func (r *remoteFind) local(c *checkout, scope *remoteScope, at *place) error {
	// The way from the searched folder to the checkout.
	if r.q.Kind != OnlyFiles && at.checkout == nil {
		for i := scope.below; i <= len(c.repo); i++ {
			if (i == len(c.repo) || c.repo[i] == '/') && r.shows(c.repo[scope.below:i], true) {
				info, err := c.ws.Stat(r.ctx, ".")
				if err != nil {
					return c.located(err)
				}
				r.addFolder(c.repo[:i], info.ModTime)
			}
		}
	}
	q := *r.q
	q.Globs, q.Types, q.Limit, q.Offset, q.Order = nil, nil, 0, 0, ByPath
	q.Paths = []string{at.relIn(c)}
	depth, ok := at.depthIn(c, q.MaxDepth)
	if !ok {
		return nil
	}
	q.MaxDepth = depth
	res, err := c.ws.Find(r.ctx, q)
	if err != nil {
		return c.located(err)
	}
	for _, e := range res.Entries {
		e.Path = c.path(e.Path)
		name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		if r.q.Kind == OnlyFiles && scope.passes(e.Path, name) || r.q.Kind != OnlyFiles && r.shows(e.Path[scope.below:], e.Folder) {
			r.found = append(r.found, e)
			r.collect.sum.Stats.Considered++
		}
	}
	for i := range res.Skipped {
		res.Skipped[i].Path = c.path(res.Skipped[i].Path)
		r.collect.sum.addSkip(res.Skipped[i])
	}
	for why, n := range res.SkippedCount {
		r.collect.sum.SkippedCount[why] += n
	}
	return nil
}

// maxSized is how many files are fetched to learn their sizes, which no server
// tells.
const maxSized = 20_000

// sizes fills in the sizes of files on servers.
func (r *remoteFind) sizes(entries []Entry) error {
	var files []remoteFile
	var which []*Entry
	for i := range entries {
		e := &entries[i]
		if c, _ := r.r.checkoutOf(e.Path); c != nil || e.Folder {
			continue
		}
		if repo, ok := r.list.repoOf(e.Path); ok {
			files = append(files, remoteFile{path: e.Path, repo: repo, rel: e.Path[len(repo.Name)+1:]})
			which = append(which, e)
		}
	}
	if len(files) > maxSized {
		return fmt.Errorf("%w: the sizes of %d files on servers; name a folder, or ask for fewer", rootfs.TooLarge, len(files))
	}
	for from := 0; from < len(files); from += fetchMost {
		to := min(from+fetchMost, len(files))
		contents, failed := r.r.fetch(r.ctx, files[from:to])
		if err := r.ctx.Err(); err != nil {
			return err
		}
		for server, err := range failed {
			r.lost(server, err)
		}
		for i := from; i < to; i++ {
			if d := contents[files[i].path]; d != nil && !bytes.HasPrefix(d.Content, []byte(notIndexed)) {
				which[i].Size = int64(len(d.Content))
			}
		}
	}
	return nil
}
