package rootfs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs/names"
	"quarry/internal/rootfs/outside"
)

// Options are the options of Open. The zero value is safe.
type Options struct {
	// Rules are the user's rules, in addition to the built-in policy.
	Rules policy.Rules
	// Own lists absolute paths of files and folders of Quarry itself, which can't be changed
	// under any name.
	Own []string
	// AllowAny permits roots that are probably a mistake: the top of the file system and the
	// user's home folder.
	AllowAny bool
	// Trusted is for our own state folders, to which no policy applies.
	Trusted bool
	// Private is for state that no other user may write to: the folder is refused if another user could
	// replace it or add to it.
	Private bool
	// ReadOnly refuses every change.
	ReadOnly bool
	// Rescued, if set, is called when a conflict copy is made after Replace has returned,
	// because another program wrote to the old file. It is called from a goroutine of the
	// Root.
	Rescued func(copy Path)
	// Layer is for tests.
	Layer *Layer
}

// Root is a folder beneath which paths may be opened.
type Root struct {
	dir      string // absolute, as given
	real     string // absolute, symlinks resolved
	policy   guard
	own      []string
	readOnly bool
	rescued  func(Path)
	closed   atomic.Bool
	allowAny bool
	private  bool

	following sync.Mutex // one Follow at a time
	temps     temps
	layer     *Layer // nil except in tests
	sys       sysRoot
}

var (
	errIsTop  = fault.New(fault.InvalidArgument, "the top of the file system as root needs an explicit permission", "")
	errIsHome = fault.New(fault.InvalidArgument, "the home folder as root needs an explicit permission", "")
	errWrites = errors.New("this root is opened read-only")
)

// Open opens dir as a root. Its own path may contain symlinks.
func Open(dir string, opts *Options) (*Root, error) {
	opts = cmp.Or(opts, &Options{})
	if dir == "" {
		return nil, fault.New(fault.InvalidArgument, "open root: empty path", "")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &rootError{dir, err, opts.Private}
	}
	abs = names.WithoutPrefix(abs)
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, &rootError{dir, err, opts.Private}
	}
	if !opts.AllowAny {
		if err := checkRootDir(real); err != nil {
			return nil, &rootError{dir, err, opts.Private}
		}
	}
	if opts.Private {
		if _, err := outside.CheckPrivate(abs); err != nil {
			return nil, err
		}
	}
	r := &Root{dir: abs, real: real, own: opts.Own, readOnly: opts.ReadOnly, rescued: opts.Rescued, allowAny: opts.AllowAny, private: opts.Private}
	if !opts.Trusted {
		if r.policy.Policy, err = policy.New(opts.Rules); err != nil {
			return nil, &rootError{dir, err, opts.Private}
		}
	}
	if err := r.sys.open(real); err != nil {
		return nil, &rootError{dir, err, opts.Private}
	}
	if r.layer = opts.Layer; r.layer != nil {
		r.sys.listen(opts.Layer)
	}
	return r, nil
}

func checkRootDir(real string) error {
	if filepath.Dir(real) == real {
		return errIsTop
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // the home folder is unknown
	}
	a, errA := os.Stat(real)
	b, errB := os.Stat(home)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return errIsHome
	}
	return nil
}

// Dir returns the absolute path of the root as given. It may be shown to the user, but never
// to a client of the tools.
func (r *Root) Dir() string { return r.dir }

// RealDir returns the absolute path of the root, its symlinks resolved.
func (r *Root) RealDir() string { return r.real }

// Policy returns the policy in force; nil for a trusted root.
func (r *Root) Policy() *policy.Policy { return r.policy.Policy }

// Layer returns the layer with which the root was opened, to open another root with it.
func (r *Root) Layer() *Layer { return r.layer }

// ReadOnly reports whether changes are refused.
func (r *Root) ReadOnly() bool { return r.readOnly }

// Close releases the root. Files and folders opened from it stay open; further
// opening fails.
func (r *Root) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.drain(true)
	for dir := range r.temps.takeLeft() {
		r.CleanFolder(context.Background(), dir) // if this fails, a later CleanTemps cleans up
	}
	return r.sys.close()
}

// writable refuses changes on a read-only root.
func (r *Root) writable(op string, p Path) error {
	if r.readOnly {
		return &fault.PathError{Op: op, Path: p.String(), Kind: fault.ReadOnly, Err: errWrites}
	}
	return nil
}
