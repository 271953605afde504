package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/rename"
	"quarry/internal/render"
)

type renameFlags struct {
	setter
	doubtful, decided, comments bool
}

func newRename(s env.Streams) *cobra.Command {
	f := &renameFlags{setter: setter{changer: changer{s: s}}}
	cmd := command.New("rename OLD NEW", "Rename a definition and its uses, as one change",
		`Rename a function, type, method, field or constant where it is defined and
used: Open, Store.Open, or store.go#Store.Open where several have the name.
Names are compared as tokens, by the table of definitions; in Go by the types of
the module too. Places where these don't tell whether it is this definition are
doubtful: they are listed and nothing is changed, until --doubtful renames them
too or --doubtful=false leaves them. A Go doc comment that begins with the name
changes with it; strings never change.`,
		`  quarry rename Store.Open Begin --dry-run
  quarry rename store.go#Open Begin --comments`,
		command.Args(2, 2), func(cmd *cobra.Command, args []string) error {
			f.decided = cmd.Flags().Changed("doubtful")
			return f.run(cmd.Context(), args)
		})
	fl := cmd.Flags()
	fl.BoolVar(&f.doubtful, "doubtful", false, "doubtful places too; =false leaves them")
	fl.BoolVar(&f.comments, "comments", false, "the name in all comments")
	f.setFlags(fl)
	return cmd
}

func (f *renameFlags) run(ctx context.Context, args []string) error {
	if err := f.open(); err != nil {
		return err
	}
	q := rename.Query{Old: args[0], New: args[1], Doubtful: f.doubtful, Sure: f.decided && !f.doubtful, Comments: f.comments}
	p := f.s.Progress(f.quiet, "searching")
	plan, err := rename.Find(ctx, f.ws, q)
	p.End()
	const decide = "look at them; --doubtful renames them too, --doubtful=false leaves them"
	if err == nil && !f.dryRun {
		err = plan.Undecided(&q, 20, decide)
	}
	if err != nil {
		return f.changer.run(render.Editing, "", err)
	}
	if !f.quiet {
		fmt.Fprintf(f.s.Err, "quarry: %s\n", plan.Text(&q, 20))
	}
	set := plan.Set(f.ws, q, decide)
	f.again = set.Again
	return f.apply(ctx, "rename", set.Ops, set.Summary)
}
