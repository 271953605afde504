package quarry

import "context"

// VaultFile reads a settings file in the folder .obsidian of the root. Only app.json is allowed,
// because all other files there are protected. A missing file is read as empty.
func (w *Workspace) VaultFile(ctx context.Context, name string) ([]byte, error) {
	return answer(ctx, w, func(context.Context) ([]byte, error) {
		if w.vault == nil {
			return nil, nil
		}
		return w.vault.File(name)
	})
}

// IsVault reports whether the workspace is an Obsidian vault, that is, has a folder .obsidian in
// its root.
func (w *Workspace) IsVault() bool { return w.vault != nil && w.vault.IsVault() }
