package searcher

import (
	"context"
	"errors"
	"io"

	"quarry/fault"
	"quarry/internal/index"
	"quarry/internal/rank"
	"quarry/internal/rootfs"
	"quarry/match"
	"quarry/search"
)

// counted is the result of the first stage of a ranked search: how often each word occurs
// in each file. The index knows this for unchanged files; the others are read.
type counted struct {
	tallies []*rank.Tally
	// mayName holds, for each tally, a function that reports whether a file may contain a
	// name in the query. It is nil if the files were read.
	mayName []func(file int) bool
	close   []func()
}

func (c *counted) done() {
	for _, f := range c.close {
		f()
	}
}

func (c *counted) add(t *rank.Tally, mayName func(file int) bool) {
	c.tallies, c.mayName = append(c.tallies, t), append(c.mayName, mayName)
}

// count counts the words in every file in scope, with the index if possible.
func (d *Folder) count(ctx context.Context, words *rank.Query, scope *search.Scope, sum *search.Summary) (*counted, error) {
	sum.Exact = true
	sum.SkippedCount = map[search.Reason]int{}
	c := &counted{}
	err := d.countIndexed(ctx, words, scope, sum, c)
	if !errors.Is(err, errNoIndex) {
		return c, err
	}
	c.done()
	*sum = search.Summary{}
	return d.countRead(ctx, words, scope, sum)
}

// countRead counts the words by reading every file in scope.
func (d *Folder) countRead(ctx context.Context, words *rank.Query, scope *search.Scope, sum *search.Summary) (*counted, error) {
	tally := words.ReadTally()
	err := eachText(ctx, d, scope, sum, func(_ string, text []byte) *rank.Counts {
		return words.Look(ctx, text)
	}, tally.Add)
	sum.Stats.Plan.Kind = search.PlanScan
	c := &counted{}
	c.add(tally, nil)
	return c, err
}

// countIndexed counts with the index. It returns errNoIndex if that isn't possible.
func (d *Folder) countIndexed(ctx context.Context, words *rank.Query, scope *search.Scope, sum *search.Summary, c *counted) error {
	return d.eachIndexed(ctx, scope, index.Ask{Terms: true}, func(from *candidates) error {
		c.close = append(c.close, from.snap.Close)
		return (&countRun{candidates: from, words: words, sum: sum, out: c}).under(ctx)
	})
}

// countRun counts the words in one folder with the index.
type countRun struct {
	*candidates
	words *rank.Query
	sum   *search.Summary
	out   *counted
	read  []string // paths of files that the index can't answer for
}

func (r *countRun) under(ctx context.Context) error {
	counts, err := r.snap.Counted(r.ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	naming, err := r.naming()
	if err != nil {
		return noIndex(ctx, err)
	}
	for i, v := range counts.Views {
		if err := r.view(v, naming.in(i)); err != nil {
			return noIndex(ctx, err)
		}
	}
	r.sum.Stats.Considered += len(counts.Dirty)
	r.read = append(r.read, r.admitted(counts.Dirty)...)
	r.sum.Stats.Plan = search.Plan{Kind: search.PlanWords, Documents: r.sum.Stats.Searched, Changed: len(r.read)}
	r.unread(r.sum)
	return r.others(ctx)
}

// view adds the counts of one segment.
func (r *countRun) view(v *index.CountedView, mayName func(file int) bool) error {
	table, err := v.Remember(func() (any, error) {
		p := rank.NewPaths()
		err := v.Each(func(_ int, path []byte, _ index.Flags) bool {
			p.Add(string(path))
			return true
		})
		p.Fix()
		return p, err
	})
	if err != nil {
		return err
	}
	parts := make([]uint32, v.Documents())
	var unknown, binary []int
	take := func(id int) {
		switch n, ok := v.Parts(id); {
		case v.Flags(id)&(index.Binary|index.Linked) == index.Binary:
			binary = append(binary, id)
		case !ok || v.Flags(id)&index.Binary != 0:
			unknown = append(unknown, id)
		default:
			parts[id] = uint32(n)
			r.sum.Stats.Searched++
		}
	}
	considered, err := r.shown(v, take)
	if err != nil {
		return err
	}
	r.sum.Stats.Considered += considered
	if err := r.leftOver(v, unknown, binary); err != nil {
		return err
	}
	tally := r.words.NewTally(table.(*rank.Paths), parts, v.Paths)
	r.out.add(tally, mayName)
	return r.words.Take(tally, v.Postings)
}

// leftOver collects the paths of the files that have to be read.
func (r *countRun) leftOver(v *index.CountedView, unknown, binary []int) error {
	paths, err := v.Paths(unknown)
	if err != nil {
		return err
	}
	r.read = append(r.read, paths...)
	if paths, err = v.Paths(binary); err != nil {
		return err
	}
	r.sum.SkippedCount[search.Binary] += len(paths)
	for _, p := range paths {
		addSkip(r.sum, search.Skip{Path: p, Reason: search.Binary})
	}
	return nil
}

// naming finds the files that may contain a name in the query, according to their grams.
type naming struct{ c *index.Candidates }

func (r *countRun) naming() (naming, error) {
	if !r.words.Asks() {
		return naming{}, nil
	}
	pattern, err := r.words.Names()
	if err != nil {
		return naming{}, err
	}
	ask := r.ask
	ask.Need, ask.ByLine = pattern.Need(), true
	c, err := r.snap.Candidates(ask)
	return naming{c}, err
}

// in returns the test for the documents of one segment, which is given by its index.
func (n naming) in(view int) func(file int) bool {
	if n.c == nil {
		return func(int) bool { return false }
	}
	return n.c.Has(view)
}

// others counts in the files that have to be read.
func (r *countRun) others(ctx context.Context) error {
	tally := r.words.ReadTally()
	type outcome struct {
		counts *rank.Counts
		skip   search.Reason
	}
	readers := make([]textReader, max(r.folder.Workers, 1))
	err := inOrder(ctx, len(r.read), r.folder.Workers, nil, func(worker, i int) (outcome, bool) {
		k := &readers[worker]
		text, skip := k.path(r.folder.Root, r.read[i])
		if skip != "" {
			return outcome{skip: skip}, skip != gone
		}
		k.searched++
		return outcome{counts: r.words.Look(ctx, text)}, true
	}, func(i int, o outcome) error {
		switch {
		case o.skip != "":
			skipFile(r.sum, r.read[i], o.skip)
		case o.counts != nil:
			tally.Add(r.read[i], o.counts)
		}
		return nil
	})
	for i := range readers {
		r.sum.Stats.Searched += readers[i].searched
	}
	r.out.add(tally, nil)
	return err
}

// path reads a file by its path.
func (k *textReader) path(root *rootfs.Root, path string) ([]byte, search.Reason) {
	p, err := root.Known(path)
	if err != nil {
		return nil, search.Unreadable
	}
	f, err := root.OpenFile(p)
	return k.content(f, err)
}

// content reads an open file.
func (k *textReader) content(f *rootfs.File, err error) (text []byte, skip search.Reason) {
	if err != nil {
		if rootfs.KindOf(err) == fault.NotFound {
			return nil, gone
		}
		if secretByContent(err) {
			return nil, search.Protected
		}
		return nil, search.Unreadable
	}
	defer f.Close()
	size := f.Info().Size
	if size > maxRanked {
		return nil, search.TooLarge
	}
	if int64(cap(k.buf)) < size+1 {
		k.buf = make([]byte, size+1)
	}
	n, err := io.ReadFull(f, k.buf[:size+1])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, search.Unreadable
	}
	if text, ok := decoded(k.buf[:n]); ok {
		return text, ""
	}
	return nil, search.Binary
}

// definers reads the best files that may contain a name in the query, and returns those
// that define it.
func (d *Folder) definers(ctx context.Context, words *rank.Query, corpus *rank.Corpus, c *counted) ([]rank.Candidate, error) {
	if !words.Asks() {
		return nil, nil
	}
	pattern, err := words.Names()
	if err != nil {
		return nil, err
	}
	list, err := corpus.Naming(func(tally, file int) bool {
		if may := c.mayName[tally]; may != nil {
			return may(file)
		}
		return corpus.Named(tally, file)
	})
	if err != nil {
		return nil, err
	}
	type outcome struct{ named, read, defines bool }
	var out []rank.Candidate
	matching := pattern.NewSearch()
	defer matching.StopWith(ctx)()
	matchers := make([]*match.Matcher, max(d.Workers, 1))
	var so rank.Search
	err = inOrder(ctx, len(list), d.Workers, nil, func(worker, i int) (o outcome, ok bool) {
		text, err := d.wholeText(list[i].Path)
		if err != nil {
			return o, false
		}
		if matchers[worker] == nil {
			matchers[worker] = matching.NewMatcher()
		}
		o.named = words.Named(matchers[worker], text)
		if o.read = o.named && words.MayDefine(matchers[worker], list[i].Path, text); o.read {
			o.defines = words.Defines(ctx, list[i].Path, text)
		}
		return o, o.named
	}, func(i int, o outcome) error {
		if o.defines {
			out = append(out, list[i])
		}
		if so.Add(&list[i], o.read) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}
