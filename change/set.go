package change

import "context"

// Set is a list of operations that are made as one change: all of them or none,
// also across a crash.
type Set struct {
	Ops []Op
	// Summary is one line for people; "" is worded from the operations.
	Summary string
	// Tool is recorded with the change, and Client is the program that asked.
	Tool   string
	Client Client
	// Proposal is the id of the proposal that was accepted; "" is a change without review.
	Proposal string `json:",omitempty"`
	// Rule is the rule of the owner by which it was accepted; "" is none.
	Rule string `json:",omitempty"`
	// Digest is the digest of a plan. The set is refused if its result would differ from the plan. "" means
	// that there is no plan.
	Digest string
	// FullDiff lets a plan show whole diffs, for a person who decides: up to
	// 20,000 lines of a file and 200,000 in all instead of 400; with AllLines, all.
	FullDiff, AllLines bool
	// Again, if set, makes the set anew: it is called if files have changed since Ops
	// were worked out, and the set is applied with the Ops and the Summary of the
	// answer. Without it, a set whose versions don't fit any more is refused.
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
	MovePath                 // Path is moved to To; Edits, if any, are made in it
	MakeFolder               // Path becomes a folder
)

// Op is one operation of a Set. One path may not be both moved and named in
// another operation.
type Op struct {
	Verb    OpVerb
	Path    string
	To      string // MovePath
	Edits   []Edit
	Content []byte
	// Text says that Content is text in UTF-8. If it overwrites a text file, it
	// takes that file's encoding and byte order mark, and, if it has only \n, the
	// file's line ending. Content that is not UTF-8, or begins with a byte order
	// mark, is written as it is.
	Text bool
	// Version is the version of the file that was read. If the content has
	// changed since, the whole set is refused. "" accepts any version.
	Version string
	// Blob is git's id, or its beginning, of the file that the hunks were made
	// for. If the file has this id, the line numbers are certain.
	Blob string
	// Executable sets or clears the executable bits; nil does not change them.
	Executable *bool
	Trash      TrashKind  // DeletePath
	FileOnly   bool       // DeletePath refuses a folder
	Links      LinkUpdate // MovePath
	// Origin is how the caller names the operation in errors: "hunk 2", or a
	// part of a patch.
	Origin string
}

// Client is a program that asked for a change, as it introduced itself.
type Client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Session names the connection over which it asked: changes of one session
	// belong together. "" is a caller without a connection, as a shell.
	Session string `json:"session,omitempty"`
}

// String is the name and the version.
func (c Client) String() string {
	if c.Version == "" {
		return c.Name
	}
	return c.Name + " " + c.Version
}

// TrashKind says what deleting does: TrashDefault, TrashSystem, TrashLocal or TrashNone.
type TrashKind string

const (
	// TrashDefault is the folder's own setting, if it has one. Else it is TrashSystem if the workspace was
	// opened with a TrashDir, and on Windows; else TrashLocal.
	TrashDefault TrashKind = ""
	TrashSystem  TrashKind = "system" // the desktop's trash
	TrashLocal   TrashKind = "local"  // the folder .trash of the workspace
	TrashNone    TrashKind = "none"   // permanently; the journal can still restore it
)

// LinkUpdate tells how a move treats links: LinksDefault, LinksUpdate, LinksLeave or
// LinksKeepTexts.
type LinkUpdate uint8

const (
	LinksDefault   LinkUpdate = iota // as the settings of the folder say
	LinksUpdate                      // rewrite those that would point elsewhere
	LinksLeave                       // count those that break
	LinksKeepTexts                   // as LinksUpdate; displayed texts that are the old name stay
)

// Options say how a change is made; nil is fine.
type Options struct {
	// ExpectedVersion is the version of the file that was read. If the content
	// has changed since, nothing is changed and the error is a conflict. ""
	// accepts any version.
	ExpectedVersion string
	// DryRun computes the result and changes nothing.
	DryRun bool
	// Tool is recorded with the change; "" is the method's own name.
	Tool string
	// Summary is one line for people; "" is worded from the change.
	Summary string
	// Client is the program that asked, Proposal the one that a person has accepted, and Rule the accepting
	// rule.
	Client         Client
	Proposal, Rule string
	// Text equals Op.Text, for Write.
	Text bool
	// Parts are the parts to undo; none means the whole change. An undo in part is a change of its own.
	Parts []UndoPart
	// To makes an undo go back to a point. The id is then ignored, and Parts too.
	To *Back
	// SkipConflicts lets an undo skip files that have changed since. The other
	// files are undone by a separate change, and the original change does not
	// count as undone.
	SkipConflicts bool
	// FullDiff and AllLines equal the fields of Set, for the dry run of an undo. Diff with both shows the unchanged lines too.
	FullDiff, AllLines bool
}

// UndoPart is a part of a change: a file, or one hunk of its diff, as Diff shows it.
type UndoPart struct {
	Path string `json:"path"` // its name in the change, or its name now
	// Hunk counts from 1. Line is a line of the file as the change left it, which
	// the hunk shows. 0 in both is the whole file.
	Hunk int `json:"hunk,omitempty"`
	Line int `json:"line,omitempty"`
}

// Set returns the set of one operation with these options. It is recorded with
// the name tool, unless the options name another one.
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

// DeleteOptions say how to delete; nil is fine.
type DeleteOptions struct {
	Options
	// Trash overrides the workspace's way of deleting.
	Trash TrashKind
}

// MoveOptions say how to move; nil is fine.
type MoveOptions struct {
	Options // ExpectedVersion is that of the file moved
	Links   LinkUpdate
}
