// Package powercut models a disk for tests: it records the operations of a program through
// rootfs, and makes the disks that a power cut could leave at any moment.
//
// The invariant: synced data is on every such disk. Anything else may be there or missing,
// within the behaviour of file systems:
//
//   - Unsynced data of a file may be there, may be missing, may be truncated, and may be
//     zeros of the right length. Writes to different files and different writes to one file
//     are unordered.
//   - Changes of names in one folder survive in their order, and a sync of the folder makes
//     all of them durable. Those in different folders are unordered, also with data. A rename
//     survives in both folders or in neither.
//   - A sync of a file does not sync its name.
//
// It is stricter than ext4, XFS or Btrfs, which keep all names in one order, and sync the
// name of a new file with it.
package powercut
