package quarry

import "quarry/internal/rootfs"

// Layered sets the layer for the system calls of a workspace: those in its folder, its state folder
// and its proposals.
func Layered(o *Options, l *rootfs.Layer) { o.layer = l }
