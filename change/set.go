package change

// Set is a list of operations that are made as one change: all of them or none,
// also across a crash.
type Set struct {
	Ops []Op
	// Summary is one line for people; "" is worded from the operations.
	Summary string
	// Tool is recorded with the change, and Client is the program that asked.
	Tool   string
	Client Client
	// Digest is that of a plan: if anything would come out otherwise now, the
	// set is refused. "" asks for nothing.
	Digest string
}

// OpVerb says what an Op does.
type OpVerb uint8

const (
	EditFile   OpVerb = iota // Edits in the text file Path
	WriteFile                // Content becomes that of Path, which may exist
	CreateFile               // Path is a new file with Content
	DeletePath               // Path goes to the trash
	MovePath                 // Path becomes To; Edits, if any, are made in it
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
	// Version is that of the file as it was read. If its content is another
	// one now, the whole set is refused. "" is any.
	Version string
	// Blob is git's id, or the beginning of it, of the file that hunks were made
	// for; if the file is that one, their line numbers are certain.
	Blob string
	// Executable says whether a file is a program; nil leaves that alone.
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
}

// String is the name and the version.
func (c Client) String() string {
	if c.Version == "" {
		return c.Name
	}
	return c.Name + " " + c.Version
}

// TrashKind is what deleting means.
type TrashKind string

const (
	// TrashDefault is what the vault's settings say, else TrashSystem.
	TrashDefault TrashKind = ""
	TrashSystem  TrashKind = "system" // the desktop's trash
	TrashLocal   TrashKind = "local"  // the folder .trash of the workspace
	TrashNone    TrashKind = "none"   // for good; the journal can still bring it back
)

// LinkUpdate says what a move in a vault does to links.
type LinkUpdate uint8

const (
	LinksDefault LinkUpdate = iota // as the vault's alwaysUpdateLinks says
	LinksUpdate                    // rewrite those that would point elsewhere
	LinksLeave                     // count those that break
)

// Options say how a change is made; nil is fine.
type Options struct {
	// ExpectedVersion is the version the file was read as. If its content is
	// another one now, nothing is changed and the error is a conflict. "" is
	// any: the change then rests on what the call itself reads.
	ExpectedVersion string
	// DryRun works everything out and changes nothing.
	DryRun bool
	// Tool is recorded with the change; "" is the method's own name.
	Tool string
	// Summary is one line for people; "" is worded from the change.
	Summary string
	// Client is the program that asked.
	Client Client
	// SkipConflicts lets an undo leave files alone that have changed since. The
	// others are undone as a change of their own; the first one stays one that
	// is not undone.
	SkipConflicts bool
}

// Set is the set of one operation under these options, recorded as tool unless
// they say otherwise.
func (o Options) Set(tool string, op Op) Set {
	op.Version = o.ExpectedVersion
	if o.Tool != "" {
		tool = o.Tool
	}
	return Set{Ops: []Op{op}, Summary: o.Summary, Tool: tool, Client: o.Client}
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
