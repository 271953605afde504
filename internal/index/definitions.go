package index

import (
	"bytes"

	"quarry/internal/symbols"
)

// Defined is a name with its definitions. It is only valid until the next one is yielded.
type Defined struct {
	Name, Key []byte
	of        *CountedView
	cur       *defCursor
}

// Each calls yield with every definition of the name in selected documents, in the order
// of documents and then of the text. Use CountedView.Container to get the name of
// container.
func (d *Defined) Each(yield func(id int, kind symbols.Kind, container uint32)) {
	d.cur.definitions()
	for i := range d.cur.list {
		if k := &d.cur.list[i]; d.of.Shows(int(k.doc)) {
			yield(int(k.doc), k.kind, k.container)
		}
	}
}

// Named calls yield with every name whose key (see symbols.Key) is key.
func (c *CountedView) Named(key []byte, yield func(*Defined)) error {
	return c.guard(func() error {
		cur := c.v.seg.defs.from(key)
		for cur.nextName() {
			switch bytes.Compare(cur.key, key) {
			case 0:
				yield(&Defined{Name: cur.name, Key: cur.key, of: c, cur: &cur})
			case 1:
				return c.v.seg.untouched()
			}
		}
		return c.v.seg.untouched()
	})
}

// NameQuery describes which names to find.
type NameQuery struct {
	// Part, if set, selects the names that contain it when folded (symbols.AppendFolded).
	// It is a folded text of at least three bytes.
	Part []byte
	// Between, if set, reports whether a key between lo and hi, both inclusive, may belong to a
	// wanted name. If hi is nil, there is no upper limit.
	Between func(lo, hi []byte) bool
	// Like, if set, is a folded text. A name selected by Between must contain all but Lost of
	// its three-byte sequences.
	Like []byte
	Lost int
}

// Names calls yield with every name selected by Part or by Between, in the order of keys,
// until yield returns false. The caller must check the names, because other names are
// yielded, too, including names that only unselected documents define.
func (c *CountedView) Names(q NameQuery, yield func(*Defined) bool) error {
	return c.guard(func() error {
		t := &c.v.seg.defs
		cur := defCursor{t: t}
		d := &Defined{of: c, cur: &cur}
		for group, wanted := range t.wanted(q) {
			if !wanted {
				continue
			}
			for cur.i = group * defGroup; cur.i < (group+1)*defGroup && cur.nextName(); {
				d.Name, d.Key = cur.name, cur.key
				if !yield(d) {
					return c.v.seg.untouched()
				}
			}
		}
		return c.v.seg.untouched()
	})
}

// Container returns the name of a container; "" for number 0.
func (c *CountedView) Container(n uint32) (name string, err error) {
	err = c.guard(func() error {
		name = c.v.seg.defs.container(n)
		return nil
	})
	return name, err
}

// Kinds calls yield with the number of a document's definitions of each kind. known is
// false if the definitions are not indexed, so that the file has to be read.
func (c *CountedView) Kinds(id int, yield func(k symbols.Kind, n int)) (known bool, err error) {
	err = c.guard(func() error {
		if known = c.Flags(id)&(AlwaysScan|Large|Undefined) == 0; known {
			c.v.seg.defs.kinds(id, yield)
		}
		return nil
	})
	return known, err
}

// Find returns the number of a selected document.
func (c *CountedView) Find(path string) (id int, ok bool, err error) {
	err = c.guard(func() error {
		id = c.v.seg.docs.find([]byte(path))
		ok = id >= 0 && c.Shows(id)
		return nil
	})
	return id, ok, err
}

// Undefined lists the selected documents whose definitions are not indexed.
func (c *CountedView) Undefined() (ids []int) {
	for id := range c.v.seg.docs.n {
		f := c.Flags(id)
		if f&(AlwaysScan|Large|Undefined) != 0 && f&Binary == 0 && c.Shows(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
