// Package quarry searches a workspace and changes files in it.
//
// A Workspace is a folder, or several as one. Its methods are safe for concurrent use.
// Nothing outside the workspace is read or written, except in the folders that Options name,
// whatever a path contains and even if files are replaced by symlinks at the same time.
// Every result reports what it omitted and why.
//
// Searching needs only a folder:
//
//	ws, err := quarry.Open(dir, nil)
//	res, err := ws.Search(ctx, search.Query{Pattern: `\bTODO\b`})
//
// Changing files needs Options.StateDir, where the old contents are kept: every change
// is an entry of a journal, and Undo undoes it as a whole:
//
//	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
//	c, err := ws.Replace(ctx, search.Query{Pattern: `\bfoo\b`}, "bar", nil)
//
// Package project opens a folder as the program does. Then "quarry log" and "quarry undo" show and
// undo the changes.
//
// A change that names the version it is based on is refused if the file was changed since.
//
// Paths are relative to the workspace and use slashes.
//
// Package search has the queries and their results, package change the changes, package
// fault the error codes, and package match the patterns. Package toolset offers the same
// methods to a model as tools.
package quarry

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/backend"
	"quarry/internal/changer"
	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/outside"
	"quarry/internal/vaultdir"
)

// Options are the options of Open. The zero value is for an agent's workspace.
type Options struct {
	// Allow and Deny are globs that extend the built-in policy.
	Allow, Deny []string
	// Closed lists the absolute paths of files and folders in the workspace that no call may read
	// or change, even if they do not exist yet. StateDir, Review.Dir and the folders of Index are
	// always closed.
	Closed []string
	// Guard, if set, is called with the path of each file that a change would write, move or
	// delete. It returns nil if the file may have any content. Otherwise it returns a function that
	// returns an error for a forbidden change; nil as before or after means that there is no file.
	Guard func(path string) func(before, after []byte) error
	// Trusted turns the policy off, so that every file of the folder may be used. It is for people
	// searching their own files.
	Trusted bool
	// AllowAny permits opening the home folder and the root of the file system. StateDir and
	// similar folders may then be inside the workspace.
	AllowAny bool
	// ReadOnly refuses every change.
	ReadOnly bool

	// StateDir is the folder for undo data, including old contents of files. Without it nothing can
	// be changed. It must exist, be outside the workspace, and not be writable by other users. A
	// StateDir belongs to one folder, even if that folder is moved; Open refuses to use it for
	// another. The function StateDir returns the folder that the program uses.
	StateDir string
	// MaxSize is the maximum size of an edited file; 0 means 256 MB.
	MaxSize int64
	// KeepBytes and KeepAge limit the undo log; 0 means 256 MB and 30 days.
	KeepBytes int64
	KeepAge   time.Duration
	// Trash selects where deleted files go. The zero value means the vault's setting. Without a
	// vault, it means the system's trash on Windows or if TrashDir is set, and otherwise the folder
	// .trash of the workspace.
	Trash change.TrashKind
	// TrashDir is the folder with the system's trash for the user's own volume: $XDG_DATA_HOME, or
	// on macOS the home folder. If it is empty, files are moved to the system's trash only if a
	// deletion requests that.
	TrashDir string

	// Review makes changes wait for a person's decision; nil applies them at once.
	Review *ReviewOptions

	// GlobalIgnore is the text of the user's global git excludes.
	GlobalIgnore []byte
	// IgnoreAbove lists the rule files in the folders above the workspace, topmost first.
	IgnoreAbove []IgnoreFile
	// Outside, if set, is called before each answer. If GlobalIgnore or IgnoreAbove have changed
	// since the last call, or since the workspace was opened, it returns the new values of both.
	Outside func() (global []byte, above []IgnoreFile, changed bool)

	// Index lets the workspace use an index; nil means always scan.
	Index *IndexOptions

	Workers int          // 0 means one per processor
	Logger  *slog.Logger // nil logs nothing

	layer *rootfs.Layer // for tests
}

// IgnoreFile is a file of ignore rules in a folder above the workspace.
type IgnoreFile struct {
	Name  string // .gitignore, .ignore, .rgignore, .rooignore or info/exclude
	Above string // path from the file's folder to the workspace, for example "sub/project"
	Data  []byte
}

// Workspace is a set of files that can be searched and changed.
type Workspace struct {
	b     backend.Backend
	roots []Root        // the roots given to Join, else the workspace itself without a name
	vault *vaultdir.Dir // nil unless it is a single folder
	calls calls
}

func newWorkspace(b backend.Backend, vault *vaultdir.Dir) *Workspace {
	w := &Workspace{b: b, vault: vault}
	w.roots = []Root{{Workspace: w}}
	return w
}

// closed returns the files and folders that no call may read or change.
func (o *Options) closed() []string {
	places := append(slices.Clone(o.Closed), o.StateDir)
	if o.Review != nil {
		places = append(places, o.Review.Dir)
	}
	if o.Index != nil {
		places = append(places, o.Index.Dir, o.Index.Home, o.Index.Socket)
	}
	return slices.DeleteFunc(places, func(p string) bool { return p == "" })
}

// StateDir creates the folder in which the program keeps the undo log of a folder, and
// returns it for Options.StateDir. Its location depends on the environment: pass os.Getenv.
// "quarry log" shows the changes if it runs with the same environment and works on the same
// folder: the one named by --root, else the nearest at or above the current folder that has
// .git, .obsidian, go.mod, package.json, pyproject.toml or Cargo.toml, else the current one.
// So pass that folder here and to Open.
func StateDir(dir string, env func(string) string) (string, error) {
	return outside.JournalDir(env, rootfs.RealPath(dir))
}

// Open opens a folder as a workspace.
func Open(dir string, opts *Options) (*Workspace, error) {
	opts = cmp.Or(opts, &Options{})
	if opts.Index != nil && opts.StateDir != "" && rootfs.RealPath(opts.StateDir) == rootfs.RealPath(opts.Index.Dir) { // both would wait for each other's lock
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("%s is the folder of the undo log and of the index", opts.StateDir), "give each a folder of its own")
	}
	f := &backend.FolderOptions{
		Root: rootfs.Options{
			Layer: opts.layer, Rules: policy.Rules{Allow: opts.Allow, Deny: slices.Concat(opts.Deny, rootfs.DenyPlaces(dir, opts.closed()))},
			Own: opts.closed(), AllowAny: opts.AllowAny, Trusted: opts.Trusted, ReadOnly: opts.ReadOnly,
		},
		Rules: ruleFiles(opts.GlobalIgnore, opts.IgnoreAbove), Outside: outsideRules(opts.Outside),
		Changes: changer.Options{
			StateDir: opts.StateDir, MaxSize: opts.MaxSize, KeepBytes: opts.KeepBytes, KeepAge: opts.KeepAge,
			Trash: opts.Trash, TrashDir: opts.TrashDir, Guard: opts.Guard, Layer: opts.layer,
		},
		Workers: workers(opts.Workers), Logger: logger(opts.Logger),
	}
	if opts.Trusted {
		f.Root.Own = nil
	}
	var vault *vaultdir.Dir
	f.Extend = func(root *rootfs.Root) changer.Extension {
		vault = vaultdir.New(root, f.Workers, f.Logger)
		return vault
	}
	if opts.Index != nil {
		f.Index = opts.Index.owner(opts.StateDir)
	}
	if opts.Review != nil {
		f.Reviews = opts.Review.Dir
	}
	folder, err := backend.OpenFolder(dir, f)
	if err != nil {
		return nil, err
	}
	if opts.Review == nil {
		return newWorkspace(folder, vault), nil
	}
	gate, err := opts.Review.gate(folder, opts.layer)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return newWorkspace(gate, vault), nil
}

// ErrClosed is returned by every method of a workspace after Close, and by calls that
// Close interrupts. It wraps fs.ErrClosed.
var ErrClosed = rootfs.ErrClosed

// Close closes the workspace. Calls in progress soon return ErrClosed. Close waits until a change
// that is being written is complete.
func (w *Workspace) Close() error {
	w.calls.close()
	for _, r := range w.joined() {
		r.Workspace.calls.close()
	}
	return w.b.Close()
}

// Dir returns the absolute path of the workspace's folder, for display. It is "" for joined
// workspaces.
func (w *Workspace) Dir() string { return w.b.Dir() }

// Inside converts an absolute path to a path relative to the workspace. It returns false if the
// path is outside.
func (w *Workspace) Inside(path string) (string, bool) { return w.b.Inside(path) }

func workers(n int) int {
	if n <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

func logger(l *slog.Logger) *slog.Logger {
	return cmp.Or(l, slog.New(slog.DiscardHandler))
}

// outsideRules converts the option Outside to a backend's form.
func outsideRules(ask func() ([]byte, []IgnoreFile, bool)) func() ([]ignore.File, bool) {
	if ask == nil {
		return nil
	}
	return func() ([]ignore.File, bool) {
		global, above, changed := ask()
		return ruleFiles(global, above), changed
	}
}

func ruleFiles(global []byte, above []IgnoreFile) []ignore.File {
	var list []ignore.File
	if len(global) > 0 {
		list = append(list, ignore.File{Data: global})
	}
	for _, f := range above {
		list = append(list, ignore.File(f))
	}
	return list
}
