// Package changer changes a folder: a set of operations is planned as a whole,
// recorded with everything needed to undo it, carried out step by step, and undone as
// one.
//
// The invariant: after Apply, or after the recovery at the next Open, either the whole
// set was applied or nothing was, unless another program has changed the files meanwhile.
// Its changes are never overwritten: every step names the version that it expects.
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
	// Guard, if set, checks the contents that a change would write; see quarry.Options.
	Guard func(path string) func(before, after []byte) error
	// Touched, if set, is called with the files and trees that were changed or may have
	// been changed.
	Touched func(files, trees []rootfs.Path)
	// Extension handles special kinds of files; it may be nil.
	Extension Extension
	Layer     *rootfs.Layer // for tests
}

// Changer changes the files of one folder. It is safe for concurrent use.
type Changer struct {
	root  *rootfs.Root
	opts  Options
	log   *slog.Logger
	state *state // if nil, nothing can be changed
	calls calls
	// largeFrom is the size above which files are not read into memory.
	largeFrom int64
}

// Open prepares a folder for changes and completes or rolls back unfinished changes of
// dead processes. The caller closes the root.
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
			err = nil // searching works without a log
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

// maxRead is the size of the largest file that is read into memory.
const maxRead = 1 << 30

var (
	errRootFolder = errors.New("the path names the workspace itself")
	errSlash      = errors.New("a path that ends in a slash names a folder, not a file")
)

// record sets the summary of a change. The caller's words, if any, replace the action.
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

// toolOf returns the tool's name for the log: given, or the method's name if given is
// empty.
func toolOf(given, name string) string {
	if given != "" {
		return change.OneLine(given, change.MaxName)
	}
	return name
}
