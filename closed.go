package quarry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// calls tracks the calls in progress on a workspace. Close cancels their contexts, and the calls
// then return ErrClosed. They do so even if they have an answer, because it may be incomplete. A
// completed change is the exception: it is returned.
type calls struct {
	mu      sync.Mutex
	closed  bool
	running map[*context.CancelFunc]bool // nil until the first call
}

// close cancels the calls in progress and refuses new ones.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for cancel := range c.running {
		(*cancel)()
	}
}

func (c *calls) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// enter registers a call and returns a context that close cancels. leave ends the call.
func (c *calls) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	if c.running == nil {
		c.running = map[*context.CancelFunc]bool{}
	}
	c.running[&cancel] = true
	return ctx, func() {
		c.mu.Lock()
		delete(c.running, &cancel)
		c.mu.Unlock()
		cancel()
	}, nil
}

// enter registers a call with the workspace and with every workspace joined in it. Closing any of
// them cancels the call.
func (w *Workspace) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	ctx, leave, err = w.calls.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range w.joined() {
		inner, leaveRoot, err := r.Workspace.enter(ctx)
		if err != nil {
			leave()
			return nil, nil, err
		}
		outer := leave
		ctx, leave = inner, func() { leaveRoot(); outer() }
	}
	return ctx, leave, nil
}

// joined returns the workspaces that were combined by Join.
func (w *Workspace) joined() []Root {
	if len(w.roots) == 1 {
		return nil
	}
	return w.roots
}

func (w *Workspace) isClosed() bool {
	if w.calls.isClosed() {
		return true
	}
	return slices.ContainsFunc(w.joined(), func(r Root) bool { return r.Workspace.isClosed() })
}

// outcome returns the error for a call that ended with err. If the workspace was closed meanwhile,
// that is ErrClosed, joined with err unless Close caused err.
func (w *Workspace) outcome(err error) error {
	if errors.Is(err, ErrClosed) || !w.isClosed() {
		return err
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

// answer runs call, which only reads.
func answer[T any](ctx context.Context, w *Workspace, call func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, leave, err := w.enter(ctx)
	if err != nil {
		return none, err
	}
	defer leave()
	out, err := call(ctx)
	if err = w.outcome(err); err != nil {
		return none, err
	}
	return out, nil
}

// changing runs call, which changes files. If it succeeds, its result is returned even after Close.
func changing[T any](ctx context.Context, w *Workspace, call func(context.Context) (T, error)) (out T, err error) {
	ctx, leave, err := w.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	if out, err = call(ctx); err != nil {
		err = w.outcome(err)
	}
	return out, err
}
