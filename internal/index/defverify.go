package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/symbols"
)

// definedName is a definition of a file that was read again.
type definedName struct {
	name, container string
	kind            symbols.Kind
	id              uint32
}

func compareDefined(a, b definedName) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind), cmp.Compare(a.container, b.container))
}

// countDefs compares how many definitions a document has, and keeps them.
func (c *checker) countDefs(id int) {
	var had, have kindCounts
	c.view.seg.defs.kinds(id, func(k symbols.Kind, n int) { had[k] = uint32(n) })
	c.reader.definitions(c.names[uint32(id)], func(name string, kind symbols.Kind, container string) {
		have[kind]++
		c.defs = append(c.defs, definedName{strings.Clone(name), strings.Clone(container), kind, uint32(id)})
	})
	if had != have {
		c.fault(c.names[uint32(id)], "it has other definitions than the index says")
	}
}

// definitions looks for definitions that are missing in the table. It panics on
// damage.
func (c *checker) definitions(lo, hi int) {
	slices.SortFunc(c.defs, compareDefined)
	t := &c.view.seg.defs
	wrong := map[uint32]int{}
	var have []definedName
	for i := 0; i < len(c.defs); {
		name := c.defs[i].name
		have = have[:0]
		for cur := t.from([]byte(symbols.Key(name))); cur.next(); {
			if string(cur.name) == name {
				for _, d := range cur.list {
					if int(d.doc) >= lo && int(d.doc) < hi {
						have = append(have, definedName{name, t.container(d.container), d.kind, d.doc})
					}
				}
				break
			}
			if string(cur.key) > symbols.Key(name) {
				break
			}
		}
		slices.SortFunc(have, compareDefined)
		for ; i < len(c.defs) && c.defs[i].name == name; i++ {
			if _, ok := slices.BinarySearchFunc(have, c.defs[i], compareDefined); !ok {
				wrong[c.defs[i].id]++
			}
		}
	}
	for id, n := range wrong {
		c.fault(c.names[id], fmt.Sprintf("%s of the file are not in the index", fault.Count(n, "definition")))
	}
}
