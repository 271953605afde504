package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"quarry/internal/terms"
)

const (
	// A posting in a run packs a key, a document's number in the stretch, and a count.
	keyShift = localBits + countBits
	// maxTermPostings is the number of postings at which a run ends. They take 2 MB, and
	// twice that during sorting.
	maxTermPostings = 1 << 18
	termPartShift   = terms.KeyBits - 5
)

// termRun contains the terms of consecutive jobs, divided into parts.
type termRun struct {
	job   int // the first job
	parts [parts][]byte
}

// termCollector collects the terms in the files that a worker reads.
type termCollector struct {
	first    int // job
	postings []uint64
	spare    []uint64
	encoded  []byte
}

// take adds the terms of a job.
func (t *termCollector) take(job int, each func(func(k terms.Key, n int))) {
	if len(t.postings) == 0 {
		t.first = job
	}
	local := uint64(job-t.first) << countBits
	each(func(k terms.Key, n int) {
		t.postings = append(t.postings, uint64(k)<<keyShift|local|uint64(n))
	})
}

// run ends the current run and returns it with its size.
func (t *termCollector) run() (r termRun, size int) {
	t.sort()
	r.job = t.first
	for i := 0; i < len(t.postings); {
		part := t.postings[i] >> (keyShift + termPartShift)
		end := i
		for end < len(t.postings) && t.postings[end]>>(keyShift+termPartShift) == part {
			end++
		}
		t.encoded = encodeTerms(t.encoded[:0], t.postings[i:end])
		r.parts[part] = slices.Clone(t.encoded)
		size += len(t.encoded)
		i = end
	}
	t.postings = t.postings[:0]
	return r, size
}

// encodeTerms writes, for each term, the distance of its key from the previous one, the
// number of documents, and each document. A document is the gap to the previous one,
// doubled, plus one if its count is above 1; such a count follows.
func encodeTerms(dst []byte, postings []uint64) []byte {
	last := postings[0] >> (keyShift + termPartShift) << termPartShift
	var list []uint64 // documents and counts of the current term
	for i := 0; i < len(postings); {
		key := postings[i] >> keyShift
		list = list[:0]
		for ; i < len(postings) && postings[i]>>keyShift == key; i++ {
			p := postings[i] & (1<<keyShift - 1)
			// A term that is spelled in several ways occurs several times.
			if n := len(list); n > 0 && list[n-1]>>countBits == p>>countBits {
				list[n-1] = p>>countBits<<countBits | min(list[n-1]&(1<<countBits-1)+p&(1<<countBits-1), terms.MaxCount)
				continue
			}
			list = append(list, p)
		}
		dst = binary.AppendUvarint(dst, key-last)
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		last = key
		next := uint64(0)
		for _, p := range list {
			doc, count := p>>countBits, p&(1<<countBits-1)
			gap := (doc - next) << 1
			next = doc + 1
			if count == 1 {
				dst = binary.AppendUvarint(dst, gap)
				continue
			}
			dst = append(binary.AppendUvarint(dst, gap|1), byte(count))
		}
	}
	return dst
}

// sort orders the postings by key. Postings of a key are already in document order, so stable
// passes over the 40 bits of the key are enough.
func (t *termCollector) sort() {
	if cap(t.spare) < len(t.postings) {
		t.spare = make([]uint64, cap(t.postings))
	}
	spare := t.spare[:len(t.postings)]
	for shift := keyShift; shift < keyShift+terms.KeyBits; shift += 20 {
		radix64(spare, t.postings, uint(shift))
		radix64(t.postings, spare, uint(shift+10))
	}
	if cap(t.postings) > 4*maxTermPostings { // free the buffer after a large file
		t.spare = nil
	}
}

func radix64(dst, src []uint64, shift uint) {
	var at [1 << 10]int
	for _, p := range src {
		at[p>>shift&(1<<10-1)]++
	}
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, p := range src {
		d := p >> shift & (1<<10 - 1)
		dst[at[d]] = p
		at[d]++
	}
}

// countTerms adds the terms of the file that was just read.
func (w *buildWorker) countTerms(job int) {
	if w.outcomes[job].parts == unknownParts || w.outcomes[job].state != indexed {
		return
	}
	w.terms.take(job, w.reader.terms.Each)
	if len(w.terms.postings) >= maxTermPostings {
		w.flushTerms()
	}
}

func (w *buildWorker) flushTerms() {
	if len(w.terms.postings) == 0 {
		return
	}
	r, size := w.terms.run()
	w.held.Add(int64(size))
	w.mu.Lock()
	w.termRuns = append(w.termRuns, r)
	w.mu.Unlock()
}

// termAssembly makes the terms of a segment from runs.
type termAssembly struct {
	runs   []termRun
	number []int32 // by job: its document
	docs   int
}

func (b *build) termAssembly(runs []termRun, n, docs int) *termAssembly {
	a := &termAssembly{runs: runs, docs: docs, number: numberJobs(b.outcomes[:n])}
	sort.Slice(a.runs, func(i, j int) bool { return a.runs[i].job < a.runs[j].job })
	return a
}

// numberJobs returns the document of each job; -1 if it has none.
func numberJobs(outcomes []outcome) []int32 {
	number := make([]int32, len(outcomes))
	next := int32(0)
	for i := range outcomes {
		number[i] = -1
		if outcomes[i].state == indexed {
			number[i] = next
			next++
		}
	}
	return number
}

// termRunCursor reads the terms of one part of a run.
type termRunCursor struct {
	job  int
	data []byte
	key  terms.Key
	n    int
}

func (c *termRunCursor) next() bool {
	if len(c.data) == 0 {
		return false
	}
	delta, k := binary.Uvarint(c.data)
	n, m := binary.Uvarint(c.data[k:])
	c.data = c.data[k+m:]
	c.key += terms.Key(delta)
	c.n = int(n)
	return true
}

// take appends the documents that have the term, and its count in each.
func (c *termRunCursor) take(ids []uint32, counts []uint8, number []int32) ([]uint32, []uint8) {
	job := c.job
	for range c.n {
		v, k := binary.Uvarint(c.data)
		c.data = c.data[k:]
		count := uint8(1)
		if v&1 != 0 {
			count = c.data[0]
			c.data = c.data[1:]
		}
		job += int(v >> 1)
		ids, counts = append(ids, uint32(number[job])), append(counts, count)
		job++
	}
	return ids, counts
}

// part merges the runs' lists of the terms of one part.
func (a *termAssembly) part(i int, out *termPart) {
	out.reset()
	var cursors []*termRunCursor
	for j := range a.runs {
		r := &a.runs[j]
		c := &termRunCursor{job: r.job, data: r.parts[i], key: terms.Key(i) << termPartShift}
		r.parts[i] = nil // free the memory
		if c.next() {
			cursors = append(cursors, c)
		}
	}
	// Ordered by key and place; the first few have the smallest key.
	order := func(x, y *termRunCursor) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.job, y.job)) }
	h := cursorHeap[*termRunCursor]{cursors, order}
	h.init()
	var ids []uint32
	var counts []uint8
	for len(h.list) > 0 {
		k := h.list[0].key
		ids, counts = ids[:0], counts[:0]
		for len(h.list) > 0 && h.list[0].key == k {
			ids, counts = h.list[0].take(ids, counts, a.number)
			if h.list[0].next() {
				h.down(0)
			} else {
				h.pop()
			}
		}
		out.add(k, ids, counts, a.docs)
	}
}

// cursorHeap has the smallest cursor first.
type cursorHeap[C any] struct {
	list  []C
	order func(x, y C) int
}

func (h *cursorHeap[C]) init() {
	for i := len(h.list)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *cursorHeap[C]) pop() {
	last := len(h.list) - 1
	h.list[0] = h.list[last]
	if h.list = h.list[:last]; last > 0 {
		h.down(0)
	}
}

func (h *cursorHeap[C]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.list) {
			return
		}
		if child+1 < len(h.list) && h.order(h.list[child+1], h.list[child]) < 0 {
			child++
		}
		if h.order(h.list[i], h.list[child]) <= 0 {
			return
		}
		h.list[i], h.list[child] = h.list[child], h.list[i]
		i = child
	}
}
