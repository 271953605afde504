package change

import "context"

// Set is a list of operations that are applied as one change: all or none, even after a
// crash.
type Set struct {
	Ops []Op
	// Summary is one line for people; if "", it is made from the operations.
	Summary string
	// Tool is recorded with the change, and Client is the program that asked.
	Tool   string
	Client Client
	// Proposal is the id of the proposal that was accepted; "" is a change without review.
	Proposal string `json:",omitempty"`
	// Rule is the owner's rule that accepted it; "" is none.
	Rule string `json:",omitempty"`
	// Digest is the digest of a plan. The set is refused if its result would differ from
	// the plan. "" means no plan.
	Digest string
	// FullDiff lets a plan show whole diffs, for review by a person: up to 20,000 lines
	// of a file and 200,000 in all instead of 400; with AllLines, all.
	FullDiff, AllLines bool
	// Again, if set, computes the set anew: it is called if files have changed since Ops
	// were computed, and the Ops and Summary of its result are applied. Without it, a set
	// whose versions no longer match is refused.
	Again func(context.Context) (Set, error) `json:"-"`
}

// OpVerb is the kind of an Op: EditFile, WriteFile, CreateFile, DeletePath, MovePath or
// MakeFolder.
type OpVerb uint8

const (
	EditFile   OpVerb = iota // Edits in the text file Path
	WriteFile                // Path gets Content; it may exist
	CreateFile               // Path is a new file with Content
	DeletePath               // Path goes to the trash
	MovePath                 // Path is moved to To, with Edits if there are any
	MakeFolder               // Path becomes a folder
)

// Op is one operation of a Set. A path that is moved can't be named in another operation.
type Op struct {
	Verb    OpVerb
	Path    string
	To      string // MovePath
	Edits   []Edit
	Content []byte
	// Text says that Content is text in UTF-8. If it overwrites a text file, it takes
	// that file's encoding and byte order mark and, if it has only \n, the file's line
	// ending. Content that is not UTF-8, or begins with a byte order mark, is written
	// unchanged.
	Text bool
	// Version is the version of the file that was read. If the content has
	// changed since, the whole set is refused. "" accepts any version.
	Version string
	// Blob is git's id, or a prefix of it, of the file for which the hunks were made. If
	// the file has this id, the line numbers are certain.
	Blob string
	// Executable sets or clears the executable bits; nil does not change them.
	Executable *bool
	Trash      TrashKind  // DeletePath
	FileOnly   bool       // DeletePath refuses a folder
	Links      LinkUpdate // MovePath
	// Origin is the caller's name for the operation in errors: "hunk 2", or a part of a
	// patch.
	Origin string
}

// Client is a program that requested a change, as it introduced itself.
type Client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Session names the connection of the request: changes of one session belong
	// together. "" is a caller without a connection, such as a shell.
	Session string `json:"session,omitempty"`
}

// String returns the name and the version.
func (c Client) String() string {
	if c.Version == "" {
		return c.Name
	}
	return c.Name + " " + c.Version
}

// TrashKind is a way of deleting: TrashDefault, TrashSystem, TrashLocal or TrashNone.
type TrashKind string

const (
	// TrashDefault is the folder's own setting, if it has one. Otherwise it is
	// TrashSystem if the workspace was opened with a TrashDir, and on Windows; else
	// TrashLocal.
	TrashDefault TrashKind = ""
	TrashSystem  TrashKind = "system" // the desktop's trash
	TrashLocal   TrashKind = "local"  // the folder .trash of the workspace
	TrashNone    TrashKind = "none"   // permanently; the journal can still restore it
)

// LinkUpdate tells how a move treats links: LinksDefault, LinksUpdate, LinksLeave or
// LinksKeepTexts.
type LinkUpdate uint8

const (
	LinksDefault   LinkUpdate = iota // according to the settings of the folder
	LinksUpdate                      // rewrite links that would otherwise point elsewhere
	LinksLeave                       // count those that break
	LinksKeepTexts                   // like LinksUpdate, but displayed texts equal to the old name stay
)

// Options control how a change is made; nil is allowed.
type Options struct {
	// ExpectedVersion is the version of the file that was read. If the content has
	// changed since, nothing is changed and the error is a conflict. "" accepts any
	// version.
	ExpectedVersion string
	// DryRun computes the result and changes nothing.
	DryRun bool
	// Tool is recorded with the change; "" is the method's own name.
	Tool string
	// Summary is one line for people; if "", it is made from the change.
	Summary string
	// Client is the program that requested the change, Proposal the proposal that a
	// person accepted, and Rule the accepting rule.
	Client         Client
	Proposal, Rule string
	// Text equals Op.Text, for Write.
	Text bool
	// Parts are the parts to undo; none means the whole change. An undo in part is a change of its own.
	Parts []UndoPart
	// To makes an undo go back to a point. The id and Parts are then ignored.
	To *Back
	// SkipConflicts lets an undo skip files that have changed since. The other
	// files are undone by a separate change, and the original change does not
	// count as undone.
	SkipConflicts bool
	// FullDiff and AllLines equal the fields of Set, for the dry run of an undo. If both
	// are set, Diff also shows unchanged lines.
	FullDiff, AllLines bool
}

// UndoPart is a part of a change: a file, or one hunk of its diff, as Diff shows it.
type UndoPart struct {
	Path string `json:"path"` // its name in the change, or its current name
	// Hunk counts from 1. Line is a line shown in the hunk, numbered as the change left
	// the file. 0 in both is the whole file.
	Hunk int `json:"hunk,omitempty"`
	Line int `json:"line,omitempty"`
}

// Set returns a set of one operation with these options. It is recorded with the given
// tool, unless the options name another one.
func (o Options) Set(tool string, op Op) Set {
	if o.ExpectedVersion != "" {
		op.Version = o.ExpectedVersion
	}
	op.Text = op.Text || o.Text
	if o.Tool != "" {
		tool = o.Tool
	}
	return Set{Ops: []Op{op}, Summary: o.Summary, Tool: tool, Client: o.Client, Proposal: o.Proposal, Rule: o.Rule}
}

// DeleteOptions control how to delete; nil is allowed.
type DeleteOptions struct {
	Options
	// Trash overrides the workspace's default.
	Trash TrashKind
}

// MoveOptions control how to move; nil is allowed.
type MoveOptions struct {
	Options // ExpectedVersion is the version of the moved file
	Links   LinkUpdate
}
