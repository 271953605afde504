package quarry

import (
	"context"

	"quarry/internal/backend"
	"quarry/internal/review"
)

// VaultFile reads a file of settings below the folder .obsidian of the root:
// app.json, daily-notes.json or the data of the plugin Periodic Notes. A missing
// file is empty; all other files there are protected.
func (w *Workspace) VaultFile(_ context.Context, name string) ([]byte, error) {
	if v := w.vault(); v != nil {
		return v.VaultFile(name)
	}
	return nil, nil
}

// IsVault reports whether the workspace is an Obsidian vault: it has a folder
// .obsidian at its top.
func (w *Workspace) IsVault() bool {
	v := w.vault()
	return v != nil && v.IsVault()
}

// vault returns the backend if it can be a vault, also behind a review gate.
func (w *Workspace) vault() backend.Vault {
	b := w.b
	if gate, ok := b.(*review.Gate); ok {
		b = gate.Backend
	}
	v, _ := b.(backend.Vault)
	return v
}
