package notebook

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/search"
)

// fileInfos returns times and sizes of files. The first fewInfos files are examined one
// by one, at 6 µs each. If there are more, one walk examines all files, at 3 µs each.
type fileInfos struct {
	b       *Book
	created bool // return creation times instead of modification times

	mu    sync.Mutex
	asked int            // number of files examined; guarded by mu
	all   []search.Entry // sorted by path; guarded by mu
}

// fewInfos is the number of files to examine one by one.
const fewInfos = 200

func (f *fileInfos) of(ctx context.Context, path string) (at time.Time, size int64, ok bool) {
	f.mu.Lock()
	f.asked++
	if f.asked == fewInfos {
		if r, err := f.b.ws.Find(ctx, search.FindQuery{Scope: scope(false), Kind: search.OnlyFiles, Stat: true}); err == nil {
			f.all = r.Entries
		}
	}
	i, known := slices.BinarySearchFunc(f.all, path, func(e search.Entry, path string) int { return strings.Compare(e.Path, path) })
	var e search.Entry
	if known {
		e = f.all[i]
	}
	f.mu.Unlock()
	if !known || e.Link {
		info, err := f.b.ws.Stat(ctx, path)
		if err != nil {
			return at, 0, false // the file vanished
		}
		e = search.Entry{Size: info.Size, ModTime: info.ModTime, Created: info.Created}
	}
	if f.created {
		return e.Created, e.Size, true
	}
	return e.ModTime, e.Size, true
}
