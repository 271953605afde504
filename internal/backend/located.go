package backend

import (
	"errors"

	"quarry/change"
	"quarry/fault"
)

// located is an error of one part. errors.As finds copies of the errors in it, in which
// paths begin with the part's name.
type located struct {
	part *Part
	err  error
}

func (p *Part) located(err error) error {
	if err == nil {
		return nil
	}
	return &located{p, err}
}

func (e *located) Error() string {
	if _, bare := e.err.(*fault.PathError); bare {
		var path *fault.PathError
		e.As(&path)
		return path.Error()
	}
	return e.err.Error()
}

// Unwrap returns the part's own error.
func (e *located) Unwrap() error { return e.err }

// As sets target to a copy of a matching error with the part's name in paths. The error
// itself is not modified.
func (e *located) As(target any) bool {
	switch target := target.(type) {
	case **fault.PathError:
		return asCopy(e, target, func(out *fault.PathError) {
			out.Path, out.Matches = e.part.join(out.Path), e.part.joinAll(out.Matches)
		})
	case **change.MoveError:
		return asCopy(e, target, func(out *change.MoveError) {
			out.Path, out.Err = e.part.join(out.Path), e.part.located(out.Err)
		})
	case **change.UndoError:
		return asCopy(e, target, func(out *change.UndoError) {
			out.ID = e.part.join(out.ID)
			out.Paths = append([]change.Conflict(nil), out.Paths...)
			for i := range out.Paths {
				out.Paths[i].Path = e.part.join(out.Paths[i].Path)
			}
		})
	case **change.SetError:
		return asCopy(e, target, func(out *change.SetError) {
			failed := out.Failed
			out.Failed = make([]*change.OpError, len(failed))
			for i, f := range failed {
				one := *f
				one.Path, one.Err = e.part.join(f.Path), e.part.located(f.Err)
				out.Failed[i] = &one
			}
		})
	case **change.PartialError:
		return asCopy(e, target, func(out *change.PartialError) {
			out.ID = e.part.join(out.ID)
			for _, list := range []*[]string{&out.New, &out.Old, &out.Other, &out.Unknown} {
				*list = e.part.joinAll(*list)
			}
		})
	}
	return false
}

// asCopy finds an error of the part and adds the part's name to a copy of it.
func asCopy[E any, P interface {
	*E
	error
}](e *located, target *P, name func(*E)) bool {
	var inner P
	if !errors.As(e.err, &inner) {
		return false
	}
	out := *inner
	name(&out)
	*target = &out
	return true
}
