package explain

import (
	"context"
	"path"
	"slices"
	"sort"
	"strings"

	"quarry/search"
)

// maxIgnored limits the paths of ignored files that are searched. A folder that contains
// only ignored files counts as one path, so this is enough unless build results are among
// the sources.
const maxIgnored = 1000

// ignored searches files that ignore files exclude, and reports which flag includes them.
// unfiltered reports that q has lost its file filters. hidden is the result for files that
// only need include_hidden. The index contains up to 20,000 ignored files. If there are more,
// walking 78,000 files would take too long, so only files ignored near the top are searched;
// that is where build folders and dependencies are. Without an index all ignored files are
// searched.
func (l *Look) ignored(ctx context.Context, unfiltered bool, q search.Query, hidden seen) {
	if l.Whole {
		l.ignoredIndexed(ctx, unfiltered, q, hidden)
		return
	}
	paths := l.onlyIgnored(ctx, q)
	if len(paths) == 0 {
		return
	}
	base := path.Clean(q.Paths[0])
	inside := q
	inside.Paths, inside.IncludeHidden, inside.IncludeIgnored = paths, true, true
	if l.Scan {
		inside.Globs, inside.Types = nil, nil // the filters were already applied to the paths
	}
	s := l.ask(ctx, inside)
	plain := slices.DeleteFunc(slices.Clone(s.files), func(p string) bool {
		rest := strings.TrimPrefix(p, base+"/")
		return strings.HasPrefix(rest, ".") || strings.Contains(rest, "/.")
	})
	if len(plain) > 0 {
		l.flagged(Ignored, unfiltered, seen{files: plain, more: s.more})
		return
	}
	if len(s.files) > 0 {
		s.files = append(s.files, hidden.files...)
		sort.Strings(s.files)
		s.more = s.more || hidden.more
		l.flagged(HiddenIgnored, unfiltered, s)
	}
}

func (l *Look) flagged(way Way, unfiltered bool, s seen) {
	f := s.finding(way, "")
	f.Unfiltered = unfiltered
	l.add(f)
}

// ignoredIndexed searches the index. The original search found nothing, so all files that
// match with the flag are ignored.
func (l *Look) ignoredIndexed(ctx context.Context, unfiltered bool, q search.Query, hidden seen) {
	q.IncludeIgnored, q.IncludeHidden = true, false
	if s := l.ask(ctx, q); len(s.files) > 0 {
		l.flagged(Ignored, unfiltered, s)
		return
	}
	q.IncludeHidden = true
	s := l.ask(ctx, q)
	if slices.ContainsFunc(s.files, func(p string) bool { return !slices.Contains(hidden.files, p) }) {
		l.flagged(HiddenIgnored, unfiltered, s)
	}
}

// onlyIgnored lists, in path order, the files in the scope of a query that are excluded by
// ignore files. Files of a folder are replaced by the folder if all of its contents are
// listed.
func (l *Look) onlyIgnored(ctx context.Context, q search.Query) []string {
	if !l.Scan {
		return l.ignoredTop(ctx, q)
	}
	shown, all := l.withIgnored(ctx, search.FindQuery{Scope: q.Scope})
	if all == nil {
		return nil
	}
	above, whole := l.above(ctx, q)
	var paths []string
	next := 0 // index of the next shown file; all contains the shown files in the same order
	for i := range all.Entries {
		p := all.Entries[i].Path
		if next < len(shown.Entries) && p == shown.Entries[next].Path {
			next++
			continue
		}
		if len(paths) == maxIgnored {
			return paths
		}
		if whole {
			// In path order, paths of one folder are adjacent.
			near := above
			for _, j := range []int{next - 1, next} {
				if j >= 0 && j < len(shown.Entries) {
					near = append(near, shown.Entries[j].Path)
				}
			}
			p = highest(p, near)
		}
		if n := len(paths); n == 0 || paths[n-1] != p {
			paths = append(paths, p)
		}
	}
	if next < len(shown.Entries) {
		return nil // a file was removed between the listings
	}
	return paths
}

// withIgnored lists the files in the scope of a query, including hidden ones: shown
// without ignored files, and all with them. all is nil if a listing fails.
func (l *Look) withIgnored(ctx context.Context, q search.FindQuery) (shown, all *search.FindResult) {
	q.IncludeHidden = true
	shown, err := l.Files.Find(ctx, q)
	if err == nil {
		q.IncludeIgnored = true
		all, err = l.Files.Find(ctx, q)
	}
	if err != nil {
		return nil, nil
	}
	return shown, all
}

// topDepth is the depth to which ignored names are searched if there is an index: the
// searched folder and its subfolders. In the Linux source that is 30 folders and takes a
// millisecond.
const topDepth = 2

// ignoredTop lists ignored files and folders near the top.
func (l *Look) ignoredTop(ctx context.Context, q search.Query) []string {
	if slices.ContainsFunc(q.Globs, func(g string) bool { return strings.Contains(g, "/") }) {
		return nil // the glob would have another meaning inside a folder
	}
	find := search.FindQuery{Scope: q.Scope, Kind: search.FilesAndFolders}
	find.Globs, find.Types, find.MaxDepth = nil, nil, 1
	shown, all := l.withIgnored(ctx, find)
	if all == nil {
		return nil
	}
	known := make(map[string]bool, len(shown.Entries))
	for i := range shown.Entries {
		known[shown.Entries[i].Path] = true
	}
	var paths []string
	for i := range all.Entries {
		e := &all.Entries[i]
		if known[e.Path] || !e.Folder && filtered(&q) {
			continue
		}
		if n := len(paths); n > 0 && strings.HasPrefix(e.Path, paths[n-1]+"/") {
			continue
		}
		if paths = append(paths, e.Path); len(paths) == zeroIgnored {
			break
		}
	}
	return paths
}

// zeroIgnored limits the ignored paths near the top that are searched.
const zeroIgnored = 64

// above returns the folders that a query searches. whole reports whether a folder may be
// named instead of its files; this isn't possible if a glob selects files.
func (l *Look) above(ctx context.Context, q search.Query) (paths []string, whole bool) {
	if filtered(&q) {
		return nil, false
	}
	for _, p := range q.Paths {
		if p == "" {
			continue // the top folder
		}
		info, err := l.Files.Stat(ctx, p)
		if err != nil {
			return nil, false
		}
		paths = append(paths, info.Path)
	}
	return paths[:len(paths):len(paths)], true
}

// highest returns the topmost folder that contains p but none of the other paths, or p
// itself.
func highest(p string, others []string) string {
	for at := 0; ; at++ {
		slash := strings.IndexByte(p[at:], '/')
		if slash < 0 {
			return p
		}
		at += slash
		if !slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(o, p[:at+1]) }) {
			return p[:at]
		}
	}
}
