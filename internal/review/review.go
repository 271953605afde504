// Package review holds changes back until a person decides.
//
// The invariant: a change that comes to a Gate writes no byte of the workspace.
// It becomes a proposal in a Store, bound to the versions of the files it was
// made on, and is applied, whole or in part, by the process of the person who
// accepts it. Nothing that a client of the gate can call accepts a proposal.
//
// A proposal is one file in the state folder, replaced whole and durably at each
// step, so it survives restarts. Whoever changes one holds the store's lock: of
// two people who decide at once, the second hears what the first decided. A
// process that is killed while it applies leaves the state Applying; the next
// one compares the files with the versions before and after and says which of
// the two they are.
package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
)

// State is what became of a proposal.
type State string

const (
	Waiting   State = "waiting"
	Abandoned State = "abandoned" // the client has gone; it can still be accepted
	Applying  State = "applying"  // accepted, under way
	Accepted  State = "accepted"
	Partly    State = "partly" // some hunks were accepted
	Refused   State = "refused"
	Withdrawn State = "withdrawn" // by the client itself
)

// Open reports whether a decision is still to be made.
func (s State) Open() bool { return s == Waiting || s == Abandoned || s == Applying }

// Proposal is a change that waits for a decision, or had one.
type Proposal struct {
	ID      string        `json:"id"`
	Made    time.Time     `json:"made"`
	Client  change.Client `json:"client"`
	Tool    string        `json:"tool"`
	Summary string        `json:"summary"`
	State   State         `json:"state"`
	// Until is how long the client waits for the decision, and Waits names what the
	// process that waits holds: see hold.
	Until time.Time `json:"until,omitzero"`
	Waits string    `json:"waits,omitempty"`

	// Set is what the client asked for, and Digest identifies the plan made
	// from it. For an undo, Undo is the change to undo instead.
	Set    change.Set `json:"set"`
	Digest string     `json:"digest,omitempty"`
	Undo   string     `json:"undo,omitempty"`
	// Parts are the parts of the change to undo; none is all of it.
	Parts []change.UndoPart `json:"parts,omitempty"`
	Files []File            `json:"files"`

	// Rule is the rule that asks; "" is the gate itself.
	Rule string `json:"rule,omitempty"`

	Decided time.Time `json:"decided,omitzero"`
	By      string    `json:"by,omitempty"` // page or shell
	Comment string    `json:"comment,omitempty"`
	// Change is the entry of the journal that was made of it.
	Change string `json:"change,omitempty"`
	// Problem says why applying failed; the proposal then waits again.
	Problem string `json:"problem,omitempty"`
	// Was is the state before Applying, and Last the newest change there was then.
	Was  State  `json:"was,omitempty"`
	Last string `json:"last,omitempty"`
	// Told says that the client was told the decision.
	Told bool `json:"told,omitempty"`

	// Key is the same for the same set of the same client.
	Key string `json:"key"`
}

// File is what a proposal does to one file.
type File struct {
	Path string        `json:"path"`
	To   string        `json:"to,omitempty"` // where a move puts it
	Op   change.OpVerb `json:"op"`
	// Ops are the operations of the set that are about this file.
	Ops []int `json:"ops,omitempty"`
	// Before and After are the versions; "" is a file that is not there. For a
	// folder and a large file they are marks of how it is.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Old is the content before, if the file can be accepted in parts.
	Old   []byte `json:"old,omitempty"`
	Split bool   `json:"split,omitempty"`
	Hunks []Hunk `json:"hunks"`
	Note  string `json:"note,omitempty"` // what it does beside content
	// Cut are the lines it adds and removes that the hunks don't show.
	Cut Lines `json:"cut,omitzero"`
	// Placed is the version written if the file was not Before any more, and At the line
	// of each hunk in the file as it was then.
	Placed string `json:"placed,omitempty"`
	At     []int  `json:"at,omitempty"`
	text   []byte // the content to write
	on     string // the version it replaces
}

// placed reports whether hunks were placed in files that changed since.
func (p *Proposal) placed() bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.Placed != "" })
}

// Lines are lines that are added and removed.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Lines are those a file's change adds and removes, shown or not.
func (f *File) Lines() Lines {
	added, removed := linesOf(f.Hunks)
	return Lines{added + f.Cut.Added, removed + f.Cut.Removed}
}

// Verdict is a decision about a hunk.
type Verdict string

const (
	Undecided Verdict = ""
	Yes       Verdict = "accept"
	No        Verdict = "refuse"
)

// Counts are the hunks, and of them those accepted and refused.
func (p *Proposal) Counts() (all, yes, no int) {
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			all++
			switch h.Verdict {
			case Yes:
				yes++
			case No:
				no++
			}
		}
	}
	return all, yes, no
}

// Lines are the lines it would add and remove.
func (p *Proposal) Lines() (added, removed int) {
	for i := range p.Files {
		l := p.Files[i].Lines()
		added, removed = added+l.Added, removed+l.Removed
	}
	return added, removed
}

func linesOf(hunks []Hunk) (added, removed int) {
	for _, h := range hunks {
		for l := range strings.Lines(h.Text) {
			switch l[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Does counts what a proposal does. It does not use the summary, which the
// agent wrote.
func (p *Proposal) Does() string {
	var edited, made, moved, deleted int
	for _, f := range p.Files {
		switch {
		case f.Op == change.DeletePath:
			deleted++
		case f.Op == change.MovePath:
			moved++
		case f.Op == change.MakeFolder, f.Op == change.CreateFile, f.Before == "":
			made++
		default:
			edited++
		}
	}
	var list []string
	for _, c := range []struct {
		n    int
		does string
	}{{deleted, "deletes"}, {moved, "moves"}, {made, "creates"}, {edited, "edits"}} {
		if c.n > 0 {
			list = append(list, fmt.Sprintf("%s %d", c.does, c.n))
		}
	}
	return strings.Join(list, ", ")
}

// Comments are what the person wrote, with the places that they are about.
func (p *Proposal) Comments() []string {
	var list []string
	if p.Comment != "" {
		list = append(list, p.Comment)
	}
	for i := range p.Files {
		f := &p.Files[i]
		lines := f.lines()
		for j, h := range f.Hunks {
			switch {
			case h.Comment == "":
			case lines[j] == 0:
				list = append(list, f.Path+": "+h.Comment)
			default:
				list = append(list, fmt.Sprintf("%s:%d: %s", f.Path, lines[j], h.Comment))
			}
		}
	}
	return list
}

// Verdict is the decision in one line.
func (p *Proposal) Verdict() string {
	all, yes, _ := p.Counts()
	var b strings.Builder
	switch p.State {
	case Accepted:
		fmt.Fprintf(&b, "%s was accepted and applied%s", p.ID, p.applied())
	case Partly:
		parts := p.reviewed()
		fmt.Fprintf(&b, "%s was accepted in part (%d of %d hunks) and applied%s; written: %s; refused: %s",
			p.ID, yes, all, p.applied(), change.Parts(parts.Written), change.Parts(parts.Refused))
	case Refused:
		fmt.Fprintf(&b, "%s was refused; nothing was changed", p.ID)
	case Withdrawn:
		fmt.Fprintf(&b, "%s was withdrawn; nothing was changed", p.ID)
	default:
		fmt.Fprintf(&b, "%s waits for a decision; nothing is changed yet", p.ID)
	}
	for i, c := range p.Comments() {
		sep := ": "
		switch {
		case i > 0:
			sep = "; "
		case p.State == Partly:
			sep = "; comment: " // after a list of parts
		}
		b.WriteString(sep + strings.Join(strings.Fields(c), " "))
	}
	return b.String()
}

func (p *Proposal) applied() string {
	if p.Change == "" {
		return ""
	}
	return " as change " + p.Change
}

// Whole reports a proposal that is accepted or refused as one.
func (p *Proposal) Whole() bool { return p.Undo != "" || len(p.Set.Ops) == 0 }

// Paths are all paths a proposal touches.
func (p *Proposal) Paths() []string {
	var list []string
	for _, f := range p.Files {
		list = append(list, f.Path)
		if f.To != "" {
			list = append(list, f.To)
		}
	}
	return list
}

// PendingError says that a change waits for a decision. Nothing is written.
type PendingError = change.PendingError

// RefusedError says that a person refused a change.
type RefusedError struct{ Proposal *Proposal }

func (e *RefusedError) Error() string { return "proposal " + e.Proposal.Verdict() }

// Unwrap gives the code.
func (e *RefusedError) Unwrap() error { return fault.Conflict }

// Hint says how to go on.
func (e *RefusedError) Hint() string {
	if len(e.Proposal.Comments()) > 0 {
		return "follow the comment, or ask the user"
	}
	return "ask the user what to do instead"
}

// BusyError refuses a change of a file that another proposal is about, whose
// client is still there.
type BusyError struct {
	ID     string
	Path   string
	Client string // that made it
	Own    bool   // it is the client that is refused
}

func (e *BusyError) Error() string {
	by := ""
	if e.Client != "" && !e.Own {
		by = " of " + fault.Printable(e.Client)
	}
	return fmt.Sprintf("%s is part of the proposal %s%s, which waits for a decision", strconv.QuoteToGraphic(e.Path), e.ID, by)
}

// Unwrap gives the code.
func (e *BusyError) Unwrap() error { return fault.Conflict }

// Hint says how to go on: only the client that made a proposal can withdraw it.
func (e *BusyError) Hint() string {
	if e.Own {
		return fmt.Sprintf("wait for the decision, or withdraw it with undo_change %s and send one change for both", e.ID)
	}
	who := "the client that made it"
	if e.Client != "" {
		who = fault.Printable(e.Client)
	}
	return fmt.Sprintf("wait for the decision; the user can decide it now (quarry review show %s), or %s can withdraw it", e.ID, who)
}

// StaleError says that files of a proposal changed since it was made.
type StaleError struct {
	ID    string
	Paths []string
}

func (e *StaleError) Error() string {
	names := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		names[i] = fault.Printable(p)
	}
	return fmt.Sprintf("%s was made on other versions of %s, and what changed since meets it", e.ID, strings.Join(names, ", "))
}

// Unwrap gives the code.
func (e *StaleError) Unwrap() error { return fault.Conflict }

// Hint says how to go on.
func (e *StaleError) Hint() string { return "refuse it, so that the agent reads the file again" }

// DecidedError says that somebody was faster.
type DecidedError struct{ Proposal *Proposal }

func (e *DecidedError) Error() string { return "decided already: " + e.Proposal.Verdict() }

// Unwrap gives the code.
func (e *DecidedError) Unwrap() error { return fault.Conflict }

var (
	errUnknown   = fault.New(fault.NotFound, "no such proposal", "quarry review lists them")
	errUndecided = fault.New(fault.InvalidArgument, "some hunks are not decided", "accept or refuse every hunk, or say what becomes of the rest")
	errWhole     = fault.New(fault.InvalidArgument, "this proposal is accepted or refused as a whole", "")
	errConfirm   = fault.New(fault.InvalidArgument, "the client has gone since it made this proposal", "confirm that it should be applied all the same")
	errNotText   = fault.New(fault.InvalidArgument, "a change with text that is not UTF-8 can't be reviewed", "")
)

// ErrUnknown is for an id that no proposal has.
func ErrUnknown() error { return errUnknown }
