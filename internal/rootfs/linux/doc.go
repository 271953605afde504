// Package linux makes the system calls of Linux, on open folders and files.
//
// The invariant: no call follows a symlink or leaves the given folder. The methods of
// [Calls] change files; a test can observe them and make them fail. The other functions
// allocate no memory.
package linux
