// Package rootfs is the sandbox: the only place that opens a user's path.
//
// A Root stands for one folder. Every path a user writes goes through
// [Root.Resolve], which cleans it, follows the symlinks beneath the root and
// applies the policy to where it really leads; the result is a [Path], and a
// Path is all the opening and changing calls accept.
//
// The invariant: whatever is swapped underneath while we work, no call opens,
// lists, stats for a caller or changes an object outside the root, nor one the
// policy denies. Resolving and opening are two steps, so opening does not trust
// the first: on Linux it asks the kernel (openat2) to stay beneath the root and
// to follow no symlink at all, and a Path whose folder became a symlink in
// between is resolved and judged again. Elsewhere os.Root does the same job,
// more slowly.
//
// A Root is safe for concurrent use. A File or a Dir belongs to one goroutine
// at a time, except that File.ReadAt may be called concurrently.
package rootfs
