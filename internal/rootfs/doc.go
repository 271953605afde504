// Package rootfs is the sandbox: the only place that opens a user's path.
//
// A Root represents one folder. Every path a user writes goes through
// [Root.Resolve], which cleans it, follows the symlinks beneath the root and
// applies the policy to where it really leads; the result is a [Path], and a
// Path is all the opening and changing calls accept.
//
// The invariant: no call opens, lists, describes or changes an object outside the
// root or one that the policy denies, even if files are replaced by symlinks at
// the same time. Resolving and opening are two steps, so opening does not rely on
// the first. On Linux it asks the kernel (openat2) to stay beneath the root and
// to follow no symlink. If a folder of a Path became a symlink in between, the
// Path is resolved and checked again. Elsewhere os.Root does the same job, more
// slowly.
//
// A Root is safe for concurrent use. A File or a Dir belongs to one goroutine
// at a time, except that File.ReadAt may be called concurrently.
package rootfs
