// Package journal is the undo log: every change of one or more files is one entry that holds everything
// needed to undo it.
//
// The invariant: Begin returns only when the intent and all old content are
// durable, and only then may files be touched. So a crash at any point leaves
// either no entry or one whose old content is whole; Unfinished finds the
// interrupted ones and determines from the disk how far they came. A record is
// accepted by length and checksum, content by its hash: damage makes an entry
// unusable, never wrong.
//
// docs/LOG.md explains the package and its design.
//
// # On disk
//
// The state folder, mode 0700 and outside the workspace, holds
//
//	lock            locked while a process appends
//	NNNNNNNN-M.seg  log segments; M is the random marker its records start with
//	NNNNNNNN.head   how many entries the segments must have; see head.go
//	packs/NNNNNNNN-… contents over 1 MiB, and contents of large trees; but for a
//	                large edited file only the bytes that the edits overwrote
//	owners/…        one locked file for each process with changes under way
//	turn, gate      locks by which changes take turns; see turn.go
//	boot-B          says that changes were made in boot B of the machine
//
// A segment is self-contained: the contents its entries need are in it or in packs of its number,
// deduplicated by hash. So the cap on size and age drops whole segments, oldest first, with one unlink each
// and without reference counts, and opening a journal reads one segment of at most about 4 MiB.
//
// The commit record is not synced: if a power cut takes it, the disk still
// shows the new versions, which the intent names, and Pending says the change
// is complete. That leaves one sync for an edit besides the file's own.
//
// New content is kept as the edits that lead from the old to the new, up to 1 MiB: a typical edit then costs
// its own size, and a diff can be shown after the file has changed again. Undoing an undo needs no more, because
// the undo kept the contents it replaced.
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

// Options limit a journal. The zero value gives the defaults.
type Options struct {
	// MaxBytes caps the size of the journal; 0 is 256 MB.
	MaxBytes int64
	// MaxAge drops older entries, a day or so late; 0 is 30 days.
	MaxAge time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Outside makes it a log of changes made by other programs; see Record.
	Outside bool
	// Beside, if set, returns the log of outside changes of the same folder, or nil
	// while there is none. This log then also lists its entries, and reads their
	// contents.
	Beside func() *Journal
	// Blob reads a content from git, by its id.
	Blob func(id string) ([]byte, error)
	// LockWait bounds the wait for a lock held by another process; 0 is 10 seconds.
	LockWait time.Duration
	// TurnWait bounds the wait of a change for changes of others; then it is refused. 0 is a
	// minute.
	TurnWait time.Duration
}

const (
	defaultMaxBytes = 256 << 20
	defaultMaxAge   = 30 * 24 * time.Hour
	// maxSegment is the size at which a new segment starts: it bounds the reading at Open.
	maxSegment = 4 << 20
	// segmentSpan is the time during which a segment grows; it is the precision of MaxAge.
	segmentSpan = 24 * time.Hour
)

// Kind is the kind of an operation.
type Kind uint8

const (
	Create  Kind = iota + 1 // a file, symlink, folder or tree that was not there
	Replace                 // the content of a file
	Rename                  // from Path to To
	Remove                  // permanently; Nodes and their content are kept
	Trash                   // into a trash, where it can be found as Where
	Restore                 // back from a trash
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
	Rel     string // beneath the operation's Path, with slashes; "" is Path itself
	Type    rootfs.Type
	Mode    fs.FileMode
	ModTime time.Time      // zero: not known
	Target  string         // of a symlink
	Version rootfs.Version // of a file
	Size    int64

	at ref // the location of its content
}

// Op is one step of a change.
type Op struct {
	Kind Kind
	Path rootfs.Path // of a Rename, the old name
	To   rootfs.Path // of a Rename, the new name

	// Old and New are the versions before and after. Replace needs Old; a New that is still
	// unknown is passed to Commit. Create of a file has New. For an entry that goes to a
	// trash, New identifies it there; for one that comes back, Old does.
	Old, New rootfs.Version
	// Mode is, after Begin, the permissions of a replaced file; a Chmod gives
	// NewMode to a file that must have Mode.
	Mode, NewMode fs.FileMode
	// Nodes describe the entries a Create makes, the top first. Begin fills in the nodes of a Remove; given
	// nodes must equal those it finds. For Rename and Trash one Node may describe the moved entry.
	Nodes []Node
	// Where is the name in the trash of the entry that was at Path; see Result.
	Where string

	// OldData is the old content of a Replace if the caller has it; Begin
	// reads the file otherwise.
	OldData []byte
	// NewData is the new content of a Replace or of a created file, for diffs;
	// Edits may give it instead as changes of the old one.
	NewData []byte
	Edits   []rootfs.Edit
	// Shown is a diff of the change. It is kept if the contents are not: for a
	// large file the journal keeps only what Edits overwrite, and could compute a
	// diff only while the file still exists.
	Shown string

	// Blobs are git's objects with the contents before and after, of a recorded change
	// made by git itself. They are not kept.
	Blobs [2]Blob

	// Lost is the reason why the old content is not kept, for example because it is too large.
	// The entry then can't be undone.
	Lost string

	old     ref
	made    ref // where git has the new content
	hasDiff bool
}

// Blob is a content that git keeps.
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
	// Proposal is the id of the accepted proposal.
	Proposal string
	Did      change.Action
	Ops      []Op
	Undoes   ID // the entry this one undoes
	PartOf   ID // or the one it undoes a part of
	// Reverts are the entries that it undoes together when going back to a point.
	Reverts []ID
	// At is when it was made, for Record; zero is now.
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
	// PartlyBy are the entries that undid parts of this one, and are not undone
	// themselves, newest first.
	PartlyBy []ID
	// Planned has all operations of a committed entry if only the first ones, Ops, were carried out; nil if
	// all were.
	Planned []Op

	owner string
	pack  string
	seg   uint32
}

// Paths lists the paths that the entry touches, each once, in order.
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
	// ErrNotFound is returned for an id that the journal doesn't have or has
	// dropped.
	ErrNotFound = fault.New(fault.NotFound, "no such change", "")
	// ErrDamaged is returned for records and contents that fail their checks.
	ErrDamaged = errors.New("the journal's record is damaged")
	// ErrNewestLost is returned for an undo of the last change if the newest
	// changes are missing from the log.
	ErrNewestLost = fault.New(fault.Conflict, "the newest changes are missing from the undo log, so the last one is not known", "look at the log, and undo a change by its id")
	// ErrNewer is returned for a journal with a segment of a newer format. Nothing
	// in it is touched.
	ErrNewer = fault.New(fault.Conflict, "the undo log was written by a newer version of Quarry", "use that version for this folder, also to finish or undo its changes")
	// ErrShared is returned for a change while a process of a version that writes
	// another format has changes in progress, or may begin one.
	ErrShared = fault.New(fault.Conflict, "another version of Quarry changes this folder at the moment, and the two can't share its undo log", "end the other one, a server or a command, and repeat the change")
	// ErrNotKept is returned for content that was never kept.
	ErrNotKept = fault.New(fault.InvalidArgument, "content was not kept", "other changes can be undone by their ids, which the log lists")
)

// TooLargeError refuses to keep more than half of the journal's capacity. The caller may record the change
// with Op.Lost set, or not make it.
type TooLargeError struct{ Size, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("old content of %d bytes is more than the journal keeps for one change (%d)", e.Size, e.Limit)
}

// Journal is an open undo log. It is safe for concurrent use, also by several
// processes on one folder.
type Journal struct {
	root *rootfs.Root
	opts Options

	mu       sync.Mutex // guards all below, and the lock file
	lock     *rootfs.Log
	segs     map[uint32]*segment // loaded ones, a few
	uses     uint64              // of segments, so far
	tail     *segment            // the newest; nil before the first
	gone     ID                  // the last one before Renew
	head     *head               // the contents that the segments must have; nil if unknown
	total    int64               // bytes kept, approximately; -1 before the first count
	capErr   error               // of the last time the caps were applied
	measured *segment            // the tail when total was last looked up
	owner    string              // our token, after the first change
	ownerF   *rootfs.Log
	retired  []retiredOwner
	running  map[ID]*Tx // begun here
	late     []ending   // of entries, not in the log yet
	turns    []turn     // ended, with their files open
	closed   bool

	syncMu sync.Mutex
	synced map[*segment]int64 // guarded by syncMu: durable up to there
}

// Open opens the journal in dir, a root opened Trusted. An empty folder is an empty journal;
// nothing is written before the first Begin. The caller closes the root after the journal.
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

// Close releases the journal. Changes in progress count as interrupted.
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

// Renew starts again in another folder at the same path, after the folder of this journal was
// deleted. No change is in progress.
func (j *Journal) Renew() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.closeFiles() // of a folder that is gone
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
			// If it remains, the next process removes it. An error here would make a command that changed files
			// look as if it had not.
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

// locked runs f with the lock file held, so that no other process appends.
func (j *Journal) locked(exclusive bool, f func() error) (err error) {
	if j.closed {
		return rootfs.ErrClosed
	}
	if j.lock == nil {
		j.lock, err = j.root.OpenLog(j.root.Own("lock"), exclusive)
		if errors.Is(err, fault.NotFound) && !exclusive {
			return f() // nothing was written yet
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

// defaultLockWait is a thousand times the duration of an entry, and short enough to report to a caller.
const defaultLockWait = 10 * time.Second

var errHeld = fault.New(fault.Timeout, "another process holds the undo log and does not go on",
	"look for a quarry process that was stopped, as by Ctrl-Z or a debugger, and let it continue or end it")

// takeLock waits for the lock, but not for a process that was stopped while it held the lock,
// because it may never continue.
func (j *Journal) takeLock(exclusive bool) error {
	return poll(context.Background(), time.Now().Add(j.opts.LockWait), func() (bool, error) { return j.lock.TryLock(exclusive) })
}

// refresh reads what other processes have appended. mu is held.
func (j *Journal) refresh() error {
	return j.locked(false, j.catchUp)
}

// Dropped returns how many entries have been dropped so far and when the newest
// of them was made. It fails if the limits could not be applied lately.
func (j *Journal) Dropped() (count int, newest time.Time, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.refresh(); err != nil || j.tail == nil {
		return 0, time.Time{}, err
	}
	d := j.tail.dropped
	return int(d.count), d.newest, j.capErr
}

// checkCtx is called for each file and each megabyte.
func checkCtx(ctx context.Context) error { return context.Cause(ctx) }
