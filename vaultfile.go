package quarry

import (
	"context"

	"quarry/internal/backend"
)

// VaultFile reads a file of settings below the folder .obsidian of the root:
// app.json, daily-notes.json or the data of the plugin Periodic Notes. One that
// is missing is empty; any other is protected.
func (w *Workspace) VaultFile(_ context.Context, name string) ([]byte, error) {
	if v, ok := w.b.(backend.Vault); ok {
		return v.VaultFile(name)
	}
	return nil, nil
}

// IsVault reports whether the workspace is an Obsidian vault: it has a folder
// .obsidian at its top.
func (w *Workspace) IsVault() bool {
	v, ok := w.b.(backend.Vault)
	return ok && v.IsVault()
}
