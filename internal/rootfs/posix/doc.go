// Package posix opens and changes files on os.Root: on macOS, on the BSDs, and on
// Linux in tests of what those systems do.
//
// The invariant: a symlink is never followed. os.Root follows symlinks that stay inside, so an opened file is
// compared with the entry of that name, and a difference is file.ErrSwapped. Callers must pass names without
// separators.
package posix
