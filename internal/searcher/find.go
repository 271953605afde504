package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/fuzzy"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/search"
)

// Find lists the paths that pass a scope.
func (d *Folder) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	started := time.Now()
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	if r, err := d.index().Find(ctx, &q); err != nil || r != nil {
		if r != nil {
			r.Stats.Replaced = followed
		}
		return r, err
	}
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	f, err := d.filter(bounded, &q.Scope)
	if err != nil {
		return nil, err
	}
	defer f.close()
	q.Stat = q.Stat || q.Order == search.ByModTime || q.Order == search.BySize
	run := &findRun{folder: d, q: &q, filter: f, found: make([][]foundIn, d.Workers)}
	run.out.Exact = true
	run.out.SkippedCount = map[search.Reason]int{}
	paths := q.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		if err = run.path(bounded, path); err != nil {
			break
		}
	}
	if err = partly(ctx, &run.out.Summary, err); err != nil {
		return nil, err
	}
	if err := page(&run.out, run.names, &q); err != nil {
		return nil, err
	}
	run.out.Stats.Elapsed, run.out.Stats.Replaced = time.Since(started), followed
	return &run.out, nil
}

// page orders the entries and cuts them to the requested page. For fuzzy queries see
// rankPaths.
func page(r *search.FindResult, names []string, q *search.FindQuery) error {
	if q.Fuzzy != "" {
		if err := rankPaths(r, names, q); err != nil {
			return err
		}
	} else {
		sortEntries(r.Entries, q.Order)
		r.Total = len(r.Entries)
	}
	r.Entries = r.Entries[min(max(q.Offset, 0), len(r.Entries)):]
	if q.Limit > 0 && r.Total-max(q.Offset, 0) > q.Limit {
		r.Entries = r.Entries[:q.Limit]
		r.Stopped = cmp.Or(r.Stopped, search.StopFiles)
	}
	return nil
}

// rankPaths keeps the entries and names that match Fuzzy, best first, up to the limit,
// and counts all of them. names are sorted paths that have no entry yet, because making
// entries of 78,000 paths takes as long as ranking them.
func rankPaths(r *search.FindResult, names []string, q *search.FindQuery) error {
	query, err := fuzzy.Compile(q.Fuzzy)
	if err != nil {
		return fault.New(fault.InvalidPattern, fmt.Sprintf("fuzzy search: %v", err), "Give words, a name, or a part of one.")
	}
	listed := names != nil && len(r.Entries) == 0
	if !listed {
		for _, path := range names {
			r.Entries = append(r.Entries, search.Entry{Path: path})
		}
		sortEntries(r.Entries, search.ByPath) // ranking consecutive paths of one folder is cheaper
		names = make([]string, len(r.Entries))
		for i := range r.Entries {
			names[i] = r.Entries[i].Path
		}
	}
	keep, least := 0, 0
	if q.Limit > 0 {
		keep = max(q.Offset, 0) + q.Limit
	}
	if q.Fits {
		least = search.FuzzyFits
	}
	list, total := query.Rank(names, 0, least, keep)
	ranked := make([]search.Entry, len(list))
	for i, m := range list {
		if listed {
			ranked[i].Path = names[m.Index]
		} else {
			ranked[i] = r.Entries[m.Index]
		}
		ranked[i].Score = m.Score
	}
	r.Entries, r.Total = ranked, total
	return nil
}

// findRun is a path search in progress.
type findRun struct {
	folder *Folder
	q      *search.FindQuery
	filter *filter
	below  int         // length of the searched folder's path, including its slash
	found  [][]foundIn // by worker
	names  []string    // paths found by the index for a fuzzy query
	out    search.FindResult
}

func (r *findRun) path(ctx context.Context, path string) error {
	start, isFile, err := r.folder.start(path)
	if err != nil {
		return err
	}
	if isFile {
		return r.single(start)
	}
	opts := r.filter.opts
	opts.Start, opts.Links = start, r.q.Links
	if r.q.Kind != search.OnlyFiles {
		// Folders are pruned if a glob excludes them, since that excludes everything
		// below, too. Which entries to list is decided by add. A folder at the depth
		// limit is listed but not entered.
		opts.Filter = opts.Filter.Pruning()
		if opts.MaxDepth > 0 {
			opts.MaxDepth++
		}
	}
	r.below = 0
	if !start.IsRoot() {
		r.below = len(start.String()) + 1
	}
	if err := r.indexed(ctx, start); !errors.Is(err, errNoIndex) {
		return err
	}
	r.out.Stats.Plan.Kind = search.PlanScan
	report, err := walk.Walk(ctx, r.folder.Root, &opts, r.visit)
	addReport(&r.out.Summary, &report)
	r.out.Entries = appendInOrder(ctx, r.out.Entries, slices.Concat(r.found...), r.folder.Workers)
	clear(r.found)
	return err
}

func (r *findRun) single(p rootfs.Path) error {
	if r.q.Kind == search.OnlyFolders {
		return nil
	}
	info, err := r.folder.Root.Stat(p)
	if err != nil {
		return err
	}
	if r.filter.changes != nil && !r.filter.changes.has(p.String()) {
		return nil
	}
	r.out.Stats.Considered++
	r.out.Entries = append(r.out.Entries, search.Entry{Path: p.String(), Size: info.Size, ModTime: info.ModTime, Created: info.BirthTime, Mode: info.Mode})
	return nil
}

func (r *findRun) visit(v *walk.Visit) error {
	prefix := v.Shown
	if prefix != "" {
		prefix += "/"
	}
	if r.tooDeep(v.Shown) {
		return nil
	}
	list := make([]search.Entry, 0, len(v.Files))
	if r.q.Kind != search.OnlyFolders {
		for i := range v.Files {
			list = r.add(list, v, &v.Files[i], prefix, false)
		}
	}
	if r.q.Kind != search.OnlyFiles {
		for i := range v.Dirs {
			list = r.add(list, v, &v.Dirs[i], prefix, true)
		}
	}
	if len(list) > 0 {
		sortEntries(list, search.ByPath)
		r.found[v.Worker] = append(r.found[v.Worker], foundIn{prefix, list})
	}
	return nil
}

// tooDeep reports whether the entries of a folder are beyond the depth limit.
func (r *findRun) tooDeep(shown string) bool {
	if r.q.MaxDepth == 0 || len(shown) <= r.below {
		return false // the searched folder itself
	}
	return strings.Count(shown[r.below:], "/")+2 > r.q.MaxDepth
}

func (r *findRun) add(list []search.Entry, v *walk.Visit, e *rootfs.Entry, prefix string, folder bool) []search.Entry {
	if r.filter.types != nil && !folder && !r.filter.types.MatchFile(e.Name) {
		return list
	}
	path := prefix + e.Name
	if r.q.Kind != search.OnlyFiles && r.filter.opts.Filter != nil {
		if folder && !r.filter.opts.Filter.MatchDir(path[r.below:]) || !folder && !r.filter.opts.Filter.MatchFile(path[r.below:]) {
			return list
		}
	}
	if r.filter.changes != nil && (folder || !r.filter.changes.has(path)) {
		return list
	}
	entry := search.Entry{Path: path, Folder: folder, Link: e.Type == rootfs.TypeSymlink && !r.q.FollowLinks}
	if r.q.Stat {
		info, err := v.Dir.Stat(e.Name)
		if err != nil {
			if rootfs.KindOf(err) == fault.NotFound {
				return list // the file vanished
			}
		} else {
			entry.Size, entry.ModTime, entry.Created, entry.Mode = info.Size, info.ModTime, info.BirthTime, info.Mode
		}
	}
	return append(list, entry)
}

func sortEntries(list []search.Entry, order search.Order) {
	slices.SortFunc(list, func(a, b search.Entry) int {
		switch order {
		case search.ByModTime:
			if c := b.ModTime.Compare(a.ModTime); c != 0 {
				return c
			}
		case search.BySize:
			if a.Size != b.Size {
				if a.Size > b.Size {
					return -1
				}
				return 1
			}
		}
		return strings.Compare(a.Path, b.Path)
	})
}
