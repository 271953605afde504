package index

import (
	"encoding/binary"
	"slices"

	"quarry/internal/terms"
	"quarry/internal/textfile"
)

// Fields are the facts about a document that answers need without reading the file: values that
// only the Extractor understands, and keys with counts by which documents can be found. The
// index stores both unchanged.

// Extractor extracts the fields of texts. The result may depend only on the text, its path and
// the version.
type Extractor struct {
	// Version must change if texts would get different fields. Segments with another
	// version are dropped.
	Version uint32
	// Has reports whether files of this name have fields.
	Has func(path string) bool
	// Extract adds the fields of a text to out. It is called on several goroutines.
	Extract func(path string, text []byte, out *Fields)
}

// version returns the extractor's version, or 0 if there is none.
func (e *Extractor) version() uint32 {
	if e == nil {
		return 0
	}
	return e.Version
}

// Fields are the fields of one document.
type Fields struct {
	n      int    // number of values
	values []byte // each value is preceded by its length
	counts []fieldCount
}

type fieldCount struct {
	key terms.Key
	n   uint8
}

// Add adds the next value.
func (f *Fields) Add(value []byte) {
	f.n++
	f.values = binary.AppendUvarint(f.values, uint64(len(value)))
	f.values = append(f.values, value...)
}

// Count adds a key that occurs n times in the document; n is at most terms.MaxCount. A key
// must not be added twice.
func (f *Fields) Count(k terms.Key, n int) {
	f.counts = append(f.counts, fieldCount{k, uint8(min(n, terms.MaxCount))})
}

// Values returns the values added so far, each preceded by its length.
func (f *Fields) Values() []byte { return f.values }

func (f *Fields) each(yield func(k terms.Key, n int)) {
	for _, c := range f.counts {
		yield(c.key, int(c.n))
	}
}

func (f *Fields) reset() { f.n, f.values, f.counts = 0, f.values[:0], f.counts[:0] }

// Values are the values of one document. They are valid until those of the next document
// are read.
type Values []byte

// Next removes and returns the first value. It returns nil if there are none left.
func (v *Values) Next() []byte {
	n, k := binary.Uvarint(*v)
	if k <= 0 || n > uint64(len(*v)-k) {
		*v = nil
		return nil
	}
	value := (*v)[k : k+int(n)]
	*v = (*v)[k+int(n):]
	return value
}

// fields extracts the fields of the file just read. some reports whether there are any,
// and fit whether they are small enough for the index.
func (r *reader) fields(path string, out *Fields) (some, fit bool) {
	out.reset()
	if r.extractor == nil || !r.extractor.Has(path) {
		return false, true
	}
	r.extractor.Extract(path, r.text8(), out)
	if len(out.values) > maxValues || out.n > maxColumns {
		out.reset()
		return false, false
	}
	return true, true
}

// text8 returns the text of the file just read, in UTF-8.
func (r *reader) text8() []byte {
	if !r.invalid {
		return r.whole
	}
	raw := r.whole
	if r.marked { // keep the mark, since the file is not UTF-8
		raw = append([]byte(textfile.UTF8BOM.BOM()), raw...)
	}
	return textfile.Decode1252(raw)
}

// fieldRun contains the records of consecutive jobs. A record is a varint, followed by
// the values. The varint is 0 if the file has no fields, otherwise the size of the values
// plus one.
type fieldRun struct {
	job  int // the first job
	data []byte
}

// extract adds the fields of the file that was just read.
func (w *buildWorker) extract(job int) {
	if w.build.extractor == nil {
		return
	}
	if len(w.fieldData) == 0 {
		w.fieldJob = job
	}
	out := &w.outcomes[job]
	some := false
	if out.state == indexed && out.flags&withoutFields == 0 {
		var fit bool
		if some, fit = w.reader.fields(w.jobs[job].path, &w.found); !fit {
			out.flags |= Unlisted
		}
	}
	if !some {
		w.fieldData = append(w.fieldData, 0)
		return
	}
	w.fieldData = binary.AppendUvarint(w.fieldData, uint64(len(w.found.values))+1)
	w.fieldData = append(w.fieldData, w.found.values...)
	w.fieldTerms.take(job, w.found.each)
	if len(w.fieldTerms.postings) >= maxTermPostings {
		w.flushFieldTerms()
	}
}

// withoutFields are the flags of documents whose fields are not extracted, because they are not
// text or are never read as a whole.
const withoutFields = Binary | AlwaysScan | Large

func (w *buildWorker) flushFieldTerms() {
	if len(w.fieldTerms.postings) == 0 {
		return
	}
	r, size := w.fieldTerms.run()
	w.held.Add(int64(size))
	w.mu.Lock()
	w.fieldTermRuns = append(w.fieldTermRuns, r)
	w.mu.Unlock()
}

func (w *buildWorker) flushFields() {
	w.flushFieldTerms()
	if len(w.fieldData) == 0 {
		return
	}
	r := fieldRun{w.fieldJob, slices.Clone(w.fieldData)}
	w.fieldData = w.fieldData[:0]
	w.held.Add(int64(len(r.data)))
	w.mu.Lock()
	w.fieldRuns = append(w.fieldRuns, r)
	w.mu.Unlock()
}

// fields writes the values of the first n jobs.
func (b *build) fields(w *segmentWriter, n int) error {
	slices.SortFunc(b.fieldRuns, func(x, y fieldRun) int { return x.job - y.job })
	for _, r := range b.fieldRuns {
		for job, rest := r.job, r.data; len(rest) > 0 && job < n; job++ {
			size := recordSize(rest)
			if b.outcomes[job].state == indexed {
				_, k := binary.Uvarint(rest)
				if err := w.values(rest[k:size]); err != nil {
					return err
				}
			}
			rest = rest[size:]
		}
	}
	return w.endGroup()
}

// recordSize is the length of the first record of a run.
func recordSize(data []byte) int {
	n, k := binary.Uvarint(data)
	return k + max(int(n)-1, 0)
}

// Known reports whether the index has the fields of a document, provided that a document of
// its name has any. If not, the file has to be read.
func (c *CountedView) Known(id int) bool { return c.Flags(id)&(AlwaysScan|Large|Unlisted) == 0 }

// Fields calls yield with the values of documents, whose ids must be ascending, until
// yield returns false. Bit n of want requests value n; other values may be empty. If a
// document has no fields, values is empty.
func (c *CountedView) Fields(ids []int, want uint64, yield func(id int, values Values) bool) error {
	return c.guard(func() error {
		cur := fieldCursor{t: &c.v.seg.fields, want: want}
		for _, id := range ids {
			if !yield(id, cur.values(id)) {
				break
			}
		}
		return c.v.seg.untouched()
	})
}

// Counted appends all documents with a key of the extractor, even unselected ones, and
// the key's count in each, up to terms.MaxCount.
func (c *CountedView) Counted(k terms.Key, ids []uint32, counts []uint8) ([]uint32, []uint8, error) {
	return c.postings(&c.v.seg.fieldTerms, k, ids, counts)
}
