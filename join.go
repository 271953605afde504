package quarry

import (
	"fmt"

	"quarry/fault"
	"quarry/internal/backend"
)

// Root is one of several joined workspaces, with its name.
type Root struct {
	Name      string
	Workspace *Workspace
}

// Join combines several workspaces in one. Every path then begins with the name of a root, for
// example app/src/main.go. A single root is returned unchanged, and its paths begin with no name.
//
// A search without a path covers all roots in the given order; its limits, offset and totals apply
// to all roots together. Results are ordered by path, root after root, or by number of matches;
// over several roots any other Query.Order is refused. Depth is counted from above the roots. A
// change affects one root, whose name begins the change's id. Closing the combined workspace closes
// the roots.
func Join(roots ...Root) (*Workspace, error) {
	for _, r := range roots {
		if r.Workspace == nil {
			return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("root %q has no workspace", r.Name), "")
		}
	}
	if len(roots) == 1 {
		return roots[0].Workspace, nil
	}
	parts := make([]backend.Part, len(roots))
	for i, r := range roots {
		parts[i] = backend.Part{Name: r.Name, Backend: r.Workspace.b}
	}
	b, err := backend.Join(parts...)
	if err != nil {
		return nil, err
	}
	return &Workspace{b: b, roots: append([]Root(nil), roots...)}, nil
}

// Roots returns the roots passed to Join. For any other workspace it returns the workspace itself
// without a name.
func (w *Workspace) Roots() []Root { return append([]Root(nil), w.roots...) }
