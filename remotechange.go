package quarry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"quarry/change"
	"quarry/internal/rootfs"
)

// Changes are made in a checkout's folder and kept in its own journal. What is
// on servers alone is never changed.

// apply makes a set of changes in the checkout its paths lie in.
func (r *remote) apply(ctx context.Context, set change.Set, do func(*Workspace, context.Context, change.Set) (*Change, error)) (*Change, error) {
	var in *checkout
	inside := func(path string) (string, error) {
		c, rel, err := r.checkoutFor(ctx, path)
		if err == nil && in != nil && c != in {
			err = &rootfs.Error{Op: "change", Path: path, Kind: rootfs.InvalidArgument, Err: errTwoCheckouts}
		}
		in = c
		return rel, err
	}
	set.Ops = slices.Clone(set.Ops)
	for i := range set.Ops {
		op := &set.Ops[i]
		var err error
		if op.Path, err = inside(op.Path); err == nil && op.Verb == change.MovePath {
			op.To, err = inside(op.To)
		}
		if err != nil {
			return nil, err
		}
	}
	if in == nil {
		return nil, ErrRemoteOnly // a digest alone names no checkout
	}
	out, err := do(in.ws, ctx, set)
	return in.changed(out), in.located(err)
}

// checkoutFor finds the checkout that a path to be changed lies in.
func (r *remote) checkoutFor(ctx context.Context, given string) (*checkout, string, error) {
	repo, rel, err := r.ToChange(ctx, given)
	if err != nil {
		return nil, "", err
	}
	c := r.checkout(repo)
	if c == nil {
		return nil, "", fmt.Errorf("change %s: %w", rootfs.Printable(given), ErrRemoteOnly)
	}
	if rel == "" {
		return nil, "", &rootfs.Error{Op: "change", Path: given, Kind: rootfs.InvalidArgument, Err: errCheckoutTop}
	}
	return c, rel, nil
}

var errCheckoutTop = errors.New("the checkout of a repository itself can't be changed")

var errTwoCheckouts = errors.New("nothing is moved from one repository to another, and a set of changes stays in one; write the new file and delete the old one")

// changed is a change as the workspace tells of it.
func (c *checkout) changed(out *Change) *Change { return out.Under(c.repo, ":") }

// byID makes a change that is named by the id of an earlier one; "" is the
// newest of all checkouts that was not taken back.
func (w *Workspace) byID(ctx context.Context, id string, change func(ws *Workspace, id string) (*Change, error)) (*Change, error) {
	if id == "" {
		log, err := w.elsewhere.changes(ctx, 0)
		if err != nil {
			return nil, err
		}
		for _, c := range log.Changes {
			if c.UndoneBy == "" && c.Undoes == "" && !c.Pending {
				id = c.ID
				break
			}
		}
	}
	i := strings.LastIndexByte(id, ':')
	c := w.elsewhere.checkout(id[:max(i, 0)])
	if c == nil || i == len(id)-1 {
		return nil, fmt.Errorf("%w: %q; an id here is REPOSITORY:ID", ErrBadID, id)
	}
	out, err := change(c.ws, id[i+1:])
	return c.changed(out), c.located(err)
}

// changes joins the journals of the checkouts, newest first.
func (r *remote) changes(ctx context.Context, limit int) (*ChangeLog, error) {
	out := &ChangeLog{Changes: []Change{}}
	if len(r.checkouts) == 0 {
		return nil, ErrRemoteOnly
	}
	for _, c := range r.checkouts {
		log, err := c.ws.Changes(ctx, limit)
		if err != nil {
			return nil, err
		}
		for i := range log.Changes {
			out.Changes = append(out.Changes, *c.changed(&log.Changes[i]))
		}
		out.Dropped += log.Dropped
		out.Damaged += log.Damaged
		out.Lost += log.Lost
		if log.DroppedTo.After(out.DroppedTo) {
			out.DroppedTo = log.DroppedTo
		}
	}
	sort.SliceStable(out.Changes, func(i, j int) bool { return out.Changes[i].Time.After(out.Changes[j].Time) })
	if limit > 0 && len(out.Changes) > limit {
		out.Changes = out.Changes[:limit]
	}
	return out, nil
}
