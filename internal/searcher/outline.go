package searcher

import (
	"cmp"
	"context"

	"quarry/internal/index"
	"quarry/internal/lookup"
	"quarry/internal/symbols"
	"quarry/search"
)

// outlineRun lists the definitions of the files in scope, in path order. Once the answer
// is full, the remaining definitions are only counted, with the index and without reading
// files.
type outlineRun struct {
	folder *Folder
	q      *search.SymbolQuery
	name   *lookup.Name
	out    search.SymbolResult
	views  []*index.CountedView // nil without an index
}

func (d *Folder) outline(ctx context.Context, q *search.SymbolQuery, name *lookup.Name) (*search.SymbolResult, error) {
	files, err := d.Find(ctx, search.FindQuery{Scope: q.Scope})
	if err != nil {
		return nil, err
	}
	r := &outlineRun{folder: d, q: q, name: name, out: search.SymbolResult{Summary: files.Summary}}
	limit := cmp.Or(max(q.Limit, 0), 1000)
	defer r.open(ctx)()
	rest := files.Entries
	// The first batches are small, so that few files are read unnecessarily.
	for size := 4; len(rest) > 0 && r.out.Total < limit; size = min(2*size, 64) {
		n := min(size, len(rest))
		if err := r.read(ctx, paths(rest[:n])); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	var unknown []string
	for i := range rest {
		if !r.count(rest[i].Path) {
			unknown = append(unknown, rest[i].Path)
		}
	}
	if err := r.read(ctx, unknown); err != nil {
		return nil, err
	}
	if len(r.out.Symbols) > limit {
		r.out.Symbols = r.out.Symbols[:limit]
	}
	if r.out.Total > limit {
		r.out.Stopped = cmp.Or(r.out.Stopped, search.StopLines)
	}
	return &r.out, nil
}

func paths(list []search.Entry) (out []string) {
	for i := range list {
		if !list[i].Folder {
			out = append(out, list[i].Path)
		}
	}
	return out
}

// open opens the index if it is in this process. The returned function closes it.
func (r *outlineRun) open(ctx context.Context) func() {
	ix := r.folder.index()
	ask := index.Ask{Hidden: r.q.IncludeHidden, Terms: true}
	if !ix.Ready(&ask) {
		return func() {}
	}
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return func() {}
	}
	ask.Lens = ix.Lens(ask.Hidden, r.q.IncludeIgnored)
	if counted, err := snap.Counted(ask); err == nil {
		r.views = counted.Views
	}
	return snap.Close
}

// count counts the definitions of a file with the index. known is false if the file has
// to be read.
func (r *outlineRun) count(path string) (known bool) {
	for _, v := range r.views {
		id, ok, err := v.Find(path)
		if err != nil {
			return false // the index is damaged
		}
		if !ok {
			continue
		}
		n := 0
		known, err := v.Kinds(id, func(k symbols.Kind, count int) {
			if r.name.Takes(k) {
				n += count
			}
		})
		if known && err == nil {
			r.out.Total += n
			return true
		}
		return false
	}
	return false
}

// read adds the definitions of files.
func (r *outlineRun) read(ctx context.Context, files []string) error {
	type outcome struct {
		list  []search.Symbol
		whole bool
		skip  search.Reason
	}
	workers := max(r.folder.Workers, 1)
	readers := make([]textReader, workers)
	return inOrder(ctx, len(files), workers, nil, func(worker, i int) (outcome, bool) {
		text, skip := readers[worker].path(r.folder.Root, files[i])
		if skip != "" {
			return outcome{skip: skip}, skip == search.Unreadable || skip == search.Protected || skip == search.TooLarge && symbols.Language(files[i], nil) != ""
		}
		list, whole := r.name.Outline(ctx, files[i], index.DefinitionText(text), r.q.Text)
		return outcome{list: list, whole: whole}, true
	}, func(i int, o outcome) error {
		if o.skip != "" {
			skipFile(&r.out.Summary, files[i], o.skip)
		} else if !o.whole {
			skipPart(&r.out.Summary, files[i], lookup.InPart)
		}
		r.out.Total += len(o.list)
		r.out.Symbols = append(r.out.Symbols, o.list...)
		return nil
	})
}
