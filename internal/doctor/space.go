package doctor

import (
	"context"
	"fmt"

	"quarry/internal/config"
	"quarry/internal/render"
)

// checkRoom checks the free space on the volumes of the workspace and of Quarry's data.
// Each volume is checked once.
func (x *exam) checkRoom(context.Context) error {
	state, err := config.StateDir(x.Getenv)
	if err != nil {
		return err
	}
	cache, err := config.CacheDir(x.Getenv)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, p := range []struct{ dir, why string }{
		{x.Root, "A change writes the new file next to the old one, and is refused if there is no space."},
		{config.ExistingDir(state), "The old content of changed files is kept there; without space every change is refused."},
		{config.ExistingDir(cache), "An index can't be made or brought up to date, so searches read the files."},
	} {
		free, volume, ok := roomOn(p.dir)
		if !ok || seen[volume] || free >= x.LeastFree {
			continue
		}
		seen[volume] = true
		x.find(Finding{
			ID: "disk-full", What: fmt.Sprintf("The disk of %s has only %s left.", p.dir, render.Size(free)), Why: p.why,
			Fix: "Free some space. Indexes can be deleted (quarry index delete), and the trash emptied (quarry trash empty).",
		})
	}
	return nil
}
