// Package quarry searches a workspace and changes files in it.
//
// A Workspace is one folder. Its methods are safe for concurrent use, and
// nothing outside the folder is read or written, whatever a path says and
// whatever is swapped underneath. What an answer leaves out it says.
//
// Searching needs no more than a folder:
//
//	ws, err := quarry.Open(dir, nil)
//	res, err := ws.Search(ctx, quarry.Query{Pattern: `\bTODO\b`})
//
// Changing needs Options.StateDir, where the old contents are kept, so that
// every change is an entry of a journal and Undo takes it back as a whole. A
// change that names the version it read (ChangeOptions.ExpectedVersion) is
// refused when somebody else was faster.
//
// Paths are relative to the folder and have slashes. An error has a code,
// CodeOf, and often a next step, HintOf.
//
// Package match has the patterns, package toolset gives the same methods to a
// model as tools.
package quarry

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"quarry/internal/changer"
	"quarry/internal/ignore"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/internal/searcher"
)

// Options of Open; the zero value is a workspace as an agent should see it.
type Options struct {
	// Allow and Deny are the owner's globs on top of the built-in policy.
	Allow, Deny []string
	// Trusted lifts the policy: every file of the folder may be used. It is
	// for a person searching their own files.
	Trusted bool
	// AllowAny permits the home folder and the top of the file system.
	AllowAny bool
	// ReadOnly refuses every change.
	ReadOnly bool

	// StateDir is the folder, outside the workspace and private to its user,
	// that keeps what is needed to take changes back. It must exist. Without
	// it nothing can be changed.
	StateDir string
	// KeepBytes and KeepAge bound the journal; 0 is 256 MB and 30 days.
	KeepBytes int64
	KeepAge   time.Duration
	// Trash is where deleted things go; TrashDefault follows the vault.
	Trash TrashKind
	// TrashDir holds the system's trash of the user's own volume: the data
	// folder of the desktop ($XDG_DATA_HOME), on macOS the home folder. Without
	// it only other volumes have a trash.
	TrashDir string

	// GlobalIgnore is the text of the user's global git excludes.
	GlobalIgnore []byte
	// IgnoreAbove are rule files in the folders above, the topmost first.
	IgnoreAbove []IgnoreFile

	// Index lets the workspace use an index; nil always scans.
	Index *IndexOptions

	Workers int          // 0 is one for each processor
	Logger  *slog.Logger // nil is silent

	layer *rootfs.Layer // for tests
}

// IgnoreFile is a rule file that lies above the workspace.
type IgnoreFile struct {
	Name  string // .gitignore, .ignore, .rgignore, .rooignore or info/exclude
	Above string // the way from its folder to the workspace, as "sub/project"
	Data  []byte
}

// Workspace is a folder to search and change.
type Workspace struct {
	reader
	files   *searcher.Folder // nil if they are on servers
	member  *owner.Member    // nil without an index
	root    *rootfs.Root
	workers int
	log     *slog.Logger
	rules   []ignore.Set // from outside the folder
	changer *changer.Changer

	elsewhere *remote // answers instead of a folder; see OpenRemote
}

// Open opens a folder as a workspace.
func Open(dir string, opts *Options) (*Workspace, error) {
	if opts == nil {
		opts = &Options{}
	}
	root, err := rootfs.Open(dir, &rootfs.Options{
		Layer:    opts.layer,
		Rules:    rootfs.Rules{Allow: opts.Allow, Deny: opts.Deny},
		AllowAny: opts.AllowAny,
		Trusted:  opts.Trusted,
		ReadOnly: opts.ReadOnly,
	})
	if err != nil {
		return nil, err
	}
	w := &Workspace{root: root, workers: opts.Workers, log: opts.Logger}
	if w.workers <= 0 {
		w.workers = runtime.GOMAXPROCS(0)
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.rules, err = outsideRules(opts); err != nil {
		root.Close()
		return nil, err
	}
	w.files = &searcher.Folder{Root: root, Rules: w.rules, Workers: w.workers, Logger: w.log}
	w.reader = w.files
	view := opts.view()
	if opts.Index != nil {
		w.member = owner.New(root, opts.Index.owner(w, view), w.files)
	}
	w.files.Index = w.member.Through(owner.NewEyes(&view, root, w.rules))
	if err := w.openChanges(opts); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if opts.Index != nil {
		if err := w.member.Join(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// openChanges makes the workspace changeable, and settles what earlier
// processes left half-way.
func (w *Workspace) openChanges(opts *Options) (err error) {
	w.changer, err = changer.Open(w.root, &changer.Options{
		StateDir: opts.StateDir, KeepBytes: opts.KeepBytes, KeepAge: opts.KeepAge,
		Trash: opts.Trash, TrashDir: opts.TrashDir, Workers: w.workers, Logger: w.log, Layer: opts.layer,
		Touched: func(files, trees []rootfs.Path) { w.member.Touched(files, trees) },
	})
	return err
}

// Close releases the workspace. Calls under way end with an error.
func (w *Workspace) Close() error {
	if w.elsewhere != nil {
		return w.elsewhere.Close()
	}
	return errors.Join(w.member.Close(), w.changer.Close(), w.root.Close())
}

// Dir is the folder's absolute path, for its owner's eyes; "" if the files are
// on servers.
func (w *Workspace) Dir() string {
	if w.elsewhere != nil {
		return ""
	}
	return w.root.RealDir()
}

func outsideRules(opts *Options) ([]ignore.Set, error) {
	var sets []ignore.Set
	if len(opts.GlobalIgnore) > 0 {
		sets = append(sets, ignore.Set{Kind: ignore.Global, Rules: ignore.Parse("global excludes", opts.GlobalIgnore)})
	}
	for _, f := range opts.IgnoreAbove {
		kind, ok := ignore.FileKind(f.Name)
		if !ok {
			if f.Name != "info/exclude" {
				return nil, fmt.Errorf("open workspace: %q is no ignore file", f.Name)
			}
			kind = ignore.Exclude
		}
		sets = append(sets, ignore.Set{Kind: kind, Rules: ignore.Parse(f.Name, f.Data), Above: f.Above})
	}
	return sets, nil
}
