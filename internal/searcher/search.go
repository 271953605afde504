package searcher

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/scan"
	"quarry/internal/walk"
	"quarry/match"
	"quarry/search"
)

// SearchEach answers a query file by file, in the order that the query requests, as soon
// as each file is known. An error of yield ends the search and is returned. The summary
// is returned even if a limit ended the search.
func (d *Folder) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	started := time.Now()
	shapes, err := newShapes(ctx, &q)
	if err != nil {
		return nil, err
	}
	pattern, each, err := compileQuery(ctx, &q)
	if err != nil {
		return nil, err
	}
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	q.NoIndex = q.NoIndex || q.Text != nil || q.Raw || q.AllFiles || q.Passthru || q.MaxFileSize > 0
	sum, yield, err := d.index().Search(ctx, &q, yield)
	if err != nil {
		return nil, err
	}
	if sum != nil {
		sum.Stats.Replaced = followed
		return sum, nil
	}
	bounded, cancel := within(ctx, q.Limits.Time)
	defer cancel()
	filter, err := d.filter(bounded, &q.Scope)
	if err != nil {
		return nil, err
	}
	defer filter.close()
	run := &searchRun{
		folder: d, q: &q, filter: filter, pattern: pattern,
		request:  scanRequest(&q),
		matching: pattern.NewSearch(),
		jointly:  each,
		shapes:   shapes,
		scanners: make([]worker, d.Workers),
		collect:  newCollector(&q, yield),
		watch:    progress.Of(ctx),
	}
	defer run.matching.StopWith(bounded)()
	defer each.start(bounded)()
	if inParts(&q) {
		run.ahead = newBacklog(cmp.Or(d.ahead, aheadBytes))
		defer context.AfterFunc(bounded, run.ahead.end)()
	}
	err = run.all(bounded)
	sum = &run.collect.sum
	sum.Stats.Strategy = pattern.Strategy()
	sum.Stats.Elapsed, sum.Stats.Replaced = time.Since(started), followed
	return ended(ctx, sum, err)
}

// within limits the time of a search.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// partly turns the end of the search's own time limit into a partial answer, which the
// summary reports. If the caller's context has ended, it returns that error.
func partly(ctx context.Context, s *search.Summary, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		stop(s, search.StopTime)
		return nil
	}
	return err
}

// ended records in the summary which limit ended a search. Errors that are not limits are
// returned. ctx is the caller's context.
func ended(ctx context.Context, s *search.Summary, err error) (*search.Summary, error) {
	switch {
	case err == nil || errors.Is(err, errEnough):
	case errors.Is(err, match.ErrBudget):
		stop(s, search.StopBudget)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		stop(s, search.StopTime)
	default:
		return nil, err
	}
	return s, nil
}

// Text answers a query about one text outside any workspace, such as standard input.
// Scope is ignored, except that its first path determines the language of a structural
// query. The path in the results is "".
func Text(ctx context.Context, r io.Reader, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	started := time.Now()
	shapes, err := newShapes(ctx, &q)
	if err != nil {
		return nil, err
	}
	q.Each = q.Each && shapes == nil
	pattern, err := match.NewCompiler(ctx, q.Match).Any(patterns(&q))
	if err != nil {
		return nil, err
	}
	if q.Each || len(q.Lacking) > 0 {
		return nil, errEachText
	}
	bounded, cancel := within(ctx, q.Limits.Time)
	defer cancel()
	c := newCollector(&q, yield)
	request := scanRequest(&q)
	out := &found{}
	matching := pattern.NewSearch()
	defer matching.StopWith(bounded)()
	scanner := scan.New(matching.NewMatcher())
	if scanner.Shapes = shapes; len(q.Paths) > 0 {
		scanner.Path = q.Paths[0]
	}
	if err = c.stream("", []*scan.Scanner{scanner}, r, nil, nil, out, &request); err == nil {
		err = c.finish()
	}
	c.sum.Stats = search.Stats{Considered: 1, Searched: 1, Bytes: out.res.Bytes, Strategy: pattern.Strategy(), Elapsed: time.Since(started)}
	return ended(ctx, &c.sum, err)
}

func patterns(q *search.Query) []string {
	if q.Pattern == "" && len(q.Patterns) > 0 {
		return q.Patterns
	}
	return append([]string{q.Pattern}, q.Patterns...)
}

// scanRequest returns the scanner's request, which is the same for all files.
func scanRequest(q *search.Query) scan.Request {
	r := scan.Request{
		Before: q.Before, After: q.After, Invert: q.Invert,
		Spans: q.Spans, Matches: q.CountMatches, Binary: q.Binary, NUL: q.NUL,
		MaxLines: q.Limits.LinesPerFile, MaxText: q.Limits.LineBytes,
		Raw: q.Raw, All: q.Passthru, WhileMatching: q.StopOnNonmatch,
		Decode: q.Detail == search.Lines && !q.RawLines && !q.Raw && q.Text == nil,
	}
	if q.Limits.Lines > 0 {
		r.KeepHits = q.Offset + q.Limits.Lines + 1
	}
	if q.Limits.Blocks > 0 {
		// One more than can be delivered, to detect that there are more.
		r.Gap, r.KeepBlocks, r.BlockLines = blockGap(q), q.Offset+q.Limits.Blocks+1, q.Limits.BlockLines
	}
	switch q.Detail {
	case search.Counts:
		r.Detail = scan.Count
	case search.Files:
		r.Detail = scan.Exists
	}
	return r
}

// searchRun is a search in progress.
type searchRun struct {
	folder   *Folder
	q        *search.Query
	filter   *filter
	pattern  *match.Pattern
	request  scan.Request
	counting atomic.Bool // the answer is full: only count
	matching *match.Search
	scanners []worker
	collect  *collector
	watch    *progress.Count // nil if there is no progress to report
	ahead    *backlog        // nil if files are delivered whole
	late     *worker         // searches files when it is their turn to be delivered
	jointly  *jointly
	shapes   shapes
}

// worker is the state of one worker goroutine of a search.
type worker struct {
	scanner  *scan.Scanner
	each     *scan.Scanner    // scanner for one of several patterns at a time
	matchers []*match.Matcher // matchers of these patterns
	searched int
	filtered int
	bytes    int64
	limited  io.LimitedReader
	part     []byte // buffer for a part of a large file
	spare    *found // reused if the previous file had no match
	keep     kept   // lines of the current file
	request  scan.Request
	_        [64]byte
}

// found is the outcome of one file.
type found struct {
	res  scan.Result
	info rootfs.Info
	err  error

	version string // if the query requests it

	later bool // there was no room to keep the matches: search again when it is the file's turn
	kept  int  // number of bytes that the matches count in the backlog

	before                  []scan.Result // matches kept ahead of delivery, except the last piece
	parts, matched, matches int           // numbers delivered before the end of the file
}

// all searches the paths of the query's scope, one after the other.
func (r *searchRun) all(ctx context.Context) error {
	paths := r.q.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		if err := r.path(ctx, path); err != nil {
			if r.q.Order == search.ByMatches && errors.Is(err, context.DeadlineExceeded) {
				return cmp.Or(r.collect.partial(), err)
			}
			return err
		}
	}
	return r.collect.finish()
}

func (r *searchRun) path(ctx context.Context, path string) error {
	start, isFile, err := r.folder.start(path)
	if err != nil {
		return err
	}
	if isFile {
		return r.single(start)
	}
	if err := r.tallied(ctx, start); !errors.Is(err, errNoIndex) {
		return err
	}
	if err := r.indexed(ctx, start); !errors.Is(err, errNoIndex) {
		return err
	}
	opts := r.filter.opts
	opts.Start = start
	if r.ahead != nil {
		opts.Waiting = r.ahead.wait
	}
	defer r.folder.index().Yield()()
	report, err := walk.Each(ctx, r.folder.Root, &opts, func(v *walk.Visit, e *rootfs.Entry) (*found, bool) { return r.work(ctx, v, e) }, r.deliver)
	r.collect.sum.Stats.Plan.Kind = search.PlanScan
	addReport(&r.collect.sum, &report)
	r.gatherStats()
	return err
}

// gatherStats adds up the counts of the workers.
func (r *searchRun) gatherStats() {
	sum := &r.collect.sum
	for i := range r.scanners {
		k := &r.scanners[i]
		sum.Stats.Searched += k.searched
		sum.Stats.Bytes += k.bytes
		if k.filtered > 0 {
			sum.SkippedCount[search.Filtered] += k.filtered
			sum.Stats.Considered -= k.filtered
		}
		k.searched, k.bytes, k.filtered = 0, 0, 0
	}
}

// single searches a file that the scope names. Filters except Scope.Changed don't apply to
// it.
func (r *searchRun) single(p rootfs.Path) error {
	f, err := r.folder.Root.OpenFile(p)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := &r.collect.sum
	sum.Stats.Considered++
	if r.filter != nil && r.filter.changes != nil && !r.filter.changes.has(p.String()) {
		sum.Stats.Considered--
		sum.SkippedCount[search.Filtered]++
		return nil
	}
	out := &found{info: f.Info()}
	if miss, err := r.lacks(&r.scanners[0], f, p.String()); miss != nil || err != nil {
		if miss != nil {
			r.count(miss)
		}
		return err
	}
	err = r.streamed(&r.scanners[0], p.String(), f, out)
	r.count(out)
	return err
}

// streamed searches an open file and delivers its lines as they are found.
func (r *searchRun) streamed(k *worker, path string, f *rootfs.File, out *found) error {
	text := asOpened(f, &k.limited)
	r.scanner(k).Path = path
	if r.q.Text != nil {
		made, err := r.q.Text(path, text)
		if err != nil {
			return r.collect.add(path, &found{err: err})
		}
		out.info.Size = 0
		if err := r.collect.stream(path, []*scan.Scanner{r.scanner(k)}, made, nil, nil, out, &r.request); err != nil {
			made.Close()
			return err
		}
		if err := made.Close(); err != nil {
			return r.collect.failed(path, err)
		}
		return nil
	}
	var view scan.View
	if k == &r.scanners[0] && scan.Large(out.info.Size) {
		if v := f.View(); v != nil {
			defer v.Close()
			view = v
		}
	}
	return r.collect.stream(path, r.together(k, out.info.Size), text, f, view, out, &r.request)
}

// together returns a worker's scanner. For a large named file it adds the scanners of the
// other workers, which are idle.
func (r *searchRun) together(k *worker, size int64) []*scan.Scanner {
	all := []*scan.Scanner{r.scanner(k)}
	if k == &r.scanners[0] && scan.Large(size) {
		for i := range r.scanners[1:] {
			all = append(all, r.scanner(&r.scanners[1+i]))
		}
	}
	return all
}

// count adds a file that was searched outside of the workers.
func (r *searchRun) count(out *found) {
	sum := &r.collect.sum
	if out.res.Skip == scan.NotSkipped {
		sum.Stats.Searched++
	}
	sum.Stats.Bytes += out.res.Bytes
	r.watch.Add(out.res.Matched)
}

// work searches one file of a walk. Most files have no match and need no outcome.
func (r *searchRun) work(ctx context.Context, v *walk.Visit, e *rootfs.Entry) (*found, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	k := &r.scanners[v.Worker]
	if r.filter.omits(v.Shown, e.Name) {
		k.filtered++
		return nil, false
	}
	f, err := openEntry(r.folder.Root, v, e)
	if err != nil {
		return &found{err: err}, true
	}
	defer f.Close()
	if most := r.q.MaxFileSize; most > 0 && f.Info().Size > most {
		k.filtered++
		return nil, false
	}
	path := ""
	if r.q.Text != nil || r.shapes != nil {
		path = joinPath(v.Shown, e.Name)
	}
	return r.search(k, f, path)
}

// search searches an open file and reports whether there is an outcome.
func (r *searchRun) search(k *worker, f *rootfs.File, path string) (*found, bool) {
	out := k.spare
	if out == nil {
		out = &found{}
	}
	k.spare = nil
	if miss, err := r.lacks(k, f, path); miss != nil || err != nil {
		if err != nil {
			return &found{err: err}, true
		}
		k.searched++
		k.bytes += miss.res.Bytes
		r.watch.Add(0)
		k.spare = out
		return miss, boundsReads(&r.q.Limits)
	}
	r.scan(k, f, path, out)
	if out.later {
		return out, true
	}
	if out.res.Skip == scan.NotSkipped {
		k.searched++
	}
	k.bytes += out.res.Bytes
	r.watch.Add(out.res.Matched)
	if boundsReads(&r.q.Limits) {
		return out, true // an outcome is needed for counting
	}
	if out.err == nil && out.res.Skip == scan.NotSkipped && (out.res.Matched == 0) != r.q.FilesWithoutMatch && !r.q.AllFiles && !r.q.Passthru {
		*out = found{}
		k.spare = out
		return nil, false
	}
	return out, true
}

func openEntry(root *rootfs.Root, v *walk.Visit, e *rootfs.Entry) (*rootfs.File, error) {
	if e.Type != rootfs.TypeSymlink {
		return v.Dir.OpenFile(e.Name)
	}
	p, err := v.Path.Child(e.Name)
	if err != nil {
		return nil, err
	}
	if p, err = root.Resolve(p.String()); err != nil {
		return nil, err
	}
	return root.OpenFile(p)
}

func (r *searchRun) scanner(k *worker) *scan.Scanner {
	if k.scanner == nil {
		k.scanner = scan.New(r.matching.NewMatcher())
		k.scanner.Shapes = r.shapes
	}
	return k.scanner
}

func (r *searchRun) scan(k *worker, f *rootfs.File, path string, out *found) {
	out.info = f.Info()
	r.scanner(k).Path = path
	text := asOpened(f, &k.limited)
	if r.q.Text != nil {
		made, err := r.q.Text(path, text)
		if err != nil {
			out.err = err
			return
		}
		defer func() { out.err = cmp.Or(out.err, made.Close()) }()
		text, out.info.Size = made, 0
	}
	if r.ahead != nil {
		r.scanAhead(k, text, out)
		return
	}
	req := &r.request
	if r.counting.Load() {
		counts := countRequest(req)
		req = &counts
	}
	if out.res, out.err = r.scanner(k).File(text, out.info.Size, req); req.Decode && out.err == nil {
		out.err = out.res.Decode(f)
	}
	identify(r.q, f, out)
}

// identify sets the version of a file with matches, if the query requests it and the file was not
// modified since it was opened.
func identify(q *search.Query, f *rootfs.File, out *found) {
	if !q.Versions || q.Detail != search.Lines || q.Text != nil || out.err != nil || out.res.Matched == 0 {
		return
	}
	sum := version.NewHash()
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, math.MaxInt64))
	if now, bad := f.Stat(); err == nil && bad == nil && rootfs.Unchanged(out.info, now) && n == now.Size {
		out.version = sum.Version().String()
	}
}

// countRequest returns a copy of req that only counts matches.
func countRequest(req *scan.Request) scan.Request {
	r := *req
	r.Detail, r.Spans, r.Before, r.After, r.Decode = scan.Count, false, 0, 0, false
	return r
}

// countsRest reports whether files need only be counted once the answer is full. In
// multiline mode, counting blocks needs the lines.
func (r *searchRun) countsRest() bool {
	return r.collect.full && r.request.Detail == scan.Lines && (r.request.Gap == 0 || r.q.Match.Mode == match.Lines)
}

// byOrder sorts files as the query requests, with ties in path order.
func byOrder(files []search.FileMatch, order search.Order) {
	sort.SliceStable(files, func(i, j int) bool {
		a, b := &files[i], &files[j]
		c := 0
		switch order {
		case search.ByModTime:
			c = b.ModTime.Compare(a.ModTime)
		case search.ByRelevance:
			c = cmp.Compare(b.Score, a.Score)
		case search.ByMatches:
			c = cmp.Compare(b.Matched, a.Matched)
		}
		return cmp.Or(c, strings.Compare(a.Path, b.Path)) < 0
	})
}
