package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/internal/vault"
)

// noteChanger is a changer for parts of notes.
type noteChanger struct {
	changer
	book *notebook.Book
}

// openNote opens the workspace of a note and returns its path there.
func (c *noteChanger) openNote(given string) (string, error) {
	path, err := c.openFor(given)
	if err == nil {
		c.book = notebook.Open(c.ws)
	}
	return path, err
}

// openVault opens the workspace of the current folder.
func (c *noteChanger) openVault() error {
	err := c.open()
	if err == nil {
		c.book = notebook.Open(c.ws)
	}
	return err
}

func (c *noteChanger) noteOptions() notebook.Options {
	return notebook.Options{DryRun: c.dryRun, ExpectedVersion: c.version, Tool: "note"}
}

// changed reports a change in the words of its summary.
func (c *noteChanger) changed(ch *change.Change, err error) error {
	if err != nil {
		return err
	}
	did := ch.Summary
	if did != "" {
		did = strings.ToUpper(did[:1]) + did[1:] + "."
	}
	return c.report(ch, did, brokenLinks(ch))
}

func brokenLinks(ch *change.Change) string {
	if ch.Links == nil || ch.Links.Broken == 0 {
		return ""
	}
	return fmt.Sprintf("%s can't follow, in %s.", render.Plural(ch.Links.Broken, "link", "links"), strings.Join(ch.Links.BrokenIn, ", "))
}

func newNoteSection(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var t notebook.Target
	var rename string
	texts := map[vault.Operation]*string{}
	create := false
	ops := []vault.Operation{vault.OpAppend, vault.OpPrepend, vault.OpReplace, vault.OpBefore, vault.OpAfter}
	cmd := command("section PATH", "Read or change a section or block of a note",
		`Show a section of a note (--heading), a block (--block), or, without either, the
note's outline. With --append, --prepend, --replace, --before or --after change
it: every byte outside it stays. --rename gives a heading other words, or a
block another id, and updates the links to it in the same change.

Where several headings are called alike, name those above it too: "Log::Today".`,
		`  quarry note section Plan.md
  quarry note section Plan.md --heading 'Log::Today'
  quarry note section Plan.md --heading Log --append '- called back'
  quarry note section Plan.md --heading Log --rename Journal --dry-run`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			var chosen []vault.Operation
			for _, op := range ops {
				if cmd.Flags().Changed(string(op)) {
					chosen = append(chosen, op)
				}
			}
			renaming := cmd.Flags().Changed("rename")
			if len(chosen) > 1 || len(chosen) == 1 && renaming {
				return errors.New("only one of --append, --prepend, --replace, --before, --after and --rename can be given")
			}
			path, err := c.openNote(args[0])
			if err != nil {
				return err
			}
			switch {
			case renaming:
				err = c.changed(c.book.RenamePart(cmd.Context(), path, t, rename, c.noteOptions()))
			case len(chosen) == 1:
				err = c.editPart(cmd.Context(), path, t, chosen[0], *texts[chosen[0]], create)
			default:
				err = c.showPart(cmd.Context(), path, t)
			}
			return c.run(render.Editing, path, err)
		})
	fl := cmd.Flags()
	fl.StringVar(&t.Heading, "heading", "", `the section with this heading; "A::B" is B in A`)
	fl.StringVar(&t.Block, "block", "", "the block with this id")
	for _, op := range ops {
		about := map[vault.Operation]string{
			vault.OpAppend: "text to add at its end; - is standard input", vault.OpPrepend: "text to add at its beginning", vault.OpReplace: "text to put in its place; the heading stays",
			vault.OpBefore: "lines to put before it", vault.OpAfter: "lines to put after it",
		}[op]
		texts[op] = fl.String(string(op), "", about)
	}
	fl.StringVar(&rename, "rename", "", "new heading, or new id of the block")
	fl.BoolVar(&create, "create", false, "make a heading that is missing")
	c.flags(fl, true)
	return cmd
}

func (c *noteChanger) editPart(ctx context.Context, path string, t notebook.Target, op vault.Operation, content string, create bool) error {
	content, err := c.text(ctx, content)
	if err != nil {
		return err
	}
	t.Whole = t == notebook.Target{}
	return c.changed(c.book.EditPart(ctx, path, t, notebook.Edit{Operation: op, Content: content, Create: create}, c.noteOptions()))
}

func (c *noteChanger) showPart(ctx context.Context, path string, t notebook.Target) error {
	if t == (notebook.Target{}) {
		o, err := c.book.Outline(ctx, path)
		if err != nil {
			return err
		}
		if c.json {
			return c.encode(o)
		}
		return c.print(string(render.Outline(nil, o)) + "\n")
	}
	p, err := c.book.ReadPart(ctx, path, t)
	if err != nil {
		return err
	}
	if c.json {
		return c.encode(p)
	}
	return c.print(strings.Join(p.Lines, "\n") + "\n")
}

func newNoteProperty(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var value, rename string
	remove, everywhere := false, false
	cmd := command("property [PATH] [NAME]", "Read or change properties of notes",
		`Show the properties of a note, or one of them; without a path the properties of
all notes with counts. --set gives one a value, written as YAML ('[a, b]', 3,
true, text); --delete takes it out; --rename gives it another name, in one note
or, with --all, in every note as one change. Comments and all other properties
keep their bytes.`,
		`  quarry note property Plan.md
  quarry note property Plan.md status --set done
  quarry note property --all --rename state status`,
		cobra.MaximumNArgs(2), func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, f := range []string{"set", "delete", "rename"} {
				if cmd.Flags().Changed(f) {
					given++
				}
			}
			if given > 1 {
				return errors.New("only one of --set, --delete and --rename can be given")
			}
			path, name, err := c.propertyArgs(args, everywhere)
			if err != nil {
				return err
			}
			if given > 0 && name == "" {
				return c.run(render.Editing, path, errors.New("name the property"))
			}
			switch {
			case cmd.Flags().Changed("set"):
				err = c.changed(c.book.SetProperties(cmd.Context(), path, map[string]any{name: vault.ParseValue(value)}, nil, c.noteOptions()))
			case remove:
				err = c.changed(c.book.SetProperties(cmd.Context(), path, nil, []string{name}, c.noteOptions()))
			case cmd.Flags().Changed("rename"):
				err = c.changed(c.book.RenameProperty(cmd.Context(), path, name, rename, c.noteOptions()))
			default:
				err = c.showProperties(cmd.Context(), path, name)
			}
			return c.run(render.Editing, path, err)
		})
	fl := cmd.Flags()
	fl.StringVar(&value, "set", "", "its new value, as YAML")
	fl.BoolVar(&remove, "delete", false, "take it out")
	fl.StringVar(&rename, "rename", "", "its new name")
	fl.BoolVar(&everywhere, "all", false, "in all notes; the argument is the property's name")
	c.flags(fl, true)
	return cmd
}

// propertyArgs opens the workspace and reads which property of which note.
func (c *noteChanger) propertyArgs(args []string, everywhere bool) (path, name string, err error) {
	if everywhere || len(args) == 0 {
		if len(args) > 1 {
			return "", "", errors.New("with --all the one argument is the property's name")
		}
		if len(args) == 1 {
			name = args[0]
		}
		return "", name, c.openVault()
	}
	if len(args) == 2 {
		name = args[1]
	}
	path, err = c.openNote(args[0])
	return path, name, err
}

func (c *noteChanger) showProperties(ctx context.Context, path, name string) error {
	if path == "" {
		names, err := c.book.PropertyNames(ctx)
		return c.showNames(names, "", err)
	}
	_, list, err := c.book.Properties(ctx, path)
	if err != nil {
		return err
	}
	if name != "" {
		list = slices.DeleteFunc(list, func(p notebook.Property) bool { return p.Name != name })
	}
	if c.json {
		return c.encode(list)
	}
	if len(list) == 0 {
		return c.s.nothing("no such property")
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Raw + "\n")
	}
	return c.print(b.String())
}

// showNames writes names with the number of notes that have each.
func (c *noteChanger) showNames(names []notebook.Name, mark string, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.encode(names)
	}
	if len(names) == 0 {
		return c.s.nothing("none found")
	}
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%s%s\t%d\n", mark, n.Name, n.Notes)
	}
	return c.print(b.String())
}

func (c *noteChanger) showPaths(paths []string, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.encode(paths)
	}
	if len(paths) == 0 {
		return c.s.nothing("none found")
	}
	return c.print(strings.Join(paths, "\n") + "\n")
}

func newNoteTag(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var in, rename string
	cmd := command("tag [TAG]", "List or rename tags",
		`List the tags of all notes with the number of notes that have each, or the notes
that have a tag or one nested in it. --rename renames a tag and those nested in
it, in text and properties, in every note as one change.`,
		`  quarry note tag
  quarry note tag project
  quarry note tag project --rename work/project --dry-run`,
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			path, err := in, error(nil)
			if in != "" {
				path, err = c.openNote(in)
			} else {
				err = c.openVault()
			}
			if err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("rename") && len(args) == 0:
				err = errors.New("name the tag to rename")
			case cmd.Flags().Changed("rename"):
				err = c.changed(c.book.RenameTag(cmd.Context(), path, args[0], rename, c.noteOptions()))
			case len(args) == 1:
				err = c.showPaths(c.book.Tagged(cmd.Context(), args[0]))
			default:
				var names []notebook.Name
				names, err = c.book.Tags(cmd.Context(), path)
				err = c.showNames(names, "#", err)
			}
			return c.run(render.Editing, path, err)
		})
	cmd.Flags().StringVar(&in, "in", "", "only this note")
	cmd.Flags().StringVar(&rename, "rename", "", "the tag's new name")
	c.flags(cmd.Flags(), false)
	return cmd
}

func newNoteLinks(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	outgoing, unresolved, orphans := false, false, false
	cmd := command("links [PATH]", "Show links to and from notes",
		`Show the links to a note with the lines they stand on; --outgoing shows the
links it has and where they lead, --unresolved those that lead nowhere, of one
note or of all, and --orphans the notes that no other file links to.`,
		`  quarry note links Plan.md
  quarry note links --unresolved`,
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			path, err := "", error(nil)
			if len(args) == 1 {
				path, err = c.openNote(args[0])
			} else if !unresolved && !orphans {
				return errors.New("name a note, or use --unresolved or --orphans")
			} else {
				err = c.openVault()
			}
			if err != nil {
				return err
			}
			var found []notebook.Link
			switch {
			case orphans:
				return c.run(render.Reading, path, c.showPaths(c.book.Orphans(cmd.Context())))
			case unresolved:
				found, err = c.book.Unresolved(cmd.Context(), path)
			case outgoing:
				found, err = c.book.Outgoing(cmd.Context(), path)
			default:
				found, err = c.book.Backlinks(cmd.Context(), path)
			}
			return c.run(render.Reading, path, c.showLinks(found, outgoing, err))
		})
	cmd.Flags().BoolVar(&outgoing, "outgoing", false, "links of the note")
	cmd.Flags().BoolVar(&unresolved, "unresolved", false, "links that lead nowhere")
	cmd.Flags().BoolVar(&orphans, "orphans", false, "notes without links to them")
	cmd.MarkFlagsMutuallyExclusive("outgoing", "unresolved", "orphans")
	c.commonFlags(cmd.Flags())
	return cmd
}

// showLinks writes a link a line: where it stands, and what is there or where it
// leads.
func (c *noteChanger) showLinks(links []notebook.Link, targets bool, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.encode(links)
	}
	if len(links) == 0 {
		return c.s.nothing("no links")
	}
	var b strings.Builder
	for _, l := range links {
		text := l.Text
		if targets {
			text = l.Link + " → " + l.Target
		}
		fmt.Fprintf(&b, "%s:%d:%s\n", l.Source, l.Line, text)
	}
	return c.print(b.String())
}

func newNoteDaily(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	period, create := "daily", false
	cmd := command("daily [DATE]", "Show or make the note of a day",
		`Show the note of a day, where the settings of the vault's plugins Daily notes
and Periodic Notes put it. --create makes it, from the template they name. DATE
is 2024-12-31, today, yesterday, tomorrow, or +1 and -1 for the next and the
last.`,
		`  quarry note daily
  quarry note daily yesterday
  quarry note daily --period weekly --create`,
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			if err := c.openVault(); err != nil {
				return err
			}
			date := ""
			if len(args) == 1 {
				date = args[0]
			}
			d, err := c.book.Daily(cmd.Context(), vault.Period(period), date, time.Now(), create, c.noteOptions())
			switch {
			case err != nil:
			case c.json:
				err = c.encode(map[string]any{"path": d.Path, "exists": d.Note != nil, "change": d.Change})
			case d.Change != nil:
				err = c.changed(d.Change, nil)
			case d.Note == nil:
				err = c.s.nothing(d.Path + " does not exist; --create makes it")
			default:
				err = c.print(string(d.Note.Text))
			}
			return c.run(render.Reading, date, err)
		})
	cmd.Flags().StringVar(&period, "period", "daily", "daily, weekly, monthly, quarterly or yearly")
	cmd.Flags().BoolVar(&create, "create", false, "make the note if it is missing")
	c.flags(cmd.Flags(), false)
	return cmd
}

func newNoteMerge(s Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	cmd := command("merge SOURCE DESTINATION", "Append a note to another and delete it",
		`Append the text of a note to another and delete it, as one change. Links that
meant it mean the other, its own links keep their targets, properties the other
lacks come along, and lists such as tags are joined.`,
		`  quarry note merge 'Plan (old).md' Plan.md`,
		cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error {
			from, err := c.openNote(args[0])
			if err != nil {
				return err
			}
			into, err := c.also(args[1])
			if err == nil {
				err = c.changed(c.book.Merge(cmd.Context(), from, into, c.noteOptions()))
			}
			return c.run(render.Editing, from, err)
		})
	c.flags(cmd.Flags(), false)
	return cmd
}
