// Package linux makes the system calls of Linux, on open folders and files.
//
// The invariant: no call follows a symlink, and none leaves the folder it is given.
// [Calls] are those that change something: each can be made to fail by a test, and
// each is reported to it. The others cost as much as the system call: no allocation.
package linux
