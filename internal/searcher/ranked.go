package searcher

import (
	"context"
	"time"

	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/terms"
	"quarry/internal/textfile"
	"quarry/internal/walk"
	"quarry/search"
)

// maxRanked is the size of the largest file read by a ranked search. Larger files are
// data.
const maxRanked = terms.MaxText

// textWork processes the decoded text of one file. A nil result is dropped. The text is
// only valid during the call.
type textWork = func(path string, text []byte) any

// eachText calls Folder.eachText with typed results.
func eachText[T any](ctx context.Context, d *Folder, scope *search.Scope, sum *search.Summary,
	work func(path string, text []byte) *T, deliver func(path string, r *T)) error {
	return d.eachText(ctx, scope, sum, func(path string, text []byte) any {
		if r := work(path, text); r != nil {
			return r
		}
		return nil
	}, func(path string, r any) { deliver(path, r.(*T)) })
}

// EachText runs work on the decoded text of every file of a query, in parallel, and
// delivers results in path order.
func (d *Folder) EachText(ctx context.Context, q search.TextQuery, work func(path string, text []byte) any, yield func(path string, r any)) (*search.Summary, error) {
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	sum := &search.Summary{}
	err = d.textsOf(bounded, &q, sum, work, yield)
	if err = partly(ctx, sum, err); err != nil {
		return nil, err
	}
	sum.Stats.Replaced, sum.Stats.Elapsed = followed, time.Since(started)
	return sum, nil
}

// eachText runs work on the decoded text of every file in scope, in parallel, and
// delivers results in path order.
func (d *Folder) eachText(ctx context.Context, scope *search.Scope, sum *search.Summary,
	work textWork, deliver func(path string, r any)) error {
	f, err := d.filter(ctx, scope)
	if err != nil {
		return err
	}
	defer f.close()
	sum.Exact = true
	sum.SkippedCount = map[search.Reason]int{}
	type outcome struct {
		r    any
		skip search.Reason
	}
	watch := progress.Of(ctx)
	readers := make([]textReader, d.Workers)
	each := func(v *walk.Visit, e *rootfs.Entry) (outcome, bool) {
		k := &readers[v.Worker]
		if f.omits(v.Shown, e.Name) {
			return outcome{}, false
		}
		text, skip := k.read(d.Root, v, e)
		if skip != "" {
			return outcome{skip: skip}, skip != gone
		}
		k.searched++
		path := e.Name
		if v.Shown != "" {
			path = v.Shown + "/" + e.Name
		}
		r := work(path, text)
		if r != nil {
			watch.Add(1)
		} else {
			watch.Add(0)
		}
		return outcome{r: r}, r != nil
	}
	paths := scope.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	defer func() {
		for i := range readers {
			sum.Stats.Searched += readers[i].searched
		}
	}()
	defer d.index().Yield()()
	for _, path := range paths {
		start, isFile, err := d.start(path)
		if err != nil {
			return err
		}
		opts := f.opts
		opts.Start = start
		work := each
		if isFile { // a single file: walk its folder for this file only
			opts = walk.Options{Start: start.Dir(), MaxDepth: 1, Hidden: true, NoIgnore: true, Workers: d.Workers}
			work = func(v *walk.Visit, e *rootfs.Entry) (outcome, bool) {
				if e.Name != start.Base() {
					return outcome{}, false
				}
				return each(v, e)
			}
		}
		report, err := walk.Each(ctx, d.Root, &opts, work, func(path string, o outcome) error {
			if o.skip != "" {
				skipFile(sum, path, o.skip)
				return nil
			}
			deliver(path, o.r)
			return nil
		})
		addReport(sum, &report)
		if err != nil {
			return err
		}
	}
	return nil
}

// textReader reads whole files, one after the other.
type textReader struct {
	buf      []byte
	searched int
	_        [64]byte
}

// gone is the reason for a vanished file, which is not reported.
const gone search.Reason = "vanished"

func (k *textReader) read(root *rootfs.Root, v *walk.Visit, e *rootfs.Entry) (text []byte, skip search.Reason) {
	return k.content(openEntry(root, v, e))
}

// decoded decodes raw. It reports whether raw is text.
func decoded(raw []byte) ([]byte, bool) {
	kind := textfile.Detect(raw)
	if kind.Binary {
		return nil, false
	}
	raw = raw[len(kind.Encoding.BOM()):]
	if kind.Encoding.IsUTF8() {
		return raw, true
	}
	text, _ := kind.Encoding.AppendDecoded(nil, raw, true)
	return text, true
}
