package roots

import (
	"errors"

	"quarry"
)

// located is an error of one root. What it says of paths, as errors.As finds
// it, is said with the root's name.
type located struct {
	root *Root
	err  error
}

func (r *Root) located(err error) error {
	if err == nil || r.Name == "" {
		return err
	}
	return &located{r, err}
}

func (e *located) Error() string { return e.err.Error() }

// Unwrap gives the root's own error.
func (e *located) Unwrap() error { return e.err }

// As gives copies that carry the name of the root: the errors themselves are
// the workspace's.
func (e *located) As(target any) bool {
	switch target := target.(type) {
	case **quarry.PathError:
		var inner *quarry.PathError
		if !errors.As(e.err, &inner) {
			return false
		}
		out := *inner
		out.Path, out.Matches = e.root.join(inner.Path), e.root.joinAll(inner.Matches)
		*target = &out
		return true
	case **quarry.MovePathError:
		var inner *quarry.MovePathError
		if !errors.As(e.err, &inner) {
			return false
		}
		out := *inner
		out.Path, out.Err = e.root.join(inner.Path), e.root.located(inner.Err)
		*target = &out
		return true
	case **quarry.UndoConflictError:
		var inner *quarry.UndoConflictError
		if !errors.As(e.err, &inner) {
			return false
		}
		out := quarry.UndoConflictError{ID: e.root.join(inner.ID)}
		for _, p := range inner.Paths {
			p.Path = e.root.join(p.Path)
			out.Paths = append(out.Paths, p)
		}
		*target = &out
		return true
	case **quarry.PartialError:
		var inner *quarry.PartialError
		if !errors.As(e.err, &inner) {
			return false
		}
		out := *inner
		out.ID = e.root.join(inner.ID)
		*target = &out
		return true
	}
	return false
}
