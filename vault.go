package quarry

import (
	"context"
	"strings"
)

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

// IsVault reports whether the workspace is an Obsidian vault: it has a folder .obsidian
// at its top.
func (w *Workspace) IsVault() bool { return w.IsVaultAt("") }

// IsVaultAt reports whether a folder of the workspace has a folder .obsidian. Markdown
// links of files outside any vault are paths, never names.
func (w *Workspace) IsVaultAt(folder string) bool {
	if w.vault != nil {
		return w.vault.IsVault(folder)
	}
	for _, r := range w.roots {
		if rest, ok := strings.CutPrefix(folder+"/", r.Name+"/"); ok && r.Workspace != w {
			return r.Workspace.IsVaultAt(strings.TrimSuffix(rest, "/"))
		}
	}
	return false
}
