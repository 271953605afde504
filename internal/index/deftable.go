package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"

	"quarry/internal/symbols"
)

// The table of definitions records which documents define a name, with the kind and the
// container of each definition. Names are sorted by key (symbols.Key) and then by their
// bytes, so names that differ only in style are adjacent. Lines are not stored: an answer
// shows the text of its few definitions, so it reads their files anyway. In Linux 6.1,
// register headers contain 3.8 of the 6.1 million definitions; there, lines would take 1 %
// of the text.
//
// Names are stored in groups: the size of the group's names as a varint, the names except the
// first, and the definitions of all. Grams tell which groups may contain names with a given
// text; see namegrams.go.

// definition is a definition of a name in a document.
type definition struct {
	doc       uint32
	kind      symbols.Kind
	container uint32 // number of the container plus 1; 0 if there is none
}

// Bits of the first byte of a definition. After it come, as varints, the document unless
// defExpected is set, and the number of the container if defContained is set. The document
// is stored as the distance from the previous definition's document or, for the first definition of a name,
// the signed distance from the first document of the previous name.
const (
	defKind      = 0x1F
	defContained = 0x20 // a container follows
	defExpected  = 0x40 // the document is as predicted
	defMore      = 0x80 // another definition of the name follows
)

// defGroup is the number of names per group. In Linux 6.1, the heads of groups of 64
// names took 0.16 % of the text; a group of 256 takes 20 µs to read.
const defGroup = 256

// defHead is the size of a group's head: the start of the group, and the end of its first
// name in the section of first names.
const defHead = 12

// expecting predicts documents, since consecutive names are often defined in the same
// files.
type expecting struct{ last, now []uint32 }

// maxExpected limits the documents remembered for a name.
const maxExpected = 256

// first predicts the first document of a name.
func (e *expecting) first() (uint32, bool) {
	if len(e.last) == 0 {
		return 0, false
	}
	return e.last[0], true
}

// after predicts the document after doc.
func (e *expecting) after(doc uint32) (uint32, bool) {
	i, found := slices.BinarySearch(e.last, doc)
	if found {
		i++
	}
	if i == len(e.last) {
		return 0, false
	}
	return e.last[i], true
}

func (e *expecting) add(doc uint32) {
	if n := len(e.now); n < maxExpected && (n == 0 || e.now[n-1] != doc) {
		e.now = append(e.now, doc)
	}
}

func (e *expecting) next()  { e.last, e.now = e.now, e.last[:0] }
func (e *expecting) reset() { e.last, e.now = e.last[:0], e.now[:0] }

// defWriter writes the table. It holds the groups that were not taken yet.
type defWriter struct {
	n      int
	at     uint64 // size of all groups before data
	data   []byte
	heads  []byte
	firsts []byte
	code   *nameCode
	names  []byte // names in the current group
	lists  []byte // definitions in the current group
	last   []byte
	coded  []byte
	expect expecting
	counts []kindCounts // by document
	grams  nameGrams
}

// add adds the next name. Its definitions must be sorted by document.
func (w *defWriter) add(name []byte, list []definition) {
	if w.n%defGroup == 0 {
		w.endGroup()
		w.grams.group()
		w.heads = binary.LittleEndian.AppendUint64(w.heads, w.at+uint64(len(w.data)))
		w.firsts = append(w.firsts, name...)
		w.heads = binary.LittleEndian.AppendUint32(w.heads, uint32(len(w.firsts)))
		w.expect.reset()
	} else {
		shared := 0
		for shared < len(name) && shared < len(w.last) && name[shared] == w.last[shared] {
			shared++
		}
		w.coded = w.code.append(w.coded[:0], name[shared:])
		w.names = append(appendLengths(w.names, shared, len(w.coded)), w.coded...)
	}
	w.grams.add(name)
	w.last = append(w.last[:0], name...)
	w.n++
	for i := range list {
		w.definition(list, i)
	}
	w.expect.next()
}

// endGroup ends the current group.
func (w *defWriter) endGroup() {
	if w.n > 0 {
		w.data = binary.AppendUvarint(w.data, uint64(len(w.names)))
		w.data = append(append(w.data, w.names...), w.lists...)
	}
	w.names, w.lists = w.names[:0], w.lists[:0]
}

func (w *defWriter) definition(list []definition, i int) {
	d := &list[i]
	flags := byte(d.kind)
	if d.container > 0 {
		flags |= defContained
	}
	if i+1 < len(list) {
		flags |= defMore
	}
	want, ok := w.expect.first()
	from := int64(want)
	if i > 0 {
		want, ok = w.expect.after(list[i-1].doc)
		from = int64(list[i-1].doc)
	}
	if ok && want == d.doc {
		w.lists = append(w.lists, flags|defExpected)
	} else {
		w.lists = append(w.lists, flags)
		if i == 0 {
			w.lists = binary.AppendVarint(w.lists, int64(d.doc)-from)
		} else {
			w.lists = binary.AppendUvarint(w.lists, uint64(d.doc)-uint64(from))
		}
	}
	if d.container > 0 {
		w.lists = binary.AppendUvarint(w.lists, uint64(d.container-1))
	}
	w.expect.add(d.doc)
	w.counts[d.doc][d.kind]++
}

// kindCounts holds the number of a document's definitions of each kind.
type kindCounts [symbols.KindEnd]uint32

// take returns the groups completed since the previous call. They are valid until the
// next name is added.
func (w *defWriter) take() []byte {
	out := w.data
	w.at += uint64(len(out))
	w.data = w.data[:0]
	return out
}

// countTable encodes the number of definitions by kind for every document: pairs of a kind
// and a number, where the last kind has a mark. A document without definitions is a zero.
func (w *defWriter) countTable() (data, restarts []byte) {
	for id := range w.counts {
		if id%groupLen == 0 {
			restarts = binary.LittleEndian.AppendUint32(restarts, uint32(len(data)))
		}
		last := -1
		for k, n := range w.counts[id] {
			if n > 0 {
				last = len(data)
				data = binary.AppendUvarint(append(data, byte(k)), uint64(n))
			}
		}
		if last < 0 {
			data = append(data, 0)
		} else {
			data[last] |= 0x80
		}
	}
	return data, restarts
}

// defTable reads definitions. Its methods panic on invalid bytes, so they must be called
// under guard.
type defTable struct {
	n          int
	docs       int
	heads      []byte
	firsts     []byte
	code       *nameCode
	file       []byte // groups, grams, then padding
	sums       []byte // checksums of file
	containers docTable
	counts     []byte
	restarts   []byte // offsets in counts of every groupLen-th document
}

func (t *defTable) groups() int { return len(t.heads) / defHead }

// head returns the start of a group and its first name.
func (t *defTable) head(i int) (at uint64, first []byte) {
	from := uint32(0)
	if i > 0 {
		from = binary.LittleEndian.Uint32(t.heads[i*defHead-4:])
	}
	h := t.heads[i*defHead:]
	return binary.LittleEndian.Uint64(h), t.firsts[from:binary.LittleEndian.Uint32(h[8:])]
}

// check verifies everything that can be checked without reading the groups.
func (t *defTable) check() error {
	if len(t.heads) != (t.n+defGroup-1)/defGroup*defHead || len(t.restarts) != (t.docs+groupLen-1)/groupLen*4 ||
		len(t.containers.restarts) != (t.containers.n+restartEvery-1)/restartEvery*4 {
		return damaged("table of definitions")
	}
	if t.end() < 0 {
		return damaged("table of definitions")
	}
	limit := uint64(t.end())
	lastAt, lastEnd := uint64(0), uint32(0)
	for i := range t.groups() {
		at, end := binary.LittleEndian.Uint64(t.heads[i*defHead:]), binary.LittleEndian.Uint32(t.heads[i*defHead+8:])
		if at < lastAt || at > limit || end < lastEnd || int(end) > len(t.firsts) {
			return damaged("table of definitions")
		}
		lastAt, lastEnd = at, end
	}
	return nil
}

// end returns the end of the groups.
func (t *defTable) end() int { return len(t.file) - postingsPad - gramRows*t.rowSize() }

// defCursor reads names in sequence, and on request their definitions.
type defCursor struct {
	t      *defTable
	i      int    // number of names read
	names  []byte // remaining names of the group
	rest   []byte // remaining definitions of the group
	behind int    // number of names whose definitions were not read
	expect expecting

	name []byte
	key  []byte // valid until the next call of next or nextName
	keys symbols.Keys
	list []definition
}

// from returns a cursor at the first name of the last group that begins before a key.
func (t *defTable) from(key []byte) defCursor {
	var buf []byte
	group := sort.Search(t.groups(), func(i int) bool {
		_, first := t.head(i)
		buf = symbols.AppendKey(buf[:0], first)
		return bytes.Compare(buf, key) >= 0
	})
	return defCursor{t: t, i: max(0, group-1) * defGroup}
}

// next reads the next name and its definitions. It returns false at the end.
func (c *defCursor) next() bool {
	ok := c.nextName()
	if ok {
		c.definitions()
	}
	return ok
}

// nextName reads the next name. Call definitions to read its definitions. nextName
// returns false at the end.
func (c *defCursor) nextName() bool {
	if c.i >= c.t.n {
		return false
	}
	shared := 0
	if c.i%defGroup == 0 {
		c.group(c.i / defGroup)
	} else {
		var size int
		shared, size, c.names = readLengths(c.names)
		c.name = c.t.code.appendText(c.name[:shared], c.names[:size])
		c.names = c.names[size:]
	}
	c.key = c.keys.Next(c.name, shared)
	c.i++
	c.behind++
	return true
}

// group starts reading group i and verifies its checksums.
func (c *defCursor) group(i int) {
	from, first := c.t.head(i)
	to := uint64(c.t.end())
	if i+1 < c.t.groups() {
		to, _ = c.t.head(i + 1)
	}
	if !intact(c.t.file, c.t.sums, int(from), int(to)) {
		panic("checksum of definitions")
	}
	data := c.t.file[from:to]
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		panic("names of definitions")
	}
	c.names, c.rest = data[n:n+int(size)], data[n+int(size):]
	c.name = append(c.name[:0], first...)
	c.behind = 0
	c.expect.reset()
}

// definitions reads the definitions of the current name. The encoding depends on the previous
// names, so it also reads the definitions that were skipped.
func (c *defCursor) definitions() {
	for ; c.behind > 0; c.behind-- {
		c.readList()
	}
}

func (c *defCursor) readList() {
	c.list = c.list[:0]
	for more := true; more; {
		flags := c.byte()
		more = flags&defMore != 0
		d := definition{kind: symbols.Kind(flags & defKind)}
		want, ok := c.expect.first()
		from := int64(want)
		first := len(c.list) == 0
		if !first {
			last := c.list[len(c.list)-1].doc
			want, ok = c.expect.after(last)
			from = int64(last)
		}
		switch {
		case flags&defExpected != 0 && ok:
			d.doc = want
		case first:
			d.doc = uint32(from + c.varint())
		default:
			d.doc = uint32(from + int64(c.uvarint()))
		}
		if int(d.doc) >= c.t.docs {
			panic("document of a definition")
		}
		if flags&defContained != 0 {
			d.container = uint32(c.uvarint()) + 1
		}
		c.list = append(c.list, d)
		c.expect.add(d.doc)
	}
	c.expect.next()
}

func (c *defCursor) byte() byte {
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *defCursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || v > 1<<32 {
		panic("number of a definition")
	}
	c.rest = c.rest[n:]
	return v
}

func (c *defCursor) varint() int64 {
	v, n := binary.Varint(c.rest)
	if n <= 0 {
		panic("number of a definition")
	}
	c.rest = c.rest[n:]
	return v
}

// container returns the name of a container.
func (t *defTable) container(n uint32) string {
	if n == 0 {
		return ""
	}
	if int(n) > t.containers.n {
		panic("container of a definition")
	}
	r := pathReader{t: &t.containers}
	r.seek(int(n - 1))
	return string(t.code.appendText(nil, r.next()))
}

// kinds calls yield with the number of a document's definitions of each kind.
func (t *defTable) kinds(id int, yield func(k symbols.Kind, n int)) {
	at := int(binary.LittleEndian.Uint32(t.restarts[id/groupLen*4:]))
	for i := id / groupLen * groupLen; ; i++ {
		if t.counts[at] == 0 {
			at++
		} else {
			for last := false; !last; {
				k := t.counts[at]
				last = k&0x80 != 0
				n, size := binary.Uvarint(t.counts[at+1:])
				at += 1 + size
				if i == id {
					yield(symbols.Kind(k&0x7F), int(n))
				}
			}
		}
		if i == id {
			return
		}
	}
}
