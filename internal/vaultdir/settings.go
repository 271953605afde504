package vaultdir

import (
	"cmp"
	"errors"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
)

// IsVault reports whether a folder, "" for the root, has a folder .obsidian.
func (d *Dir) IsVault(folder string) bool {
	p, err := d.root.Known(cmp.Or(folder, "."))
	if err != nil {
		return false
	}
	is, err := d.isVault(p)
	return is && err == nil
}

func (d *Dir) isVault(folder rootfs.Path) (bool, error) {
	// The policy forbids a stat of .obsidian, but the listing has it.
	entries, err := d.root.List(folder)
	return slices.ContainsFunc(entries, func(e rootfs.Entry) bool { return e.Name == ".obsidian" && e.Type == rootfs.TypeDir }), err
}

// File reads a settings file below .obsidian. A missing file is empty.
func (d *Dir) File(name string) ([]byte, error) {
	data, err := d.root.ReadSystem(rootfs.Path{}, ".obsidian/"+name)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	return data, err
}

// Trash returns the kind of trash that the vault's settings select, or "" if the folder
// is not a vault.
func (d *Dir) Trash() (change.TrashKind, error) {
	s, err := d.settings()
	if s == nil {
		return "", err
	}
	return change.TrashKind(s.TrashOption), err
}

// settings reads the settings of the vault. It returns nil if the folder is not a vault.
// Invalid settings are logged, and have their default values.
func (d *Dir) settings() (*vault.Settings, error) {
	if is, err := d.isVault(rootfs.Path{}); err != nil || !is {
		return nil, err
	}
	data, err := d.File("app.json")
	if err != nil {
		return nil, err
	}
	s, err := vault.ParseSettings(data)
	if err != nil {
		d.log.Warn("settings of the vault", "err", err)
	}
	return &s, nil
}
