package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/fault"
	"quarry/internal/cli/agents"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/doctor"
	"quarry/internal/render"
)

// examining holds the flags and findings of one run of quarry doctor.
type examining struct {
	changer
	clean bool
	proc  string
	least int64
}

func newDoctor(s env.Streams) *cobra.Command {
	x := &examining{changer: changer{s: s}}
	cmd := command.New("doctor", "Find what is wrong, and how to repair it",
		`Look at the workspace and at what Quarry keeps about it: configuration,
permissions, file system, watch limits, index, undo log, trash, and the settings
of clients that start quarry mcp. Each finding says why it matters and how to
repair it. Nothing is changed, unless --clean asks for it.

Exit code 0 when all is well, 1 when something was found, 2 for an error.`,
		`  quarry doctor
  quarry doctor ~/notes --json
  quarry doctor --clean    remove what crashed processes left behind`,
		command.Args(0, 0), func(cmd *cobra.Command, _ []string) error {
			return x.examine(cmd.Context())
		})
	x.commonFlags(cmd.Flags())
	cmd.Flags().BoolVar(&x.clean, "clean", false, "remove temporary files of processes that are gone, and settle\nthe changes they left half-way")
	cmd.Flags().StringVar(&x.proc, "proc", "", "")
	cmd.Flags().Int64Var(&x.least, "least-free", 0, "")
	for _, name := range []string{"proc", "least-free"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// doctorOptions returns the settings with which this program's commands open a workspace.
func doctorOptions(s env.Streams, root string) *doctor.Options {
	return &doctor.Options{
		Root: root, Getenv: s.Env(), Config: s.File,
		Open:  func() (*quarry.Workspace, error) { return quarry.Open(root, env.Personal(root, 0)) },
		Index: func() (*quarry.IndexOptions, error) { return env.IndexPlace(root) },
		ServerFlags: func(args []string) error {
			cmd, _, err := newRoot(env.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Conf: &env.Settings{}}, "mcp").Find([]string{"mcp"})
			if err != nil {
				return err
			}
			return cmd.ParseFlags(args)
		},
		HasBrowser: func() bool { return agents.HasBrowser(s.Env()) },
		PageRuns:   agents.PageRuns,
		Program:    env.ThisProgram(),
		Version:    env.Version(),
		Proc:       "/proc", LeastFree: 256 << 20,
	}
}

func (x *examining) examine(ctx context.Context) error {
	root, err := env.FindRoot(x.root)
	if err != nil {
		return err
	}
	if x.clean {
		return x.cleanUp(ctx, root)
	}
	opts := doctorOptions(x.s, root)
	if x.proc != "" {
		opts.Proc = x.proc
	}
	if x.least != 0 {
		opts.LeastFree = x.least
	}
	results, err := doctor.Examine(ctx, opts)
	if err != nil {
		return err
	}
	return x.show(root, results)
}

func (x *examining) show(root string, results []doctor.Result) error {
	problems, names, findings := 0, []string{}, []doctor.Finding{}
	for _, r := range results {
		names = append(names, r.Check)
		for _, f := range r.Findings {
			findings = append(findings, f)
			if !f.Note {
				problems++
			}
		}
	}
	if x.json {
		if err := printing.WriteJSON(x.s.Out, map[string]any{"root": root, "checks": names, "findings": findings}); err != nil {
			return err
		}
	} else {
		paint := x.s.Paint()
		text := x.text(findings)
		if problems == 0 {
			text += fmt.Sprintf("%s with %s.\n%s", paint.In(printing.Good, "All is well"), x.s.Safe(root), printing.Wrap("Looked at: "+strings.Join(names, ", ")+".", ""))
		} else {
			text += fmt.Sprintf("%s in %s.\n", paint.In(printing.Alert, fault.Count(problems, "problem")), x.s.Safe(root))
		}
		if err := x.s.Write(text); err != nil {
			return err
		}
	}
	if problems > 0 {
		return env.ErrNone
	}
	return nil
}

func (x *examining) text(findings []doctor.Finding) string {
	var b strings.Builder
	paint := x.s.Paint()
	// part writes a text whose first word is coloured.
	part := func(code, word, text, indent string) {
		text = x.s.Safe(printing.Wrap(word+" "+text, indent))
		b.WriteString(indent + paint.In(code, word) + strings.TrimPrefix(text, indent+word))
	}
	for _, f := range findings {
		if f.Note {
			part(printing.Bold, "Note:", f.What, "")
		} else {
			part(printing.Alert, "Problem:", f.What, "")
		}
		b.WriteString(x.s.Safe(printing.Wrap(f.Why, "  ")))
		if f.Fix != "" {
			part(printing.Bold, "Fix:", f.Fix, "  ")
		}
		for _, r := range f.Run {
			b.WriteString("    " + paint.In(printing.Good, x.s.Safe(r)) + "\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cleanUp removes files left by processes that have ended.
func (x *examining) cleanUp(ctx context.Context, root string) error {
	err := x.openAt(root)
	if err != nil {
		return x.run(render.Writing, root, err)
	}
	done, err := x.ws.Clean(ctx)
	if err == nil {
		if x.json {
			err = x.s.Encode(done)
		} else {
			err = x.s.Print(fmt.Sprintf("Removed %s, gave %s their old content, kept %s of others under a visible name.\n",
				fault.Count(done.Removed, "temporary file"), fault.Count(len(done.Restored), "file"), fault.Count(len(done.Kept), "file")))
		}
	}
	return x.changer.run(render.Writing, root, err)
}
