// Package lock locks open files against other processes.
//
// The invariant: a lock belongs to an open file, doesn't restrict reading or writing, and ends when the file is
// closed, even if the process dies.
package lock
