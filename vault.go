package quarry

import "context"

// VaultFile reads a file of settings below the folder .obsidian of the root:
// app.json. A missing file is empty; all other files there are protected.
func (w *Workspace) VaultFile(ctx context.Context, name string) ([]byte, error) {
	return answer(ctx, w, func(context.Context) ([]byte, error) {
		if w.vault == nil {
			return nil, nil
		}
		return w.vault.File(name)
	})
}

// IsVault reports whether the workspace is an Obsidian vault: it has a folder .obsidian
// at its top.
func (w *Workspace) IsVault() bool { return w.vault != nil && w.vault.IsVault() }
