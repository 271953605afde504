package quarry

import (
	"context"

	"quarry/internal/lookup"
	"quarry/search"
)

// Symbols finds definitions of functions, types, methods and the like by name,
// or lists those of files. Files are read as they are now.
func (w *Workspace) Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.SymbolResult, error) { return lookup.Symbols(ctx, w.b, q) })
}
