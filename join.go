package quarry

import (
	"fmt"

	"quarry/fault"
	"quarry/internal/backend"
)

// Root is one of several joined workspaces, and its name.
type Root struct {
	Name      string
	Workspace *Workspace
}

// Join makes one workspace of several. Every path in it begins with the name of a root,
// as app/src/main.go. A search without a path covers all roots in the order given; its
// limits, offset and totals apply to the whole answer. A change affects one root, and its id
// begins with that root's name. Closing the workspace closes the roots. Files are in path
// order, root after root, or ordered by their number of matches: any other Query.Order is
// refused over several roots. Depth counts from above the roots.
//
// A single root is returned unchanged: its paths need no name.
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

// Roots lists the roots passed to Join. Any other workspace is its own single root,
// without a name.
func (w *Workspace) Roots() []Root { return append([]Root(nil), w.roots...) }
