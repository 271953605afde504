// Package toolset gives a model the tools of Quarry: searching, reading and
// changing the files of a workspace.
//
// They are the tools that "quarry mcp" serves, for a Go program that talks to a
// model itself. The program passes each tool's Definition on (name, description,
// input_schema) and hands the model's calls to Registry.Call; examples/agent is
// such a program. The workspace and the options decide what a tool may do; no
// call can extend it.
//
// A registry is safe for concurrent use and works as long as its workspace is
// open.
package toolset

import (
	"cmp"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// Options say which tools there are; nil is every tool of the profile quarry.
type Options struct {
	// Profile is one of Profiles; "" is quarry.
	Profile string
	// Tools narrows the profile to these; none is all of them.
	Tools []string
	// ReadOnly leaves out every tool that changes files.
	ReadOnly bool
	// MaxBytes bounds the text of an answer; 0 is 60 KB. If an answer is cut, it
	// says so and names the call that continues it.
	MaxBytes int
	// Zone is the time zone of dates; nil is the system's.
	Zone *time.Location
}

// New makes the tools of a workspace. Without one (nil) they can be described
// but not called.
func New(ws *quarry.Workspace, opts *Options) (*tool.Registry, error) {
	opts = cmp.Or(opts, &Options{})
	return profile.New(ws, &profile.Options{
		Profile: opts.Profile, Tools: opts.Tools, ReadOnly: opts.ReadOnly,
		Budget: opts.MaxBytes, Zone: opts.Zone,
	})
}

// Profiles lists the profiles, the default first. docs/PROFILES.md has their
// tools.
func Profiles() []string { return profile.Names() }
