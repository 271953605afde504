package quarry

import "quarry/internal/rootfs"

// Layered puts a layer above the system calls of a workspace opened with the options: those
// in its folder, its state and its proposals.
func Layered(o *Options, l *rootfs.Layer) { o.layer = l }
