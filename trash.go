package quarry

import (
	"context"
	"fmt"

	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// trashKind is how to delete. Only deletion for good is there so far.
func (w *Workspace) trashKind(asked TrashKind) (TrashKind, error) {
	if asked == TrashDefault {
		asked = w.trash
	}
	if asked != TrashNone {
		return "", fmt.Errorf("%w; this build has none", ErrTrashKind)
	}
	return TrashNone, nil
}

func (w *Workspace) trashStep(context.Context, rootfs.Path, rootfs.Info, TrashKind, *TrashReport) step {
	return step{}
}

func (w *Workspace) applyTrash(context.Context, journal.Op) (string, error) { return "", ErrTrashKind }

func (w *Workspace) findTrashed(journal.Unfinished) ([]journal.Result, error) { return nil, nil }
