package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/search"
)

// Guard is a backend that may be closed at any time. Close ends the contexts of
// all calls in progress. A call that Close has met gives rootfs.ErrClosed, even
// if it has an answer: the answer may be a part of the whole. The exception is a
// change that was made.
type Guard struct {
	Backend

	mu     sync.Mutex
	closed bool
	calls  map[*context.CancelFunc]bool // those in progress; nil before the first
}

// NewGuard guards a backend.
func NewGuard(b Backend) *Guard { return &Guard{Backend: b} }

// Close ends the calls in progress and closes the backend.
func (g *Guard) Close() error {
	g.mu.Lock()
	g.closed = true
	for cancel := range g.calls {
		(*cancel)()
	}
	g.mu.Unlock()
	return g.Backend.Close()
}

// enter begins a call: it returns a context that ends with Close.
func (g *Guard) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, rootfs.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	if g.calls == nil {
		g.calls = map[*context.CancelFunc]bool{}
	}
	g.calls[&cancel] = true
	return ctx, func() {
		g.mu.Lock()
		delete(g.calls, &cancel)
		g.mu.Unlock()
		cancel()
	}, nil
}

// met is the error of a call that has ended with err: that the workspace was
// closed meanwhile, and err, unless Close caused it.
func (g *Guard) met(err error) error {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if !closed || errors.Is(err, rootfs.ErrClosed) {
		return err
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return rootfs.ErrClosed
	}
	return fmt.Errorf("%w: %w", rootfs.ErrClosed, err)
}

// answer runs a call that changes nothing.
func answer[T any](ctx context.Context, g *Guard, call func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return none, err
	}
	defer leave()
	out, err := call(ctx)
	if err = g.met(err); err != nil {
		return none, err
	}
	return out, nil
}

// changing runs a call that changes files. If it succeeds, it has.
func changing[T any](ctx context.Context, g *Guard, call func(context.Context) (T, error)) (out T, err error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	if out, err = call(ctx); err != nil {
		err = g.met(err)
	}
	return out, err
}

func (g *Guard) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.Summary, error) { return g.Backend.SearchEach(ctx, q, yield) })
}

func (g *Guard) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.FindResult, error) { return g.Backend.Find(ctx, q) })
}

func (g *Guard) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.CodeResult, error) { return g.Backend.SearchCode(ctx, q) })
}

func (g *Guard) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.Summary, error) { return g.Backend.EachText(ctx, q, look, yield) })
}

func (g *Guard) Stat(ctx context.Context, path string) (*search.Info, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.Info, error) { return g.Backend.Stat(ctx, path) })
}

func (g *Guard) Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error) {
	return answer(ctx, g, func(ctx context.Context) (*search.Text, error) { return g.Backend.Read(ctx, path, opts) })
}

func (g *Guard) ReadBytes(ctx context.Context, path string, max int64) ([]byte, error) {
	return answer(ctx, g, func(ctx context.Context) ([]byte, error) { return g.Backend.ReadBytes(ctx, path, max) })
}

func (g *Guard) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	return changing(ctx, g, func(ctx context.Context) (*change.Change, error) { return g.Backend.Apply(ctx, set) })
}

func (g *Guard) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return answer(ctx, g, func(ctx context.Context) (*change.Change, error) { return g.Backend.Plan(ctx, set) })
}

func (g *Guard) Undo(ctx context.Context, id string, o change.Options) (*change.Change, error) {
	return changing(ctx, g, func(ctx context.Context) (*change.Change, error) { return g.Backend.Undo(ctx, id, o) })
}

func (g *Guard) Diff(id string) (*change.Change, error) {
	return answer(context.Background(), g, func(context.Context) (*change.Change, error) { return g.Backend.Diff(id) })
}

func (g *Guard) Log(limit int) (*change.Log, error) {
	return answer(context.Background(), g, func(context.Context) (*change.Log, error) { return g.Backend.Log(limit) })
}

func (g *Guard) Trashed() (items []change.Trashed, problems []string, err error) {
	items, err = answer(context.Background(), g, func(context.Context) (list []change.Trashed, err error) {
		list, problems, err = g.Backend.Trashed()
		return list, err
	})
	return items, problems, err
}

func (g *Guard) Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error) {
	return changing(ctx, g, func(ctx context.Context) (*change.Change, error) { return g.Backend.Restore(ctx, what, to, o) })
}

func (g *Guard) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	return changing(ctx, g, func(ctx context.Context) (int, error) { return g.Backend.EmptyTrash(ctx, before) })
}

func (g *Guard) Clean(ctx context.Context) (*change.Cleaned, error) {
	return changing(ctx, g, func(ctx context.Context) (*change.Cleaned, error) { return g.Backend.Clean(ctx) })
}

// Index is the guarded index.
func (g *Guard) Index() Index { return &guardedIndex{g, g.Backend.Index()} }

type guardedIndex struct {
	g *Guard
	Index
}

func (x *guardedIndex) Status(ctx context.Context) (*search.IndexStatus, error) {
	return answer(ctx, x.g, func(ctx context.Context) (*search.IndexStatus, error) { return x.Index.Status(ctx) })
}

func (x *guardedIndex) Wait(ctx context.Context) error {
	return x.g.wait(ctx, x.Index.Wait)
}

func (x *guardedIndex) Follow(ctx context.Context, report func(search.Progress)) error {
	return x.g.wait(ctx, func(ctx context.Context) error { return x.Index.Follow(ctx, report) })
}

func (g *Guard) wait(ctx context.Context, call func(context.Context) error) error {
	_, err := answer(ctx, g, func(ctx context.Context) (bool, error) { return true, call(ctx) })
	return err
}

func (x *guardedIndex) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	return answer(ctx, x.g, func(ctx context.Context) (*search.Verification, error) { return x.Index.Verify(ctx, fault, progress) })
}

// VaultFile is that of a backend that may be a vault; any other has none.
func (g *Guard) VaultFile(name string) ([]byte, error) {
	return answer(context.Background(), g, func(context.Context) ([]byte, error) {
		if v, ok := g.Backend.(Vault); ok {
			return v.VaultFile(name)
		}
		return nil, nil
	})
}

// IsVault reports whether the backend is a vault.
func (g *Guard) IsVault() bool {
	v, ok := g.Backend.(Vault)
	return ok && v.IsVault()
}
