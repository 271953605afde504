package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/clients"
)

func newServe(s env.Streams) *cobra.Command {
	var f indexFlags
	var idle time.Duration
	var record env.Recorded
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep an index up to date and answer searches from it",
		Long: `Keep the index of a workspace up to date and answer quarry search and quarry
find from it, until nobody has asked anything for the time --idle says.`,
		Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return f.serve(c.Context(), s, idle, record) },
	}
	cmd.Flags().StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	command.AddDuration(cmd.Flags(), &idle, "idle", time.Hour, "end after this time without a question; 0 stays")
	record.Add(cmd.Flags())
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	cmd.Flags().BoolVar(&f.force, "force", false, "serve even the home folder or /")
	return cmd
}

func (f *indexFlags) serve(ctx context.Context, s env.Streams, idle time.Duration, record env.Recorded) error {
	ws, err := f.keep(s, func(root string, opts *quarry.Options) (err error) {
		if err = s.Record(root, record, clients.Hooked(root, s.Env()), opts); err == nil && opts.Index.Record != nil {
			opts.StateDir, err = s.StateDir(root)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer ws.Close()
	err = ws.Index().Wait(ctx)
	f.endProgress()
	if errors.Is(err, quarry.ErrNotOwner) {
		return errors.New("another process serves this workspace already")
	}
	if err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprintf(s.Err, "quarry: serving %s\n", ws.Dir())
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if idle > 0 && ws.Index().Idle() > idle {
				return nil
			}
		}
	}
}
