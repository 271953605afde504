package vaultdir

import (
	"errors"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
)

// IsVault reports a folder .obsidian at the top.
func (d *Dir) IsVault() bool {
	s, err := d.settings()
	return err == nil && s != nil
}

// File reads a file of settings below .obsidian; one that is missing is empty.
func (d *Dir) File(name string) ([]byte, error) {
	data, err := d.root.ReadSystem(rootfs.Path{}, ".obsidian/"+name)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	return data, err
}

// Trash is where the vault's settings put deleted files; "" if the folder is not
// a vault.
func (d *Dir) Trash() (change.TrashKind, error) {
	s, err := d.settings()
	if s == nil {
		return "", err
	}
	return change.TrashKind(s.TrashOption), err
}

// settings reads the settings of the vault; nil if the folder is not a vault.
// Settings that can't be parsed are the defaults, with an entry in the log.
func (d *Dir) settings() (*vault.Settings, error) {
	// The policy forbids to stat it, but the listing shows that it exists.
	entries, err := d.root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	isVault := func(e rootfs.Entry) bool { return e.Name == ".obsidian" && e.Type == rootfs.TypeDir }
	if !slices.ContainsFunc(entries, isVault) {
		return nil, nil
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
