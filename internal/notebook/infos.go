package notebook

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/search"
)

// fileInfos tells times and sizes of files. The first ones are asked for one by one, in
// 6 µs each; if there are more, one walk reads them all, in 3 µs each.
type fileInfos struct {
	b       *Book
	created bool // the time is when a file was made

	mu    sync.Mutex
	asked int            // guarded by mu
	all   []search.Entry // guarded by mu; by path
}

// fewInfos is how many files are asked for one by one.
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
			return at, 0, false // it is gone
		}
		e = search.Entry{Size: info.Size, ModTime: info.ModTime, Created: info.Created}
	}
	if f.created {
		return e.Created, e.Size, true
	}
	return e.ModTime, e.Size, true
}
