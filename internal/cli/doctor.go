package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/doctor"
	"quarry/internal/render"
)

// finding is something that is not as it should be, and what to do.
type finding struct {
	ID   string   `json:"id"`
	Note bool     `json:"note,omitempty"` // good to know, nothing to repair
	What string   `json:"what"`
	Why  string   `json:"why"`
	Fix  string   `json:"fix,omitempty"` // in words
	Run  []string `json:"run,omitempty"` // for a POSIX shell
}

// examining is one run of quarry doctor.
type examining struct {
	changer
	clean bool
	proc  string // where the kernel's limits are
	least int64  // bytes that should be free

	dir      string // the workspace
	findings []finding
}

// check is one thing to look at.
type check struct {
	name string
	run  func(*examining, context.Context) error
}

// checks in the order of a first day: what keeps commands from starting comes
// first.
func checks() []check {
	return []check{
		{"configuration file", (*examining).checkConfig},
		{"environment", (*examining).checkEnvironment},
		{"workspace", (*examining).checkRoot},
		{"files in it", (*examining).checkTree},
		{"ignore rules", (*examining).checkIgnore},
		{"folders of Quarry", (*examining).checkPlaces},
		{"free space", (*examining).checkRoom},
		{"undo log", (*examining).checkJournal},
		{"trash", (*examining).checkTrash},
		{"index", (*examining).checkIndexes},
		{"watch limits", (*examining).checkLimits},
		{"clients", (*examining).checkClients},
		{"page", (*examining).checkPage},
	}
}

// newExamining is an examination with the defaults of its flags.
func newExamining(s Streams) *examining {
	return &examining{changer: changer{s: s}, proc: "/proc", least: 256 << 20}
}

func newDoctor(s Streams) *cobra.Command {
	x := newExamining(s)
	cmd := command("doctor", "Find what is wrong, and how to repair it",
		`Look at the workspace and at what Quarry keeps about it: configuration,
permissions, file system, watch limits, index, undo log, trash, and the settings
of clients that start quarry mcp. Each finding says why it matters and how to
repair it. Nothing is changed, unless --clean asks for it.

Exit code 0 when all is well, 1 when something was found, 2 for an error.`,
		`  quarry doctor
  quarry doctor ~/notes --json
  quarry doctor --clean    remove what crashed processes left behind`,
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return x.examine(cmd.Context())
		})
	x.commonFlags(cmd.Flags())
	cmd.Flags().BoolVar(&x.clean, "clean", false, "remove temporary files of processes that are gone, and settle\nthe changes they left half-way")
	cmd.Flags().StringVar(&x.proc, "proc", x.proc, "")
	cmd.Flags().Int64Var(&x.least, "least-free", x.least, "")
	for _, name := range []string{"proc", "least-free"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

func (x *examining) examine(ctx context.Context) error {
	var err error
	if x.dir, err = x.findRoot(); err != nil {
		return clearPathError(orDot(x.root), err)
	}
	if x.clean {
		return x.cleanUp(ctx)
	}
	for _, c := range checks() {
		if err := c.run(x, ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if errors.Is(err, config.ErrNoHome) {
				x.homeless()
				continue
			}
			x.find(finding{ID: "check", What: fmt.Sprintf("The %s can't be checked: %v.", c.name, err), Why: "What can't be looked at may be broken."})
		}
	}
	return x.show()
}

// homeless says once what several checks find.
func (x *examining) homeless() {
	if slices.ContainsFunc(x.findings, func(f finding) bool { return f.ID == "no-home" }) {
		return
	}
	x.find(finding{
		ID: "no-home", What: "No home folder is known.",
		Why: "Settings, indexes and what changes need to be taken back are kept in it: files can't be changed, and searches have no index.",
		Fix: "Set HOME, or XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME and XDG_DATA_HOME.",
		Run: []string{`export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"`},
	})
}

func (x *examining) find(f finding) { x.findings = append(x.findings, f) }

func (x *examining) show() error {
	problems := 0
	for _, f := range x.findings {
		if !f.Note {
			problems++
		}
	}
	if x.json {
		names := make([]string, len(checks()))
		for i, c := range checks() {
			names[i] = c.name
		}
		if x.findings == nil {
			x.findings = []finding{}
		}
		if err := writeJSON(x.s.Out, map[string]any{"root": x.dir, "checks": names, "findings": x.findings}); err != nil {
			return err
		}
	} else if err := x.write(x.text(problems)); err != nil {
		return err
	}
	if problems > 0 {
		return errNone
	}
	return nil
}

func (x *examining) text(problems int) string {
	var b strings.Builder
	paint := x.s.paint()
	// part writes a text whose first word is coloured.
	part := func(code, word, text, indent string) {
		text = x.safe(printing.Wrap(word+" "+text, indent))
		b.WriteString(indent + paint.In(code, word) + strings.TrimPrefix(text, indent+word))
	}
	for _, f := range x.findings {
		if f.Note {
			part(printing.Bold, "Note:", f.What, "")
		} else {
			part(printing.Alert, "Problem:", f.What, "")
		}
		b.WriteString(x.safe(printing.Wrap(f.Why, "  ")))
		if f.Fix != "" {
			part(printing.Bold, "Fix:", f.Fix, "  ")
		}
		for _, r := range f.Run {
			b.WriteString("    " + paint.In(printing.Good, x.safe(r)) + "\n")
		}
		b.WriteByte('\n')
	}
	if problems == 0 {
		names := make([]string, len(checks()))
		for i, c := range checks() {
			names[i] = c.name
		}
		fmt.Fprintf(&b, "%s with %s.\n%s", paint.In(printing.Good, "All is well"), x.safe(x.dir), printing.Wrap("Looked at: "+strings.Join(names, ", ")+".", ""))
		return b.String()
	}
	fmt.Fprintf(&b, "%s in %s.\n", paint.In(printing.Alert, render.Count(problems, "problem")), x.safe(x.dir))
	return b.String()
}

// cleanUp removes what processes that are gone have left.
func (x *examining) cleanUp(ctx context.Context) error {
	err := x.openAt(x.dir)
	if err != nil {
		return x.run(render.Writing, x.dir, err)
	}
	done, err := x.ws.Clean(ctx)
	if err == nil {
		if x.json {
			err = x.encode(done)
		} else {
			err = x.print(fmt.Sprintf("Removed %s, gave %s their old content, kept %s of others under a visible name.\n",
				render.Count(done.Removed, "temporary file"), render.Count(len(done.Restored), "file"), render.Count(len(done.Kept), "file")))
		}
	}
	return x.changer.run(render.Writing, x.dir, err)
}

// places says where what Quarry keeps about the workspace lies.
func (x *examining) places() (doctor.Places, error) {
	p := doctor.Places{Root: x.dir}
	base, err := config.StateDir(x.s.getenv())
	if err != nil {
		return p, err
	}
	p.Journal = filepath.Join(base, config.RootID(x.dir), "journal")
	opts := &quarry.Options{}
	if err := x.s.journal(x.dir, opts); err == nil {
		p.KeepBytes = opts.KeepBytes
	}
	at, err := indexPlace(x.dir)
	if err != nil {
		return p, err
	}
	p.Indexes = append(p.Indexes, doctor.Index{Dir: at.Dir, Socket: at.Socket})
	return p, nil
}

// rootFlag names the workspace for a command that repairs something.
func (x *examining) rootFlag() string { return " --root " + printing.ShellQuote(x.dir) }

// missing reports a file that isn't there, which often is just fine.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
