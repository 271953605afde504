package vault

import (
	"log/slog"
	"slices"

	"quarry/internal/rootfs"
)

// Load reads the settings of the vault that a root is; nil if it is none.
// Settings that can't be parsed are the defaults, and log hears of it.
func Load(root *rootfs.Root, log *slog.Logger) (*Settings, error) {
	dir, err := root.OpenDir(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// The policy lets nobody stat it; that it is there the listing tells.
	entries, err := dir.Read(nil)
	if err != nil {
		return nil, err
	}
	isVault := func(e rootfs.Entry) bool { return e.Name == ".obsidian" && e.Type == rootfs.TypeDir }
	if !slices.ContainsFunc(entries, isVault) {
		return nil, nil
	}
	data, err := root.ReadSystem(rootfs.Path{}, ".obsidian/app.json")
	if err != nil && rootfs.KindOf(err) != rootfs.NotFound {
		return nil, err
	}
	s, err := ParseSettings(data, nil)
	if err != nil {
		log.Warn("settings of the vault", "err", err)
	}
	return &s, nil
}
