package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/crew"
	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// A build reads files and makes segments. Workers take batches from the sorted list of
// paths and make a run from each batch, which contains the blocks of every gram. The
// block ranges of runs don't overlap, so the list of a gram is the concatenation of its
// lists in all runs, and no random access is needed.
type build struct {
	root    *rootfs.Root
	workers int
	budget  int64 // size of runs, in bytes, at which a segment ends
	racy    time.Duration

	jobs     []job
	outcomes []outcome
	next     atomic.Int64 // first unclaimed job
	held     atomic.Int64 // size of the runs in bytes
	bytes    atomic.Int64 // number of bytes read
	made     atomic.Int64 // number of blocks made
	progress func(files int, bytes int64)

	mu       sync.Mutex
	runs     []run
	termRuns []termRun
	defRuns  []defRun

	scans         *atomic.Int64
	extractor     *Extractor
	fieldRuns     []fieldRun
	fieldTermRuns []termRun
}

// job is a file to be read.
type job struct {
	path string
	as   Flags  // Hidden, Ignored
	seq  uint64 // number of the change that caused it
}

const (
	// stretch is the number of documents that a worker takes at a time, and the maximum
	// number of blocks in a run.
	stretch   = 1024
	localBits = 10
	// maxPostings is the maximum number of postings in a run. They take 4 MB, and twice
	// that during sorting.
	maxPostings = 1 << 20
	// In a run, a gram with more than fewInRun blocks is encoded as in a segment; otherwise
	// each block takes a byte or two. This reduced the runs of the Linux tree from 137 to
	// 105 MB.
	fewInRun = 4
	// runBudget is the size of runs at which a segment ends; the runs of the Linux tree
	// take 230 MB in total. A segment also ends before it has too many blocks, including
	// those that workers have not finished.
	runBudget   = 48 << 20
	blockBudget = maxDocs / 4
	// jobBudget limits the files of a segment, since each needs some memory during the
	// build.
	jobBudget = 1 << 16
)

// run contains the grams of consecutive blocks, divided into parts so that these can be
// freed one by one.
type run struct {
	job   int // the job of the first block
	skip  int // number of that job's blocks in earlier runs
	parts [parts][]byte
}

// Lists are divided into parts, by the highest bits of the gram, so that they can be made
// in parallel.
const (
	parts     = 32
	partShift = trigram.GramBits - 5
)

// read reads jobs until all are done or the budget is used up, and returns the number of
// jobs taken.
func (b *build) read(ctx context.Context) (int, error) {
	var wg crew.Group
	workers := max(1, min(b.workers, (len(b.jobs)+15)/16))
	for range workers {
		wg.Go(func() {
			w := &buildWorker{build: b, patience: maxYield}
			w.reader = newReader(b.root, b.racy, w, b.extractor)
			if len(b.jobs) >= stretch { // reserve the maximum at once
				w.postings, w.spare = make([]uint32, 0, maxPostings), make([]uint32, maxPostings)
			}
			defer w.close()
			for ctx.Err() == nil && b.held.Load() < b.budget && b.made.Load() < blockBudget {
				from := int(b.next.Add(stretch)) - stretch
				if from >= len(b.jobs) {
					return
				}
				w.stretch(ctx, from, min(from+stretch, len(b.jobs)))
			}
		})
	}
	if err := wg.WaitErr(); err != nil {
		return 0, fmt.Errorf("reading files for the index: %w", err)
	}
	sort.Slice(b.runs, func(i, j int) bool { return cmp.Or(b.runs[i].job-b.runs[j].job, b.runs[i].skip-b.runs[j].skip) < 0 })
	return min(int(b.next.Load()), len(b.jobs)), ctx.Err()
}

// buildWorker is the private state of one goroutine of a build.
type buildWorker struct {
	*build
	*reader
	grams    []trigram.Gram
	postings []uint32 // gram<<localBits | block within the run
	spare    []uint32
	encoded  []byte
	terms    termCollector
	defs     defCollector

	fieldJob   int // the first job in fieldData
	fieldData  []byte
	fieldTerms termCollector
	found      Fields

	job   int // the current job
	run   run // the current run, still without grams
	local int // number of blocks in run

	patience time.Duration // remaining time to wait for searches
}

func (w *buildWorker) stretch(ctx context.Context, from, to int) {
	for i := from; i < to && ctx.Err() == nil; i++ {
		w.yield(ctx)
		before := w.reader.bytes
		w.job = i
		out := w.reader.file(w.jobs[i].path)
		out.flags |= w.jobs[i].as
		w.outcomes[i] = out
		w.countTerms(i)
		w.extract(i)
		w.define(i)
		w.build.bytes.Add(w.reader.bytes - before)
	}
	w.flush()
	w.flushTerms()
	w.flushDefs()
	w.flushFields()
	if w.progress != nil {
		w.progress(to-from, w.build.bytes.Load())
	}
}

// block adds the next block of the current job to the current run.
func (w *buildWorker) block(grams *trigram.Extractor) {
	w.grams = grams.Take(w.grams[:0])
	if w.local == stretch || len(w.postings)+len(w.grams) > maxPostings {
		w.flush()
	}
	if w.local == 0 {
		w.run = run{job: w.job, skip: w.reader.made}
	}
	for _, g := range w.grams {
		w.postings = append(w.postings, uint32(g)<<localBits|uint32(w.local))
	}
	w.local++
	w.build.made.Add(1)
}

// flush ends the current run.
func (w *buildWorker) flush() {
	if w.local == 0 {
		return
	}
	r := w.run
	w.local = 0
	w.sort()
	held := 0
	for i := 0; i < len(w.postings); {
		part := w.postings[i] >> (localBits + partShift)
		end := i
		for end < len(w.postings) && w.postings[end]>>(localBits+partShift) == part {
			end++
		}
		w.encoded = encodeRun(w.encoded[:0], w.postings[i:end])
		r.parts[part] = slices.Clone(w.encoded)
		held += len(w.encoded)
		i = end
	}
	w.postings = w.postings[:0]
	w.held.Add(int64(held))
	w.mu.Lock()
	w.runs = append(w.runs, r)
	w.mu.Unlock()
}

// encodeRun writes, for each gram, the distance from the previous gram, the number of
// blocks, and the blocks: as gaps or, if there are many, as a list.
func encodeRun(dst []byte, postings []uint32) []byte {
	const local = 1<<localBits - 1
	var list []byte
	last := postings[0] >> (localBits + partShift) << partShift
	for i := 0; i < len(postings); {
		g := postings[i] >> localBits
		n := 1
		for i+n < len(postings) && postings[i+n]>>localBits == g {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(g-last))
		dst = binary.AppendUvarint(dst, uint64(n))
		last = g
		ids := postings[i : i+n]
		i += n
		if n > fewInRun {
			for j := range ids {
				ids[j] &= local
			}
			list = trigram.AppendList(list[:0], ids, stretch)
			dst = binary.AppendUvarint(dst, uint64(len(list)))
			dst = append(dst, list...)
			continue
		}
		next := uint32(0)
		for _, p := range ids {
			gap := p&local - next
			if gap >= 0x80 {
				dst = append(dst, byte(gap)|0x80)
				gap >>= 7
			}
			dst = append(dst, byte(gap))
			next = p&local + 1
		}
	}
	return dst
}

// sort orders the postings by gram. Postings of a gram are already in block order, so two
// stable passes over the gram's 22 bits are enough.
func (w *buildWorker) sort() {
	if cap(w.spare) < len(w.postings) {
		w.spare = make([]uint32, cap(w.postings))
	}
	spare := w.spare[:len(w.postings)]
	radix(spare, w.postings, localBits, 11)
	radix(w.postings, spare, localBits+11, 11)
}

func radix(dst, src []uint32, shift, width uint) {
	var at [1 << 11]int
	mask := uint32(1)<<width - 1
	for _, p := range src {
		at[p>>shift&mask]++
	}
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, p := range src {
		d := p >> shift & mask
		dst[at[d]] = p
		at[d]++
	}
}
