// Package journal is the undo log. Every change of one or more files is one entry with
// everything needed to undo it.
//
// The invariant: files may be changed only after Begin has returned, and Begin returns
// only when the intent and all old content are durable. So a crash leaves either no
// entry, or one with all old content. Unfinished finds the interrupted changes and
// compares the files to determine how many operations were done. Records are verified by
// length and checksum, contents by hash: damage makes an entry unusable, but never gives
// wrong contents.
//
// docs/LOG.md describes the design.
//
// # On disk
//
// The state folder has mode 0700, is outside the workspace and contains
//
//	lock            locked while a process appends
//	NNNNNNNN-M.seg  log segments; M is the random marker its records start with
//	NNNNNNNN.head   how many entries the segments must have; see head.go
//	packs/NNNNNNNN-… contents over 1 MiB, and contents of large trees
//	owners/…        one locked file for each process with changes under way
//	turn, gate      locks by which changes take turns; see turn.go
//	boot-B          says that changes were made in boot B of the machine
//
// A segment is self-contained: all contents that its entries need are in it, or in packs
// with its number. Within a segment, equal contents are stored once. To limit size and
// age, whole segments are dropped, oldest first, which needs no reference counts. Opening
// a journal reads one segment of at most about 4 MiB.
//
// The commit record is not synced. If it is lost in a power failure, the files still have
// the new versions named by the intent, which shows that the change is complete. So an
// edit needs only one sync besides the file's own.
//
// New content is stored as edits of the old content, up to 1 MiB. A typical edit then
// takes little space, and its diff can be shown even after the file has changed again. If
// a large file is only edited, the overwritten bytes are stored instead of the old
// content. An undo stores the contents it replaces, so it can be undone too.
package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

// Options configure a journal. The zero value selects the defaults.
type Options struct {
	// MaxBytes limits the size of the journal; 0 means 256 MB.
	MaxBytes int64
	// MaxAge is the age at which entries are dropped, up to a day late; 0 means 30 days.
	MaxAge time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Outside marks the log of changes made by other programs; see Record.
	Outside bool
	// Beside, if set, returns the log of outside changes of the same folder, or nil while
	// there is none. The journal then also lists the entries of that log and reads their
	// contents.
	Beside func() *Journal
	// Blob reads a content from git by its blob id.
	Blob func(id string) ([]byte, error)
	// LockWait limits the wait for another process's lock; 0 means 10 seconds.
	LockWait time.Duration
	// TurnWait limits how long a change waits for other changes before it is refused; 0
	// means a minute.
	TurnWait time.Duration
}

const (
	defaultMaxBytes = 256 << 20
	defaultMaxAge   = 30 * 24 * time.Hour
	// maxSegment is the size at which a new segment is begun. It limits how much Open
	// reads.
	maxSegment = 4 << 20
	// segmentSpan is how long entries are added to a segment, and so the precision of
	// MaxAge.
	segmentSpan = 24 * time.Hour
)

// Kind is the kind of an operation.
type Kind uint8

const (
	Create  Kind = iota + 1 // a new file, symlink, folder or tree
	Replace                 // the content of a file
	Rename                  // from Path to To
	Remove                  // delete permanently; Nodes and their contents are kept
	Trash                   // move to a trash, as Where
	Restore                 // move back from a trash
	Chmod                   // the permissions of a file, from Mode to NewMode
)

func (k Kind) String() string {
	if k < Create || k > Chmod {
		return "unknown"
	}
	return [...]string{"", "create", "replace", "rename", "remove", "trash", "restore", "chmod"}[k]
}

// Node is one entry that a Create makes or a Remove removes.
type Node struct {
	Rel     string // path below the operation's Path, with slashes; "" is Path itself
	Type    rootfs.Type
	Mode    fs.FileMode
	ModTime time.Time      // zero if unknown
	Target  string         // of a symlink
	Version rootfs.Version // of a file
	Size    int64

	at ref // where its content is stored
}

// Op is one step of a change.
type Op struct {
	Kind Kind
	Path rootfs.Path // for a Rename, the old path
	To   rootfs.Path // for a Rename, the new path

	// Old and New are the versions before and after. A Replace needs Old; if New is not
	// known yet, it is passed to Commit. A Create of a file has New. For an entry moved
	// to a trash, New identifies it there; for one restored from a trash, Old does.
	Old, New rootfs.Version
	// Mode is set by Begin to the permissions of a replaced file. A Chmod changes them
	// from Mode to NewMode.
	Mode, NewMode fs.FileMode
	// Nodes describe the entries that a Create makes, the top first. For a Remove, Begin
	// sets them, or compares them if they are given. For Rename and Trash, one Node may
	// describe the moved entry.
	Nodes []Node
	// Where is the entry's name in the trash; see Result.
	Where string

	// OldData is the old content of a Replace. If it is nil, Begin reads the file.
	OldData []byte
	// NewData is the new content of a Replace or of a created file, for diffs. Instead of
	// it, Edits may contain the changes of the old content.
	NewData []byte
	Edits   []rootfs.Edit
	// Shown is a diff of the change. It is stored for a large file whose old content is
	// kept only as edits: otherwise the diff could be shown only while the file is
	// unchanged.
	Shown string

	// Blobs are the git objects with the contents before and after, for a change made by
	// git. Their contents are not stored.
	Blobs [2]Blob

	// Lost is the reason why the old content is not kept, such as its size. The entry
	// then can't be undone.
	Lost string

	old     ref
	made    ref // git's object with the new content
	hasDiff bool
}

// Blob is a git object.
type Blob struct {
	ID   string // in bytes
	Size int64
}

func (b Blob) ref() ref {
	if b.ID == "" {
		return ref{}
	}
	return ref{place: inGit, git: b.ID, size: b.Size}
}

// Change is what Begin records.
type Change struct {
	Tool   string
	Client change.Client
	// Proposal is the id of the proposal that led to the change.
	Proposal string
	Did      change.Action
	Ops      []Op
	Undoes   ID // the entry that this one undoes
	PartOf   ID // the entry that this one undoes in part
	// Reverts has the entries that this one undoes together, to go back to a point.
	Reverts []ID
	// At is the time of a change passed to Record; zero means now.
	At time.Time
}

// Status is the state of an entry.
type Status uint8

const (
	Committed Status = iota
	Pending          // in progress, or interrupted
	Damaged          // its record can't be read
)

func (s Status) String() string {
	return [...]string{"committed", "pending", "damaged"}[min(s, Damaged)]
}

// Entry is one recorded change.
type Entry struct {
	ID   ID
	Time time.Time
	Change
	Status   Status
	UndoneBy ID // the entry that undid this one
	// PartlyBy has the entries that undid parts of this one and are not undone
	// themselves, newest first.
	PartlyBy []ID
	// Planned has all operations of a committed entry if only the first ones, in Ops,
	// were carried out. Otherwise it is nil.
	Planned []Op

	owner string
	pack  string
	seg   uint32
}

// Paths lists the paths that the entry touches, in order and without duplicates.
func (e Entry) Paths() []rootfs.Path {
	var paths []rootfs.Path
	seen := map[rootfs.Path]bool{}
	for _, op := range e.Ops {
		for _, p := range [...]rootfs.Path{op.Path, op.To} {
			if !p.IsRoot() && !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
		}
	}
	return paths
}

var (
	// ErrNotFound means that the journal doesn't have the id, or has dropped it.
	ErrNotFound = fault.New(fault.NotFound, "no such change", "")
	// ErrDamaged means that a record or content failed verification.
	ErrDamaged = errors.New("the journal's record is damaged")
	// ErrNewestLost means that the last change can't be undone, because the newest
	// changes are missing from the log.
	ErrNewestLost = fault.New(fault.Conflict, "the newest changes are missing from the undo log, so the last one is not known", "look at the log, and undo a change by its id")
	// ErrNewer means that the journal has a segment of a newer format. The journal is not
	// modified.
	ErrNewer = fault.New(fault.Conflict, "the undo log was written by a newer version of Quarry", "use that version for this folder, also to finish or undo its changes")
	// ErrShared means that a process of a version that writes another format has a change
	// in progress, or may begin one.
	ErrShared = fault.New(fault.Conflict, "another version of Quarry changes this folder at the moment, and the two can't share its undo log", "end the other one, a server or a command, and repeat the change")
	// ErrNotKept means that a content was never stored.
	ErrNotKept = fault.New(fault.InvalidArgument, "content was not kept", "other changes can be undone by their ids, which the log lists")
)

// TooLargeError means that a change needs more than half of the journal's capacity. The
// caller may record it with Op.Lost set, or not make it.
type TooLargeError struct{ Size, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("old content of %d bytes is more than the journal keeps for one change (%d)", e.Size, e.Limit)
}

// Journal is an open undo log. It is safe for concurrent use, also by several
// processes on one folder.
type Journal struct {
	root *rootfs.Root
	opts Options

	mu       sync.Mutex // guards the fields below and the lock file
	lock     *rootfs.Log
	segs     map[uint32]*segment // the loaded segments, about maxLoaded
	uses     uint64              // counts how often segments were used
	tail     *segment            // the newest segment; nil if there is none
	gone     ID                  // the last id before Renew
	head     *head               // the required contents of segments; nil if unknown
	total    int64               // approximate size in bytes; -1 if not yet counted
	capErr   error               // the error from the last time the limits were applied
	measured *segment            // the tail when total was last computed
	owner    string              // our token; set by the first change
	ownerF   *rootfs.Log
	retired  []retiredOwner
	running  map[ID]*Tx // changes in progress in this process
	late     []ending   // end records not yet in the log
	turns    []turn     // finished turns, whose open files are reused
	closed   bool

	syncMu sync.Mutex
	synced map[*segment]int64 // guarded by syncMu: the offset up to which each segment is durable
}

// Open opens the journal in dir, which was opened with Trusted set. An empty folder is an
// empty journal; nothing is written before the first Begin. The caller closes dir after
// the journal.
func Open(dir *rootfs.Root, opts *Options) (*Journal, error) {
	j := &Journal{root: dir, segs: map[uint32]*segment{}, running: map[ID]*Tx{}, total: -1, synced: map[*segment]int64{}}
	if opts != nil {
		j.opts = *opts
	}
	if j.opts.MaxBytes <= 0 {
		j.opts.MaxBytes = defaultMaxBytes
	}
	if j.opts.MaxAge <= 0 {
		j.opts.MaxAge = defaultMaxAge
	}
	if j.opts.Now == nil {
		j.opts.Now = time.Now
	}
	if j.opts.LockWait <= 0 {
		j.opts.LockWait = defaultLockWait
	}
	if j.opts.TurnWait <= 0 {
		j.opts.TurnWait = time.Minute
	}
	j.mu.Lock()
	err := j.refresh()
	j.mu.Unlock()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), j.Close()) // segments may be open
	}
	return j, nil
}

// Close closes the journal. Changes in progress count as interrupted.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	var errs []error
	if len(j.late) > 0 {
		errs = append(errs, j.locked(true, func() error { return errors.Join(j.catchUp(), j.appendLate()) }))
	}
	j.closed = true
	return errors.Join(append(errs, j.closeFiles())...)
}

// Renew begins a new journal in a new folder at the same path, after the journal's folder
// was deleted. It must not be called while a change is in progress.
func (j *Journal) Renew() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.closeFiles() // the folder no longer exists
	if j.tail != nil {
		j.gone = j.tail.last
	}
	j.lock, j.tail, j.head, j.total, j.capErr, j.measured, j.owner, j.ownerF = nil, nil, nil, -1, nil, nil, "", nil
	j.segs, j.retired, j.late, j.turns = map[uint32]*segment{}, nil, nil, nil
	j.syncMu.Lock()
	j.synced = map[*segment]int64{}
	j.syncMu.Unlock()
	return j.refresh()
}

func (j *Journal) closeFiles() error {
	var errs []error
	for _, s := range j.segs {
		errs = append(errs, s.log.Close())
	}
	if j.ownerF != nil {
		if len(j.running) == 0 {
			// If the file can't be removed, the next process removes it. Returning an
			// error would make a successful change look like a failure.
			_ = j.root.Remove(j.root.Own("owners/" + j.owner))
		}
		errs = append(errs, j.ownerF.Close())
	}
	for _, o := range j.retired {
		errs = append(errs, o.file.Close())
	}
	if j.head != nil {
		errs = append(errs, j.head.log.Close())
	}
	for _, t := range j.turns {
		errs = append(errs, t.close())
	}
	if j.lock != nil {
		errs = append(errs, j.lock.Close())
	}
	return errors.Join(errs...)
}

// locked runs f while holding the lock file, so that no other process appends.
func (j *Journal) locked(exclusive bool, f func() error) (err error) {
	if j.closed {
		return rootfs.ErrClosed
	}
	if j.lock == nil {
		j.lock, err = j.root.OpenLog(j.root.Own("lock"), exclusive)
		if errors.Is(err, fault.NotFound) && !exclusive {
			return f() // nothing has been written yet
		}
		if err != nil {
			return err
		}
	}
	if err := j.takeLock(exclusive); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.lock.Unlock()) }()
	return f()
}

// defaultLockWait is a thousand times as long as recording an entry takes, and short
// enough for a caller to wait.
const defaultLockWait = 10 * time.Second

var errHeld = fault.New(fault.Timeout, "another process holds the undo log and does not go on",
	"look for a quarry process that was stopped, as by Ctrl-Z or a debugger, and let it continue or end it")

// takeLock waits for the lock, but at most for LockWait: a process that was stopped while
// it held the lock may never continue.
func (j *Journal) takeLock(exclusive bool) error {
	return poll(context.Background(), time.Now().Add(j.opts.LockWait), func() (bool, error) { return j.lock.TryLock(exclusive) })
}

// refresh reads what other processes have appended. The caller holds mu.
func (j *Journal) refresh() error {
	return j.locked(false, j.catchUp)
}

// Dropped returns how many entries have been dropped so far, and the time of the newest
// of them. It returns an error if the limits could not be applied the last time.
func (j *Journal) Dropped() (count int, newest time.Time, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.refresh(); err != nil || j.tail == nil {
		return 0, time.Time{}, err
	}
	d := j.tail.dropped
	return int(d.count), d.newest, j.capErr
}

// checkCtx returns the error of a cancelled context. It is called for each file and each
// megabyte.
func checkCtx(ctx context.Context) error { return context.Cause(ctx) }
