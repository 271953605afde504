// Package mounts finds the mounts below a folder, and the volume whose top a folder is.
//
// The invariant: a mount or an unmount below a root that returned before
// [Mounts.Poll] was called is reported by it, once. Systems without a list of mounts
// report nothing, and their folders are swept.
package mounts
