// Package changer changes a folder: a set of operations is planned as a whole,
// recorded with everything needed to undo it, carried out step by step, and undone as
// one.
//
// The invariant: after Apply, or after the recovery at the next Open, either the whole
// set was applied or nothing was, unless someone else has changed the files since.
// Foreign changes are never overwritten: every step names the version that it expects.
package changer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

// Options of Open.
type Options struct {
	// StateDir is the folder for undo data; without it nothing can be changed.
	StateDir  string
	KeepBytes int64
	KeepAge   time.Duration
	// MaxSize limits the size of an edited file; 0 is textedit's own limit.
	MaxSize int64
	// Trash selects the trash for deleted files, and TrashDir holds the system's trash.
	Trash    change.TrashKind
	TrashDir string

	Workers int
	Logger  *slog.Logger
	// Guard, if set, judges the contents that a change would write; see quarry.Options.
	Guard func(path string) func(before, after []byte) error
	// Touched, if set, is called with the files and trees that a change has changed or may
	// have changed.
	Touched func(files, trees []rootfs.Path)
	// Extension knows the contents of certain files; it may be nil.
	Extension Extension
	Layer     *rootfs.Layer // for tests
}

// Changer makes the changes of one folder. It is safe for concurrent use.
type Changer struct {
	root  *rootfs.Root
	opts  Options
	log   *slog.Logger
	state *state // nil: nothing can be changed
	calls calls
	// largeFrom is the size from which files are not read into memory.
	largeFrom int64
}

// Open prepares a folder for changes and settles unfinished changes of earlier
// processes. The caller closes the root.
func Open(root *rootfs.Root, opts *Options) (*Changer, error) {
	w := &Changer{root: root, opts: *opts, log: opts.Logger, largeFrom: largeFile}
	if opts.Trash != change.TrashDefault {
		if _, err := w.trashKind(opts.Trash); err != nil {
			return w, err
		}
	}
	if opts.StateDir == "" {
		return w, nil
	}
	var err error
	if w.state, err = openState(opts, root); err != nil {
		if k := rootfs.KindOf(err); root.ReadOnly() && (k == fault.ReadOnly || k == fault.Permission) {
			err = nil // searching needs no log
		}
		return w, err
	}
	if err := w.belongs(); err != nil || root.ReadOnly() {
		return w, err
	}
	return w, w.recoverChanges(context.Background())
}

// Close waits until changes in progress are complete or rolled back, and releases the
// journal.
func (w *Changer) Close() error {
	if w == nil {
		return nil
	}
	w.calls.close()
	return w.state.close()
}

// maxRead is the largest file that is read into memory.
const maxRead = 1 << 30

var (
	errRootFolder = errors.New("the path names the workspace itself")
	errSlash      = errors.New("a path that ends in a slash names a folder, not a file")
)

// record returns the journal entry of a change, in the caller's words if there are any.
func record(c *change.Change, a change.Action, words string, client change.Client) {
	if words = change.OneLine(words, change.MaxSummary); words != "" {
		a = change.Action{Verb: change.Noted, Text: words}
	}
	c.Did, c.Summary, c.Client = a, a.String(), client.OneLine()
}

// showDiff sets the diff of a change.
func showDiff(c *change.Change, diffs ...change.PathDiff) {
	c.Diffs, c.Diff = diffs, change.JoinDiffs(diffs)
}

// toolOf returns the name under which a change is recorded; "" is the method's own name.
func toolOf(given, name string) string {
	if given != "" {
		return change.OneLine(given, change.MaxName)
	}
	return name
}
