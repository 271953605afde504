package trash

import (
	"errors"
	"iter"
	"path/filepath"

	"quarry/internal/rootfs"
)

const systemSupported = true

// systemDestinations is ~/.Trash. Finder keeps its own records elsewhere, so
// what we put there is found by people, and by us through its id only.
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

var errNoHome = errors.New("no home trash is set up")

func (b *Bin) homeCan(create bool) (*can, error) {
	if b.opts.DataDir == "" {
		return nil, errNoHome
	}
	dir := filepath.Join(b.opts.DataDir, ".Trash")
	open := b.openDir
	if create {
		open = b.makeDir
	}
	root, err := open(dir)
	if isNotExist(err) {
		return nil, rootfs.NotFound
	}
	if err != nil {
		return nil, err
	}
	return &can{root: root, plain: true, shown: root.RealDir()}, nil
}
