// Package profile makes tools for a workspace. A tool turns its arguments into a query,
// and the query's result into text and a structured answer.
//
// A profile is a list of tools with their parameters and answers. The strict profiles
// (vault, roo, godoctor, smcp) print exactly the answers documented for those systems.
// quarry has every tool once. It prints the same bodies, followed by at most one line in
// square brackets with facts that the body lacks. The same call on the same files returns
// the same bytes: no times, and no counts that depend on how the answer was found.
package profile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/tool"
)

// Options selects the tools to make and controls their answers. nil means the profile
// quarry.
type Options struct {
	// Profile is one of Names; "" is quarry.
	Profile string
	// Tools limits the profile to these tools; none means all.
	Tools []string
	// ReadOnly removes every tool that changes files.
	ReadOnly bool

	// Structured makes the text of an answer its structured form in JSON, for clients
	// that want data. The content is the same.
	Structured bool

	// Budget limits the text of an answer in bytes; 0 means the profile's default, 60 KB
	// in quarry. read_file has a separate limit.
	Budget int
	// NoIndex reports that the owner has switched the index off or deleted it.
	// search_by_path of the profile smcp then answers INDEX_NOT_FOUND.
	NoIndex bool
	// Time limits a search; 0 means 30 seconds. A text search then returns partial
	// results and says so; other searches fail with TIMEOUT.
	Time time.Duration
	// MayChange, if set, is called before each call of a tool that can change files. An
	// error prevents the call.
	MayChange func(context.Context) error
	// Zone is the time zone of dates; nil means the system's.
	Zone *time.Location
}

const defaultTime = 30 * time.Second

// Names lists the profiles, the default first.
func Names() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

// About describes a profile in a sentence.
func About(name string) string {
	if d := dialectOf(name); d != nil {
		return d.about
	}
	return ""
}

// InJSON reports whether a profile's documents specify answers in JSON. Its tools then
// return the same object as text and as structured result, regardless of
// Options.Structured.
func InJSON(name string) bool {
	d := dialectOf(name)
	return d != nil && d.json
}

// RootNames returns the names of the joined roots of a workspace, or nil if there is one
// root.
func RootNames(ws *quarry.Workspace) []string {
	list := ws.Roots()
	if len(list) == 1 {
		return nil
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.Name
	}
	return names
}

// New makes the tools of a profile for a workspace. If ws is nil, the tools can be
// described but not called. The strict profiles require a single root, because their
// documents don't have names of roots in paths.
func New(ws *quarry.Workspace, opts *Options) (*tool.Registry, error) {
	opts = cmp.Or(opts, &Options{})
	d := dialectOf(opts.Profile)
	if d == nil {
		return nil, fmt.Errorf("unknown profile %q: %s", opts.Profile, strings.Join(Names(), ", "))
	}
	e := &env{ws: ws, d: d, o: *opts}
	if e.o.Budget <= 0 {
		e.o.Budget = d.limits.answer
	}
	if e.o.Time <= 0 {
		e.o.Time = defaultTime
	}
	if e.o.Zone == nil {
		e.o.Zone = time.Local
	}
	if ws != nil && len(RootNames(ws)) > 0 && !d.manyRoots {
		return nil, fmt.Errorf("the profile %s has one root: paths in its documents have no root names. Use the profile quarry, or a server for each root", d.name)
	}
	specs := slices.Clone(d.tools)
	for _, s := range d.asked { // only if opts.Tools names them
		if slices.Contains(e.o.Tools, s.name) {
			specs = append(specs, s)
		}
	}
	if len(d.inVault) > 0 && hasVault(ws) {
		specs = slices.Concat(specs, d.inVault)
	}
	var tools []*tool.Tool
	for i := range specs {
		s := &specs[i]
		if e.o.ReadOnly && s.reading != nil {
			s = s.reading
		}
		tools = append(tools, e.make(s))
	}
	tools, err := narrow(tools, e.o.Tools)
	if err != nil {
		return nil, err
	}
	if e.o.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t *tool.Tool) bool { return !t.Hints.ReadOnly })
	}
	for _, t := range tools {
		e.names = append(e.names, t.Name)
	}
	return tool.NewRegistry(tools...)
}

// narrow keeps the wanted tools, in the profile's order.
func narrow(tools []*tool.Tool, wanted []string) ([]*tool.Tool, error) {
	if len(wanted) == 0 {
		return tools, nil
	}
	var kept []*tool.Tool
	left := slices.Clone(wanted)
	for _, t := range tools {
		if slices.Contains(wanted, t.Name) {
			kept = append(kept, t)
			left = slices.DeleteFunc(left, func(n string) bool { return n == t.Name })
		}
	}
	if len(left) > 0 {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		return nil, fmt.Errorf("this profile has no tool %q; its tools: %s", left[0], strings.Join(names, ", "))
	}
	return kept, nil
}
