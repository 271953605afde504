package agents

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/clients"
	"quarry/internal/config"
	"quarry/internal/profile"
)

// guides are texts that tell an agent when to use which tool: one file for each selectable profile,
// and a skill for use in a shell. A test checks that the tools they name exist.
//
//go:embed guides/*.md
var guides embed.FS

func guide(name string) string {
	text, err := guides.ReadFile("guides/" + name + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// NewAgentsMD returns the command "quarry agents-md".
func NewAgentsMD(s env.Streams) *cobra.Command {
	a := &agent{s: s}
	cmd := command.New("agents-md", "Print lines for AGENTS.md or CLAUDE.md",
		`Print what a coding agent should know about the tools of quarry mcp: which one
is for what. Put it into the file that your agent reads first. Without --profile it is
about the tools that quarry mcp install would give a client of this folder.`,
		`  quarry agents-md >> AGENTS.md
  quarry agents-md --profile quarry >> CLAUDE.md`,
		command.Args(0, 0), func(cmd *cobra.Command, _ []string) error {
			text, err := a.agentsText(cmd)
			if err != nil {
				return err
			}
			return s.Print(text)
		})
	cmd.Flags().StringVar(&a.profile, "profile", "", "`profile` of the tools that the lines are about")
	return cmd
}

func (a *agent) agentsText(cmd *cobra.Command) (string, error) {
	if a.profile == "" {
		here, err := env.Here()
		if err != nil {
			return "", err
		}
		root := config.FindRoot(here)
		f := installFlags{mcpFlags: mcpFlags{agent: *a}}
		if a.profile, err = f.proposedProfile(a.s, &target{project: root}, cmd.Flags()); err != nil {
			return "", err
		}
		if a.profile == "" { // quarry.toml may set the profile
			file, err := a.s.File()
			if err != nil {
				return "", err
			}
			set, err := file.Get(a.s.Env(), root, "mcp.profile")
			if err != nil {
				return "", err
			}
			a.profile = set.Text
		}
	}
	tools, err := a.registry(nil)
	if err != nil {
		return "", err
	}
	if text := guide(a.profile); text != "" {
		return text, nil
	}
	return "## Searching and changing files\n\n" + profile.Instructions(a.profile, tools, nil, false) + "\n", nil
}

// skillFiles maps each client to the file where it looks for a skill. The path is relative to the
// project, or with --scope user to the user's home.
var skillFiles = map[string]string{"claude-code": ".claude/skills/quarry/SKILL.md", "codex": ".codex/skills/quarry/SKILL.md", "gemini": ".gemini/skills/quarry/SKILL.md"}

// NewSkill returns the command "quarry skill".
func NewSkill(s env.Streams) *cobra.Command {
	var client, scope string
	write := false
	cmd := command.New("skill", "Print a skill that teaches agents this command",
		`Print a SKILL.md for agents that work at the shell: what to use when, examples and
undo. It costs a model a line until it is needed, and no definitions of tools. With
--client and --write it is put where that client looks for skills.`,
		`  quarry skill
  quarry skill --client claude-code --write
  quarry skill --client codex --scope user --write`,
		command.Args(0, 0), func(*cobra.Command, []string) error {
			text := guide("skill")
			if client == "" && !write {
				return s.Print(text)
			}
			name, known := skillFiles[client]
			if !known {
				return fmt.Errorf("--client %q: one of %s", client, strings.Join(clients.HookClients, ", "))
			}
			here, err := env.Here()
			if err != nil {
				return err
			}
			top := config.FindRoot(here)
			switch scope {
			case "project":
			case "user":
				if top, err = os.UserHomeDir(); err != nil {
					return err
				}
			default:
				return fmt.Errorf("--scope %q: user or project", scope)
			}
			file, err := (&target{project: top}).inside(name)
			if err != nil {
				return err
			}
			return installSkill(s, file, text, write)
		})
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&client, "client", "", "the `client`: "+strings.Join(clients.HookClients, ", "))
	fl.StringVar(&scope, "scope", "project", "skills of this `scope`: user or project")
	fl.BoolVar(&write, "write", false, "write the file; otherwise it is only named")
	return cmd
}

func installSkill(s env.Streams, file, text string, write bool) error {
	old, err := clients.ReadSettings(file)
	switch {
	case err != nil:
		return err
	case string(old) == text:
		s.Say("%s has it already.\n", file)
		return nil
	case old != nil && !bytes.HasPrefix(old, []byte("---\nname: quarry\n")):
		return fmt.Errorf("%s is another skill; it is left as it is", file)
	case !write:
		s.Say("The skill would go into %s; --write puts it there.\n", file)
		return nil
	}
	return writeClient(s, file, old, []byte(text), "Wrote "+file+".", "")
}

// NewRank returns the command "quarry rank".
func NewRank(s env.Streams) *cobra.Command {
	return asking(s, "rank WORDS...", "Rank code by relevance to words", `Rank definitions and passages by relevance to words or identifiers, best first, as the tool
search_code of the profile code does: for questions such as where something is done. Paths begin at the top of the workspace.`,
		"  quarry rank retry after a lost connection\n  quarry rank parse config --path internal --budget 500",
		"search_code", func(words []string) map[string]any { return map[string]any{"query": strings.Join(words, " ")} })
}

// NewRefs returns the command "quarry refs".
func NewRefs(s env.Streams) *cobra.Command {
	return asking(s, "refs NAME...", "Show a definition and every use of its name", `Show where a name is defined and every use of it in code, by the function it is in; comments
and strings are only counted. It is the tool find_symbol of the profile code. Paths begin at the top of the workspace.`,
		"  quarry refs Open\n  quarry refs Store.Open --path internal",
		"find_symbol", func(names []string) map[string]any { return map[string]any{"names": names, "references": true} })
}

// asking makes a command that calls the tool name of the profile code and prints the result.
func asking(s env.Streams, use, short, long, example, name string, args func([]string) map[string]any) *cobra.Command {
	a := &agent{s: s, profile: "code", readOnly: true, asked: true}
	path, budget := "", 0
	cmd := command.New(use, short, long, example, command.Args(1, math.MaxInt), func(cmd *cobra.Command, words []string) error {
		in := args(words)
		if path != "" {
			in["path"] = path
		}
		if budget > 0 {
			in["budget"] = budget
		}
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		return a.answer(cmd, name, raw)
	})
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&path, "path", "", "only below this `folder` of the workspace")
	fl.IntVar(&budget, "budget", 0, "about so many `tokens`, of four bytes")
	command.AddTexts(fl, &a.roots, "root", "", "workspace `folder` (default: found from here)")
	return cmd
}
