// Package toolset gives a model the tools of Quarry: searching, reading and changing the
// files of a workspace.
//
// They are the tools of "quarry mcp", for a Go program that talks to a model itself. The
// program passes each tool's Definition to the model (name, description, input_schema) and
// the model's calls to Registry.Call; examples/agent is such a program. The workspace and the
// options decide what a tool may do; no call can extend it.
//
// A registry is safe for concurrent use and works while its workspace is open.
package toolset

import (
	"cmp"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// Options select the tools; nil means every tool of the profile quarry.
type Options struct {
	// Profile is one of Profiles; "" means quarry.
	Profile string
	// Tools restricts the profile to these; empty means all.
	Tools []string
	// ReadOnly omits every tool that changes files.
	ReadOnly bool
	// MaxBytes limits the text of an answer; 0 means 60 KB. A cut answer says so and names
	// the call that continues it.
	MaxBytes int
	// Zone is the time zone of dates; nil means the system's.
	Zone *time.Location
}

// New makes the tools of a workspace. Without one (nil) they can be described but not
// called.
func New(ws *quarry.Workspace, opts *Options) (*tool.Registry, error) {
	opts = cmp.Or(opts, &Options{})
	return profile.New(ws, &profile.Options{
		Profile: opts.Profile, Tools: opts.Tools, ReadOnly: opts.ReadOnly,
		Budget: opts.MaxBytes, Zone: opts.Zone,
	})
}

// Profiles lists the profiles, the default first. docs/PROFILES.md has their tools.
func Profiles() []string { return profile.Names() }
