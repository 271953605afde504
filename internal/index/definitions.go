package index

import (
	"bytes"

	"quarry/internal/symbols"
)

// Defined is a name and where it is defined. It is valid until the next one.
type Defined struct {
	Name, Key []byte
	of        *CountedView
	list      []definition
}

// Each calls yield with every definition of the name in a selected document, in
// the order of documents and of the text. Container is a number for
// CountedView.Container.
func (d *Defined) Each(yield func(id int, kind symbols.Kind, container uint32)) {
	for i := range d.list {
		if k := &d.list[i]; d.of.Shows(int(k.doc)) {
			yield(int(k.doc), k.kind, k.container)
		}
	}
}

// Named calls yield with every name that has a key, see symbols.Key.
func (c *CountedView) Named(key []byte, yield func(*Defined)) error {
	return c.guard(func() error {
		cur := c.v.seg.defs.from(key)
		for cur.next() {
			switch bytes.Compare(cur.key, key) {
			case 0:
				yield(&Defined{Name: cur.name, Key: cur.key, of: c, list: cur.list})
			case 1:
				return c.v.seg.untouched()
			}
		}
		return c.v.seg.untouched()
	})
}

// Names calls yield with every name in the order of the keys, also with those of
// documents that are not selected, until it returns false.
func (c *CountedView) Names(yield func(*Defined) bool) error {
	return c.guard(func() error {
		cur := defCursor{t: &c.v.seg.defs}
		d := &Defined{of: c}
		for cur.next() {
			d.Name, d.Key, d.list = cur.name, cur.key, cur.list
			if !yield(d) {
				break
			}
		}
		return c.v.seg.untouched()
	})
}

// Container returns the name of a container of this view; "" for 0.
func (c *CountedView) Container(n uint32) (name string, err error) {
	err = c.guard(func() error {
		name = c.v.seg.defs.container(n)
		return nil
	})
	return name, err
}

// Kinds calls yield with how many definitions of each kind a document has. It
// reports false if they are not in the index, so the file has to be read.
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

// Undefined lists the selected documents whose definitions are not in the index.
func (c *CountedView) Undefined() (ids []int) {
	for id := range c.v.seg.docs.n {
		f := c.Flags(id)
		if f&(AlwaysScan|Large|Undefined) != 0 && f&Binary == 0 && c.Shows(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
