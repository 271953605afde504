// Package toolset provides Quarry's tools for a language model: to search, read and change files of
// a workspace.
//
// They are the tools of "quarry mcp", for Go programs that talk to a model themselves. The program
// passes each tool's Definition to the model (name, description, input_schema), and the model's
// calls to Registry.Call; examples/agent is such a program. The workspace and the options determine
// what a tool may do. No call can extend that.
//
// A server with several connections gives the context of each call its connection and client, with
// tool.WithSession and tool.WithClient: undo_change without an id then undoes the last change of
// that connection, and the undo log names the client.
//
// A registry is safe for concurrent use and can be used while its workspace is open.
package toolset

import (
	"cmp"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// Options select the tools; nil means all tools of the profile quarry.
type Options struct {
	// Profile is one of Profiles; "" means quarry.
	Profile string
	// Tools names the tools to use from the profile; empty means all.
	Tools []string
	// ReadOnly omits all tools that change files.
	ReadOnly bool
	// MaxBytes limits the text of an answer; 0 means 60 KB. A shortened answer says so and names
	// the call that returns the rest.
	MaxBytes int
	// Zone is the time zone of dates; nil means the system's.
	Zone *time.Location
}

// New returns a registry of the tools for a workspace. If ws is nil, the tools can be described but
// not called.
func New(ws *quarry.Workspace, opts *Options) (*tool.Registry, error) {
	opts = cmp.Or(opts, &Options{})
	return profile.New(ws, &profile.Options{
		Profile: opts.Profile, Tools: opts.Tools, ReadOnly: opts.ReadOnly,
		Budget: opts.MaxBytes, Zone: opts.Zone,
	})
}

// Profiles returns the names of the profiles, the default first. docs/PROFILES.md lists their
// tools.
func Profiles() []string { return profile.Names() }
