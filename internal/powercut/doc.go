// Package powercut is a model of a disk for tests: it follows what a program
// does through rootfs, and makes the disks a power cut could leave at any
// moment.
//
// The invariant: what was synced is on every such disk. Of the rest anything
// may be there or missing, within what file systems do:
//
//   - Data of a file that was not synced may be there, may be missing, may be
//     cut short, and may be zeros of the right length. Writes to different files
//     and different writes to one file keep no order.
//   - Names in one folder come in the order they were made in, and a sync of the
//     folder makes all of them last; those of different folders keep no order,
//     and no order with data. A rename is there in both folders or in none.
//   - A sync of a file says nothing about its name.
//
// It is stricter than ext4, XFS or Btrfs are, which keep names in one order, and
// sync the name of a new file with it.
package powercut
