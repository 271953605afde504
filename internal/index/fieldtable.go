package index

import "encoding/binary"

// Values are stored in groups of fieldGroup documents. The first values of a group's
// documents are a column, the second values another, and so on. So an answer that needs
// one value of many documents reads only one column. Columns are packed. They remain in
// the file, whose blocks have checksums.
//
// A group consists of eight bytes with a bit for each document that has fields, the
// number of columns, the size of each column, and the columns. A group without fields has
// no bytes. In a column, each document has a varint followed by its value. The varint is
// 0 if the document lacks the value, otherwise the value's length plus one.

// fieldGroup is the number of documents per group.
const fieldGroup = 64

// Limits that ensure that reading a group takes at most 16 MB, even if its bytes are invalid. A
// document with larger or more values has none here and the flag Unlisted. The largest of
// 16,591 real notes needs 41 KB.
const (
	maxValues    = 256 << 10 // total size of a document's values
	maxColumns   = 64
	maxGroupText = fieldGroup * (maxValues + maxColumns)
)

// fieldTable finds the values of a document.
type fieldTable struct {
	docs  int
	heads []byte // for each group its offset, in eight bytes
	file  []byte // groups, then padding
	sums  []byte // checksums of file
}

func (t *fieldTable) head(i int) int { return int(binary.LittleEndian.Uint64(t.heads[8*i:])) }

// check verifies the heads. Without an extractor the table is empty.
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

// AllValues requests all values of documents.
const AllValues = ^uint64(0)

// fieldCursor reads the values of documents. It panics on invalid bytes, so it must be
// used under guard.
type fieldCursor struct {
	t       *fieldTable
	want    uint64 // bit i requests column i, and the last bit all further columns
	next    int    // the next document in the columns
	end     int    // the first document after the group
	has     uint64 // the group's documents that have fields
	columns []fieldColumn
	out     []byte
}

// fieldColumn is a column of the current group. It is nil if it was not requested.
type fieldColumn struct {
	plain []byte // unpacked
	rest  []byte // unread part, beginning with the next document
}

func (c *fieldCursor) wants(column int) bool { return c.want>>min(column, 63)&1 != 0 }

// values returns the values of a document, or none if it has no fields. A value that was
// not requested is empty. The result is valid until the next call.
func (c *fieldCursor) values(id int) Values {
	if len(c.t.heads) == 0 {
		return nil
	}
	if id >= c.end || id < c.next {
		c.group(id / fieldGroup)
	}
	if c.has>>(id%fieldGroup)&1 == 0 {
		return nil
	}
	for ; c.next < id; c.next++ {
		for i := range c.columns {
			if c.wants(i) {
				c.columns[i].value()
			}
		}
	}
	c.next++
	c.out = c.out[:0]
	for i := range c.columns {
		if !c.wants(i) {
			c.out = append(c.out, 0)
			continue
		}
		v, ok := c.columns[i].value()
		if ok {
			c.out = append(binary.AppendUvarint(c.out, uint64(len(v))), v...)
		}
	}
	return c.out
}

// value returns the next document's value; false if the document lacks it.
func (c *fieldColumn) value() ([]byte, bool) {
	n, k := binary.Uvarint(c.rest)
	if k <= 0 || n > uint64(len(c.rest)-k)+1 {
		panic("column of fields")
	}
	c.rest = c.rest[k:]
	if n == 0 {
		return nil, false
	}
	v := c.rest[:n-1]
	c.rest = c.rest[n-1:]
	return v, true
}

// group starts reading group i and verifies its checksums.
func (c *fieldCursor) group(i int) {
	from, to := c.t.head(i), len(c.t.file)-postingsPad
	if 8*(i+1) < len(c.t.heads) {
		to = c.t.head(i + 1)
	}
	if !intact(c.t.file, c.t.sums, from, to) {
		panic("checksum of fields")
	}
	data := c.t.file[from:to]
	c.next, c.end, c.has = i*fieldGroup, (i+1)*fieldGroup, 0
	if len(data) == 0 {
		return
	}
	c.has = binary.LittleEndian.Uint64(data)
	s := columnSource(data[8:])
	columns := s.number()
	if columns > maxColumns {
		panic("columns of fields")
	}
	sizes := make([]int, columns)
	for i := range sizes {
		sizes[i] = s.number()
	}
	for len(c.columns) < columns {
		c.columns = append(c.columns, fieldColumn{})
	}
	c.columns = c.columns[:columns]
	left := maxGroupText
	for i, size := range sizes {
		if size > len(s) {
			panic("size of a column of fields")
		}
		if col := &c.columns[i]; c.wants(i) {
			col.plain = unpack(col.plain[:0], s[:size], left)
			col.rest = col.plain
			left -= len(col.plain)
		}
		s = s[size:]
	}
}

// columnSource reads numbers. It panics on invalid bytes. A number must not exceed the
// number of bytes after it.
type columnSource []byte

func (s *columnSource) number() int {
	n, k := binary.Uvarint(*s)
	if k <= 0 || n > uint64(len(*s)-k) {
		panic("number in fields")
	}
	*s = (*s)[k:]
	return int(n)
}

// fieldWriter writes the table.
type fieldWriter struct {
	n       int // number of documents
	at      uint64
	heads   []byte
	sums    []byte
	has     uint64 // the current group's documents that have fields
	columns [][]byte
	packer  packer
	group   []byte
}

// values adds the values of the next document, which may be none.
func (s *segmentWriter) values(v Values) error {
	w := &s.fields
	at := w.n % fieldGroup
	if at == 0 {
		if err := s.endGroup(); err != nil {
			return err
		}
		w.heads = binary.LittleEndian.AppendUint64(w.heads, w.at)
	}
	w.n++
	if len(v) > 0 {
		w.has |= 1 << at
	}
	for i := 0; i < len(w.columns) || len(v) > 0; i++ {
		if i == len(w.columns) {
			if i == cap(w.columns) {
				w.columns = append(w.columns, nil)
			}
			w.columns = w.columns[:i+1]
			w.columns[i] = append(w.columns[i][:0], zeros[:at]...) // documents before lack it
		}
		if len(v) == 0 {
			w.columns[i] = append(w.columns[i], 0)
			continue
		}
		value := v.Next()
		w.columns[i] = append(binary.AppendUvarint(w.columns[i], uint64(len(value))+1), value...)
	}
	return nil
}

var zeros [fieldGroup]byte

// endGroup writes the current group.
func (s *segmentWriter) endGroup() error {
	w := &s.fields
	if w.has == 0 {
		w.columns = w.columns[:0]
		return nil
	}
	var packed []byte
	g := binary.LittleEndian.AppendUint64(w.group[:0], w.has)
	g = binary.AppendUvarint(g, uint64(len(w.columns)))
	for _, column := range w.columns {
		before := len(packed)
		packed = w.packer.pack(packed, column)
		g = binary.AppendUvarint(g, uint64(len(packed)-before))
	}
	g = append(g, packed...)
	w.group, w.columns, w.has = g, w.columns[:0], 0
	w.at += uint64(len(g))
	s.sums.add(g)
	return s.put(g)
}

// writeFields merges the values. It panics on damage.
func (j *joining) writeFields(w *segmentWriter) error {
	cursors := make([]fieldCursor, len(j.from))
	some := false
	for i, h := range j.from {
		cursors[i] = fieldCursor{t: &h.seg.fields, want: AllValues}
		some = some || len(h.seg.fields.heads) > 0
	}
	if !some {
		return nil
	}
	for _, from := range j.origin {
		if err := w.values(cursors[from.seg].values(int(from.id))); err != nil {
			return err
		}
	}
	return w.endGroup()
}
