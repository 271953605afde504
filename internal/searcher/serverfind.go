package searcher

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/repos"
	"quarry/search"
)

// Find lists the paths that pass a scope. Folders are those that contain files: a
// commit has no others.
func (r *Servers) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	started := time.Now()
	want, err := r.want(&q.Scope)
	if err != nil {
		return nil, err
	}
	q.Stat = q.Stat || q.Order == search.BySize || q.Order == search.ByModTime
	run := &remoteFind{remoteRun: &remoteRun{
		r: r, q: &search.Query{Scope: q.Scope}, want: want, collect: newCollector(&search.Query{}, nil),
	}, q: &q, listed: map[string]bool{}}
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	err = run.places(bounded, func(at *repos.Place) error { return run.place(bounded, at) })
	if err = partly(ctx, &run.collect.sum, err); err != nil {
		return nil, err
	}
	out := &search.FindResult{Entries: run.found, Summary: run.collect.sum}
	out.Stats.Remote, out.Stats.Plan = true, run.plan()
	if q.Order == search.BySize {
		if err := run.sizes(ctx, out.Entries); err != nil {
			return nil, err
		}
	}
	if err := page(out, nil, &q); err != nil {
		return nil, err
	}
	if q.Stat && q.Order != search.BySize {
		if err := run.sizes(ctx, out.Entries); err != nil {
			return nil, err
		}
	}
	out.Exact = out.Exact && len(run.ask.Failures) == 0
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// remoteFind is one path search under way.
type remoteFind struct {
	*remoteRun
	q      *search.FindQuery
	found  []search.Entry
	listed map[string]bool // folders
}

func (r *remoteFind) place(ctx context.Context, at *repos.Place) error {
	if at.IsFile {
		if r.q.Kind != search.OnlyFolders {
			r.collect.sum.Stats.Considered++
			r.found = append(r.found, r.entry(ctx, at))
		}
		return nil
	}
	want := r.want
	if r.q.Kind != search.OnlyFiles {
		// A glob on a folder's own name says nothing about what is in it, and a
		// folder at the depth limit is listed, though not entered.
		want = want.Everything()
	}
	return r.below(ctx, at, &want, r.local, r.part)
}

// entry describes a file that the query names. Its size is unknown on a server.
func (r *remoteFind) entry(ctx context.Context, at *repos.Place) search.Entry {
	e := search.Entry{Path: at.Path}
	if at.Repo != nil {
		e.ModTime = at.Repo.Changed
	} else if info, err := r.r.checkout(at.Checkout).folder.Stat(ctx, at.Rel); err == nil {
		e.Size, e.ModTime = info.Size, info.ModTime
	}
	return e
}

// part lists repositories and, in path order, the parts that lie inside them.
func (r *remoteFind) part(ctx context.Context, part *repos.Part, judge *repos.Judge) error {
	files, err := r.candidates(ctx, part, judge)
	if err != nil {
		return err
	}
	for i := range files {
		f := &files[i]
		if r.q.Kind != search.OnlyFiles {
			r.folders(f, judge)
		}
		if r.q.Kind == search.OnlyFolders || r.q.Kind != search.OnlyFiles && !r.shows(f.Path[judge.Top:], false) {
			continue
		}
		r.collect.sum.Stats.Considered++
		r.found = append(r.found, search.Entry{Path: f.Path, ModTime: f.Repo.Changed})
	}
	return r.each(part.Inside)
}

// folders adds the folders above a file, below the searched one.
func (r *remoteFind) folders(f *repos.File, judge *repos.Judge) {
	for i := judge.Top; i < len(f.Path); i++ {
		if f.Path[i] == '/' && r.shows(f.Path[judge.Top:i], true) {
			r.addFolder(f.Path[:i], f.Repo.Changed)
		}
	}
}

// addFolder adds a folder once: several repositories may lie in it.
func (r *remoteFind) addFolder(path string, changed time.Time) {
	if !r.listed[path] {
		r.listed[path] = true
		r.found = append(r.found, search.Entry{Path: path, Folder: true, ModTime: changed})
	}
}

// shows applies depth, globs and types to an entry of a listing with folders.
func (r *remoteFind) shows(shown string, folder bool) bool {
	if r.q.MaxDepth > 0 && strings.Count(shown, "/") >= r.q.MaxDepth {
		return false
	}
	name := shown[strings.LastIndexByte(shown, '/')+1:]
	if g := r.want.Walk.Filter; g != nil && (g.ExcludesAbove(shown) || folder && !g.MatchDir(shown) || !folder && !g.MatchFile(shown)) {
		return false
	}
	return folder || r.want.Types == nil || r.want.Types.MatchFile(name)
}

// local lists a checkout as a part of the servers' tree.
func (r *remoteFind) local(ctx context.Context, part *repos.Part, judge *repos.Judge, at *repos.Place) error {
	c := r.r.checkout(part.Checkout)
	// The path from the searched folder to the checkout.
	if r.q.Kind != search.OnlyFiles && at.Checkout != c.repo {
		for i := judge.Top; i <= len(c.repo); i++ {
			if (i == len(c.repo) || c.repo[i] == '/') && r.shows(c.repo[judge.Top:i], true) {
				info, err := c.folder.Stat(ctx, ".")
				if err != nil {
					return c.located(err)
				}
				r.addFolder(c.repo[:i], info.ModTime)
			}
		}
	}
	q := *r.q
	q.Globs, q.Types, q.Limit, q.Offset, q.Order = nil, nil, 0, 0, search.ByPath
	q.Paths = []string{at.In(c.repo)}
	depth, ok := at.DepthIn(c.repo, q.MaxDepth)
	if !ok {
		return r.each(part.Inside)
	}
	q.MaxDepth = depth
	res, err := c.folder.Find(ctx, q)
	if err != nil {
		return c.located(err)
	}
	shadowed := r.ask.Shadowed(c.repo)
	for _, e := range res.Entries {
		e.Path = c.path(e.Path)
		if shadowed(e.Path) || e.Folder && r.listed[e.Path] {
			continue
		}
		name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		if r.q.Kind == search.OnlyFiles && judge.Passes(e.Path, name) || r.q.Kind != search.OnlyFiles && r.shows(e.Path[judge.Top:], e.Folder) {
			r.listed[e.Path] = e.Folder
			r.found = append(r.found, e)
			r.collect.sum.Stats.Considered++
		}
	}
	c.addSkips(&r.collect.sum, &res.Summary)
	return r.each(part.Inside)
}

// maxSized is how many files are fetched at most to learn their sizes, which
// servers don't report.
const maxSized = 20_000

// sizes fetches files from servers to learn their sizes.
func (r *remoteFind) sizes(ctx context.Context, entries []search.Entry) error {
	var files []repos.File
	var which []*search.Entry
	for i := range entries {
		if e := &entries[i]; !e.Folder {
			if f, ok := r.ask.FileAt(e.Path); ok {
				files, which = append(files, f), append(which, e)
			}
		}
	}
	if len(files) > maxSized {
		return fault.New(fault.TooLarge, fmt.Sprintf("too large: the sizes of %d files on servers; name a folder, or ask for fewer", len(files)), "")
	}
	sizes, err := r.ask.Sizes(ctx, files)
	r.noteLost()
	for i, size := range sizes {
		which[i].Size = size
	}
	return err
}
