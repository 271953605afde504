package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/render"
	"quarry/tool"
)

// agent is how a workspace is opened for an agent: inside the sandbox, under
// the policy, with the tools of a profile.
type agent struct {
	changer
	profile  string
	tools    []string
	readOnly bool
	noIndex  bool
	allow    []string
	deny     []string
	force    bool
}

// toolFlags choose the tools.
func (a *agent) toolFlags(fl *pflag.FlagSet) {
	fl.SortFlags = false
	fl.StringVar(&a.profile, "profile", profile.Names()[0], "set of tools: "+strings.Join(profile.Names(), ", "))
	fl.StringSliceVar(&a.tools, "tools", nil, "only these tools of the profile")
	fl.BoolVar(&a.readOnly, "read-only", false, "no tools that change files")
}

// policyFlags say what the tools may touch.
func (a *agent) policyFlags(fl *pflag.FlagSet) {
	fl.StringArrayVar(&a.allow, "allow", nil, "let the tools use files that match a glob though they look like secrets")
	fl.StringArrayVar(&a.deny, "deny", nil, "keep the tools from files that match a glob")
	fl.StringVar(&a.trash, "trash", "", "where deleted files go: system, local or none (default: as the vault says)")
	fl.BoolVar(&a.force, "force", false, "use even the home folder or /")
	fl.BoolVar(&a.noIndex, "no-index", false, "use no index; search_by_path of the profile smcp says so")
}

// registry makes the tools; without a workspace they can only be described.
func (a *agent) registry(ws *quarry.Workspace) (*tool.Registry, error) {
	return profile.New(ws, &profile.Options{Profile: a.profile, Tools: a.tools, ReadOnly: a.readOnly, NoIndex: a.noIndex})
}

// openAgent opens the workspace as an agent sees it.
func (a *agent) openAgent() error {
	root, err := a.findRoot()
	if err != nil {
		return err
	}
	opts := personal(root, 0)
	opts.Trusted, opts.AllowAny = false, a.force
	opts.Allow, opts.Deny, opts.ReadOnly = a.allow, a.deny, a.readOnly
	opts.TrashDir, opts.Trash = a.trashDir(), quarry.TrashKind(a.trash)
	if opts.StateDir, err = a.stateDir(root); err != nil {
		return err
	}
	if !a.noIndex {
		asking(root, opts)
	}
	a.ws, err = quarry.Open(root, opts)
	return err
}

func newTools(s Streams) *cobra.Command {
	a := &agent{changer: changer{s: s}}
	cmd := command("tools", "List the tools agents get",
		`List the tools of a profile as an agent sees them: over MCP, through quarry call,
or embedded in a Go program.`,
		`  quarry tools
  quarry tools --profile vault
  quarry tools --json`,
		cobra.NoArgs, func(*cobra.Command, []string) error {
			r, err := a.registry(nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.encode(profile.Definitions(r))
			}
			return a.print(toolList(r))
		})
	a.toolFlags(cmd.Flags())
	cmd.Flags().BoolVar(&a.json, "json", false, "write the definitions as JSON")
	return cmd
}

// toolList describes tools for people.
func toolList(r *tool.Registry) string {
	var b strings.Builder
	for i, t := range r.Tools() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", t.Name, t.Description)
		for _, p := range t.Params {
			name := p.Name
			if p.Required {
				name += " (required)"
			}
			fmt.Fprintf(&b, "    %-20s %s\n", name, p.Description)
		}
	}
	return b.String()
}

func newCall(s Streams) *cobra.Command {
	a := &agent{changer: changer{s: s}}
	cmd := command("call TOOL [JSON]", "Call a tool as an agent would",
		`Call one tool with JSON arguments, as an agent would, under the same policy. The
answer's text goes to standard output. The exit code is 1 when the answer is an
error. "-" reads the arguments from standard input.`,
		`  quarry call search_files '{"regex": "TODO", "path": "src"}'
  quarry call read_file '{"path": "README.md"}' --json
  quarry call search_files '{"pattern": "TODO"}' --profile vault`,
		cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error {
			err := a.call(cmd, args)
			if a.ws != nil {
				a.ws.Close()
			}
			return err
		})
	a.toolFlags(cmd.Flags())
	a.policyFlags(cmd.Flags())
	a.commonFlags(cmd.Flags())
	return cmd
}

func (a *agent) call(cmd *cobra.Command, args []string) error {
	raw := json.RawMessage("{}")
	if len(args) > 1 {
		raw = json.RawMessage(args[1])
	}
	if string(raw) == "-" {
		data, err := io.ReadAll(a.s.In)
		if err != nil {
			return err
		}
		raw = data
	}
	if err := a.openAgent(); err != nil {
		return fmt.Errorf("%s", render.Error(render.Reading, a.root, err))
	}
	r, err := a.registry(a.ws)
	if err != nil {
		return err
	}
	if a.json {
		raw = withTexts(r.Lookup(args[0]), raw)
	}
	res, err := r.Call(cmd.Context(), args[0], raw)
	if err != nil {
		return err
	}
	if a.json {
		err = a.encode(res.Structured)
	} else {
		err = a.print(strings.TrimSuffix(res.Text, "\n") + "\n")
	}
	if err == nil && res.IsError {
		return errNone
	}
	return err
}

// withTexts asks for the texts of an answer in its structured form, where the
// tool leaves them out by default.
func withTexts(t *tool.Tool, raw json.RawMessage) json.RawMessage {
	var args map[string]json.RawMessage
	if t == nil || json.Unmarshal(raw, &args) != nil || args["format"] != nil {
		return raw
	}
	for _, p := range t.Params {
		if p.Name != "format" {
			continue
		}
		if args == nil {
			args = map[string]json.RawMessage{}
		}
		args["format"] = json.RawMessage(`"json"`)
		if b, err := json.Marshal(args); err == nil {
			return b
		}
	}
	return raw
}
