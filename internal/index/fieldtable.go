package index

import "encoding/binary"

// The records of the documents, in order. A record is a varint: 0 for a document
// without fields, else the length of its values plus one; then the values. The
// records stay in the file; their blocks have sums.

// fieldGroup is how many records share an entry of the heads.
const fieldGroup = 64

// fieldTable finds the record of a document.
type fieldTable struct {
	docs  int
	heads []byte // eight bytes for each group: where its first record begins
	file  []byte // records, then padding
	sums  []byte // of file
}

func (t *fieldTable) head(i int) int { return int(binary.LittleEndian.Uint64(t.heads[8*i:])) }

// check verifies the heads. A table without an extractor is empty.
func (t *fieldTable) check() error {
	if len(t.heads) == 0 && len(t.file) <= postingsPad {
		return nil
	}
	if len(t.heads) != (t.docs+fieldGroup-1)/fieldGroup*8 {
		return damaged("table of fields")
	}
	last := 0
	for i := range len(t.heads) / 8 {
		at := t.head(i)
		if at < last || at > len(t.file)-postingsPad {
			return damaged("table of fields")
		}
		last = at
	}
	return nil
}

// fieldCursor reads records. It panics on invalid bytes; callers run under guard.
type fieldCursor struct {
	t    *fieldTable
	next int // the document whose record rest begins with
	end  int // the first document of the next group
	rest []byte
}

// record returns the record of a document.
func (c *fieldCursor) record(id int) []byte {
	if len(c.t.heads) == 0 {
		return noRecord
	}
	if id >= c.end || id < c.next {
		c.group(id / fieldGroup)
	}
	for ; c.next < id; c.next++ {
		c.rest = c.rest[recordSize(c.rest):]
	}
	return c.rest[:recordSize(c.rest)]
}

// noRecord is the record of a document without fields.
var noRecord = []byte{0}

// values returns the values of a document.
func (c *fieldCursor) values(id int) Values {
	record := c.record(id)
	_, k := binary.Uvarint(record)
	return record[k:]
}

// group begins a group of records, whose bytes it checks.
func (c *fieldCursor) group(i int) {
	from, to := c.t.head(i), len(c.t.file)-postingsPad
	if 8*(i+1) < len(c.t.heads) {
		to = c.t.head(i + 1)
	}
	if !intact(c.t.file, c.t.sums, from, to) {
		panic("checksum of fields")
	}
	c.rest, c.next, c.end = c.t.file[from:to], i*fieldGroup, (i+1)*fieldGroup
}

// recordSize is the length of the first record. It panics if there is none.
func recordSize(data []byte) int {
	n, k := binary.Uvarint(data)
	if k <= 0 || n > uint64(len(data)-k)+1 {
		panic("record of fields")
	}
	return k + max(int(n)-1, 0)
}

// fieldWriter makes the table.
type fieldWriter struct {
	n     int
	at    uint64
	heads []byte
	sums  []byte
}

// record writes the record of the next document.
func (s *segmentWriter) record(data []byte) error {
	w := &s.fields
	if w.n%fieldGroup == 0 {
		w.heads = binary.LittleEndian.AppendUint64(w.heads, w.at)
	}
	w.n++
	w.at += uint64(len(data))
	s.sums.add(data)
	return s.put(data)
}

// writeFields merges the records. It panics on damage.
func (j *joining) writeFields(w *segmentWriter) error {
	cursors := make([]fieldCursor, len(j.from))
	some := false
	for i, h := range j.from {
		cursors[i].t = &h.seg.fields
		some = some || len(h.seg.fields.heads) > 0
	}
	if !some {
		return nil
	}
	for _, from := range j.origin {
		if err := w.record(cursors[from.seg].record(int(from.id))); err != nil {
			return err
		}
	}
	return nil
}
