package doctor

import (
	"context"
	"fmt"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// checkRoom looks at what is free on the volumes of the workspace and of what
// Quarry keeps, each volume once.
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
			ID: "disk-full", What: fmt.Sprintf("The disk of %s has only %s left.", p.dir, printing.Size(free)), Why: p.why,
			Fix: "Free some space. Indexes can be deleted (quarry index delete), and the trash emptied (quarry trash empty).",
		})
	}
	return nil
}

// checkStored compares what all indexes take with what they may.
func (x *exam) checkStored(home string) error {
	file, err := x.Config()
	if err != nil {
		return nil // the configuration is broken, and that was said
	}
	const name = "index.max-size"
	limit, err := file.Get(x.Getenv, x.Root, name)
	if err != nil {
		return nil // so was that
	}
	if limit.Source == config.FromDefault {
		for _, k := range config.Keys() {
			if k.Path() == name {
				limit.Text = k.Default
			}
		}
	}
	most, err := config.ParseSize(limit.Text)
	if err != nil || most == 0 {
		return err
	}
	all, err := examineStored(home)
	if err != nil {
		return err
	}
	x.checkOutdated(all)
	var total int64
	for _, s := range all {
		total += s.Bytes
	}
	if total <= most {
		return nil
	}
	f := Finding{
		ID: "index-cap", What: fmt.Sprintf("The indexes in %s take %s together, more than the %s of index.max-size.", home, printing.Size(total), printing.Size(most)),
		Why: "The next build deletes those used longest ago; an index larger than the limit is deleted each time.",
		Fix: "Allow more with index.max-size in quarry.toml, or delete what you no longer search; used longest ago:",
	}
	for _, s := range all {
		if total > most && !s.Kept {
			f.Run = append(f.Run, "rm -rf "+printing.ShellQuote(s.Dir))
			total -= s.Bytes
		}
	}
	x.find(f)
	return nil
}
