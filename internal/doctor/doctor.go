// Package doctor examines a workspace, its index, undo log and settings, and reports
// problems and how to repair them.
//
// The invariant: an examination changes nothing. It does not recover changes, rebuild an
// index or clean up, so a second one reports the same.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"quarry"
	"quarry/internal/config"
	"quarry/internal/render"
)

// Finding is a problem, and how to fix it.
type Finding struct {
	ID   string   `json:"id"`
	Note bool     `json:"note,omitempty"` // information that needs no action
	What string   `json:"what"`
	Why  string   `json:"why"`
	Fix  string   `json:"fix,omitempty"` // as a sentence
	Run  []string `json:"run,omitempty"` // commands for a POSIX shell
}

// Options specify what to examine, and how to access it. All fields are required.
type Options struct {
	Root   string // the workspace
	Getenv config.Env
	// Config reads quarry.toml in the way commands do.
	Config func() (*config.File, error)
	// Open opens the workspace without an index, as for a search.
	Open func() (*quarry.Workspace, error)
	// Index returns the location of the workspace's index.
	Index func() (*quarry.IndexOptions, error)
	// ServerFlags parses arguments of quarry mcp and returns an error if they are
	// invalid.
	ServerFlags func(args []string) error
	// HasBrowser reports whether quarry ui could open its page in a browser. PageRuns
	// reports whether the page is running whose address is in a file.
	HasBrowser func() bool
	PageRuns   func(file string) bool

	Program   string // path of this executable; "" if unknown
	Version   string // this program's version
	Proc      string // the /proc folder with the kernel's limits
	LeastFree int64  // report less free space than this, in bytes
}

// Result is the result of one check.
type Result struct {
	Check    string
	Findings []Finding
	// Failed is set if the check could not be made. A finding has the reason, unless
	// another check failed for the same one.
	Failed bool
}

// check is a named check.
type check struct {
	name string
	run  func(*exam, context.Context) error
	// inside is set if the check opens the workspace. If the folder is missing, such
	// checks are skipped: they would report misleading errors and suggest removing good
	// data.
	inside bool
}

// checks has all checks. Those for problems that prevent commands from starting come
// first.
var checks = []check{
	{"configuration file", (*exam).checkConfig, false},
	{"environment", (*exam).checkEnvironment, false},
	{"workspace", (*exam).checkRoot, false},
	{"files in it", (*exam).checkTree, true},
	{"ignore rules", (*exam).checkIgnore, true},
	{"folders of Quarry", (*exam).checkPlaces, false},
	{"free space", (*exam).checkRoom, true},
	{"undo log", (*exam).checkJournal, true},
	{"trash", (*exam).checkTrash, true},
	{"index", (*exam).checkIndex, true},
	{"watch limits", (*exam).checkLimits, true},
	{"clients", (*exam).checkClients, false},
	{"page", (*exam).checkPage, false},
}

// exam is one examination.
type exam struct {
	*Options
	findings []Finding
	gone     bool // the workspace does not exist
}

// Examine makes all checks and returns a result for each. It returns an error only if ctx
// ends.
func Examine(ctx context.Context, o *Options) ([]Result, error) {
	x := &exam{Options: o}
	var results []Result
	for _, c := range checks {
		if x.gone && c.inside {
			results = append(results, Result{Check: c.name, Failed: true})
			continue
		}
		before := len(x.findings)
		err := c.run(x, ctx)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		switch {
		case errors.Is(err, config.ErrNoHome):
			x.homeless()
		case err != nil:
			x.find(Finding{ID: "check", What: fmt.Sprintf("The %s can't be checked: %v.", c.name, err), Why: "What can't be checked may be broken."})
		}
		results = append(results, Result{Check: c.name, Findings: x.findings[before:], Failed: err != nil})
	}
	return results, nil
}

func (x *exam) find(f Finding) { x.findings = append(x.findings, f) }

// homeless reports an unknown home folder, only once although several checks need it.
func (x *exam) homeless() {
	if slices.ContainsFunc(x.findings, func(f Finding) bool { return f.ID == "no-home" }) {
		return
	}
	x.find(Finding{
		ID: "no-home", What: "No home folder is known.",
		Why: "Settings, indexes and the undo log are kept in it: without it files can't be changed, and searches have no index.",
		Fix: "Set HOME, or XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME and XDG_DATA_HOME.",
		Run: []string{`export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"`},
	})
}

// places returns the locations of Quarry's data about the workspace.
func (x *exam) places() (places, error) {
	p := places{Root: x.Root}
	base, err := config.StateDir(x.Getenv)
	if err != nil {
		return p, err
	}
	p.Journal = filepath.Join(base, config.RootID(x.Root), "journal")
	if file, err := x.Config(); err == nil {
		if size, err := file.Get(x.Getenv, x.Root, "journal.keep-size"); err == nil && size.Source != config.FromDefault {
			if n, err := strconv.ParseInt(size.Text, 10, 64); err == nil {
				p.KeepBytes = n
			}
		}
	}
	at, err := x.Index()
	if err != nil {
		return p, err
	}
	p.Index = indexAt{Dir: at.Dir, Socket: at.Socket}
	return p, nil
}

// rootFlag returns the --root flag for repair commands.
func (x *exam) rootFlag() string { return " --root " + render.ShellQuote(x.Root) }

// missing reports whether err means that a file doesn't exist, which often is not a
// problem.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
