// Package agents serves agents. It offers the tools over MCP or as single calls, serves the page
// for people, and edits the settings of clients that start the server.
//
// Opening a workspace here determines what an agent may see and change. No tool call can extend
// that.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/hook"
	"quarry/internal/cli/manual"
	"quarry/internal/clients"
	"quarry/internal/config"
	"quarry/internal/mcpserver"
	"quarry/internal/profile"
	"quarry/internal/render"
	"quarry/tool"
)

// agent opens folders for an agent, for one call or for a server. It applies the sandbox, the
// policy and the tools of a profile.
type agent struct {
	s        env.Streams
	trash    string // where deleted files are moved
	roots    []string
	profile  string
	tools    []string
	readOnly bool
	asked    bool // the caller is a person: an empty answer sets the exit code
	json     bool // print answers to a person as JSON
	data     bool // tools answer in JSON
	noIndex  bool
	allow    []string
	deny     []string
	force    bool
	review   bool     // changes wait for a person's review
	reviewed []string // if set, only changes by these clients wait for review
	noGate   bool     // no review: a person runs this process, not an agent
	stays    bool     // the process serves many calls
	secret   string   // the file with the server's own token, closed to all tools
	noLog    bool     // a root has no undo log, so nothing in it can be changed
	record   env.Recorded
}

// toolFlags adds the flags that select the tools.
func (a *agent) toolFlags(fl *pflag.FlagSet) {
	fl.StringVar(&a.profile, "profile", "", "`profile` of tools and wording: quarry (the default), code,\nnotes, vault, roo, godoctor or smcp")
	fl.StringSliceVar(&a.tools, "tools", nil, "only these `tools`, as a,b,c")
	fl.BoolVar(&a.readOnly, "read-only", false, "no tools that change files")
}

// groups returns the flags that define an agent's access, for quarry call, quarry mcp and
// quarry mcp install.
func (a *agent) groups() []command.Group {
	what, may := command.NewFlags(), command.NewFlags()
	command.AddTexts(what, &a.roots, "root", "", "workspace `folder`, or name=folder; may be given\nseveral times (default: found from here)")
	a.toolFlags(what)
	may.StringVar(&a.trash, "trash", "", "`where` deleted things go: system, local (.trash) or none;\nelse as the vault says")
	command.AddTexts(may, &a.allow, "allow", "", "show files this `glob` matches that look like secrets")
	command.AddTexts(may, &a.deny, "deny", "", "hide files this `glob` matches")
	may.BoolVar(&a.review, "review", false, "changes wait until a person decides, on the page of\nquarry ui or with quarry review")
	command.AddTexts(may, &a.reviewed, "review-client", "", "with --review: only changes of the client of this\n`name` wait")
	may.BoolVar(&a.force, "force", false, "serve even the home folder or /")
	may.BoolVar(&a.noIndex, "no-index", false, "use no index: read the files for each search")
	return []command.Group{{Title: "What is served", Flags: what}, {Title: "What it may do", Flags: may}}
}

// registry makes the tools that work on set. If set is nil, the tools can only be described.
func (a *agent) registry(set *quarry.Workspace) (*tool.Registry, error) {
	limit, err := a.searchTime()
	if err != nil {
		return nil, err
	}
	o := &profile.Options{Profile: a.profile, Tools: a.tools, ReadOnly: a.readOnly, NoIndex: a.noIndex, Structured: a.data, Time: limit}
	if set != nil && a.noLog && len(set.Roots()) == 1 {
		o.MayChange = func(context.Context) error {
			return &tool.Error{
				Code: fault.ReadOnly, Message: "Nothing can be changed here: the server has no folder that it can write its undo log to. Searching and reading work",
				Hint: "To change files, have it started with XDG_STATE_HOME set to such a folder.",
			}
		}
	} else if set != nil && a.stays {
		o.MayChange = a.clientIsHere(set, time.Now())
	}
	return profile.New(set, o)
}

// clientIsHere returns a check that refuses changes while the client works elsewhere. The client's
// hooks report when it works in another checkout of a root's repository. If no root was named, the
// client itself reports its folders.
func (a *agent) clientIsHere(set *quarry.Workspace, started time.Time) func(context.Context) error {
	found := len(a.roots) == 0
	return func(ctx context.Context) error {
		for _, r := range set.Roots() {
			dir := r.Workspace.Dir()
			if to := hook.MovedTo(a.s.Env(), dir, started); to != "" {
				return tool.Errorf(fault.Conflict, "You work in %s now, but this server changes files of %s, another checkout of the same repository. Nothing was changed. Use your own tools there, or have this server started again in it.", to, dir)
			}
			if !found {
				continue
			}
			if at := mcpserver.ClientFolders(ctx); len(at) > 0 && !worksIn(at, dir) {
				return tool.Errorf(fault.Conflict, "You work in %s, but this server changes files of %s. Nothing was changed. Have it started in that folder, or with --root.", strings.Join(at, ", "), dir)
			}
		}
		return nil
	}
}

// worksIn reports whether a client with these folders works in root: a folder contains root, or is
// inside root and not in another project there.
func worksIn(folders []string, root string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		real, err := env.RealPath(dir)
		if err != nil {
			return false
		}
		_, above := env.Below(real, root)
		return above || config.FindRoot(real) == root
	})
}

// searchTime returns the time limit of a search; 0 means the default.
func (a *agent) searchTime() (time.Duration, error) {
	file, err := a.s.File()
	if err != nil {
		return 0, err
	}
	root := ""
	if len(a.roots) == 1 {
		root = config.ExpandHome(a.roots[0], os.Getenv)
	}
	var limit time.Duration
	err = file.Duration(a.s.Env(), root, "search.time", &limit)
	return limit, err
}

func (a *agent) checkTrash() error {
	switch change.TrashKind(a.trash) {
	case "", change.TrashSystem, change.TrashLocal, change.TrashNone:
		return nil
	}
	return fmt.Errorf("--trash %q: system, local or none", a.trash)
}

// open opens the roots for an agent. keep is set for long-lived processes, which may own the index;
// others query its owner.
func (a *agent) open(keep bool, log *slog.Logger) (_ *quarry.Workspace, err error) {
	if err := a.checkTrash(); err != nil {
		return nil, err
	}
	values := a.roots
	if len(values) == 0 {
		here, err := env.Here()
		if err != nil {
			return nil, err
		}
		values = []string{config.FindRoot(here)}
	}
	named, err := parseRoots(values)
	if err != nil {
		return nil, err
	}
	var list []quarry.Root
	defer func() {
		for _, r := range list {
			if err != nil {
				err = errors.Join(err, r.Workspace.Close())
			}
		}
	}()
	for _, r := range named {
		ws, err := a.openOne(r.dir, keep, log)
		if err != nil {
			return nil, err
		}
		list = append(list, quarry.Root{Name: r.name, Workspace: ws})
	}
	return quarry.Join(list...)
}

func (a *agent) openOne(root string, keep bool, log *slog.Logger) (*quarry.Workspace, error) {
	opts := env.Personal(root, 0)
	opts.Trusted, opts.AllowAny = false, a.force
	opts.Allow, opts.Deny, opts.ReadOnly = a.allow, a.deny, a.readOnly
	opts.TrashDir, opts.Trash, opts.Logger = config.TrashHome(a.s.Env()), change.TrashKind(a.trash), log
	a.s.SectionOf(root, opts)
	opts.Closed = append(config.Own(a.s.Env()), a.secret)
	file, err := a.s.File()
	if err != nil {
		return nil, err
	}
	lifted, err := file.Get(a.s.Env(), root, "change.allow-clients")
	if err != nil {
		return nil, err
	}
	if lifted.Text != "true" {
		places, _ := clients.UserPlaces(runtime.GOOS, a.s.Env()) // without a home folder, only the project's places are protected
		opts.Guard = clients.GuardIn(root, places)
	}
	if err := a.s.Journal(root, opts); err != nil {
		return nil, err
	}
	if opts.StateDir, err = a.s.StateDir(root); err != nil {
		opts.StateDir = "" // list_changes will then report no changes
	} else if !opts.ReadOnly {
		err = env.TryWrite(filepath.Dir(opts.StateDir))
	}
	if err != nil && !opts.ReadOnly {
		a.noLog, opts.ReadOnly = true, true
		log.Warn("nothing can be changed: set XDG_STATE_HOME to a folder that can be written to", "error", err)
	}
	if err := a.gate(root, opts); err != nil {
		return nil, err
	}
	if without, _ := a.s.ForRoot(root, "mcp.no-index"); !a.noIndex && without.Text != "true" {
		place, err := env.IndexPlace(root)
		if err == nil {
			err = a.s.IndexCap(root, place)
		}
		if err == nil && keep {
			err = config.MakeIndexDir(place)
		}
		if err != nil {
			log.Warn("no place for an index: searches read the files", "error", err)
		} else {
			place.Ask = !keep || env.TryWrite(place.Dir) != nil // ask another process, which may own the index even if this one can't write it
			opts.Index = place
		}
	}
	if !a.noLog {
		if err := a.s.Record(root, a.record, a.noGate || clients.Hooked(root, a.s.Env()), opts); err != nil {
			return nil, err
		}
	}
	return quarry.Open(root, opts)
}

// NewTools returns the command "quarry tools".
func NewTools(s env.Streams) *cobra.Command {
	a := &agent{s: s}
	tokens := false
	cmd := command.New("tools", "List the tools agents get",
		`List the tools of a profile as an agent sees them: over MCP, through quarry
call, or embedded in a Go program.`,
		`  quarry tools
  quarry tools --profile notes
  quarry tools --json
  quarry tools --tokens`,
		command.Args(0, 0), func(*cobra.Command, []string) error {
			r, err := a.registry(nil)
			if err != nil {
				return err
			}
			switch {
			case tokens:
				return a.tokens(r)
			case a.json:
				return a.s.Encode(profile.Definitions(r, a.data || profile.InJSON(a.profile)))
			}
			return a.s.Print(toolList(r))
		})
	cmd.Flags().SortFlags = false
	a.toolFlags(cmd.Flags())
	cmd.Flags().BoolVar(&a.json, "json", false, "write the definitions as JSON")
	cmd.Flags().BoolVar(&a.data, "structured", false, "with what the tools answer, as quarry mcp --structured\nserves them")
	cmd.Flags().BoolVar(&tokens, "tokens", false, "estimate what the definitions take of a model's memory")
	return cmd
}

// tokens prints the number of tokens of each tool definition, and their sum.
func (a *agent) tokens(r *tool.Registry) error {
	each, total, err := profile.Costs(r, a.data || profile.InJSON(a.profile))
	if err != nil {
		return err
	}
	if a.json {
		return a.s.Encode(map[string]any{"tools": each, "total": total})
	}
	var b strings.Builder
	for _, c := range each {
		fmt.Fprintf(&b, "%5d  %s\n", c.Tokens, c.Tool)
	}
	fmt.Fprintf(&b, "%5d  all, at 4 bytes a token\n", total)
	return a.s.Print(b.String())
}

// toolList formats the list of tools for people.
func toolList(r *tool.Registry) string {
	var b strings.Builder
	for i, t := range r.Tools() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", t.Name, t.Description)
		for _, p := range t.Params {
			if p.Unlisted {
				continue
			}
			name := p.Name
			if p.Required {
				name += " (required)"
			}
			fmt.Fprintf(&b, "    %-20s %s\n", name, p.Description)
		}
	}
	return b.String()
}

// NewCall returns the command "quarry call".
func NewCall(s env.Streams) *cobra.Command {
	a := &agent{s: s}
	cmd := command.New("call TOOL [JSON]", "Call a tool as an agent would",
		`Call one tool with JSON arguments, as an agent would, under the same policy. The
answer's text goes to standard output. The exit code is 1 when the answer is an
error. "-" reads the arguments from standard input.`,
		`  quarry call search_files '{"regex": "TODO", "path": "src"}'
  quarry call read_file '{"path": "README.md"}' --json
  quarry call search_files '{"pattern": "TODO"}' --profile code`,
		command.Args(1, 2), func(cmd *cobra.Command, args []string) error {
			return a.call(cmd, args)
		})
	cmd.DisableFlagsInUseLine = true
	out := command.NewFlags()
	out.BoolVar(&a.json, "json", false, "write the result as JSON")
	manual.SetGroups(cmd, append(a.groups(), command.Group{Title: "Other", Flags: out}))
	return cmd
}

func (a *agent) call(cmd *cobra.Command, args []string) error {
	raw := json.RawMessage("{}")
	if len(args) > 1 {
		raw = json.RawMessage(args[1])
	}
	if string(raw) == "-" {
		data, err := io.ReadAll(env.InputOf(cmd.Context(), a.s.In))
		if err != nil {
			return err
		}
		raw = data
	}
	return a.answer(cmd, args[0], raw)
}

// answer calls a tool and prints the result.
func (a *agent) answer(cmd *cobra.Command, name string, raw json.RawMessage) error {
	set, err := a.open(false, slog.New(slog.DiscardHandler))
	if err != nil {
		return fmt.Errorf("%s", render.Error(render.Reading, strings.Join(a.roots, ", "), err))
	}
	defer set.Close()
	r, err := a.registry(set)
	if err != nil {
		return err
	}
	res, err := r.Call(cmd.Context(), name, raw)
	if unknown := (*tool.UnknownError)(nil); errors.As(err, &unknown) && unknown.Near == "" {
		return fmt.Errorf("%w; quarry tools lists those of a profile", err)
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.s.Encode(res.Structured)
	} else {
		err = a.s.Print(strings.TrimSuffix(res.Text, "\n") + "\n")
	}
	if err == nil && (res.IsError || a.asked && foundNone(res)) {
		return env.ErrNone
	}
	return err
}

// foundNone reports whether an answer contains no definitions, references or passages.
func foundNone(res *tool.Result) bool {
	var found struct{ Symbols, References, Results []json.RawMessage }
	data, err := json.Marshal(res.Structured)
	return err == nil && json.Unmarshal(data, &found) == nil && len(found.Symbols)+len(found.References)+len(found.Results) == 0
}
