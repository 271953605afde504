package agents

import (
	"errors"
	"log/slog"

	"quarry/internal/profile"
)

// openTools opens the workspaces of a server and makes their tools.
func openTools(f *mcpFlags, log *slog.Logger) (*toolset, error) {
	open, err := f.open(true, log)
	if err != nil {
		return nil, err
	}
	set := &toolset{close: open.Close}
	if set.tools, err = f.registry(open); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	set.tools.Panicked = func(name string, value any, stack []byte) {
		log.Error("a tool panicked", "tool", name, "panic", value, "stack", string(stack))
	}
	var dirs []string
	for _, r := range open.Roots() {
		if r.Workspace.Reviewed() {
			dirs = append(dirs, r.Workspace.Dir())
		}
	}
	if len(dirs) > 0 {
		also, done, err := f.news(dirs)
		if err != nil {
			return nil, errors.Join(err, open.Close())
		}
		set.tools.Also, set.close = also, func() error { return errors.Join(done(), open.Close()) }
	}
	f.tellPresence(set, open, log)
	f.tellActivity(set, open, log)
	set.instructions = profile.Instructions(f.profile, set.tools, profile.RootNames(open), len(f.allow)+len(f.deny) > 0)
	return set, nil
}
