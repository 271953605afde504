package searcher

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// tallies reports whether the index may cache the number of matching lines of each file,
// because the query asks for the files with the most.
func (r *searchRun) tallies() bool {
	q := r.q
	return q.Order == search.ByMatches && q.Detail == search.Counts && !q.Invert && !q.Binary && q.NUL == search.SkipBinary &&
		!q.CountMatches && !q.FilesWithoutMatch && !q.StopOnNonmatch && q.Before == 0 && q.After == 0 && q.Offset == 0 && q.Limits.LinesPerFile == 0 &&
		q.Match.Mode == match.Lines && q.Match.Syntax != match.Words && r.jointly == nil && r.shapes == nil && !boundsReads(&q.Limits)
}

// tallyRun lists the files of one folder with the most matching lines. Unchanged files
// are not read if they were already counted for the same pattern.
type tallyRun struct {
	*candidates
	run *searchRun
	key string
	sum *search.Summary

	plan    search.Plan
	files   int // number of matching files that need not be read
	lines   int
	read    []candidate
	of      []talliedDoc // the documents of the files in read; changed files have none
	out     []outcomeOf
	changed map[*index.CountedView]*index.Tally // to be cached
}

type talliedDoc struct {
	view *index.CountedView
	id   int
	n    int // lines
}

type outcomeOf struct {
	path string
	f    *found
}

// tallied answers with the index and its cached counts. If that isn't possible, it
// returns errNoIndex before anything is delivered.
func (r *searchRun) tallied(ctx context.Context, start rootfs.Path) error {
	if !r.tallies() {
		return errNoIndex
	}
	ask := index.Ask{Need: r.pattern.Need(), Under: start, Hidden: r.q.IncludeHidden, Also: index.Binary, ByLine: true}
	from, err := r.folder.candidates(ctx, &r.q.Scope, r.filter, ask, &ask)
	if err != nil {
		return err
	}
	defer from.snap.Close()
	t := &tallyRun{
		candidates: from, run: r, sum: &r.collect.sum, key: fmt.Sprintf("%q %+v", patterns(r.q), r.q.Match),
		plan:    search.Plan{Kind: search.PlanIndex, NoDetail: true},
		changed: map[*index.CountedView]*index.Tally{},
	}
	views, err := from.snap.Counted(from.ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	for _, v := range views.Views {
		if err := t.view(v); err != nil {
			return noIndex(ctx, err)
		}
	}
	t.plan.Changed += len(views.Dirty)
	for _, path := range t.admitted(views.Dirty) {
		t.read, t.of = append(t.read, candidate{path: path}), append(t.of, talliedDoc{})
	}
	late := t.others(ctx) // files counted before the time limit are delivered, too
	for v, tally := range t.changed {
		v.Keep(t.key, tally)
	}
	t.sum.FilesMatched += t.files
	t.sum.LinesMatched += t.lines
	slices.SortFunc(t.out, func(a, b outcomeOf) int { return strings.Compare(a.path, b.path) })
	for _, o := range t.out {
		if err := r.deliver(o.path, o.f); err != nil {
			return err
		}
	}
	t.sum.Stats.Plan = t.plan
	t.sum.Stats.Considered += t.plan.Documents + t.plan.Changed
	if err := t.omitted(t.sum); err != nil {
		return err
	}
	r.gatherStats()
	return late
}

// view takes the documents of one segment.
func (t *tallyRun) view(v *index.CountedView) error {
	tally := v.Tally(t.key)
	var blocks *index.Blocks
	if tally == nil {
		var err error
		if tally, blocks, err = v.NewTally(&t.ask); err != nil {
			return err
		}
		t.changed[v] = tally
	} else if err := v.Untouched(); err != nil {
		return err
	}
	t.plan.Every = t.plan.Every || tally.Every
	best := bestDocs{}
	if most := t.run.q.Limits.Files; most > 0 {
		best.most = most + 1 // the extra document shows that there are more
	}
	var unread, binary []int
	take := func(id int) {
		n, read, known := tally.Lines(id)
		switch flags := v.Flags(id); {
		case flags&(index.Binary|index.Linked) == index.Binary:
			binary = append(binary, id)
		case !known:
			unread = append(unread, id)
		case read:
			t.run.scanners[0].searched++
			t.run.watch.Add(n)
			if n > 0 {
				t.files++
				t.lines += n
				best.add(talliedDoc{v, id, n})
			}
		}
	}
	considered, err := t.shown(v, take)
	if err != nil {
		return err
	}
	t.plan.Documents += considered
	return t.name(v, &best, unread, binary, blocks)
}

// name looks up the paths of the files to deliver and to read.
func (t *tallyRun) name(v *index.CountedView, best *bestDocs, unread, binary []int, blocks *index.Blocks) error {
	paths, err := v.Paths(binary)
	if err != nil {
		return err
	}
	for _, p := range paths {
		t.out = append(t.out, outcomeOf{p, &found{res: scan.Result{Skip: scan.Binary}}})
	}
	top := best.byID()
	ids := make([]int, len(top))
	for i := range top {
		ids[i] = top[i].id
	}
	if paths, err = v.Paths(ids); err != nil {
		return err
	}
	for i, p := range paths {
		stamp := v.Stamp(ids[i])
		f := &found{res: scan.Result{Matched: top[i].n, Bytes: stamp.Size}}
		f.info.ModTime = stamp.Modified()
		t.out = append(t.out, outcomeOf{p, f})
		t.files-- // the collector counts this file and its lines again
		t.lines -= top[i].n
	}
	if paths, err = v.Paths(unread); err != nil {
		return err
	}
	for i, id := range unread {
		c := candidate{path: paths[i], seen: true, stamp: v.Stamp(id)}
		if blocks != nil {
			c.parts = blocks.Parts(id)
		}
		t.read, t.of = append(t.read, c), append(t.of, talliedDoc{view: v, id: id})
	}
	return nil
}

// others counts in the files that have to be read. A count is cached for a document if
// its file had the document's stamp when it was opened. A file that changes while it is
// read gets a new stamp, so the wrong count is never used.
func (t *tallyRun) others(ctx context.Context) error {
	r := t.run
	type outcome struct {
		f *found
		n int // number of lines; -1 is not cached
	}
	return inOrder(ctx, len(t.read), r.folder.Workers, r.waiting(), func(worker, i int) (outcome, bool) {
		c := &t.read[i]
		f, ok := r.candidate(&r.scanners[worker], c)
		o := outcome{n: -1}
		if c.opened && (!ok || f.err == nil && f.res.Skip == scan.NotSkipped) {
			if o.n = 0; ok {
				o.n = f.res.Matched
			}
		}
		if ok {
			o.f = f
		}
		return o, ok || o.n >= 0
	}, func(i int, o outcome) error {
		if v, id := t.of[i].view, t.of[i].id; v != nil && o.n >= 0 && v.Flags(id)&(index.Linked|index.AlwaysScan) == 0 {
			if t.changed[v] == nil {
				t.changed[v] = v.Tally(t.key).Clone()
			}
			t.changed[v].Set(id, o.n)
		}
		if o.f != nil {
			t.out = append(t.out, outcomeOf{t.read[i].path, o.f})
		}
		return nil
	})
}

// bestDocs keeps the documents with the most matching lines. Documents are added in path
// order.
type bestDocs struct {
	most int // maximum number of documents; 0 means all
	docs []talliedDoc
	from int // documents with fewer lines are dropped
}

func (b *bestDocs) add(d talliedDoc) {
	if b.most > 0 && d.n < b.from {
		return
	}
	b.docs = append(b.docs, d)
	if b.most > 0 && len(b.docs) >= 2*b.most+64 {
		b.cut()
	}
}

func (b *bestDocs) cut() {
	if b.most == 0 || len(b.docs) <= b.most {
		return
	}
	slices.SortFunc(b.docs, func(x, y talliedDoc) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.id, y.id)) })
	b.docs = b.docs[:b.most]
	b.from = b.docs[b.most-1].n + 1 // on equal counts, the earlier document stays
}

func (b *bestDocs) byID() []talliedDoc {
	b.cut()
	slices.SortFunc(b.docs, func(x, y talliedDoc) int { return cmp.Compare(x.id, y.id) })
	return b.docs
}
