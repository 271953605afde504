package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/internal/vault"
)

// noteChanger is the changer of commands that edit parts of notes.
type noteChanger struct {
	changer
	book      *notebook.Book
	keepTexts bool
}

// openNote opens the workspace of a note and returns the note's path relative to it. If given is
// "", it opens the workspace of the current folder.
func (c *noteChanger) openNote(given string) (path string, err error) {
	if given == "" {
		err = c.open()
	} else {
		path, err = c.openFor(given)
	}
	if err == nil {
		c.book = notebook.Open(c.ws)
	}
	return path, err
}

func (c *noteChanger) noteOptions() notebook.Options {
	return notebook.Options{DryRun: c.dryRun, ExpectedVersion: c.version, KeepTexts: c.keepTexts, Tool: "note"}
}

// changed reports a change by its summary.
func (c *noteChanger) changed(ch *change.Change, err error) error {
	if err != nil {
		return err
	}
	summary := ch.Summary
	if summary != "" {
		summary = strings.ToUpper(summary[:1]) + summary[1:] + "."
	}
	broken := ""
	if ch.Links != nil && ch.Links.Broken > 0 {
		broken = "They are in " + strings.Join(ch.Links.BrokenIn, ", ") + "."
	}
	return c.report(ch, summary, render.Links(ch), broken)
}

// oneFlag returns which one of the named flags was given, or "". It is an error to give several.
func oneFlag(cmd *cobra.Command, names ...string) (string, error) {
	given := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !cmd.Flags().Changed(name) })
	if len(given) > 1 {
		last := len(names) - 1
		return "", fmt.Errorf("only one of --%s and --%s can be given", strings.Join(names[:last], ", --"), names[last])
	}
	return strings.Join(given, ""), nil
}

func newNoteSection(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var t notebook.Target
	var rename, take string
	texts := map[vault.Operation]*string{}
	create := false
	ops := []vault.Operation{vault.OpAppend, vault.OpPrepend, vault.OpReplace, vault.OpBefore, vault.OpAfter}
	cmd := command.New("section PATH", "Read or change a section or block of a note",
		`Show a section of a note (--heading), a block (--block), or, without either, the
note's outline. With --append, --prepend, --replace, --before or --after change
it: every byte outside it stays. --rename gives a heading other words, or a
block another id, and updates the links to it in the same change. --take moves
tasks of other notes to its end, with what is nested in them.

Where several headings are called alike, name those above it too: "Log::Today".`,
		`  quarry note section Plan.md
  quarry note section Plan.md --heading 'Log::Today'
  quarry note section Plan.md --heading Log --append '- called back'
  quarry note section Plan.md --heading Log --rename Journal --dry-run
  quarry note section A.md --heading Tasks --take 'task:todo property:project=A'`,
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			chosen, err := oneFlag(cmd, "append", "prepend", "replace", "before", "after", "rename", "take")
			if err != nil {
				return err
			}
			path, err := c.openNote(args[0])
			if err != nil {
				return err
			}
			switch chosen {
			case "rename":
				err = c.changed(c.book.RenamePart(cmd.Context(), path, t, rename, c.noteOptions()))
			case "take":
				err = c.changed(c.book.TakeTasks(cmd.Context(), path, t, take, create, c.noteOptions()))
			case "":
				err = c.showPart(cmd.Context(), path, t)
			default:
				op := vault.Operation(chosen)
				err = c.editPart(cmd.Context(), path, t, op, *texts[op], create)
			}
			return c.run(render.Editing, path, err)
		})
	fl := cmd.Flags()
	fl.StringVar(&t.Heading, "heading", "", "the section with this `heading`; \"A::B\" is B in A")
	fl.StringVar(&t.Block, "block", "", "the block with this `id`")
	for _, op := range ops {
		about := map[vault.Operation]string{
			vault.OpAppend: "`text` to add at its end; - is standard input", vault.OpPrepend: "`text` to add at its beginning", vault.OpReplace: "`text` to put in its place; the heading stays",
			vault.OpBefore: "`lines` to put before it", vault.OpAfter: "`lines` to put after it",
		}[op]
		texts[op] = fl.String(string(op), "", about)
	}
	fl.StringVar(&rename, "rename", "", "new `heading`, or new id of the block")
	fl.StringVar(&take, "take", "", "move tasks of other notes here that `filters` select")
	fl.BoolVar(&c.keepTexts, "keep-texts", false, "with --rename: displayed texts of links that are\nthe old heading stay")
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
			return c.s.Encode(o)
		}
		return c.s.Print(string(render.Outline(nil, o)) + "\n")
	}
	p, err := c.book.ReadPart(ctx, path, t)
	if err != nil {
		return err
	}
	if c.json {
		return c.s.Encode(p)
	}
	return c.s.Print(strings.Join(p.Lines, "\n") + "\n")
}

func newNoteProperty(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var value, rename, where string
	remove, everywhere := false, false
	cmd := command.New("property [PATH] [NAME]", "Read or change properties of notes",
		`Show the properties of a note, or one of them; without a path the properties of
all notes with counts, with --all NAME the values of one. --set gives one a value, written as YAML ('[a, b]', 3,
true, text); --delete takes it out; --rename gives it another name, in one note
or, with --all, in every note as one change. --where sets or deletes it in the
notes that filters select. Comments and all other properties keep their bytes.`,
		`  quarry note property Plan.md
  quarry note property Plan.md status --set done
  quarry note property --all --rename state status
  quarry note property status --set done --where 'path:Projects -tag:open'`,
		command.Args(0, 2), func(cmd *cobra.Command, args []string) error {
			chosen, err := oneFlag(cmd, "set", "delete", "rename")
			if err != nil {
				return err
			}
			path, name, err := c.propertyArgs(args, everywhere || where != "")
			if err != nil {
				return err
			}
			if where == "" && path == "" && (chosen == "set" || chosen == "delete") {
				return c.run(render.Editing, path, errors.New("name the note, or select notes with --where"))
			}
			if where != "" && chosen != "set" && chosen != "delete" {
				return c.run(render.Editing, path, errors.New("--where is for --set and --delete"))
			}
			if chosen != "" && name == "" {
				return c.run(render.Editing, path, errors.New("name the property"))
			}
			switch {
			case chosen == "set":
				err = c.changed(c.book.SetProperties(cmd.Context(), notebook.Chosen{Path: path, Where: where}, map[string]any{name: vault.ParseValue(value)}, nil, c.noteOptions()))
			case remove:
				err = c.changed(c.book.SetProperties(cmd.Context(), notebook.Chosen{Path: path, Where: where}, nil, []string{name}, c.noteOptions()))
			case chosen == "rename":
				err = c.changed(c.book.RenameProperty(cmd.Context(), path, name, rename, c.noteOptions()))
			default:
				err = c.showProperties(cmd.Context(), path, name)
			}
			return c.run(render.Editing, path, err)
		})
	fl := cmd.Flags()
	fl.StringVar(&value, "set", "", "its new `value`, as YAML")
	fl.BoolVar(&remove, "delete", false, "take it out")
	fl.StringVar(&rename, "rename", "", "its new `name`")
	fl.BoolVar(&everywhere, "all", false, "in all notes; the argument is the property's name")
	fl.StringVar(&where, "where", "", whereFlag)
	c.flags(fl, true)
	return cmd
}

// propertyArgs parses the arguments NOTE and PROPERTY and opens the workspace.
func (c *noteChanger) propertyArgs(args []string, everywhere bool) (path, name string, err error) {
	if everywhere || len(args) == 0 {
		if len(args) > 1 {
			return "", "", errors.New("with --all or --where the one argument is the property's name")
		}
		if len(args) == 1 {
			name = args[0]
		}
		_, err = c.openNote("")
		return "", name, err
	}
	if len(args) == 2 {
		name = args[1]
	}
	path, err = c.openNote(args[0])
	return path, name, err
}

func (c *noteChanger) showProperties(ctx context.Context, path, name string) error {
	switch {
	case path == "" && name != "":
		values, _, err := c.book.PropertyValues(ctx, name, "")
		return c.showNames("")(values, err)
	case path == "":
		return c.showNames("")(c.book.PropertyNames(ctx))
	}
	_, list, err := c.book.Properties(ctx, path)
	if name != "" {
		list = slices.DeleteFunc(list, func(p notebook.Property) bool { return !strings.EqualFold(p.Name, name) })
	}
	return showList(c, "no such property", func(p notebook.Property) string { return p.Raw })(list, err)
}

// showList prints a list, as JSON or one item per line; none is printed if it is empty.
func showList[T any](c *noteChanger, none string, line func(T) string) func([]T, error) error {
	return func(list []T, err error) error {
		switch {
		case err != nil:
			return err
		case c.json:
			return c.s.Encode(list)
		case len(list) == 0:
			return c.s.Nothing(none)
		}
		var b strings.Builder
		for _, v := range list {
			b.WriteString(line(v) + "\n")
		}
		return c.s.Print(b.String())
	}
}

// showNames writes names with the number of notes that have each.
func (c *noteChanger) showNames(mark string) func([]notebook.Name, error) error {
	return showList(c, "none found", func(n notebook.Name) string { return fmt.Sprintf("%s%s\t%d", mark, inCell(n.Name), n.Notes) })
}

func (c *noteChanger) showPaths(paths []string, err error) error {
	return showList(c, "none found", func(path string) string { return path })(paths, err)
}

const whereFlag = "notes that `filters` select: tag:, property:name>=value, has:, path:,\nheading:, link:note, task:todo, modified:>date; -filter for those without, OR, ( )"

func newNoteTag(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	var in, rename, where string
	add := false
	cmd := command.New("tag [TAG]", "List, rename or add tags",
		`List the tags of all notes with the number of notes that have each, or the notes
that have a tag or one nested in it. --rename renames a tag and those nested in
it, in text and properties, in every note as one change. --add puts it into the
front matter of a note (--in), or of those that filters select (--where).`,
		`  quarry note tag
  quarry note tag project
  quarry note tag project --rename work/project --dry-run
  quarry note tag light --add --where 'path:Themes link:Light -link:Dark'`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			path, err := c.openNote(in)
			if err != nil {
				return err
			}
			switch {
			case add && (len(args) == 0 || cmd.Flags().Changed("rename") || (in == "") == (where == "")):
				err = errors.New("with --add, name the tag and either a note with --in or notes with --where")
			case where != "" && !add:
				err = errors.New("--where is for --add")
			case add:
				err = c.changed(c.book.AddTag(cmd.Context(), notebook.Chosen{Path: path, Where: where}, args[0], c.noteOptions()))
			case cmd.Flags().Changed("rename") && len(args) == 0:
				err = errors.New("name the tag to rename")
			case cmd.Flags().Changed("rename"):
				err = c.changed(c.book.RenameTag(cmd.Context(), path, args[0], rename, c.noteOptions()))
			case len(args) == 1:
				err = c.showPaths(c.book.Tagged(cmd.Context(), args[0]))
			default:
				err = c.showNames("#")(c.book.Tags(cmd.Context(), path))
			}
			return c.run(render.Editing, path, err)
		})
	cmd.Flags().StringVar(&in, "in", "", "only this `note`")
	cmd.Flags().StringVar(&rename, "rename", "", "the tag's new `name`")
	cmd.Flags().BoolVar(&add, "add", false, "give notes the tag")
	cmd.Flags().StringVar(&where, "where", "", whereFlag)
	c.flags(cmd.Flags(), false)
	return cmd
}

func newNoteLinks(s env.Streams) *cobra.Command {
	c := &noteChanger{changer: changer{s: s}}
	outgoing, unresolved, orphans := false, false, false
	cmd := command.New("links [PATH]", "Show links to and from notes",
		`Show the links to a note with the lines they stand on; --outgoing shows the
links it has and where they lead, --unresolved those that lead nowhere, of one
note or of all, and --orphans the notes that no other file links to.`,
		`  quarry note links Plan.md
  quarry note links --unresolved`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !unresolved && !orphans {
				return errors.New("name a note, or use --unresolved or --orphans")
			}
			path, err := c.openNote(strings.Join(args, ""))
			if err != nil {
				return err
			}
			show := c.showLinks(outgoing || unresolved)
			switch {
			case orphans:
				err = c.showPaths(c.book.Orphans(cmd.Context()))
			case unresolved:
				err = show(c.placed(cmd.Context())(c.book.Unresolved(cmd.Context(), path)))
			case outgoing:
				err = show(c.book.Outgoing(cmd.Context(), path))
			default:
				err = show(c.placed(cmd.Context())(c.book.Backlinks(cmd.Context(), path)))
			}
			return c.run(render.Reading, path, err)
		})
	cmd.Flags().BoolVar(&outgoing, "outgoing", false, "links of the note")
	cmd.Flags().BoolVar(&unresolved, "unresolved", false, "links that lead nowhere")
	cmd.Flags().BoolVar(&orphans, "orphans", false, "notes without links to them")
	cmd.MarkFlagsMutuallyExclusive("outgoing", "unresolved", "orphans")
	c.commonFlags(cmd.Flags())
	return cmd
}

// placed adds the source lines to the links it is given.
func (c *noteChanger) placed(ctx context.Context) func([]notebook.Link, error) ([]notebook.Link, error) {
	return func(links []notebook.Link, err error) ([]notebook.Link, error) {
		if err == nil {
			err = c.book.Place(ctx, links)
		}
		return links, err
	}
}

// showLinks prints each link on a line: its position, then its target if targets is set, else its
// source line.
func (c *noteChanger) showLinks(targets bool) func([]notebook.Link, error) error {
	return showList(c, "no links", func(l notebook.Link) string {
		text := l.Text
		if targets {
			text = l.Link + " → " + l.Target
		}
		return fmt.Sprintf("%s:%d:%s", l.Source, l.Line, text)
	})
}
