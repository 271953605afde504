// Package lock locks open files against other processes.
//
// The invariant: a lock belongs to the open file it was taken with, doesn't restrict reading or writing, and
// ends when that file is closed, even if the process dies.
package lock
