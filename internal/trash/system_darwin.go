package trash

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"

	"quarry/fault"
	"quarry/internal/rootfs"
)

const systemSupported = true

// systemDestinations yields ~/.Trash. The Finder stores its records elsewhere, so users
// can find our items there, but we find them only by id.
func (b *Bin) systemDestinations(rootfs.Path) iter.Seq2[*can, error] {
	return func(yield func(*can, error) bool) {
		c, err := b.homeCan(true)
		if err == nil {
			c.mayCopy = b.opts.CopyHome
		}
		yield(c, err)
	}
}

func (b *Bin) systemExisting(yield func(*can, error) bool) {
	if b.opts.DataDir != "" {
		yield(b.homeCan(false))
	}
}

// errClosed means that macOS denies this program access to ~/.Trash, whatever its mode.
var errClosed = fault.New(fault.InvalidArgument, "macOS keeps ~/.Trash closed to this program",
	"give your terminal or editor Full Disk Access (System Settings, Privacy & Security), or use the local trash: --trash local")

// SystemClosed reports whether the system denies this program access to its trash.
func SystemClosed(dataDir string) bool {
	return dataDir != "" && closed(filepath.Join(dataDir, ".Trash"))
}

func (b *Bin) homeCan(create bool) (*can, error) {
	root, err := b.openHome(".Trash", create)
	if errors.Is(err, fs.ErrPermission) {
		return nil, errClosed
	}
	if err != nil {
		return nil, err
	}
	return &can{root: root, plain: true, shown: root.RealDir()}, nil
}
