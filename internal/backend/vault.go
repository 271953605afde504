package backend

import (
	"errors"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
)

// Vault is a backend that may be an Obsidian vault: a folder.
type Vault interface {
	// IsVault reports a folder .obsidian at the top.
	IsVault() bool
	// VaultFile reads a file of settings in it; one that is missing is empty.
	VaultFile(name string) ([]byte, error)
}

// IsVault reports a folder .obsidian at the top.
func (f *Folder) IsVault() bool {
	s, err := vault.Load(f.Root, f.Logger)
	return err == nil && s != nil
}

// VaultFile reads a file of settings below .obsidian.
func (f *Folder) VaultFile(name string) ([]byte, error) {
	data, err := f.Root.ReadSystem(rootfs.Path{}, ".obsidian/"+name)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	return data, err
}
