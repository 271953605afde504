// Package windows opens and changes files by the native calls of Windows.
//
// The invariant: a name is opened relative to the handle of its folder and without following a reparse point,
// so a junction or symlink that is swapped in is detected. Callers must pass names without separators.
package windows
