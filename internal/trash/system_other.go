//go:build !unix

package trash

import (
	"iter"

	"quarry/internal/rootfs"
)

const systemSupported = false

func (b *Bin) systemDestinations(rootfs.Path) iter.Seq2[*can, error] {
	return func(yield func(*can, error) bool) { yield(nil, ErrUnsupported) }
}

func (b *Bin) systemExisting(yield func(*can, error) bool) { yield(nil, ErrUnsupported) }
