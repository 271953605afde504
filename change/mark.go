package change

import "time"

// Mark tells the recorder of a workspace that a tool of another program begins or has
// ended, so that changes are attributed to it. See quarry.SendMark.
//
// A mark of a file tool names Paths: changes to these files while it lasts are the tool's own ("Edit by
// claude-code"). A mark of a shell command has a Command and no Paths: changes while it lasts are reported as
// made during it, without claiming that the command made them. Marks may overlap, also marks of several
// sessions.
//
// A begin waits until earlier changes are recorded separately, and makes sure that the contents of Paths are
// kept. An end waits until all changes since the begin are recorded. A mark without an end lasts until the
// next begin of its session, at most ten minutes.
type Mark struct {
	// End says that the tool has ended; otherwise it begins.
	End bool
	// ID pairs a begin with its end, as the client numbers its calls; "" pairs with
	// the last begin of the session.
	ID string
	// Client names the program and its session.
	Client Client
	// Tool is its name in the client: "Edit", "Bash".
	Tool string
	// Paths are the files the tool may write, relative to the workspace or absolute;
	// those elsewhere are ignored.
	Paths []string
	// Command is the command line of a shell. Before it is stored, it is cut at 200
	// characters and possible credentials are masked.
	Command string
}

// Marked is the answer to a Mark.
type Marked struct {
	// Recording says that changes are recorded.
	Recording bool
	// Changed are the files that were recorded as changed since the begin, in order,
	// relative to the workspace. Only an end has them.
	Changed []string
	// Broken are files that a command left unparsable. Those found after
	// the hook stopped waiting come with the next end of the session.
	Broken []Broken
}

// Recording is the recording state of a workspace.
type Recording struct {
	// On says that a process is recording now.
	On bool `json:"on"`
	// Starting says that a process will record once it has read the files.
	Starting bool `json:"starting,omitempty"`
	// Since is when all files had been read: later changes are recorded. Zero means unknown.
	Since time.Time `json:"since,omitzero"`
	// Files counts the covered files. TooLarge, OverBudget and Unreadable count those of
	// them whose contents are not kept.
	Files      int `json:"files"`
	TooLarge   int `json:"too_large,omitempty"`
	OverBudget int `json:"over_budget,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Omitted counts changes of such files, and versions of files that are written all
	// the time.
	Omitted int `json:"omitted,omitempty"`
	// Bytes is the disk space of contents and entries, MaxBytes the limit.
	Bytes    int64 `json:"bytes"`
	MaxBytes int64 `json:"max_bytes"`
	// Unwatched counts the folders that are only compared on request.
	Unwatched int `json:"unwatched,omitempty"`
	// Problem says why nothing is being recorded.
	Problem string `json:"problem,omitempty"`
}
