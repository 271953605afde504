package searcher

import (
	"context"

	"quarry/internal/rank"
	"quarry/internal/rootfs"
	"quarry/internal/terms"
	"quarry/internal/textfile"
	"quarry/internal/walk"
	"quarry/match"
	"quarry/search"
)

// maxRanked is the largest file a ranked search looks at; larger ones are data.
const maxRanked = terms.MaxText

// textWork works on the decoded text of one file; nil is no result.
type textWork func(m *match.Matcher, path string, text []byte) any

// texts is where texts come from: a Folder or Servers.
type texts interface {
	// eachText runs work on the decoded text of every file in scope that could
	// have a match of pattern, in parallel, and hands results on in path order.
	eachText(ctx context.Context, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
		work textWork, deliver func(path string, r any)) error
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	// wholeText is the decoded text of one file.
	wholeText(ctx context.Context, path string) ([]byte, error)
	width() int // how many files are worked on at once
	// count counts words in every file in scope.
	count(ctx context.Context, words *rank.Query, scope *search.Scope, sum *search.Summary) (*counted, error)
}

// eachText is that of texts with the type of its results.
func eachText[T any](ctx context.Context, from texts, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
	work func(m *match.Matcher, path string, text []byte) *T, deliver func(path string, r *T)) error {
	return from.eachText(ctx, scope, sum, pattern, func(m *match.Matcher, path string, text []byte) any {
		if r := work(m, path, text); r != nil {
			return r
		}
		return nil
	}, func(path string, r any) { deliver(path, r.(*T)) })
}

func (d *Folder) eachText(ctx context.Context, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
	work textWork, deliver func(path string, r any)) error {
	f, err := d.filter(scope)
	if err != nil {
		return err
	}
	sum.Exact = true
	sum.SkippedCount = map[search.Reason]int{}
	type outcome struct {
		r    any
		skip search.Reason
	}
	watch := search.WatchOf(ctx)
	matching := pattern.NewSearch(ctx)
	readers := make([]textReader, d.Workers)
	each := func(v *walk.Visit, e *rootfs.Entry) (outcome, bool) {
		k := &readers[v.Worker]
		if f.leavesOut(v.Shown, e.Name) {
			return outcome{}, false
		}
		if k.m == nil {
			k.m = matching.NewMatcher()
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
		r := work(k.m, path, text)
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
	for _, path := range paths {
		start, isFile, err := d.start(path)
		if err != nil {
			return err
		}
		opts := f.opts
		opts.Start = start
		work := each
		if isFile { // the file alone, by walking its folder
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
				sum.SkippedCount[o.skip]++
				addSkip(sum, search.Skip{Path: path, Reason: o.skip})
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
	m        *match.Matcher
	buf      []byte
	searched int
	_        [64]byte
}

// gone is a file that vanished, which nobody needs to hear of.
const gone search.Reason = "vanished"

func (k *textReader) read(root *rootfs.Root, v *walk.Visit, e *rootfs.Entry) (text []byte, skip search.Reason) {
	return k.content(openEntry(root, v, e))
}

// decoded is a content as text, if it is one.
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
