package searcher

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quarry/internal/index"
	"quarry/internal/lookup"
	"quarry/internal/symbols"
	"quarry/search"
)

// Symbols finds definitions by name. It doesn't set their lines and text; lookup.Describe
// does.
func (d *Folder) Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error) {
	started := time.Now()
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.index().Symbols(ctx, &q)
	if err == nil && r == nil {
		r, err = d.symbols(ctx, &q)
	}
	if err != nil {
		return nil, err
	}
	r.Stats.Replaced, r.Stats.Elapsed = followed, time.Since(started)
	return r, nil
}

func (d *Folder) symbols(ctx context.Context, q *search.SymbolQuery) (*search.SymbolResult, error) {
	name, err := lookup.Compile(q)
	if err != nil {
		return nil, err
	}
	give, err := d.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	if name.All() {
		return d.outline(ctx, q, name)
	}
	s := &symbolRun{folder: d, q: q, name: name}
	err = symbolRuns{s}.run(ctx)
	return s.result(), err
}

// symbolRuns are searches in the same scope.
type symbolRuns []*symbolRun

// run asks the index for each name. If it can't answer, it reads all files once.
func (runs symbolRuns) run(ctx context.Context) error {
	for _, s := range runs {
		if err := s.indexed(ctx); errors.Is(err, errNoIndex) {
			return runs.scan(ctx)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// symbolRun is a search for the definitions of one name.
type symbolRun struct {
	folder *Folder
	q      *search.SymbolQuery
	name   *lookup.Name
	best   *lookup.Best
	out    search.SymbolResult
	read   []string // paths of files that the index can't answer for
}

func (s *symbolRun) begin() {
	s.best = lookup.NewBest(s.name, cmp.Or(max(s.q.Limit, 0), 10))
	s.out.Exact = true
	s.out.SkippedCount = map[search.Reason]int{}
}

func (s *symbolRun) result() *search.SymbolResult {
	s.best.Result(&s.out)
	return &s.out
}

// scan reads every file in scope that may define one of the names. Only the first search has
// a summary.
func (runs symbolRuns) scan(ctx context.Context) error {
	for _, s := range runs {
		*s = symbolRun{folder: s.folder, q: s.q, name: s.name}
		s.begin()
	}
	first := runs[0]
	defer first.dropSkips()
	first.out.Stats.Plan.Kind = search.PlanScan
	readers := sync.Pool{New: func() any { return &symbols.Names{Stop: func() bool { return ctx.Err() != nil }} }}
	return eachText(ctx, first.folder, &first.q.Scope, &first.out.Summary, func(path string, text []byte) *[]defined {
		names := readers.Get().(*symbols.Names)
		defer readers.Put(names)
		var all []defined
		for _, s := range runs {
			if d := s.define(names, path, text); d != nil {
				all = append(all, *d)
			}
		}
		if all == nil {
			return nil
		}
		return &all
	}, func(path string, all *[]defined) {
		for i := range *all {
			d := &(*all)[i]
			d.by.take(path, d)
		}
	})
}

// dropSkips removes skipped files that can't have definitions anyway.
func (s *symbolRun) dropSkips() {
	kept := s.out.Skipped[:0]
	for _, k := range s.out.Skipped {
		if k.Reason == search.Binary || k.Reason == search.TooLarge && k.Detail == "" && symbols.Language(k.Path, nil) == "" {
			s.out.SkippedCount[k.Reason]--
			continue
		}
		kept = append(kept, k)
	}
	s.out.Skipped = kept
	delete(s.out.SkippedCount, search.Binary)
	for reason, n := range s.out.SkippedCount {
		if n <= 0 {
			delete(s.out.SkippedCount, reason)
		}
	}
}

// define finds the definitions in a decoded text. A text that doesn't contain the name
// may still define it in another style, such as snake case.
func (s *symbolRun) define(names *symbols.Names, path string, text []byte) *defined {
	if !s.name.Fuzzy() && !bytes.Contains(text, []byte(s.name.Text())) {
		return nil
	}
	if len(text) > symbols.MaxText {
		if symbols.Language(path, text) == "" {
			return nil
		}
		return &defined{by: s, partly: fmt.Sprintf("it is over %d MB, so its definitions were not read", symbols.MaxText>>20)}
	}
	found, whole := s.name.File(&largeReader{Names: names, large: &s.folder.large}, path, index.DefinitionText(text))
	switch {
	case !whole:
		return &defined{s, found, lookup.InPart}
	case len(found) == 0:
		return nil
	}
	return &defined{s, found, ""}
}

// defined holds the definitions of a name in a file.
type defined struct {
	by     *symbolRun
	found  []lookup.Found
	partly string // why definitions may be missing; "" if all are known
}

func (s *symbolRun) take(path string, d *defined) {
	for _, f := range d.found {
		if s.best.Wants(f.Score, f.Reach) {
			s.best.Add(f)
		}
	}
	if d.partly != "" {
		skipPart(&s.out.Summary, path, d.partly)
	}
}

// skipPart records that a file was only read in part.
func skipPart(sum *search.Summary, path, why string) {
	if sum.SkippedCount == nil {
		sum.SkippedCount = map[search.Reason]int{}
	}
	sum.SkippedCount[search.TooLarge]++
	addSkip(sum, search.Skip{Path: path, Reason: search.TooLarge, Detail: why})
}

// indexed looks up the name in the index. It returns errNoIndex if that isn't possible.
func (s *symbolRun) indexed(ctx context.Context) error {
	s.begin()
	return s.folder.eachIndexed(ctx, &s.q.Scope, index.Ask{Terms: true}, func(from *candidates) error { return s.under(ctx, from) })
}

func (s *symbolRun) under(ctx context.Context, from *candidates) error {
	defer from.snap.Close()
	counted, err := from.snap.Counted(from.ask)
	if err != nil {
		return noIndex(ctx, err)
	}
	s.read = nil
	for _, v := range counted.Views {
		if err := cmp.Or(s.unknown(v, from), s.view(v, lookup.Begins, from)); err != nil {
			return noIndex(ctx, err)
		}
	}
	s.read = append(s.read, from.admitted(counted.Dirty)...)
	sum := &s.out.Summary
	if err := from.omitted(sum); err != nil {
		return noIndex(ctx, err)
	}
	sum.Stats.Plan = search.Plan{Kind: search.PlanSymbols, Changed: len(s.read)}
	if err := s.others(ctx); err != nil || !s.name.Fuzzy() {
		return err
	}
	// Less similar names are looked up only if there are few better ones. With several
	// folders this can't be known here, so then all of them are looked up.
	for _, of := range []lookup.Reach{lookup.Typo, lookup.Far, lookup.Part, lookup.Shares} {
		if len(s.q.Paths) <= 1 && !s.best.Counts(of) {
			continue
		}
		for _, v := range counted.Views {
			if err := s.view(v, of, from); err != nil {
				return noIndex(ctx, err)
			}
		}
	}
	return nil
}

// unknown adds the files of a segment whose definitions are not indexed to the files to
// be read.
func (s *symbolRun) unknown(v *index.CountedView, from *candidates) error {
	unknown, err := v.Paths(v.Undefined())
	s.read = append(s.read, from.admitted(unknown)...)
	return err
}

// view adds those definitions of one segment whose names are related to the searched name
// as of says. For lookup.Begins, it also adds the definitions of the name itself.
func (s *symbolRun) view(v *index.CountedView, of lookup.Reach, from *candidates) error {
	in := &definedIn{symbolRun: s, view: v, passes: &from.passes, number: make([]int32, v.Documents()), of: of}
	if of == lookup.Shares {
		for i, part := range s.name.Parts() {
			before := s.name.Parts()[:i]
			if err := v.Names(index.NameQuery{Part: part}, func(d *index.Defined) bool {
				if bytes.Contains(d.Key, part) && !slices.ContainsFunc(before, func(p []byte) bool { return bytes.Contains(d.Key, p) }) {
					in.add(d)
				}
				return in.err == nil
			}); cmp.Or(err, in.err) != nil {
				return cmp.Or(err, in.err)
			}
		}
		return nil
	}
	if s.name.Fuzzy() {
		q := index.NameQuery{Between: s.name.Between(of)}
		switch of {
		case lookup.Typo:
			q.Like, q.Lost = s.name.Key(), lookup.LostGrams
		case lookup.Far:
			q.Like, q.Lost = s.name.Key(), 2*lookup.LostGrams
		case lookup.Part:
			if q.Part = s.name.Part(); q.Part == nil {
				return nil
			}
		}
		return cmp.Or(v.Names(q, func(d *index.Defined) bool {
			in.add(d)
			return in.err == nil
		}), in.err)
	}
	err := v.Named(s.name.Key(), in.add)
	return cmp.Or(err, in.err)
}

// definedIn collects definitions of a segment.
type definedIn struct {
	*symbolRun
	view   *index.CountedView
	passes *pathFilter
	of     lookup.Reach // which similar names to add
	number []int32      // by document: its index in files, plus 1; 0 if not yet checked
	files  []definingFile
	err    error
}

// definingFile is a document with definitions. path is empty if the query's filters
// exclude it.
type definingFile struct {
	path   string
	weight float64
}

// add adds the definitions of a name.
func (in *definedIn) add(d *index.Defined) {
	like, reach := in.name.Likeness(d.Name, d.Key)
	if like == 0 || max(reach, lookup.Begins) != in.of {
		return
	}
	all := in.passes.all
	type same struct {
		container uint32
		kind      symbols.Kind
	}
	last, nth := -1, map[same]int{}
	name := ""
	d.Each(func(id int, kind symbols.Kind, container uint32) {
		if !in.name.Takes(kind) || in.err != nil {
			return
		}
		if all && !in.best.MayWant(in.name.AtMost(like, kind), reach) {
			return
		}
		file := in.file(id)
		if file.path == "" {
			return
		}
		if id != last {
			last = id
			clear(nth)
		}
		nth[same{container, kind}]++
		if name == "" {
			name = string(d.Name)
		}
		f := lookup.Found{Path: file.path, Name: name, Kind: kind, Nth: nth[same{container, kind}], Reach: reach}
		if container > 0 {
			f.Container, in.err = in.view.Container(container)
		}
		f.Score = in.name.Score(like, kind, f.Container, f.Path, file.weight)
		if in.best.Wants(f.Score, reach) {
			in.best.Add(f)
		}
	})
}

// file returns a document's file, and applies the filters the first time.
func (in *definedIn) file(id int) definingFile {
	if in.number[id] == 0 {
		list, err := in.view.Paths([]int{id})
		if err != nil {
			in.err = err
			return definingFile{}
		}
		f := definingFile{}
		if in.passes.admits([]byte(list[0])) {
			f = definingFile{list[0], lookup.Weight(list[0])}
		}
		in.files = append(in.files, f)
		in.number[id] = int32(len(in.files))
	}
	return in.files[in.number[id]-1]
}

// others reads the files that the index can't answer for.
func (s *symbolRun) others(ctx context.Context) error {
	defer s.dropSkips()
	type outcome struct {
		found *defined
		skip  search.Reason
	}
	workers := max(s.folder.Workers, 1)
	readers, names := make([]textReader, workers), make([]symbols.Names, workers)
	for i := range names {
		names[i].Stop = func() bool { return ctx.Err() != nil }
	}
	return inOrder(ctx, len(s.read), workers, nil, func(worker, i int) (outcome, bool) {
		text, skip := readers[worker].path(s.folder.Root, s.read[i])
		if skip != "" {
			return outcome{skip: skip}, skip != gone
		}
		found := s.define(&names[worker], s.read[i], text)
		return outcome{found: found}, found != nil
	}, func(i int, o outcome) error {
		if o.skip != "" {
			skipFile(&s.out.Summary, s.read[i], o.skip)
			return nil
		}
		s.take(s.read[i], o.found)
		return nil
	})
}
