// Package rootfs is the sandbox: the only place that opens a user's path.
//
// A Root represents one folder. Every path a user writes goes through
// [Root.Resolve], which cleans it, follows the symlinks beneath the root and
// applies the policy to the target. The result is a [Path], the only kind of path
// that the calls for opening and changing accept.
//
// The invariant: no call opens, lists, describes or changes an object outside the
// root or one that the policy denies, even if files are replaced by symlinks at
// the same time. Paths may change after they are resolved, so opening checks
// again. On Linux it asks the kernel (openat2) to stay beneath the root and
// to follow no symlink. If a folder of a Path became a symlink in between, the
// Path is resolved and checked again. Other systems use os.Root, which is slower,
// or native calls (Windows).
//
// A Root is safe for concurrent use. A File or a Dir belongs to one goroutine
// at a time, except that File.ReadAt may be called concurrently.
package rootfs
