package repos

import (
	"context"
	"iter"
	"sync"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/remote"
)

// fetchFirst and fetchMost are how many files are fetched at a time. A server
// keeps none over 2 MB unless told to.
const (
	fetchFirst = 16
	fetchMost  = 128
)

// Batch is files and the content they have on their servers.
type Batch struct {
	Files []File
	docs  map[string]*remote.Doc // by path of the tree

	failures []remote.Failure
}

// Doc is the content of a file and its commit; nil if the server failed or the
// file is gone.
func (b *Batch) Doc(i int) *remote.Doc { return b.docs[b.Files[i].Path] }

// Fetched is the number of contents that arrived, and their bytes.
func (b *Batch) Fetched() (files int, size int64) {
	for _, d := range b.docs {
		size += int64(len(d.Content))
	}
	return len(b.docs), size
}

// Batches fetches files, in their order. The next batch is fetched while one is
// being processed. They end early if the context ends.
func (q *Question) Batches(ctx context.Context, files []File) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		ahead, cancel := context.WithCancel(ctx)
		defer cancel()
		batches := make(chan *Batch)
		var fetching crew.Group
		fetching.Go(func() {
			defer close(batches)
			size := fetchFirst
			for from := 0; from < len(files); {
				to := min(from+size, len(files))
				b := q.tree.fetch(ahead, files[from:to])
				select {
				case batches <- b:
				case <-ahead.Done():
					return
				}
				from, size = to, min(2*size, fetchMost)
			}
		})
		for b := range batches {
			if ctx.Err() != nil {
				return
			}
			q.lostIn(b)
			if !yield(b) {
				return
			}
		}
		fetching.Wait()
	}
}

func (q *Question) lostIn(b *Batch) {
	for _, f := range b.failures {
		q.lost(f)
	}
}

// fetch gets the content of files.
func (t *Tree) fetch(ctx context.Context, files []File) *Batch {
	wanted := map[int]map[string][]string{} // paths by server and repository
	for i := range files {
		f := &files[i]
		if f.Absent != nil {
			continue
		}
		if wanted[f.Repo.Server] == nil {
			wanted[f.Repo.Server] = map[string][]string{}
		}
		wanted[f.Repo.Server][f.Repo.Name] = append(wanted[f.Repo.Server][f.Repo.Name], f.Rel)
	}
	var mu sync.Mutex
	var all crew.Group
	b := &Batch{Files: files, docs: map[string]*remote.Doc{}}
	for server, repos := range wanted {
		all.Go(func() {
			var any []remote.Query
			for name, paths := range repos {
				any = append(any, remote.And(remote.In(name), remote.Paths(paths...)))
			}
			docs, err := t.client.Search(ctx, server, remote.And(remote.Head(), remote.Or(any...)), true)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				b.failures = append(b.failures, t.failure(server, err))
				return
			}
			for i := range docs {
				b.docs[docs[i].Repo+"/"+docs[i].Path] = &docs[i]
			}
		})
	}
	all.Wait()
	return b
}

// Content fetches one file. If the server doesn't have it, the error is an
// *Absence.
func (q *Question) Content(ctx context.Context, at *Place) ([]byte, error) {
	b := q.tree.fetch(ctx, []File{at.File()})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, f := range b.failures {
		return nil, f
	}
	doc := b.Doc(0)
	if doc == nil {
		return nil, &fault.PathError{Op: "read", Path: at.Path, Kind: fault.NotFound}
	}
	if a, absent := absence(doc.Content); absent {
		return nil, a
	}
	return doc.Content, nil
}

// Sizes are the sizes of files, 0 if unknown. Servers don't report sizes, so
// the contents are fetched.
func (q *Question) Sizes(ctx context.Context, files []File) ([]int64, error) {
	sizes := make([]int64, len(files))
	for from := 0; from < len(files); from += fetchMost {
		b := q.tree.fetch(ctx, files[from:min(from+fetchMost, len(files))])
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q.lostIn(b)
		for i := range b.Files {
			if d := b.Doc(i); d != nil {
				if _, absent := absence(d.Content); !absent {
					sizes[from+i] = int64(len(d.Content))
				}
			}
		}
	}
	return sizes, nil
}
