package index

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// A build reads files and makes segments of them. Workers take stretches of
// the sorted list of paths; of each stretch they keep a run: for every gram its
// documents. Runs cover ranges of documents that don't overlap, so the list of a
// gram is the lists of all runs one behind the other, and nothing is ever looked
// up at random.
type build struct {
	root    *rootfs.Root
	workers int
	budget  int64 // bytes of runs that end a segment
	racy    time.Duration

	jobs     []job
	outcomes []outcome
	next     atomic.Int64 // first job no worker has taken
	held     atomic.Int64 // bytes of runs
	bytes    atomic.Int64 // read
	progress func(files int, bytes int64)

	mu   sync.Mutex
	runs []run
}

// job is a file to be read.
type job struct {
	path   string
	hidden bool
	seq    uint64 // of the change that asked for it
}

const (
	// stretch is how many documents a worker takes at a time.
	stretch   = 1024
	localBits = 10
	// maxPostings is how many a run may have: 8 MB before sorting, and as much
	// while that is done.
	maxPostings = 2 << 20
	// Above denseFrom a run has a bitmap for a gram, which brought the runs of
	// the Linux tree from 115 to 65 MB.
	denseFrom  = stretch / 8
	denseBytes = stretch / 8
	// runBudget ends a segment.
	runBudget = 120 << 20
)

// run is the grams of consecutive jobs, those of each part by themselves, so
// that they can be let go one by one.
type run struct {
	first int // job
	parts [parts][]byte
}

// Lists are made in parts, by the highest bits of the gram, to share the work.
const (
	parts     = 32
	partShift = 3*7 - 5
)

// read reads jobs until all are done or the budget is spent, and returns how
// many it took.
func (b *build) read(ctx context.Context) (int, error) {
	var wg sync.WaitGroup
	workers := max(1, min(b.workers, (len(b.jobs)+15)/16))
	for range workers {
		wg.Go(func() {
			w := &buildWorker{build: b, reader: newReader(b.root, b.racy)}
			if len(b.jobs) >= stretch { // room for all there can be, at once
				w.postings, w.spare = make([]uint32, 0, maxPostings), make([]uint32, maxPostings)
			}
			defer w.close()
			for ctx.Err() == nil && b.held.Load() < b.budget {
				from := int(b.next.Add(stretch)) - stretch
				if from >= len(b.jobs) {
					return
				}
				w.stretch(ctx, from, min(from+stretch, len(b.jobs)))
			}
		})
	}
	wg.Wait()
	slices.SortFunc(b.runs, func(x, y run) int { return x.first - y.first })
	return min(int(b.next.Load()), len(b.jobs)), ctx.Err()
}

// buildWorker is what one goroutine of a build has to itself.
type buildWorker struct {
	*build
	*reader
	grams    []trigram.Gram
	postings []uint32 // gram<<localBits | job within the stretch
	spare    []uint32
	encoded  []byte
}

func (w *buildWorker) stretch(ctx context.Context, from, to int) {
	first := from // of the run in hand
	w.postings = w.postings[:0]
	for i := from; i < to && ctx.Err() == nil; i++ {
		j := &w.jobs[i]
		before := w.reader.bytes
		out := w.reader.file(j.path)
		if j.hidden {
			out.flags |= Hidden
		}
		w.outcomes[i] = out
		w.grams = w.reader.grams.Take(w.grams[:0])
		if len(w.postings)+len(w.grams) > maxPostings && len(w.postings) > 0 {
			w.flush(first)
			first = i
		}
		for _, g := range w.grams {
			w.postings = append(w.postings, uint32(g)<<localBits|uint32(i-first))
		}
		w.build.bytes.Add(w.reader.bytes - before)
	}
	w.flush(first)
	if w.progress != nil {
		w.progress(to-from, w.build.bytes.Load())
	}
}

// flush makes a run of the postings in hand.
func (w *buildWorker) flush(first int) {
	r := run{first: first}
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

// encodeRun writes for each gram how far it is from the one before, how many
// jobs have it, and which: as gaps, or as a bitmap if they are many.
func encodeRun(dst []byte, postings []uint32) []byte {
	const local = 1<<localBits - 1
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
		if n > denseFrom {
			at := len(dst)
			dst = append(dst, make([]byte, denseBytes)...)
			for _, p := range ids {
				dst[at+int(p&local>>3)] |= 1 << (p & 7)
			}
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

// sort orders the postings by gram. Those of one gram are in order already, so
// two stable passes over its 21 bits do it.
func (w *buildWorker) sort() {
	if cap(w.spare) < len(w.postings) {
		w.spare = make([]uint32, cap(w.postings))
	}
	spare := w.spare[:len(w.postings)]
	radix(spare, w.postings, localBits, 11)
	radix(w.postings, spare, localBits+11, 10)
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
