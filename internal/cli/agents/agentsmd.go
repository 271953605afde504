package agents

import (
	_ "embed"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
)

// agentsText tells an agent when to use which tool. The skill of the plugin in
// packaging/plugin has the same text; a test compares them.
//
//go:embed agents.md
var agentsText string

// NewAgentsMD makes quarry agents-md.
func NewAgentsMD(s env.Streams) *cobra.Command {
	return command.New("agents-md", "Print lines for AGENTS.md or CLAUDE.md",
		`Print what a coding agent should know about the tools of quarry mcp: which one
is for what. Put it into the file that your agent reads first.`,
		`  quarry agents-md >> AGENTS.md
  quarry agents-md >> CLAUDE.md`,
		command.Args(0, 0), func(*cobra.Command, []string) error { return s.Print(agentsText) })
}
