package quarry

import "quarry/internal/rootfs"

// Layered puts a layer before the system's calls of a workspace that options
// open: those in its folder, its state and its proposals.
func Layered(o *Options, l *rootfs.Layer) { o.layer = l }
