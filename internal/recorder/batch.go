package recorder

import (
	"context"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// comparison compares paths with the baseline, in batches.
type comparison struct {
	r     *Recorder
	m     *model
	known journal.ID // the newest journal entry that the model includes
	why   string     // recorded as the reason for changes that are found
	byGit bool       // another git commit was checked out

	changed []string
	again   []string // paths to compare later, because one of our own changes is in progress
}

// git sets byGit if another commit was checked out.
func (c *comparison) git(ctx context.Context) {
	b := c.r.disk.blobs
	if b == nil {
		return
	}
	head := b.Head(ctx)
	if was := c.r.base.head; was != "" && head != was && c.why == "" {
		c.byGit = true
		c.why = change.GitMoved + " from " + was[:min(8, len(was))] + " to " + head[:min(8, len(head))]
	}
	c.r.base.head = head
}

// compared is a path with its previous state and its state on disk.
type compared struct {
	path     string
	was, now *state
	ops      []journal.Op
	covered  bool
}

// batch compares as many of the first paths as fit into memory, and returns their number.
func (c *comparison) batch(ctx context.Context, paths []string, rest []journal.Entry) (n int, err error) {
	r := c.r
	var list []compared
	size := int64(0)
	for n < len(paths) && size < maxBatch {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		path := paths[n]
		n++
		now, covered, err := r.disk.at(path)
		if err != nil {
			return 0, err
		}
		l := compared{path: path, was: c.m.at(path), now: now, covered: covered}
		if had, _ := r.base.get(path); had.uncovered && covered { // the entries below it were uncovered too
			c.m.unknown = slices.Insert(c.m.unknown, 0, claim{path, true})
		}
		if covered && !c.m.isUnknown(path) {
			var uncovered bool
			l.ops, uncovered = r.compare(path, l.was, now, c.byGit)
			if uncovered {
				r.omitted.Add(1)
			}
			for _, op := range l.ops {
				size += int64(len(op.OldData) + len(op.NewData))
			}
		}
		list = append(list, l)
	}
	// The files read may include our own changes made meanwhile, which the model lacks.
	done, pending, err := r.later()
	if err != nil {
		return 0, err
	}
	fresh := slices.DeleteFunc(append(done, pending...), func(e journal.Entry) bool { return e.ID <= c.known && e.Status != journal.Pending })
	fresh = append(fresh, rest...)
	list = slices.DeleteFunc(list, func(l compared) bool {
		if touched(fresh, l.path) {
			c.again = append(c.again, l.path)
			return true
		}
		return false
	})
	if err := c.attribute(ctx, list); err != nil {
		return 0, err
	}
	return n, c.adopt(list)
}

// touched reports whether one of the entries affects path, or an entry above or below it.
func touched(entries []journal.Entry, path string) bool {
	return slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return slices.ContainsFunc(e.Paths(), func(p rootfs.Path) bool {
			return beneath(path, p.String()) || beneath(p.String(), path)
		})
	})
}

// attribute records the operations, as one journal entry for each mark.
func (c *comparison) attribute(ctx context.Context, list []compared) error {
	var order []*mark
	by := map[*mark][]journal.Op{}
	for _, l := range list {
		if len(l.ops) == 0 {
			continue
		}
		m := c.r.marks.of(l.path)
		if _, known := by[m]; !known {
			order = append(order, m)
		}
		by[m] = append(by[m], l.ops...)
		for i := range l.ops {
			m.check(&l.ops[i])
		}
		c.changed = append(c.changed, l.path)
		c.r.paces.recorded(l.path)
	}
	for _, m := range order {
		if err := c.r.add(ctx, by[m], m, c.why, "", c.known); err != nil {
			return err
		}
	}
	return nil
}

// adopt updates the baseline to the states on disk.
func (c *comparison) adopt(list []compared) error {
	folders := map[string][]entry{}
	for _, l := range list {
		dir, name := split(l.path)
		if l.now == nil || !l.covered {
			had, ok := c.r.base.get(l.path)
			switch {
			case l.now != nil && (dir == "" || c.r.disk.covers(dir, true)):
				if !had.uncovered || had.typ != l.now.typ {
					folders[dir] = append(folders[dir], entry{name: name, typ: l.now.typ, uncovered: true})
				}
			case ok:
				folders[dir] = append(folders[dir], entry{name: name})
			}
			continue
		}
		if had, ok := c.r.base.get(l.path); ok && had.place == inStore && l.now.place == inStore && had.version == l.now.version {
			l.now.entry.version, l.now.off, l.now.stored = had.version, had.off, had.stored
		} else if err := c.r.keep(l.now); err != nil {
			return err
		}
		l.now.name = name
		folders[dir] = append(folders[dir], l.now.entry)
	}
	for dir, list := range folders {
		c.r.base.put(dir, list...)
	}
	return nil
}
