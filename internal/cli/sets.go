package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/patch"
	"quarry/internal/render"
	"quarry/internal/replacer"
	"quarry/match"
)

// setter is the changer of commands that apply several operations as one change.
type setter struct {
	changer
	summary string
	again   func(context.Context) (change.Set, error) // see change.Set
}

func (c *setter) setFlags(fl *pflag.FlagSet) {
	fl.StringVarP(&c.summary, "message", "m", "", "one `line` for quarry log")
	c.patientFlags(fl)
	c.flags(fl, false)
}

// apply applies the operations, or plans them in a dry run, and reports each file.
func (c *setter) apply(ctx context.Context, tool string, ops []change.Op, summary string) error {
	if c.summary != "" {
		summary = c.summary
	}
	if err := c.mayApply(ops); err != nil {
		return c.run(render.Editing, "", err)
	}
	set := change.Set{Ops: ops, Summary: summary, Tool: tool}
	if c.again != nil {
		set.Again = func(ctx context.Context) (change.Set, error) {
			set, err := c.again(ctx)
			if err == nil {
				err = c.mayApply(set.Ops)
			}
			set.Summary = cmp.Or(c.summary, set.Summary)
			return set, err
		}
	}
	do := c.ws.Apply
	if c.dryRun {
		do = c.ws.Plan
	}
	p := c.s.Progress(c.quiet, "changing files")
	ch, err := do(p.Watch(ctx), set)
	p.End()
	if err == nil {
		err = c.tell(ch, "Dry run, nothing was changed. ", []string{render.Set(ch)})
	}
	return c.run(render.Editing, "", setProblem(err))
}

// mayApply refuses to change Git's own files: the paths may come from a patch, unseen by the user.
func (c *setter) mayApply(ops []change.Op) error {
	for i := range ops {
		link := ops[i].Verb == change.MovePath || ops[i].Verb == change.DeletePath
		for _, path := range []string{ops[i].Path, ops[i].To} {
			real, err := realEntry(filepath.Join(c.ws.Dir(), filepath.FromSlash(path)))
			if err != nil {
				continue // invalid; the workspace reports it
			}
			if err := c.mayTouch(path, c.ws.Dir(), real, link); err != nil {
				return err
			}
		}
	}
	return nil
}

// setProblem formats an error that lists all impossible operations, each with its hint.
func setProblem(err error) error {
	var set *change.SetError
	if !errors.As(err, &set) {
		return err
	}
	text := fmt.Sprintf("%d of %s can't be made, so nothing was changed", len(set.Failed), fault.Count(set.Total, "change"))
	for i, f := range set.Failed {
		if i == change.MaxListed {
			text += fmt.Sprintf("\nand %d more", len(set.Failed)-i)
			break
		}
		why := render.Error(render.Editing, f.Path, f.Err)
		if !strings.HasPrefix(why, render.Quote(f.Path)) {
			why = render.Plain(f.Path) + ": " + why
		}
		text += "\n" + why
		if hint := fault.HintOf(f.Err); hint != "" {
			text += "\n  " + strings.ReplaceAll(strings.TrimRight(hint, "\n"), "\n", "\n  ")
		}
	}
	return fault.New(fault.CodeOf(set), text, "")
}

func newPatch(s env.Streams) *cobra.Command {
	c := &setter{changer: changer{s: s}}
	strip := -1
	cmd := command.New("patch [FILE]", "Apply a patch: all of it or nothing",
		`Apply a patch from a file, or from standard input, as one change: Codex's
envelope (*** Begin Patch), a unified diff or a git diff. Its paths are those of
the workspace. A hunk is applied where its context stands exactly; if that is in
several places, its line number or @@ anchor must decide, else the patch is
refused and every place is listed. Line endings and encodings of files stay.`,
		`  git diff main | quarry patch
  quarry patch fix.diff --dry-run`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			text, err := c.patchText(cmd.Context(), args)
			if err != nil {
				return err
			}
			ops, err := patch.Parse(text, strip)
			for i := range ops {
				for j := range ops[i].Edits {
					ops[i].Edits[j].Lenient = true
				}
			}
			if err == nil {
				err = c.open()
			}
			if err != nil {
				return c.run(render.Editing, "", err)
			}
			return c.apply(cmd.Context(), "patch", ops, "")
		})
	cmd.Flags().IntVarP(&strip, "strip", "p", -1, "take `n` names off paths (default: git's a/ and b/)")
	c.setFlags(cmd.Flags())
	return cmd
}

func (c *setter) patchText(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 || args[0] == "-" {
		return c.text(ctx, "-")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return "", env.PathErrorNear(args[0], err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), err
}

type replaceFlags struct {
	setter
	fixed, literal, ignoreCase, multiline, word bool
	structure                                   bool
	hole                                        string
	globs                                       []string
	also, by                                    []string // further patterns and their replacements
	expect                                      int
}

// replaceError is an error of quarry replace. It marks the command's errors, because the command
// has only some of the flags that search's hints suggest.
type replaceError struct{ error }

func (e *replaceError) Unwrap() error { return e.error }

func newReplace(s env.Streams) *cobra.Command {
	f := &replaceFlags{setter: setter{changer: changer{s: s}}}
	cmd := command.New("replace PATTERN TEXT [PATH...]", "Replace every match in files, as one change",
		`Replace every match of a regular expression in all text files below the paths,
or of the workspace, as one change. In TEXT $1, ${1} and ${name} are groups, $$
is a dollar sign; with -F both are literal, with --literal TEXT is. Further
patterns come with --also and --by; each is of the files as they were, and two
that match the same text are refused. A pattern that ends with \n takes the
ending of its line with it, whichever it is; with an empty TEXT it deletes. With
--structure both are code with holes (quarry help structure); places where
tokens can't tell what is right are left alone and counted. So are files that
git ignores, hidden and binary ones.`,
		`  quarry replace 'fooBar' fooBaz
  quarry replace '(\w+)Error' 'Err$1' src --glob '*.go' --dry-run
  quarry replace -F 'a.b()' 'b.a()' --expect 3
  quarry replace 'NewFoo\b' NewBar --also '\bFoo\b' --by Bar
  quarry replace --structure 'foo($A, $B)' 'bar($B, $A)' --dry-run`,
		command.Args(2, command.Any), func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("expect") && f.expect < 1 {
				return fmt.Errorf("--expect %d: it takes a number of matches, 1 or more", f.expect)
			}
			if len(f.also) != len(f.by) {
				return fmt.Errorf("--also is given %s and --by %s: each further pattern needs its text", fault.Count(len(f.also), "time"), fault.Count(len(f.by), "time"))
			}
			return f.run(cmd.Context(), args)
		})
	fl := cmd.Flags()
	fl.BoolVarP(&f.fixed, "fixed-strings", "F", false, "PATTERN and TEXT are literal")
	command.AddTexts(fl, &f.also, "also", "", "replace this `pattern` too, in the same change")
	command.AddTexts(fl, &f.by, "by", "", "the `text` that replaces the pattern of --also")
	fl.BoolVar(&f.literal, "literal", false, "TEXT is literal: $1 and \\1 mean themselves")
	addStructure(fl, &f.structure, &f.hole)
	fl.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "match any case")
	fl.BoolVarP(&f.multiline, "multiline", "U", false, "match across lines")
	fl.BoolVarP(&f.word, "word-regexp", "w", false, "match whole words")
	command.AddTexts(fl, &f.globs, "glob", "g", "only files this `glob` matches; ! excludes")
	fl.IntVar(&f.expect, "expect", 0, "refuse unless there are `n` matches")
	f.setFlags(fl)
	return cmd
}

func (f *replaceFlags) run(ctx context.Context, args []string) error {
	q := replacer.Query{Replacement: args[1], Literal: f.fixed || f.literal, Expected: f.expect}
	q.Pattern, q.Globs, q.Match.WholeWord = args[0], f.globs, f.word
	if f.fixed {
		q.Match.Syntax = match.Literal
	}
	if f.ignoreCase {
		q.Match.Case = match.Insensitive
	}
	if f.multiline {
		q.Match.Mode = match.Multiline
	}
	if f.structure {
		if f.fixed || f.literal || f.ignoreCase || f.word {
			return errors.New("--structure takes code with holes: -F, --literal, -i and -w have no effect there")
		}
		q.Structure, q.Hole, q.Pattern = args[0], f.hole, ""
		if len(f.also) > 0 {
			return errors.New("--also can't be used together with --structure")
		}
	}
	var err error
	if q.Paths, err = f.openAll(args[2:]); err == nil && len(args) == 2 {
		err = f.open()
	}
	if err != nil {
		return err
	}
	p := f.s.Progress(f.quiet, "searching")
	list := []replacer.Query{q}
	for i := range f.also {
		one := q
		one.Pattern, one.Replacement = f.also[i], f.by[i]
		list = append(list, one)
	}
	found, err := replacer.FindAll(ctx, f.ws, list)
	p.End()
	if errors.Is(err, replacer.ErrNone) {
		if !f.quiet { // report even in a pipe, because the caller asked for a change
			fmt.Fprintln(f.s.Err, "quarry: nothing matches, so nothing was changed")
		}
		return errors.Join(f.ws.Close(), env.ErrNone)
	}
	if err != nil {
		return f.changer.run(render.Editing, "", &replaceError{err})
	}
	if refused := replacer.RefusedText(found.Refused, found.Places); refused != "" {
		fmt.Fprintf(f.s.Err, "quarry: %s\n", refused)
	}
	more := ""
	if len(f.also) > 0 {
		more = fmt.Sprintf(", and %d more", len(f.also))
	}
	for i, n := range found.Each {
		if n == 0 {
			fmt.Fprintf(f.s.Err, "quarry: nothing matches %s\n", render.Quote(list[i].Pattern))
		}
	}
	summary := func(found *replacer.Found) string {
		return fmt.Sprintf("replaced %s by %s%s: %s in %s", render.Quote(args[0]), render.Quote(q.Replacement), more,
			fault.Count(found.Matches, "match", "matches"), fault.Count(len(found.Ops), "file"))
	}
	f.again = func(ctx context.Context) (set change.Set, err error) {
		if found, err = replacer.FindAll(ctx, f.ws, list); err == nil {
			set = change.Set{Ops: found.Ops, Summary: summary(found)}
		}
		return set, err
	}
	return f.apply(ctx, "replace", found.Ops, summary(found))
}
