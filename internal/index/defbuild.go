package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"quarry/internal/splice"
	"quarry/internal/symbols"
)

// defRun contains the definitions of consecutive jobs: sorted names, each without the prefix it
// shares with the previous name, and the definitions of each name. The definitions of the last
// job may continue in the next run.
type defRun struct {
	job        int // the first job
	data       []byte
	containers []string
}

// defCollector collects the definitions in the files that a worker reads.
type defCollector struct {
	first int // first job of the run
	items []defItem
	arena []byte // names and keys
	known map[string]uint32
	run   defRun

	encoded []byte
}

// defItem is a definition. Its name is in the arena, followed by its key.
type defItem struct {
	prefix    uint64 // the first eight bytes of the key
	at        uint32
	key, name uint16
	container uint32
	job       uint16 // number within the run
	kind      symbols.Kind
}

const (
	// A run ends at this many definitions (2.6 MB), or at this many bytes of names and
	// keys (2 MB). Some headers in Linux have 61,000 definitions, whose names and keys
	// take 7.5 MB.
	maxDefItems = 1 << 16
	maxDefNames = 1 << 21
)

// DefinitionText converts a file's text in UTF-8 to the text from which its definitions are
// read: lines end with a single line feed.
func DefinitionText(text []byte) []byte {
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text
}

// take adds a definition of a job.
func (d *defCollector) take(job int, name string, kind symbols.Kind, container string) {
	if len(d.items) == 0 {
		d.first = job
		d.known = map[string]uint32{}
		d.run = defRun{job: job}
	}
	it := defItem{at: uint32(len(d.arena)), name: uint16(len(name)), job: uint16(job - d.first), kind: kind}
	d.arena = append(d.arena, name...)
	d.arena = symbols.AppendKey(d.arena, d.arena[it.at:])
	key := d.arena[int(it.at)+len(name):]
	it.key = uint16(len(key))
	var head [8]byte
	copy(head[:], key)
	it.prefix = binary.BigEndian.Uint64(head[:])
	if container != "" {
		n, ok := d.known[container]
		if !ok {
			own := strings.Clone(container) // a copy, since container may be part of the text
			d.run.containers = append(d.run.containers, own)
			n = uint32(len(d.run.containers))
			d.known[own] = n
		}
		it.container = n
	}
	d.items = append(d.items, it)
}

func (d *defCollector) name(it *defItem) []byte { return d.arena[it.at : it.at+uint32(it.name)] }

func (d *defCollector) key(it *defItem) []byte {
	at := it.at + uint32(it.name)
	return d.arena[at : at+uint32(it.key)]
}

func (d *defCollector) full() bool { return len(d.items) >= maxDefItems || len(d.arena) >= maxDefNames }

// finish ends the current run.
func (d *defCollector) finish() defRun {
	slices.SortFunc(d.items, func(a, b defItem) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := bytes.Compare(d.key(&a), d.key(&b)); c != 0 {
			return c
		}
		if c := bytes.Compare(d.name(&a), d.name(&b)); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at) // in the order in which they were added
	})
	out := d.encoded[:0]
	var last []byte
	for i := 0; i < len(d.items); {
		name := d.name(&d.items[i])
		end := i + 1
		for end < len(d.items) && bytes.Equal(d.name(&d.items[end]), name) {
			end++
		}
		shared := splice.Prefix(name, last)
		out = append(appendLengths(out, shared, len(name)-shared), name[shared:]...)
		out = binary.AppendUvarint(out, uint64(end-i))
		job := uint16(0)
		for ; i < end; i++ {
			it := &d.items[i]
			out = append(out, byte(it.kind))
			out = binary.AppendUvarint(out, uint64(it.job-job))
			out = binary.AppendUvarint(out, uint64(it.container))
			job = it.job
		}
		last = name
	}
	r := d.run
	r.data = slices.Clone(out)
	d.items, d.arena, d.known, d.run, d.encoded = d.items[:0], d.arena[:0], nil, defRun{}, out
	return r
}

// define adds the definitions of the file just read.
func (w *buildWorker) define(job int) {
	if w.outcomes[job].state != indexed {
		return
	}
	if !w.reader.definitions(w.jobs[job].path, func(name string, kind symbols.Kind, container string) {
		w.defs.take(job, name, kind, container)
		if w.defs.full() {
			w.flushDefs()
		}
	}) {
		w.outcomes[job].flags |= Undefined
	}
}

func (w *buildWorker) flushDefs() {
	if len(w.defs.items) == 0 {
		return
	}
	r := w.defs.finish()
	w.held.Add(int64(len(r.data)))
	w.mu.Lock()
	w.defRuns = append(w.defRuns, r)
	w.mu.Unlock()
}

// defRunCursor reads a run. It converts documents and containers to their numbers in the
// segment.
type defRunCursor struct {
	run        *defRun
	rest       []byte
	number     []int32  // by job: its document
	containers []uint32 // by container of the run: its number plus 1
	name, key  []byte
	list       []definition
}

func (c *defRunCursor) next() bool {
	if len(c.rest) == 0 {
		return false
	}
	shared, size, rest := readLengths(c.rest)
	c.rest = rest
	c.name = append(c.name[:shared], c.rest[:size]...)
	c.rest = c.rest[size:]
	c.key = symbols.AppendKey(c.key[:0], c.name)
	c.list = c.list[:0]
	job := c.run.job
	for range c.uvarint() {
		d := definition{kind: symbols.Kind(c.rest[0])}
		c.rest = c.rest[1:]
		job += int(c.uvarint())
		if n := c.uvarint(); n > 0 {
			d.container = c.containers[n-1]
		}
		d.doc = uint32(c.number[job])
		c.list = append(c.list, d)
	}
	return true
}

func (c *defRunCursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	c.rest = c.rest[n:]
	return v
}

func (c *defRunCursor) entry() (name, key []byte, list []definition) { return c.name, c.key, c.list }

// size estimates the number of names, at ten bytes for a name with its definitions.
func (c *defRunCursor) size() int { return len(c.run.data) / 10 }

// defSource is a sequence of sorted names with their definitions.
type defSource interface {
	next() bool
	entry() (name, key []byte, list []definition)
	size() int // approximate number of names
}

// joinDefs merges sources into a table. Documents in several sources must be in the order
// of the sources.
func joinDefs(w *defWriter, sources []defSource, flush func() error) error {
	type placed struct {
		defSource
		at int
	}
	order := func(a, b placed) int {
		an, ak, _ := a.entry()
		bn, bk, _ := b.entry()
		return cmp.Or(bytes.Compare(ak, bk), bytes.Compare(an, bn), a.at-b.at)
	}
	h := cursorHeap[placed]{order: order}
	for i, s := range sources {
		if s.next() {
			h.list = append(h.list, placed{s, i})
		}
	}
	h.init()
	var name []byte
	var list []definition
	for len(h.list) > 0 {
		first, _, _ := h.list[0].entry()
		name = append(name[:0], first...)
		list = list[:0]
		for len(h.list) > 0 {
			n, _, more := h.list[0].entry()
			if !bytes.Equal(n, name) {
				break
			}
			list = append(list, more...)
			if h.list[0].next() {
				h.down(0)
			} else {
				h.pop()
			}
		}
		if len(list) == 0 {
			continue // all its documents were dropped
		}
		// The definitions within a document are already in order.
		slices.SortStableFunc(list, func(a, b definition) int { return cmp.Compare(a.doc, b.doc) })
		w.add(name, list)
		if len(w.data) >= 1<<18 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	w.endGroup()
	return flush()
}

// sortedContainers merges lists of containers and returns the numbers of their elements.
func sortedContainers(lists [][]string) (all []string, numbers [][]uint32) {
	for _, l := range lists {
		all = append(all, l...)
	}
	slices.Sort(all)
	all = slices.Clip(slices.Compact(all))
	for _, l := range lists {
		n := make([]uint32, len(l))
		for i, s := range l {
			at, _ := slices.BinarySearch(all, s)
			n[i] = uint32(at) + 1
		}
		numbers = append(numbers, n)
	}
	return all, numbers
}

// defs writes the definitions of the first n jobs.
func (b *build) defs(w *segmentWriter, n, docs int) error {
	number := numberJobs(b.outcomes[:n])
	// Runs that begin with the same job were made in order.
	slices.SortStableFunc(b.defRuns, func(x, y defRun) int { return cmp.Compare(x.job, y.job) })
	var lists [][]string
	for i := range b.defRuns {
		lists = append(lists, b.defRuns[i].containers)
	}
	all, numbers := sortedContainers(lists)
	make := func() []defSource {
		var sources []defSource
		for i := range b.defRuns {
			r := &b.defRuns[i]
			sources = append(sources, &defRunCursor{run: r, rest: r.data, number: number, containers: numbers[i]})
		}
		return sources
	}
	return w.definitions(docs, all, make)
}
