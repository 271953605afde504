// Package outside is for files outside of any root: settings, rules and
// credentials that a person names or that have a fixed place, and Quarry's own
// state folders.
//
// The invariant: only a regular file of at most the given size is read, and no call waits
// for a FIFO or opens a device. A file or folder counts as ours only if no other user can
// have created or replaced it.
package outside
