package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/trigram"
)

// Verified counts what Verify looked at.
type Verified struct {
	Files   int   // compared with their documents
	Bytes   int64 // read
	Changed int   // files that are dirty or changed meanwhile, which are not compared
	Faults  int
}

// Verify reads every file again and compares it with the index: the files a walk lists, the type of each, and
// that each has all its grams, terms, definitions and fields. It calls fault for every difference. Such a
// difference could make a search miss a match or rank it wrongly, so fault should never be called. progress,
// if set, is called for files that were read, from any goroutine.
func (ix *Index) Verify(ctx context.Context, fault func(path, what string), progress func(files int, bytes int64)) (Verified, error) {
	var v Verified
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return v, err
	}
	defer snap.Close()
	var mu sync.Mutex // guards v and fault
	tell := func(path, what string) {
		mu.Lock()
		defer mu.Unlock()
		v.Faults++
		fault(path, what)
	}
	if err := ix.verifyListing(ctx, snap, tell); err != nil {
		return v, err
	}
	v.Changed = len(snap.dirty)
	for _, view := range snap.views {
		var next atomic.Int64 // first document nobody has taken
		errs := make([]error, ix.opts.Workers)
		var wg crew.Group
		for i := range errs {
			wg.Go(func() {
				taken := &takenBlocks{}
				c := &checker{view: view, reader: newReader(ix.root, ix.opts.racy, taken, ix.opts.Fields), taken: taken, fault: tell, progress: progress}
				defer c.reader.close()
				errs[i] = guard(func() error { return c.run(ctx, &next) })
				mu.Lock()
				defer mu.Unlock()
				v.Files += c.files
				v.Changed += c.changed
				v.Bytes += c.reader.bytes
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (ix *Index) verifyListing(ctx context.Context, snap *Snapshot, fault func(path, what string)) error {
	known := map[string]Flags{} // how it is listed
	c, err := snap.Candidates(Ask{Lens: everything})
	if err != nil {
		return err
	}
	err = c.Each(func(d *Doc) bool {
		known[d.Path()] = d.Flags & listed
		return true
	})
	if err != nil {
		return err
	}
	var problems []job // files that differ, if nobody has changed them since
	err = ix.list(ctx, nil, func(path string, as Flags) {
		if was, ok := known[path]; !ok || was != as {
			problems = append(problems, job{path: path, as: as})
		}
	})
	if err != nil {
		return err
	}
	for _, p := range problems {
		if now, err := ix.Fresh(ctx); err == nil {
			d, ok := now.Lookup(p.path)
			now.Close()
			if ok && d.Flags&listed == p.as {
				continue
			}
		}
		fault(p.path, "a walk lists it, the index doesn't, or with another visibility")
	}
	return nil
}

// checker compares documents of one view with their files, on one goroutine.
type checker struct {
	view   *view
	reader *reader
	taken  *takenBlocks
	fault  func(path, what string)

	progress       func(files int, bytes int64)
	files, changed int
	names          map[uint32]string // of documents
	postings       []uint64          // gram<<32 | block
	terms          []termCount
	fieldTerms     []termCount
	found          Fields
	defs           []definedName
}

// takenBlocks keeps the blocks of a file.
type takenBlocks struct{ grams [][]trigram.Gram }

func (t *takenBlocks) block(grams *trigram.Extractor) { t.grams = append(t.grams, grams.Take(nil)) }

// run takes stretches of documents until there are none.
func (c *checker) run(ctx context.Context, next *atomic.Int64) error {
	docs := &c.view.seg.docs
	paths := pathReader{t: docs}
	for {
		lo := int(next.Add(stretch)) - stretch
		if lo >= docs.n {
			return nil
		}
		hi := min(lo+stretch, docs.n)
		read := c.reader.bytes
		c.names = map[uint32]string{}
		c.postings, c.terms, c.defs, c.fieldTerms = c.postings[:0], c.terms[:0], c.defs[:0], c.fieldTerms[:0]
		for id := lo; id < hi; id++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			paths.seek(id)
			if path := string(paths.next()); !c.view.mask.has(id) {
				c.file(id, path)
			}
		}
		if err := c.lists(lo, hi); err != nil {
			return err
		}
		c.termLists(&c.view.seg.terms, c.terms, "term")
		c.termLists(&c.view.seg.fieldTerms, c.fieldTerms, "key")
		c.definitions(lo, hi)
		if c.progress != nil {
			c.progress(hi-lo, c.reader.bytes-read)
		}
	}
}

func (c *checker) file(id int, path string) {
	docs := &c.view.seg.docs
	c.taken.grams = c.taken.grams[:0]
	out := c.reader.file(path)
	if out.state != indexed || out.stamp != docs.stamp(id) {
		c.changed++
		return
	}
	c.files++
	kind := Binary | AlwaysScan | Large | Wide
	had := docs.flag(id)
	if had&Linked != 0 {
		kind &^= AlwaysScan // it may have had another name, or a handle without one
	}
	if had&kind != out.flags&kind {
		c.fault(path, fmt.Sprintf("flags are %b, want %b", had&kind, out.flags&kind))
	}
	blocks := &c.view.seg.blocks
	_, dropped, starts := out.blocks()
	if !bytes.Equal(starts, blocks.startsOf(id)) {
		c.fault(path, "its blocks start at another offset")
		return
	}
	c.names[uint32(id)] = path
	c.countTerms(id, out.parts)
	c.countFields(id, path, out.flags)
	c.countDefs(id)
	for i, grams := range c.taken.grams[dropped:] {
		for _, g := range grams {
			c.postings = append(c.postings, uint64(g)<<32|uint64(blocks.first(id)+i))
		}
	}
}

// lists looks for documents [lo, hi) that are missing in the list of a gram
// they have.
func (c *checker) lists(lo, hi int) error {
	slices.Sort(c.postings)
	blocks := &c.view.seg.blocks
	first, end := uint32(blocks.first(lo)), uint32(blocks.first(hi))
	var have []uint32
	missing := map[uint32]int{}
	for i := 0; i < len(c.postings); {
		g := trigram.Gram(c.postings[i] >> 32)
		var err error
		if have, err = c.view.seg.list(g).Append(have[:0], first, end); err != nil {
			return err
		}
		for ; i < len(c.postings) && trigram.Gram(c.postings[i]>>32) == g; i++ {
			id := uint32(c.postings[i])
			if _, ok := slices.BinarySearch(have, id); !ok {
				missing[id]++
			}
		}
	}
	for id, n := range missing {
		name := c.names[blocks.documents(nil, []uint32{id})[0]]
		c.fault(name, fmt.Sprintf("%s of the file are not in the index", fault.Count(n, "gram")))
	}
	return nil
}
