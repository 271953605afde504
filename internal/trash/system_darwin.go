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

// systemDestinations yields ~/.Trash. Finder keeps its own records elsewhere, so people can
// find our items, but we find them only by id.
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

// errClosed is for a ~/.Trash that macOS closes to a program without the permission: opening
// it fails, whatever its mode.
var errClosed = fault.New(fault.InvalidArgument, "macOS keeps ~/.Trash closed to this program",
	"give your terminal or editor Full Disk Access (System Settings, Privacy & Security), or use the local trash: --trash local")

// SystemClosed reports whether the system keeps its trash closed to this program.
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
