package searcher

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/index"
	"quarry/internal/progress"
	"quarry/internal/terms"
	"quarry/match"
	"quarry/search"
)

// textsRun answers a query for texts with the index. Files need not be read if their
// fields are indexed or if they can't match the query.
type textsRun struct {
	*candidates
	q     *search.TextQuery
	look  func(path string, values []byte, counts []uint8)
	sum   *search.Summary
	names []*match.Pattern // names of files that are always read
	read  []string         // paths of files to read
}

type foundText struct {
	path string
	r    any
}

// textsOf visits the texts of a query, using the index if possible.
func (d *Folder) textsOf(ctx context.Context, q *search.TextQuery, sum *search.Summary, work textWork, deliver func(path string, r any)) error {
	err := d.textsIndexed(ctx, q, sum, work, deliver)
	if !errors.Is(err, errNoIndex) {
		return err
	}
	*sum = search.Summary{}
	return d.eachText(ctx, &q.Scope, sum, work, deliver)
}

// textsIndexed answers with the index. If that isn't possible, it returns errNoIndex
// before anything is delivered.
func (d *Folder) textsIndexed(ctx context.Context, q *search.TextQuery, sum *search.Summary, work textWork, deliver func(path string, r any)) error {
	if q.Fields == nil && q.Having.Op == match.NeedAny {
		return errNoIndex
	}
	sum.Exact = true
	paths := q.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	var all []foundText
	var ended error
	for _, path := range paths {
		part := *q
		part.Paths = []string{path}
		var found []foundText
		look := func(path string, values []byte, counts []uint8) {
			if r := q.Fields.Look(path, values, counts); r != nil {
				found = append(found, foundText{path, r})
			}
		}
		read, one, err := d.index().Fields(ctx, &part, look)
		if err == nil && one == nil {
			found = nil
			read, one, err = d.fields(ctx, &part, look)
		}
		if err != nil {
			return err
		}
		sum.Add(one)
		others, err := d.readTexts(ctx, read, sum, work)
		found = append(found, others...)
		slices.SortFunc(found, func(a, b foundText) int { return strings.Compare(a.path, b.path) })
		if all == nil {
			all = found
		} else {
			all = append(all, found...)
		}
		if ended = err; ended != nil {
			break
		}
	}
	for _, t := range all { // including those read before the time limit
		deliver(t.path, t.r)
	}
	return ended
}

// Fields passes to look the indexed fields of the files of a query about one folder. It
// returns the paths of the files that have to be read. The summary is nil if there is no
// usable index.
func (d *Folder) Fields(ctx context.Context, q search.TextQuery, look func(path string, values []byte, counts []uint8)) (read []string, sum *search.Summary, err error) {
	if _, err := d.here(ctx); err != nil {
		return nil, nil, err
	}
	read, sum, err = d.fields(ctx, &q, look)
	if errors.Is(err, errNoIndex) {
		return nil, nil, nil
	}
	return read, sum, err
}

func (d *Folder) fields(ctx context.Context, q *search.TextQuery, look func(path string, values []byte, counts []uint8)) (read []string, sum *search.Summary, err error) {
	if len(q.Paths) != 1 { // the query may come from another process, so check it
		return nil, nil, errNoIndex
	}
	r := &textsRun{q: q, look: look, sum: &search.Summary{Exact: true, SkippedCount: map[search.Reason]int{}}}
	for _, name := range q.Names {
		p, err := match.Compile(norm.NFC.String(name), match.Options{Syntax: match.Literal, Case: match.Insensitive, Mode: match.Text})
		if err != nil {
			return nil, nil, err
		}
		r.names = append(r.names, p)
	}
	err = d.eachIndexed(ctx, &q.Scope, index.Ask{Terms: true, Need: q.Having}, func(from *candidates) error {
		defer from.snap.Close()
		r.candidates = from
		return r.under(ctx)
	})
	return r.read, r.sum, err
}

func (r *textsRun) under(ctx context.Context) error {
	counted, err := r.snap.Counted(r.ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	meets := func(int) func(int) bool { return func(int) bool { return true } }
	if r.ask.Need.Op != match.NeedAny {
		c, err := r.snap.Candidates(r.ask)
		if err != nil {
			return noIndex(ctx, err)
		}
		meets = c.Has
	}
	for i, v := range counted.Views {
		if err := r.view(v, meets(i)); err != nil {
			return noIndex(ctx, err)
		}
	}
	r.sum.Stats.Considered += len(counted.Dirty)
	r.read = append(r.read, r.admitted(counted.Dirty)...)
	if err := r.omitted(r.sum); err != nil {
		return noIndex(ctx, err)
	}
	r.sum.Stats.Plan = search.Plan{Kind: search.PlanFields, Documents: r.sum.Stats.Searched, Changed: len(r.read)}
	return nil
}

// view adds the documents of one segment that meet the query.
func (r *textsRun) view(v *index.CountedView, meets func(id int) bool) error {
	rows, err := r.rows(v)
	if err != nil {
		return err
	}
	var binary []int
	ids := make([]int, 0, rows.n)
	var paths []byte // concatenated paths of ids
	ends := make([]int, 0, rows.n)
	err = v.Each(func(id int, path []byte, flags index.Flags) bool {
		if !v.Shows(id) {
			return true
		}
		r.sum.Stats.Considered++
		if !r.passes.admits(path) {
			return true
		}
		switch {
		case flags&(index.Binary|index.Linked) == index.Binary:
			binary = append(binary, id)
		case !v.Known(id) || flags&index.Binary != 0:
			r.read = append(r.read, string(path))
		case r.q.Fields == nil && (meets(id) || r.named(path)):
			r.read = append(r.read, string(path))
		default:
			r.sum.Stats.Searched++
			if r.q.Fields != nil && rows.has(id) {
				ids, paths = append(ids, id), append(paths, path...)
				ends = append(ends, len(paths))
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	skipped, err := v.Paths(binary)
	if err != nil {
		return err
	}
	r.sum.SkippedCount[search.Binary] += len(skipped)
	for _, p := range skipped {
		addSkip(r.sum, search.Skip{Path: p, Reason: search.Binary})
	}
	names := string(paths) // one string shared by all paths
	n, start := 0, 0
	return v.Fields(ids, r.want(), func(id int, values index.Values) bool {
		path := names[start:ends[n]]
		n, start = n+1, ends[n]
		if len(values) == 0 { // files without values aren't stored
			r.sum.Stats.Searched--
			r.read = append(r.read, path)
		} else {
			r.look(path, values, rows.of(id))
		}
		return true
	})
}

// want returns the values that the query needs, as a bit set.
func (r *textsRun) want() uint64 {
	if r.q.Fields == nil || r.q.Fields.Want == 0 {
		return index.AllValues
	}
	return r.q.Fields.Want
}

// named reports whether a file is always read because of its name.
func (r *textsRun) named(path []byte) bool {
	if len(r.names) == 0 {
		return false
	}
	name := norm.NFC.Bytes(path[strings.LastIndexByte(string(path), '/')+1:])
	return slices.ContainsFunc(r.names, func(p *match.Pattern) bool {
		_, _, ok := p.NewMatcher().Find(name, 0)
		return ok
	})
}

// keyRows counts how many of the query's keys each document has.
type keyRows struct {
	all    bool // the query has no keys
	n      int  // number of documents that have a key
	row    []int32
	counts []uint8
	keys   int
}

// rows looks up the keys in a segment.
func (r *textsRun) rows(v *index.CountedView) (*keyRows, error) {
	if r.q.Fields == nil {
		return &keyRows{}, nil
	}
	if len(r.q.Fields.Keys) == 0 {
		return &keyRows{all: true, n: v.Documents()}, nil
	}
	k := &keyRows{row: make([]int32, v.Documents()), keys: len(r.q.Fields.Keys)}
	var ids []uint32
	var counts []uint8
	for i, key := range r.q.Fields.Keys {
		var err error
		if ids, counts, err = v.Counted(terms.Key(key), ids[:0], counts[:0]); err != nil {
			return nil, err
		}
		for n, id := range ids {
			if k.row[id] == 0 {
				k.n++
				k.row[id] = int32(k.n)
				if need := k.n * k.keys; need > len(k.counts) {
					k.counts = append(k.counts, make([]uint8, max(need, 4096))...)
				}
			}
			k.counts[int(k.row[id]-1)*k.keys+i] = counts[n]
		}
	}
	return k, nil
}

func (k *keyRows) has(id int) bool { return k.all || k.row[id] > 0 }

func (k *keyRows) of(id int) []uint8 {
	if k.all {
		return nil
	}
	at := int(k.row[id]-1) * k.keys
	return k.counts[at : at+k.keys]
}

// readTexts reads the files that the index can't answer for.
func (d *Folder) readTexts(ctx context.Context, paths []string, sum *search.Summary, work textWork) (found []foundText, err error) {
	type outcome struct {
		r    any
		skip search.Reason
	}
	watch := progress.Of(ctx)
	readers := make([]textReader, max(d.Workers, 1))
	err = inOrder(ctx, len(paths), d.Workers, nil, func(worker, i int) (outcome, bool) {
		k := &readers[worker]
		text, skip := k.path(d.Root, paths[i])
		if skip != "" {
			return outcome{skip: skip}, skip != gone
		}
		k.searched++
		r := work(paths[i], text)
		watch.Add(0)
		return outcome{r: r}, r != nil
	}, func(i int, o outcome) error {
		if o.skip != "" {
			skipFile(sum, paths[i], o.skip)
		} else {
			found = append(found, foundText{paths[i], o.r})
		}
		return nil
	})
	for i := range readers {
		sum.Stats.Searched += readers[i].searched
	}
	return found, err
}
