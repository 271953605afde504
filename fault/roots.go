package fault

import (
	"fmt"
	"strings"
)

// RootError reports a path, a glob or an id that lacks the name of a root at its
// beginning. It occurs only with several roots.
type RootError struct {
	Path  string
	Names []string // of the existing roots
	Near  []string // existing paths that may be meant

	Outside bool // the path leads out of all roots
}

func (e *RootError) Error() string {
	return fmt.Sprintf("%q does not begin with the name of a root; the roots: %s", e.Path, strings.Join(e.Names, ", "))
}

// Unwrap returns the code: OutsideRoot for a path that leads out of all roots, else
// InvalidArgument.
func (e *RootError) Unwrap() error {
	if e.Outside {
		return OutsideRoot
	}
	return InvalidArgument
}

// Hint names the paths that may be meant.
func (e *RootError) Hint() string {
	if len(e.Near) > 0 {
		return "maybe " + strings.Join(e.Near, " or ") + " is meant"
	}
	return "write " + e.Names[0] + "/… for a path in " + e.Names[0]
}
