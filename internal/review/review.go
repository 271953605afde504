// Package review holds changes back until a user has decided about them.
//
// The invariant: a change sent to a Gate does not modify the workspace. It becomes a
// proposal in a Store, bound to the file versions that it is based on. The process of the
// reviewer who accepts it applies it, completely or in part. A client of the gate can't
// accept a proposal by any call.
//
// A proposal is one file in the state folder. Each step replaces it atomically and
// durably, so it survives restarts. A decision requires the store's lock: if two
// reviewers decide at the same time, the second gets the first one's decision. If a
// process is killed while applying a proposal, its state remains Applying. The next
// process then determines from the journal whether it was applied.
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

// State is the state of a proposal.
type State string

const (
	Waiting   State = "waiting"
	Abandoned State = "abandoned" // the client has disconnected; the proposal can still be accepted
	Applying  State = "applying"  // accepted and being applied
	Accepted  State = "accepted"
	Partly    State = "partly" // some hunks were accepted
	Refused   State = "refused"
	Withdrawn State = "withdrawn" // by the client that made it
)

// Open reports whether the proposal is not yet settled: it waits for a decision or is
// being applied.
func (s State) Open() bool { return s == Waiting || s == Abandoned || s == Applying }

// Proposal is a change that waits for a decision, or about which one was made.
type Proposal struct {
	ID      string        `json:"id"`
	Made    time.Time     `json:"made"`
	Client  change.Client `json:"client"`
	Tool    string        `json:"tool"`
	Summary string        `json:"summary"`
	State   State         `json:"state"`
	// Until is when the client stops waiting for the decision. Waits is the name of the
	// file that the waiting process has locked; see hold.
	Until time.Time `json:"until,omitzero"`
	Waits string    `json:"waits,omitempty"`

	// Set is the client's request, and Digest identifies its plan. If the proposal is an
	// undo, Undo is the id of the change to undo instead.
	Set    change.Set `json:"set"`
	Digest string     `json:"digest,omitempty"`
	Undo   string     `json:"undo,omitempty"`
	// Parts are the parts of that change to undo; empty means all.
	Parts []change.UndoPart `json:"parts,omitempty"`
	// Back is set if the proposal goes back to a point, and Skip if it leaves files with
	// conflicts.
	Back  *change.Back `json:"back,omitempty"`
	Skip  bool         `json:"skip,omitempty"`
	Files []File       `json:"files"`

	// Rule is the rule that requires a decision; "" if the gate itself does.
	Rule string `json:"rule,omitempty"`

	Decided time.Time `json:"decided,omitzero"`
	By      string    `json:"by,omitempty"` // "page" or "shell"
	Comment string    `json:"comment,omitempty"`
	// Change is the id of the resulting change.
	Change string `json:"change,omitempty"`
	// Broken has the files that this change broke.
	Broken []change.Broken `json:"broken,omitempty"`
	// Problem is the reason why applying failed. The proposal then waits again.
	Problem string `json:"problem,omitempty"`
	// Was is the state before Applying, and Last the id of the newest change at that
	// time.
	Was  State  `json:"was,omitempty"`
	Last string `json:"last,omitempty"`
	// Told is set once the client has been told the decision.
	Told bool `json:"told,omitempty"`

	// Key is equal for equal requests of one client.
	Key string `json:"key"`
}

// File is a proposal's effect on one file.
type File struct {
	Path string        `json:"path"`
	To   string        `json:"to,omitempty"` // the target of a move
	Op   change.OpVerb `json:"op"`
	// Ops has the indices of the set's operations on this file.
	Ops []int `json:"ops,omitempty"`
	// Before and After are the file's versions; "" means that it does not exist. For
	// folders and large files they are digests of properties.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Old is the old content, if Split is set: the change can be accepted in parts.
	Old   []byte `json:"old,omitempty"`
	Split bool   `json:"split,omitempty"`
	Hunks []Hunk `json:"hunks"`
	Note  string `json:"note,omitempty"` // effects other than on the content
	// Cut counts the added and removed lines that the hunks don't show.
	Cut Lines `json:"cut,omitzero"`
	// Placed is the version that was written if the file was no longer Before. At has the
	// line of each hunk in that version.
	Placed string `json:"placed,omitempty"`
	At     []int  `json:"at,omitempty"`
	text   []byte // the new content to write
	on     string // the version it replaces
}

// placed reports whether hunks were merged with later changes.
func (p *Proposal) placed() bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.Placed != "" })
}

// Lines counts added and removed lines.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Lines counts the lines that the change adds and removes, including those not shown.
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

// Counts returns the numbers of all, accepted, and refused hunks.
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

// Lines returns how many lines the proposal adds and removes.
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

// Does describes a proposal's effects by their number. It does not use the summary,
// because the agent wrote that.
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

// Comments returns the reviewer's comments, each with the place it is about.
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

// Verdict describes the decision in one line.
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
			sep = "; comment: " // if a list of parts precedes
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

// Whole reports whether the proposal can only be accepted or refused as a whole.
func (p *Proposal) Whole() bool { return len(p.Set.Ops) == 0 }

// undoes reports whether the proposal undoes changes.
func (p *Proposal) undoes() bool { return p.Undo != "" || p.Back != nil }

// undo returns the options of the undo.
func (p *Proposal) undo() *change.Options {
	return &change.Options{Client: p.Client, Tool: p.Tool, Proposal: p.ID, Parts: p.Parts, To: p.Back, SkipConflicts: p.Skip}
}

// Paths returns all paths that the proposal changes.
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

// PendingError means that a change waits for a decision. No file was changed.
type PendingError = change.PendingError

// RefusedError means that a reviewer refused the change.
type RefusedError struct{ Proposal *Proposal }

func (e *RefusedError) Error() string { return "proposal " + e.Proposal.Verdict() }

// Unwrap returns the error code.
func (e *RefusedError) Unwrap() error { return fault.Conflict }

// Hint says how to continue.
func (e *RefusedError) Hint() string {
	if len(e.Proposal.Comments()) > 0 {
		return "follow the comment, or ask the user"
	}
	return "ask the user what to do instead"
}

// BusyError refuses a change of a file that already has an open proposal of a connected
// client.
type BusyError struct {
	ID     string
	Path   string
	Client string // the client that made the other proposal
	Own    bool   // the other proposal is the client's own
}

func (e *BusyError) Error() string {
	by := ""
	if e.Client != "" && !e.Own {
		by = " of " + fault.Printable(e.Client)
	}
	return fmt.Sprintf("%s is part of the proposal %s%s, which waits for a decision", strconv.QuoteToGraphic(e.Path), e.ID, by)
}

// Unwrap returns the error code.
func (e *BusyError) Unwrap() error { return fault.Conflict }

// Hint says how to continue. Only the client that made a proposal can withdraw it.
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

// StaleError means that files of a proposal have changed since it was made.
type StaleError struct {
	ID    string
	Paths []string
}

func (e *StaleError) Error() string {
	names := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		names[i] = fault.Printable(p)
	}
	return fmt.Sprintf("%s is based on other versions of %s, and later changes conflict with it", e.ID, strings.Join(names, ", "))
}

// Unwrap returns the error code.
func (e *StaleError) Unwrap() error { return fault.Conflict }

// Hint says how to continue.
func (e *StaleError) Hint() string { return "refuse it, so that the agent reads the file again" }

// DecidedError means that the proposal was already decided.
type DecidedError struct{ Proposal *Proposal }

func (e *DecidedError) Error() string { return "decided already: " + e.Proposal.Verdict() }

// Unwrap returns the error code.
func (e *DecidedError) Unwrap() error { return fault.Conflict }

var (
	errUnknown   = fault.New(fault.NotFound, "no such proposal", "quarry review lists them")
	errUndecided = fault.New(fault.InvalidArgument, "some hunks are not decided", "accept or refuse every hunk, or say what becomes of the rest")
	errWhole     = fault.New(fault.InvalidArgument, "this proposal is accepted or refused as a whole", "")
	errConfirm   = fault.New(fault.InvalidArgument, "the client has gone since it made this proposal", "confirm to apply it anyway")
	errNotText   = fault.New(fault.InvalidArgument, "a change with text that is not UTF-8 can't be reviewed", "")
)

// ErrUnknown returns the error for an unknown proposal id.
func ErrUnknown() error { return errUnknown }
