package trash

import (
	"context"
	"errors"

	"quarry/internal/rootfs"
)

// Clean removes the temporary files that dead processes left in the trash:
// records that were being written and things that were being copied. The things
// in the trash are not looked into.
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
			if err != nil && !errors.Is(err, rootfs.NotFound) {
				failed = append(failed, err)
			}
			all.Removed += res.Removed
			all.Restored, all.Kept = append(all.Restored, res.Restored...), append(all.Kept, res.Kept...)
			all.Errors = append(all.Errors, res.Errors...)
		}
		c.close(b)
	}
	return all, errors.Join(failed...)
}
