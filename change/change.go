package change

import (
	"fmt"
	"slices"
	"time"

	"quarry/fault"
)

// Change is the effect of one call or, in a dry run, its planned effect. All of it is one entry of the
// journal and is undone as one.
type Change struct {
	// ID names the change for Undo and Diff. It is "" in a dry run and if nothing
	// changed.
	ID     string    `json:"id,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Tool   string    `json:"tool"`
	Client Client    `json:"client,omitzero"`
	// Proposal is the id of the accepted proposal, if a person reviewed the change.
	Proposal string `json:"proposal,omitempty"`
	// Rule is the owner's rule that accepted it without review by a person.
	Rule string `json:"rule,omitempty"`
	// Outside says that another program made the change, and that it was recorded. Client
	// and Tool describe the tool that ran, if a hook reported one; else Tool is "outside".
	Outside bool `json:"outside,omitempty"`
	// Paths are the affected files and folders, the requested one first; a move has the
	// old and the new one.
	Paths []string `json:"paths"`
	// Did is the action, and Summary the same in one line.
	Did     Action `json:"-"`
	Summary string `json:"summary"`

	// Diff is a unified diff, cut after a few hundred lines; Workspace.Diff shows more.
	// Diffs are its parts, one for each path.
	Diff  string     `json:"diff,omitempty"`
	Diffs []PathDiff `json:"-"`
	// Version and Size describe the file after the change; Version is "" if the change is not about one file.
	Version string `json:"version,omitempty"`
	Size    int64  `json:"size,omitempty"`
	// Kept is the property that new text took over from the file: "CRLF", or an encoding.
	Kept string `json:"kept,omitempty"`

	// MoreDiffs counts the files that the diff leaves out.
	MoreDiffs int `json:"more_diffs,omitempty"`
	// Exact is set for an undo of the whole change if no later change affects the same
	// files.
	Exact bool `json:"-"`

	// Authors are the authors of the undone changes, if this change went back to a point.
	Authors []Author `json:"authors,omitempty"`

	DryRun    bool `json:"dry_run,omitempty"`
	Unchanged bool `json:"unchanged,omitempty"` // nothing had to change
	// Digest identifies a plan. A Set with this digest is applied only if the result is
	// the same.
	Digest string `json:"digest,omitempty"`

	// Created says that the file or folder is new. Folders lists the folders created for
	// it.
	Created bool     `json:"created,omitempty"`
	Folders []string `json:"folders,omitempty"`

	Files []File       `json:"files,omitempty"` // of a set, one for each file
	Edits []Outcome    `json:"edits,omitempty"` // of an edit, one for each
	Links *LinkReport  `json:"links,omitempty"` // of a move that files link to
	Trash *TrashReport `json:"trash,omitempty"` // of a deletion

	// Undoes is the change that this one undid, UndoneBy the change that undid this one.
	Undoes   string `json:"undoes,omitempty"`
	UndoneBy string `json:"undone_by,omitempty"`
	// PartOf is the change that this one undid in part; PartlyBy are the changes that
	// undid parts of this one.
	PartOf   string   `json:"undoes_part_of,omitempty"`
	PartlyBy []string `json:"undone_in_part_by,omitempty"`
	// Pending says that the change is in progress, or was interrupted and is unresolved.
	Pending bool `json:"pending,omitempty"`
	// Partly describes the part on disk of a change that failed half-way and could not be rolled back; nil if
	// it was made as a whole or is in progress. Undo with its ID rolls it back.
	Partly *Partly `json:"partly,omitempty"`
	// Reviewed is set if a person accepted the change in part, or after its files had
	// changed. All other fields then describe the changes made.
	Reviewed *Reviewed `json:"reviewed,omitempty"`
	// NoUndo says why the change can't be undone; "" if it can.
	NoUndo string `json:"no_undo,omitempty"`
	// NoPlan says why the digest of a dry run can't replace the changes; "" if it can.
	NoPlan string `json:"no_plan,omitempty"`
	// Broken lists the files that parsed before the change and do not after it.
	Broken []Broken `json:"broken,omitempty"`
	// Warnings are remarks about a change that succeeded.
	Warnings []string `json:"warnings,omitempty"`
}

// File is the effect of a set on one file.
type File struct {
	Path    string `json:"path"`
	To      string `json:"to,omitempty"` // the destination of a move
	Did     Verb   `json:"did"`          // Edited, Created, Overwrote, Deleted, Moved or SetMode
	Hunks   int    `json:"hunks,omitempty"`
	Added   int    `json:"added,omitempty"`   // lines
	Removed int    `json:"removed,omitempty"` // lines
	Version string `json:"version,omitempty"` // afterwards
	Kept    string `json:"kept,omitempty"`    // see Change
	// Executable is the new state if the change changed the file's mode.
	Executable *bool `json:"executable,omitempty"`
	// Ops are the operations of the set on this file, by their index.
	Ops []int `json:"-"`
}

// Broken is a file whose syntax a change broke.
type Broken struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

func (b Broken) String() string { return fault.Printable(b.Path) + " " + b.Words() }

// Words is String without the path.
func (b Broken) Words() string {
	return fmt.Sprintf("no longer parses: line %d: %s", b.Line, b.Problem)
}

// LinkReport describes how a move changed links.
type LinkReport struct {
	Updated  int      `json:"updated"`
	Texts    int      `json:"texts,omitempty"`    // of these, links whose displayed text was the old name and changed with it
	TextsIn  []string `json:"texts_in,omitempty"` // the files with these links, by their old path
	Files    []string `json:"files,omitempty"`    // rewritten, by their new path
	Broken   int      `json:"broken"`
	BrokenIn []string `json:"broken_in,omitempty"` // by their old path
}

// TrashReport says where deleted entries are.
type TrashReport struct {
	Kind TrashKind `json:"kind"`
	// Where is the name in the trash; "" if it was deleted permanently.
	Where string `json:"where,omitempty"`
}

// Trashed is an entry of a trash.
type Trashed struct {
	ID      string    `json:"id"` // for restoring it
	Kind    TrashKind `json:"kind"`
	Path    string    `json:"path"` // the original path, relative to the workspace
	Folder  bool      `json:"folder,omitempty"`
	Size    int64     `json:"size"`
	Deleted time.Time `json:"deleted,omitzero"`
}

// Log is the contents of the journal.
type Log struct {
	Changes []Change `json:"changes"` // newest first
	// Dropped counts older changes that were dropped because of the limits on
	// size and age. DroppedTo is the time of the newest of them.
	Dropped   int       `json:"dropped,omitempty"`
	DroppedTo time.Time `json:"dropped_to,omitzero"`
	// Damaged counts records that can't be read.
	Damaged int `json:"damaged,omitempty"`
	// Lost counts missing changes that were not dropped: files of the journal were
	// truncated or deleted.
	Lost int `json:"lost,omitempty"`
	// Points are the named points, the newest first.
	Points []Point `json:"points,omitempty"`
	// Unrecorded says why changes of other programs are not recorded, although a
	// process should record them.
	Unrecorded string `json:"unrecorded,omitempty"`
}

// Cleaned is the result of Clean.
type Cleaned struct {
	Removed  int      // abandoned temporary files
	Restored []string // files that got their old content back
	Kept     []string // files with content of other programs, now under a visible name
}

// Under returns the change as seen from a larger workspace in which this one is a
// folder. The folder is put before every path and, since two journals may use the same id, before
// every id.
func (c *Change) Under(folder string) *Change {
	if c == nil || folder == "" {
		return c
	}
	out := *c
	at := place{folder}
	if out.Did = c.Did.under(at); out.Did.Verb != "" {
		out.Summary = out.Did.String()
	}
	out.Paths, out.Folders = at.paths(c.Paths), at.paths(c.Folders)
	out.Diffs = make([]PathDiff, len(c.Diffs))
	for i, d := range c.Diffs {
		out.Diffs[i] = d.under(at)
	}
	out.Diff = JoinDiffs(out.Diffs)
	out.Files = make([]File, len(c.Files))
	for i, f := range c.Files {
		f.Path, f.To = at.path(f.Path), at.given(f.To)
		out.Files[i] = f
	}
	out.Broken = slices.Clone(c.Broken)
	for i := range out.Broken {
		out.Broken[i].Path = at.path(out.Broken[i].Path)
	}
	if c.Links != nil {
		links := *c.Links
		links.Files, links.BrokenIn = at.paths(links.Files), at.paths(links.BrokenIn)
		out.Links = &links
	}
	out.Partly, out.Reviewed = c.Partly.under(at), c.Reviewed.under(at)
	out.ID, out.Undoes, out.UndoneBy = at.given(c.ID), at.given(c.Undoes), at.given(c.UndoneBy)
	out.PartOf, out.Proposal = at.given(c.PartOf), at.given(c.Proposal)
	out.PartlyBy = nil
	for _, id := range c.PartlyBy {
		out.PartlyBy = append(out.PartlyBy, at.given(id))
	}
	return &out
}

// place is a folder of a larger workspace.
type place struct{ folder string }

func (p place) path(s string) string {
	if s == "" || s == "." {
		return p.folder
	}
	return p.folder + "/" + s
}

// given is like path, but keeps "".
func (p place) given(s string) string {
	if s == "" {
		return ""
	}
	return p.path(s)
}

func (p place) paths(list []string) []string {
	if len(list) == 0 {
		return list
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = p.path(s)
	}
	return out
}
