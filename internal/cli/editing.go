package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/render"
)

type editFlags struct {
	changer
	content       string
	old, new      []string
	all           bool
	nth           int
	after, before int
	lines         string
}

func newEdit(s env.Streams) *cobra.Command {
	f := &editFlags{changer: changer{s: s}}
	cmd := command.New("edit PATH...", "Change parts of files",
		`Replace text in a file, or insert and delete lines. Everything else keeps its
bytes: encoding, line endings, mode. Of several occurrences the first is
replaced unless --all or --nth say otherwise. The change can be undone with
quarry undo.

A text given as - is read from standard input, without its last line break for
--old and --new.`,
		`  quarry edit todo.md --old '[ ]' --new '[x]'
  quarry edit main.go --old 2025 --new 2026 --all
  quarry edit log.md --insert-after 0 --content '# Log'
  quarry edit notes.md --delete 5-10 --dry-run`,
		command.Args(1, command.Any), func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(f.old) > 1 {
				return editAll(cmd, f, args)
			}
			return runEdit(cmd, f, args[0])
		})
	fl := cmd.Flags()
	command.AddTexts(fl, &f.old, "old", "", "`text` to replace; with several pairs each must occur once in each file, or --all")
	command.AddTexts(fl, &f.new, "new", "", "`text` to put there; without it the old text is removed")
	fl.BoolVar(&f.all, "all", false, "replace every occurrence")
	fl.IntVar(&f.nth, "nth", 0, "replace occurrence `n`, counted from 1")
	fl.IntVar(&f.after, "insert-after", 0, "insert --content after this `line`; 0 is the top")
	fl.IntVar(&f.before, "insert-before", 0, "insert --content before this `line`")
	fl.StringVar(&f.lines, "delete", "", "delete `lines`, as 5-10 or 5")
	fl.StringVar(&f.content, "content", "", "`lines` to insert")
	f.flags(fl, true)
	return cmd
}

func runEdit(cmd *cobra.Command, f *editFlags, given string) error {
	edit, err := f.edit(cmd)
	if err != nil {
		return err
	}
	path, err := f.openFor(given)
	if err != nil {
		return err
	}
	o := f.options()
	c, err := f.ws.Edit(cmd.Context(), path, []change.Edit{edit}, &o)
	if err == nil {
		err = f.report(c, render.Edited(c), render.Remaining(c))
	}
	return f.run(render.Editing, path, err)
}

var (
	errMixed = errors.New("cannot mix search/replace with line operations: give one of --old, --insert-after, --insert-before and --delete")
	errNoNew = errors.New("--old needs --new; --new '' removes the text")
	errNoOp  = errors.New("nothing to do: give one of --old, --insert-after, --insert-before and --delete")
)

// edit makes the edit requested by the flags.
func (f *editFlags) edit(cmd *cobra.Command) (change.Edit, error) {
	given := cmd.Flags().Changed
	n := 0
	for _, name := range []string{"old", "insert-after", "insert-before", "delete"} {
		if given(name) {
			n++
		}
	}
	switch {
	case n > 1, !given("old") && (given("new") || f.all || given("nth")) && n > 0:
		return change.Edit{}, errMixed
	case n == 0:
		return change.Edit{}, errNoOp
	case given("old") && !given("new"):
		return change.Edit{}, errNoNew
	case f.all && given("nth"):
		return change.Edit{}, errors.New("give --all or --nth, not both")
	case given("nth") && f.nth < 1:
		return change.Edit{}, fmt.Errorf("--nth counts from 1, not %d", f.nth)
	case pairText(f.old) == "-" && pairText(f.new) == "-", given("content") && (given("old") || given("delete")):
		return change.Edit{}, errMixed
	}
	content, err := f.text(cmd.Context(), f.content)
	if err != nil {
		return change.Edit{}, err
	}
	switch {
	case given("delete"):
		first, last, err := lineRange(f.lines)
		return change.Edit{Verb: change.DeleteLines, First: first, Last: last}, err
	case !given("old") && !given("content"):
		return change.Edit{}, errors.New("an insertion needs --content")
	case given("insert-after"):
		return change.Edit{Verb: change.InsertAfter, First: f.after, New: content}, nil
	case given("insert-before"):
		return change.Edit{Verb: change.InsertBefore, First: f.before, New: content}, nil
	}
	return f.replacement(cmd.Context())
}

func (f *editFlags) replacement(ctx context.Context) (change.Edit, error) {
	r := change.Edit{Occurrence: max(f.nth, change.First), Lenient: true}
	if f.all {
		r.Occurrence = change.All
	}
	for _, t := range []struct {
		from string
		to   *string
	}{{pairText(f.old), &r.Old}, {pairText(f.new), &r.New}} {
		text, err := f.text(ctx, t.from)
		if err != nil {
			return change.Edit{}, err
		}
		if t.from == "-" {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
		*t.to = text
	}
	return r, nil
}

// pairText returns the value of a flag that was given at most once, although it may be repeated.
func pairText(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

var errPairs = errors.New("several edits are pairs of --old and --new, in this order")

// editAll makes the same edits in several files, as one change. A text that occurs more than once
// in a file is refused unless all occurrences are meant.
func editAll(cmd *cobra.Command, f *editFlags, paths []string) error {
	given := cmd.Flags().Changed
	if len(f.old) > 0 && len(f.new) == 0 {
		return errNoNew
	}
	if len(f.old) == 0 || len(f.new) != len(f.old) ||
		given("insert-after") || given("insert-before") || given("delete") || given("content") || given("nth") {
		return errPairs
	}
	if f.version != "" && len(paths) > 1 {
		return errors.New("--expected-version is for one file")
	}
	var edits []change.Edit
	for i, old := range f.old {
		e := change.Edit{Old: old, New: f.new[i], Lenient: true}
		if f.all {
			e.Occurrence = change.All
		}
		edits = append(edits, e)
	}
	paths, err := f.openAll(paths)
	if err != nil {
		return err
	}
	var ops []change.Op
	for _, path := range paths {
		ops = append(ops, change.Op{Verb: change.EditFile, Path: path, Edits: edits, Version: f.version})
	}
	set := &setter{changer: f.changer}
	return set.apply(cmd.Context(), "edit", ops, "")
}

// lineRange reads "5", "5-10" or "5-".
func lineRange(s string) (first, last int, err error) {
	a, b, isRange := strings.Cut(s, "-")
	if first, err = strconv.Atoi(a); err == nil {
		last = first
		if isRange {
			last = 0
			if b != "" {
				last, err = strconv.Atoi(b)
			}
		}
	}
	if err != nil || first < 1 || last < 0 || last > 0 && last < first {
		return 0, 0, fmt.Errorf("invalid line range %q: write 5, 5-10", s)
	}
	return first, last, nil
}

// pathAndDash accepts a path and, after it, an optional dash for standard input: some people write
// one by habit.
func pathAndDash(cmd *cobra.Command, args []string) error {
	if len(args) == 2 && args[1] == "-" {
		args = args[:1]
	}
	return command.Args(1, 1)(cmd, args)
}

func newWrite(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	content, empty := "-", false
	cmd := command.New("write PATH", "Write a file, new or over the old one",
		`Write content from standard input, or from --content, to a file, byte for byte.
A file that exists keeps its mode; folders that are missing are made. An empty
input is refused without --empty: often the command before it has failed.`,
		`  generate | quarry write out/report.md
  quarry write note.txt --content 'one line'`,
		pathAndDash, func(cmd *cobra.Command, args []string) error {
			text, err := c.text(cmd.Context(), content)
			if err != nil {
				return err
			}
			if text == "" && content == "-" && !empty {
				return errors.New("standard input is empty: add --empty to write an empty file")
			}
			path, err := c.openFor(args[0])
			if err != nil {
				return err
			}
			if os.IsPathSeparator(args[0][len(args[0])-1]) {
				path += "/" // a slash marks a folder, which the answer points out
			}
			o := c.options()
			ch, err := c.ws.Write(cmd.Context(), path, []byte(text), &o)
			if err == nil {
				err = c.report(ch, render.Written(ch))
			}
			return c.run(render.Writing, path, err)
		})
	cmd.Flags().StringVar(&content, "content", "-", "the `text`; - is standard input")
	cmd.Flags().BoolVar(&empty, "empty", false, "write an empty file if the input is empty")
	c.flags(cmd.Flags(), true)
	return cmd
}

func newMkdir(s env.Streams) *cobra.Command {
	c := &changer{s: s}
	cmd := command.New("mkdir PATH", "Make a folder, and those above it",
		"Make a folder and the folders above it that are missing.", "",
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			path, err := c.openFor(args[0])
			if err != nil {
				return err
			}
			o := c.options()
			ch, err := c.ws.Mkdir(cmd.Context(), path, &o)
			if err == nil {
				err = c.report(ch, render.MadeFolder(ch))
			}
			return c.run(render.MakeDir, path, err)
		})
	c.flags(cmd.Flags(), false)
	return cmd
}
