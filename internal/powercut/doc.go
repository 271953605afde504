// Package powercut simulates power cuts for tests. It records a program's operations through
// rootfs, and generates the disk states that a power cut could leave at any moment.
//
// The invariant: synced data is in every such state. Anything else may be there or missing, within
// the limits of what file systems do:
//
//   - Unsynced data of a file may be present, missing, truncated, or zeros of the right
//     length. There is no order between writes to one file or to different files.
//   - Changes of the names in one folder survive in order, and syncing the folder makes all
//     of them durable. There is no order between changes in different folders, or between
//     names and data. A rename survives in both folders or in neither.
//   - Syncing a file does not sync its name.
//
// This is stricter than ext4, XFS or Btrfs: they keep all changes of names in one order, and sync
// the name of a new file with the file.
package powercut
