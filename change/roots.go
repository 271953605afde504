package change

import (
	"fmt"
	"strings"

	"quarry/fault"
)

// AcrossError refuses a change that affects two roots, or two repositories. It would be
// two entries in two journals, which can't be undone together.
type AcrossError struct{ From, To string }

func (e *AcrossError) Error() string {
	return fmt.Sprintf("%q and %q are in different roots; a change stays in one", e.From, e.To)
}

// Unwrap gives the code.
func (e *AcrossError) Unwrap() error { return fault.InvalidArgument }

// Hint returns the next step.
func (e *AcrossError) Hint() string { return "make a change in each of them" }

// SameIDError refuses an id that is used in several roots.
type SameIDError struct{ IDs []string }

func (e *SameIDError) Error() string {
	return "several roots have a change of this id: " + strings.Join(e.IDs, ", ")
}

// Unwrap gives the code.
func (e *SameIDError) Unwrap() error { return fault.InvalidArgument }

// Hint returns the next step.
func (e *SameIDError) Hint() string { return "give one of them" }
