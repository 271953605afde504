package profile

import (
	"context"
	"slices"
	"sort"
	"strings"

	"quarry"
)

// maxIgnored is how many paths of ignored files a look names. Folders with
// nothing else in them count as one, so it is enough for all but the products of
// a build that lie among its sources.
const maxIgnored = 1000

// ignored looks into the files that ignore files leave out, and says what it saw
// together with hidden, which was seen without them. An index knows nothing of
// ignored files, and to search everything would be to read again what it has
// answered for: on 78,000 files that took a second, of which there is a tenth.
// So the files are listed with and without ignored ones, and the difference is
// searched.
func (l *looking) ignored(ctx context.Context, what string, q quarry.Query, hidden seen) {
	paths, cut := l.onlyIgnored(ctx, q)
	if len(paths) == 0 && !cut {
		return
	}
	var s seen
	if len(paths) > 0 {
		q.Paths, q.Globs, q.IncludeHidden, q.IncludeIgnored = paths, nil, true, true
		s = l.ask(ctx, q)
	}
	s.cut = s.cut || cut
	if len(s.files) > 0 {
		s.files = append(s.files, hidden.files...)
		sort.Strings(s.files)
		s.more = s.more || hidden.more || cut
	}
	l.say(what, s)
}

// onlyIgnored lists what ignore files leave out of the scope of a query: files
// that pass its globs, or whole folders where it has none.
func (l *looking) onlyIgnored(ctx context.Context, q quarry.Query) (paths []string, cut bool) {
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	find := quarry.FindQuery{Scope: q.Scope}
	find.IncludeHidden = true
	shown, err := l.c.ws.Find(ctx, find)
	if err != nil {
		return nil, ctx.Err() != nil
	}
	find.IncludeIgnored = true
	all, err := l.c.ws.Find(ctx, find)
	if err != nil {
		return nil, ctx.Err() != nil
	}
	above, whole := l.above(ctx, q)
	next := 0 // of the files that are shown; they are among all, in the same order
	for i := range all.Entries {
		p := all.Entries[i].Path
		if next < len(shown.Entries) && p == shown.Entries[next].Path {
			next++
			continue
		}
		if len(paths) == maxIgnored {
			return paths, true
		}
		if whole {
			// In path order, what shares a folder with p stands next to it.
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
		return nil, true // something went between the two listings
	}
	return paths, false
}

// above are the folders a query searches, and whether folders can stand for
// what is in them: not where a glob has a say in it.
func (l *looking) above(ctx context.Context, q quarry.Query) (paths []string, whole bool) {
	if len(q.Globs) > 0 {
		return nil, false
	}
	for _, p := range q.Paths {
		if p == "" {
			continue // the top
		}
		info, err := l.c.ws.Stat(ctx, p)
		if err != nil {
			return nil, false
		}
		paths = append(paths, info.Path)
	}
	return paths[:len(paths):len(paths)], true
}

// highest is the topmost folder above a path that none of the other paths lies
// in, or the path itself.
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
