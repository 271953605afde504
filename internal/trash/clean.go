package trash

import (
	"context"
	"errors"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Clean removes temporary files of dead processes from the trash: incomplete records and
// copies. It does not search trashed folders.
func (b *Bin) Clean(ctx context.Context) (rootfs.Cleaned, error) {
	var all rootfs.Cleaned
	var failed []error
	for c, err := range b.existing() {
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, dir := range [...]rootfs.Path{c.files, c.info} {
			if c.plain && dir == c.info {
				continue
			}
			res, err := c.root.CleanFolder(ctx, dir)
			if err != nil && !errors.Is(err, fault.NotFound) {
				failed = append(failed, err)
			}
			all.Removed += res.Removed
			all.Restored, all.Kept = append(all.Restored, res.Restored...), append(all.Kept, res.Kept...)
			all.Errors = append(all.Errors, res.Errors...)
		}
		if c.hashed {
			all.Removed += c.dropStale(b)
		}
		c.close(b)
	}
	return all, errors.Join(failed...)
}

// dropStale removes the records in the workspace's own trash that have no item. This
// happens if a restore could not remove the record, or if a user has emptied .trash by
// hand. Other programs don't write records there.
func (c *can) dropStale(b *Bin) (removed int) {
	things, err := c.names(c.files)
	if err != nil {
		return 0
	}
	used := map[string]bool{}
	for _, name := range things {
		if at, err := c.record(name); err == nil {
			used[at.Base()] = true
		}
	}
	records, err := c.names(c.info)
	if err != nil {
		return 0
	}
	for _, name := range records {
		at, err := c.info.Child(name)
		if err != nil || used[name] || !strings.HasSuffix(name, infoSuffix) || !c.stale(b, at) {
			continue
		}
		if c.root.Remove(at) == nil {
			removed++
		}
	}
	return removed
}

// names lists a folder.
func (c *can) names(dir rootfs.Path) ([]string, error) {
	entries, err := c.root.List(dir)
	var names []string
	for _, e := range entries {
		names = append(names, strings.Clone(e.Name))
	}
	return names, err
}
