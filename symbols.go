package quarry

import (
	"context"

	"quarry/internal/lookup"
	"quarry/search"
)

// Symbols returns definitions of functions, types, methods and the like, either by name or all
// those in given files. Their lines and texts are from the current files.
func (w *Workspace) Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.SymbolResult, error) {
		r, err := w.b.Symbols(ctx, q)
		if err == nil && q.Name != "" {
			err = lookup.Describe(ctx, w.b, q.Text, r)
		}
		return r, err
	})
}
