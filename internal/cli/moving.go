package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/notebook"
	"quarry/internal/notes"
	"quarry/internal/render"
	"quarry/internal/vault"
)

func newMv(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	links, heading := "", false
	cmd := command.New("mv SOURCE... DESTINATION", "Move or rename files and folders",
		`Move a file or folder with all it holds. Nothing is ever overwritten; folders
that are missing are made. A destination that is a folder takes the source in.

In an Obsidian vault, links to what is moved are updated in the same change if
the vault says so (alwaysUpdateLinks) or --links update does. Attachments go
with their note where the vault keeps them beside it, if nothing else links to
them.`,
		`  quarry mv old.md new.md
  quarry mv Inbox/Plan.md Archive/2026/Plan.md --links update`,
		command.Args(2, command.Any), func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return moveAll(cmd, c, links, args[:len(args)-1], args[len(args)-1])
			}
			return runMv(cmd, c, links, heading, args[0], args[1])
		})
	cmd.Flags().StringVar(&links, "links", "", "`update` or leave the links of a vault, or keep-texts: update\nthem and leave displayed texts (default: as its settings say)")
	cmd.Flags().BoolVar(&heading, "heading", false, "a note's first heading, if it is the old name, gets the new one")
	c.patientFlags(cmd.Flags())
	c.flags(cmd.Flags(), true)
	return cmd
}

func linkUpdate(links string) (change.LinkUpdate, error) {
	switch links {
	case "":
		return change.LinksDefault, nil
	case "update":
		return change.LinksUpdate, nil
	case "leave":
		return change.LinksLeave, nil
	case "keep-texts":
		return change.LinksKeepTexts, nil
	}
	return 0, fmt.Errorf("--links is update, keep-texts or leave, not %q", links)
}

// moveAll moves several entries into a folder, as one change.
func moveAll(cmd *cobra.Command, c *changer, links string, sources []string, destination string) error {
	update, err := linkUpdate(links)
	if err != nil {
		return err
	}
	if c.version != "" {
		return errors.New("--expected-version is for one file")
	}
	var ops []change.Op
	folder, err := c.openFor(destination)
	c.entries = true
	for _, source := range sources {
		if err != nil {
			return err
		}
		var from string
		if from, err = c.also(source); err == nil {
			ops = append(ops, change.Op{Verb: change.MovePath, Path: from, To: path.Join(folder, path.Base(from)), Links: update})
		}
	}
	if err != nil {
		return err
	}
	if there, err := os.Stat(filepath.Join(c.ws.Dir(), filepath.FromSlash(folder))); (err != nil || !there.IsDir()) && !strings.HasSuffix(destination, "/") {
		return c.run(render.Moving, folder, fmt.Errorf("several files can only be moved into a folder, and %s is not one", destination))
	}
	set := &setter{changer: *c}
	return set.apply(cmd.Context(), "mv", ops, "")
}

func runMv(cmd *cobra.Command, c *changer, links string, heading bool, source, destination string) error {
	update, err := linkUpdate(links)
	if err != nil {
		return err
	}
	opts := &change.MoveOptions{Options: c.options(), Links: update}
	c.entries = true
	from, err := c.openFor(source)
	if err != nil {
		return err
	}
	c.entries = false // follow a link to a folder
	to, err := c.also(destination)
	if err == nil {
		if into(c.ws.Dir(), destination, from, to) {
			to = path.Join(to, path.Base(from))
		}
		var ch *change.Change
		p := c.s.Progress(c.quiet, "moving "+from)
		attached := 0
		if c.ws.IsVault() || heading {
			o := notebook.Options{DryRun: c.dryRun, ExpectedVersion: c.version, Tool: "move"}
			ch, attached, err = notebook.Open(c.ws).MoveNote(cmd.Context(), from, to, opts.Links, heading, o)
		}
		if err == nil && ch == nil {
			ch, err = c.ws.Move(cmd.Context(), from, to, opts)
		}
		p.End()
		if err == nil {
			err = c.report(ch, render.Moved(ch), render.Attached(attached), render.Links(ch))
		}
	}
	return c.run(render.Moving, from, err)
}

// into reports whether sources are moved into the destination: it ends with a slash, or is an
// existing folder other than the source in another letter case.
func into(root, given, from, to string) bool {
	if strings.HasSuffix(given, "/") || strings.HasSuffix(given, string(filepath.Separator)) {
		return true
	}
	there, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
	if err != nil || !there.IsDir() {
		return false
	}
	source, err := os.Stat(filepath.Join(root, filepath.FromSlash(from)))
	return err != nil || !os.SameFile(source, there)
}

func newRm(s env.Streams) *cobra.Command {
	c := &changer{s: s, entries: true}
	cmd := command.New("rm PATH...", "Delete files and folders, to the trash",
		`Delete a file, or a folder with all it holds. It goes to the system's trash, or
where the vault's settings say; --trash local is the folder .trash of the
workspace, --trash none deletes for good. quarry undo brings back any of them; what
is deleted for good, as long as the undo log has room for it (journal.keep-size).`,
		`  quarry rm old.md
  quarry rm build --trash none`,
		command.Args(1, command.Any), func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return removeAll(cmd, c, args)
			}
			path, err := c.openFor(args[0])
			if err != nil {
				return err
			}
			p := s.Progress(c.quiet, "deleting "+path)
			ch, err := c.ws.Delete(cmd.Context(), path, &change.DeleteOptions{Options: c.options()})
			p.End()
			if err == nil {
				err = c.report(ch, render.Deleted(ch))
			}
			return c.run(render.Deleting, path, err)
		})
	cmd.Flags().StringVar(&c.trash, "trash", "", "`where` deleted things go: system, local (.trash) or none")
	c.patientFlags(cmd.Flags())
	c.flags(cmd.Flags(), true)
	return cmd
}

func newNote(s env.Streams) *cobra.Command {
	note := command.New("note", "Make and change notes and their parts",
		"Make notes, and read and change their sections, properties, tags and links.", "", command.Args(0, 0),
		func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	note.AddCommand(newNoteNew(s), newNoteAdd(s, notes.Append, "Add text at the end of a note"),
		newNoteAdd(s, notes.Prepend, "Add text at the top of a note, after its front matter"))
	note.AddCommand(newNoteSection(s), newNoteProperty(s), newNoteTag(s), newNoteLinks(s), newNoteList(s), newNoteTask(s))
	return note
}

func newNoteNew(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	content, title := "-", ""
	cmd := command.New("new [PATH]", "Make a note",
		`Make a note from standard input, or from --content. Without a path it is called
by --title, else by its first heading or line, at the top of the workspace. A
note that exists is never overwritten.`,
		`  quarry note new Meetings/Plan --content '# Plan'
  echo '# An idea' | quarry note new`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			text, err := c.text(cmd.Context(), content)
			if err != nil {
				return err
			}
			n := notes.New{Content: text, Title: title}
			if (len(args) == 0 || strings.HasSuffix(args[0], "/")) && vault.NameIn(title, text) == "" {
				return errors.New("the note has no name: give a path, --title, or a text that begins with one")
			}
			if len(args) == 1 {
				n.Path, err = c.openFor(args[0])
			} else {
				err = c.open()
			}
			if err != nil {
				return err
			}
			ch, err := c.applyOne(cmd.Context(), notes.Create(n), "")
			if err == nil {
				err = c.report(ch, render.CreatedNote(ch))
			}
			return c.run(render.Writing, n.Path, err)
		})
	cmd.Flags().StringVar(&content, "content", "-", "the note's `text`; - is standard input")
	cmd.Flags().StringVar(&title, "title", "", "the note's `name`, if no path is given")
	c.flags(cmd.Flags(), false)
	return cmd
}

func newNoteAdd(s env.Streams, how notes.Operation, short string) *cobra.Command {
	c := &changer{s: s}
	content := "-"
	cmd := command.New(string(how)+" PATH", short, short+":\nfrom standard input, or from --content.", "",
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			text, err := c.text(cmd.Context(), content)
			if err != nil {
				return err
			}
			path, err := c.openFor(args[0])
			if err != nil {
				return err
			}
			ch, err := notes.Modify(cmd.Context(), c.ws, path, notes.Edit{Operation: how, Content: text}, func(op change.Op, summary string) (*change.Change, error) {
				return c.applyOne(cmd.Context(), op, summary)
			})
			if err == nil {
				err = c.report(ch, render.Edited(ch))
			}
			return c.run(render.Editing, path, err)
		})
	cmd.Flags().StringVar(&content, "content", "-", "the `text`; - is standard input")
	c.flags(cmd.Flags(), true)
	return cmd
}

// applyOne applies or plans a change with one operation.
func (c *changer) applyOne(ctx context.Context, op change.Op, summary string) (*change.Change, error) {
	o := c.options()
	o.Summary = cmp.Or(o.Summary, summary)
	do := c.ws.Apply
	if o.DryRun {
		do = c.ws.Plan
	}
	ch, err := do(ctx, o.Set("note", op))
	if ch != nil {
		ch.Files, ch.Digest = nil, ""
	}
	return ch, err
}

// removeAll deletes several entries, as one change.
func removeAll(cmd *cobra.Command, c *changer, paths []string) error {
	if c.version != "" {
		return errors.New("--expected-version is for one file")
	}
	paths, err := c.openAll(paths)
	if err != nil {
		return err
	}
	var ops []change.Op
	for _, path := range paths {
		ops = append(ops, change.Op{Verb: change.DeletePath, Path: path, Trash: change.TrashKind(c.trash)})
	}
	set := &setter{changer: *c}
	return set.apply(cmd.Context(), "rm", ops, "")
}
