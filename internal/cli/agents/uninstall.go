package agents

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/clients"
)

func newUninstall(s env.Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall --client NAME",
		Short: "Disconnect an MCP client from this program",
		Long: `Show which entry a client's settings have for quarry mcp, and with --write take
it out, together with the settings that --allow added. A file that is unchanged
since quarry mcp install gets its old bytes back; in any other the entry alone is
removed, and everything else, comments too, stays as it is. A copy of the file is
kept beside it. Indexes, the log of changes and the trash stay: quarry index
delete and quarry trash empty remove them.`,
		Example: `  quarry mcp uninstall --client claude-code
  quarry mcp uninstall --client claude-desktop --write`,
		Args:                  command.Args(0, 0),
		DisableFlagsInUseLine: true,
		RunE:                  func(*cobra.Command, []string) error { return f.uninstall(s) },
	}
	from := command.NewFlags()
	f.addWhere(from)
	command.AddTexts(from, &f.roots, "root", "", "the `folder` whose project has the entry (default: found from here)")
	manual.SetGroups(cmd, []command.Group{{Title: "Where from", Flags: from}})
	return cmd
}

func (f *installFlags) uninstall(s env.Streams) error {
	t, err := f.target(s)
	if err != nil {
		return err
	}
	records, recordsErr := records(s)
	changed, err := t.Remove(t.old, f.name)
	switch {
	case errors.Is(err, clients.ErrNoEntry):
		return fmt.Errorf("%s has no server %s%s", t.file, f.name, f.otherScope(s, t))
	case err != nil:
		return fmt.Errorf("%s is left as it is: %w", t.file, err)
	case (recordsErr != nil || !records.Known(t.file, f.name)) && !f.starts(t):
		return fmt.Errorf("%s has a server %s that is not quarry mcp; remove it by hand", t.file, f.name)
	case !f.write:
		_, err := fmt.Fprintf(s.Out, "%s has the server %s; --write takes it out.\n", t.file, f.name)
		return err
	}
	edits := []edit{{file: t.file, old: t.old, new: changed}}
	if recordsErr == nil {
		if edits, err = f.removeLists(s, t, records, edits); err != nil {
			return err
		}
	}
	for _, e := range edits {
		if err := f.restoreOrRemove(s, t, records, recordsErr == nil, e); err != nil {
			return err
		}
	}
	s.Say("Restart %s.\n", t.Title)
	return nil
}

// starts reports whether the entry in the settings starts quarry mcp.
func (f *installFlags) starts(t *target) bool {
	servers, err := t.Servers(t.old)
	if err != nil {
		return false
	}
	e, ok := t.Read(servers[f.name])
	return ok && e.Starts(f.name)
}

// removeLists removes the words that install had added to lists in a client's settings.
func (f *installFlags) removeLists(s env.Streams, t *target, records *clients.Records, edits []edit) ([]edit, error) {
	for _, l := range t.AddedLists(f.name) {
		file, err := f.listFile(s, t, &l)
		if err != nil {
			return nil, err
		}
		if !records.Known(file, f.name) {
			continue
		}
		i := 0
		for i < len(edits) && edits[i].file != file {
			i++
		}
		if i == len(edits) {
			old, err := clients.ReadSettings(file)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{file: file, old: old, new: old})
		}
		if edits[i].new, err = l.Remove(edits[i].new); err != nil {
			return nil, fmt.Errorf("%s is left as it is: %w", file, err)
		}
	}
	return edits, nil
}

// restoreOrRemove restores the content that a file had before install. If that isn't known, it
// removes only the entry.
func (f *installFlags) restoreOrRemove(s env.Streams, t *target, records *clients.Records, recorded bool, e edit) error {
	done, next := fmt.Sprintf("Took %s out of %s.", f.name, e.file), ""
	if recorded {
		before, existed, ok := records.Before(e.file, f.name, e.old)
		switch {
		case ok && !existed:
			if err := records.RemoveSettings(e.file, f.name, e.old); err != nil {
				return err
			}
			s.Say("Removed %s, which was made for %s.\n", e.file, f.name)
			return records.Forget(e.file, f.name)
		case ok:
			e.new = before
			done = fmt.Sprintf("Took %s out of %s, which is as it was before the install.", f.name, e.file)
			if servers, err := t.Servers(before); err == nil && e.file == t.file && servers[f.name] != nil {
				next = "It had a server " + f.name + " before, which is there again: run this once more to remove it.\n"
			}
		}
	}
	if bytes.Equal(e.old, e.new) {
		return nil
	}
	if err := writeClient(s, e.file, e.old, e.new, done, next); err != nil || !recorded {
		return err
	}
	return records.Forget(e.file, f.name)
}

// otherScope returns a hint that names the client's other settings file if the entry is there.
func (f *installFlags) otherScope(s env.Streams, t *target) string {
	other := *f
	other.scope = map[string]string{"user": "project", "project": "user"}[f.scope]
	if f.file != "" {
		return ""
	}
	if at, err := other.target(s); err == nil {
		if servers, err := t.Servers(at.old); err == nil && servers[f.name] != nil {
			return "\n  the settings of the " + other.scope + " have it: --scope " + other.scope
		}
	}
	return ""
}
