package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/crew"
	"quarry/internal/symbols"
	"quarry/internal/terms"
)

// Verified counts the checks of Verify.
type Verified struct {
	Files   int   // number of files compared with their documents
	Bytes   int64 // number of bytes read
	Changed int   // number of files not compared, because they are dirty or changed in the meantime
	Faults  int
}

// Verify reads every file again and compares it with the index: whether the same files are
// listed, their types, and whether each has its grams, terms, definitions and fields. It calls
// fault for every difference. A difference could make a search miss a match or rank it wrongly,
// so there should be none. progress, if set, is called from any goroutine with the files read.
func (ix *Index) Verify(ctx context.Context, fault func(path, what string), progress func(files int, bytes int64)) (Verified, error) {
	var v Verified
	snap, err := ix.Fresh(ctx)
	if err != nil {
		return v, err
	}
	defer snap.Close()
	var mu sync.Mutex // guards v and calls of fault
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
		want, err := sumsOf(ctx, view.seg)
		if err != nil {
			return v, err
		}
		var next atomic.Int64 // first document not yet taken by a worker
		errs := make([]error, ix.opts.Workers)
		var wg crew.Group
		for i := range errs {
			wg.Go(func() {
				blocks := &gramSummer{}
				c := &checker{view: view, want: want, reader: newReader(ix.root, ix.opts.racy, blocks, ix.opts.Fields),
					blocks: blocks, counts: map[terms.Key]int{}, fault: tell, progress: progress}
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
	known := map[string]Flags{} // flags with which each path is listed
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
	var problems []job // files that differ, unless they have changed in the meantime
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

// checker compares documents of one view with their files, on one goroutine. It compares sums of
// hashes (see tableSums), so no list is read twice or stored. Looking up every file's entries
// in the lists took 351 s of processor time and 1.1 GB for the Linux tree.
type checker struct {
	view   *view
	want   *tableSums
	reader *reader
	blocks *gramSummer
	fault  func(path, what string)

	progress       func(files int, bytes int64)
	files, changed int
	counts         map[terms.Key]int
	found          Fields
}

// run takes stretches of documents until none are left.
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
		for id := lo; id < hi; id++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			paths.seek(id)
			if path := string(paths.next()); !c.view.mask.has(id) {
				c.file(id, path)
			}
		}
		if c.progress != nil {
			c.progress(hi-lo, c.reader.bytes-read)
		}
	}
}

func (c *checker) file(id int, path string) {
	seg := c.view.seg
	c.blocks.sums = c.blocks.sums[:0]
	out := c.reader.file(path)
	if out.state != indexed || out.stamp != seg.docs.stamp(id) {
		c.changed++
		return
	}
	c.files++
	kind := Binary | AlwaysScan | Large | Wide
	had := seg.docs.flag(id)
	if had&Linked != 0 {
		kind &^= AlwaysScan // a file may have this flag because it had several names, or was open under a deleted one
	}
	if had&kind != out.flags&kind {
		c.fault(path, fmt.Sprintf("flags are %b, want %b", had&kind, out.flags&kind))
	}
	_, dropped, starts := out.blocks()
	if !bytes.Equal(starts, seg.blocks.startsOf(id)) {
		c.fault(path, "its blocks start at another offset")
		return
	}
	first := seg.blocks.first(id)
	if have := c.blocks.sums[dropped:]; !slices.Equal(have, c.want.grams[first:first+len(have)]) {
		c.fault(path, "its grams are not those in the index")
	}
	if had := seg.docs.counted(id); had != out.parts {
		c.fault(path, fmt.Sprintf("it has %d parts, the index says %d", out.parts, had))
	} else if had != unknownParts && c.terms() != c.want.terms[id] {
		c.fault(path, "its terms are counted otherwise in the index")
	}
	c.fields(id, path, out.flags)
	if !c.defines(id, path) {
		c.fault(path, "its definitions are not those in the index")
	}
}

// terms returns the sum of the hashes of the terms in the file just read.
func (c *checker) terms() (sum uint64) {
	clear(c.counts)
	c.reader.terms.Each(func(k terms.Key, n int) { c.counts[k] = min(c.counts[k]+n, terms.MaxCount) })
	for k, n := range c.counts {
		sum += termSum(k, uint8(n))
	}
	return sum
}

// fields compares the values and keys of the file just read with the index.
func (c *checker) fields(id int, path string, flags Flags) {
	cur := fieldCursor{t: &c.view.seg.fields, want: AllValues}
	had := cur.values(id)
	c.found.reset()
	if flags&withoutFields == 0 {
		c.reader.fields(path, &c.found)
	}
	if !bytes.Equal(had, c.found.values) {
		c.fault(path, "it has other fields than the index says")
	}
	sum := uint64(0)
	c.found.each(func(k terms.Key, n int) { sum += termSum(k, uint8(n)) })
	if sum != c.want.keys[id] {
		c.fault(path, "its keys are counted otherwise in the index")
	}
}

// defines reports whether the index has the definitions of the file just read.
func (c *checker) defines(id int, path string) bool {
	var had, have kindCounts
	c.view.seg.defs.kinds(id, func(k symbols.Kind, n int) { had[k] = uint32(n) })
	sum := uint64(0)
	c.reader.definitions(path, func(name string, kind symbols.Kind, container string) {
		have[kind]++
		sum += definedSum(textSum([]byte(name)), kind, textSum([]byte(container)))
	})
	return had == have && sum == c.want.defs[id]
}
