package vault

import (
	"log/slog"
	"slices"

	"quarry/internal/rootfs"
)

// Load reads the settings of the vault at a root; nil if the root is not a
// vault. Settings that can't be parsed are the defaults, with an entry in log.
func Load(root *rootfs.Root, log *slog.Logger) (*Settings, error) {
	dir, err := root.OpenDir(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// The policy forbids to stat it, but the listing shows that it exists.
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
