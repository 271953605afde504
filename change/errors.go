package change

import (
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
)

// Reasons for refusing a change, in addition to errors about paths.
var (
	ErrBadID      = fault.New(fault.InvalidArgument, "not the id of a change", "")
	ErrNotTrashed = fault.New(fault.NotFound, "nothing of this name is in the trash", "")
	// ErrNoState is returned for a change in a workspace without a state folder.
	ErrNoState = fault.New(fault.ReadOnly, "the workspace was opened without a state folder, so nothing can be changed", "give the workspace a state folder")
)

// Near is the text in a file that is closest to a text that was not found. It only
// explains the error and is never used for a change.
type Near struct {
	First, Last int    // its lines
	Reason      string // how it differs, in a few words
	// Shown has these lines and Given the given text, both with visible tabs and spaces.
	Shown, Given string
}

// String returns the whole hint: the position, the difference, the file's text and the
// given text.
func (n *Near) String() string {
	where := fmt.Sprintf("line %d", n.First)
	if n.Last > n.First {
		where = fmt.Sprintf("lines %d-%d", n.First, n.Last)
	}
	legend := ""
	if strings.ContainsAny(n.Shown+n.Given, "→·␍<") {
		legend = " (→ tab, · space, ␍ carriage return, <U+…> other)"
	}
	return fmt.Sprintf("The closest text is on %s: %s.\nThe file has%s:\n%sYou gave:\n%s", where, n.Reason, legend, n.Shown, n.Given)
}

// NotFoundError says that the text Old is not in the file.
type NotFoundError struct {
	Old  string
	Near *Near // the closest text, nil if there is none
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("text '%s' not found", fault.Clip(e.Old, 200))
}

// Unwrap gives the code.
func (e *NotFoundError) Unwrap() error { return fault.NotFound }

// Hint shows the closest text.
func (e *NotFoundError) Hint() string {
	if e.Near != nil {
		return e.Near.String()
	}
	return "nothing in the file resembles the text; read the file again"
}

// AlreadyError says that the file has the new text instead of the text to replace. With
// Added, the old text occurs as part of the new text.
type AlreadyError struct {
	Line  int
	Added bool
}

func (e *AlreadyError) Error() string {
	if e.Added {
		return fmt.Sprintf("already made: the lines to add are beside their context, on line %d", e.Line)
	}
	return fmt.Sprintf("already so: the old text is not there, and the new text stands on line %d", e.Line)
}

// Unwrap gives the code.
func (e *AlreadyError) Unwrap() error { return fault.Conflict }

// Hint says how to proceed.
func (e *AlreadyError) Hint() string {
	return "nothing was changed; if this edit was made before, go on, else read the lines again"
}

// OmissionError refuses a new text with a line that replaces omitted code: that line
// would be written instead of the code.
type OmissionError struct{ Line string }

func (e *OmissionError) Error() string {
	return fmt.Sprintf("the line '%s' of the new text stands for text that was left out, and would be written as it is", fault.Clip(e.Line, 80))
}

// Unwrap gives the code.
func (e *OmissionError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to proceed.
func (e *OmissionError) Hint() string {
	return "give the new text in full, or make several smaller edits; to write this very line, insert it by its line number"
}

// AmbiguousError says that a text occurs more than once and the edit doesn't select an
// occurrence.
type AmbiguousError struct {
	Count int
	Lines []int // of the first occurrences
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the text occurs %d times, on %s", e.Count, lineList(e.Lines, e.Count))
}

// Unwrap gives the code.
func (e *AmbiguousError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to select one.
func (e *AmbiguousError) Hint() string {
	return "add lines around it until it is the only one, or replace all"
}

func lineList(lines []int, count int) string {
	var b strings.Builder
	b.WriteString("lines ")
	for i, n := range lines {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if len(lines) < count {
		b.WriteString(", …")
	}
	return b.String()
}

// LineError is about a line that does not exist. Its message is shown to users unchanged.
type LineError struct{ Line, Count int }

func (e *LineError) Error() string {
	return fmt.Sprintf("Line %d does not exist in file with %s.", e.Line, fault.Count(e.Count, "line"))
}

// Unwrap gives the code.
func (e *LineError) Unwrap() error { return fault.InvalidArgument }

// EditError says which edit of a list, counted from 0, failed.
type EditError struct {
	Index int
	Err   error
}

func (e *EditError) Error() string { return fmt.Sprintf("edit %d: %v", e.Index+1, e.Err) }

// Unwrap returns the error of the edit itself.
func (e *EditError) Unwrap() error { return e.Err }

// VersionError is the cause of a conflict with an expected version.
type VersionError struct {
	Have string // "" if the file is deleted, or new
	Want string
}

func (e *VersionError) Error() string {
	if e.Have == "" {
		return "there is no such file any more"
	}
	return "its version is " + e.Have
}

// Hint says how to proceed.
func (e *VersionError) Hint() string {
	return "read the file again and make the change on its present content"
}

// OpError is an operation of a set that can't be applied.
type OpError struct {
	Index  int    // in Set.Ops, from 0
	Origin string // the caller's name for it
	Path   string
	Err    error
}

func (e *OpError) Error() string {
	name := e.Origin
	if name == "" {
		name = fmt.Sprintf("operation %d", e.Index+1)
	}
	return fmt.Sprintf("%s, %s: %v", name, fault.Printable(e.Path), e.Err)
}

// Unwrap returns the operation's error.
func (e *OpError) Unwrap() error { return e.Err }

// SetError refuses a set and lists all operations that can't be applied. If paths are
// refused, it lists only these, and no file was read. Nothing was changed. Its code is
// the code of the first error.
type SetError struct {
	Failed []*OpError
	Total  int // operations of the set, edits of a file one by one
}

func (e *SetError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s can't be made, so nothing was changed", len(e.Failed), fault.Count(e.Total, "operation"))
	for i, f := range e.Failed {
		if i == MaxListed {
			fmt.Fprintf(&b, "\nand %d more", len(e.Failed)-i)
			break
		}
		b.WriteString("\n" + f.Error())
	}
	return b.String()
}

// MaxListed limits the failed operations listed in a message.
const MaxListed = 20

// Unwrap gives the errors of the operations.
func (e *SetError) Unwrap() []error {
	out := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		out[i] = f
	}
	return out
}

// MoveError says which of the two paths of a move is wrong.
type MoveError struct {
	Source bool
	Path   string
	Err    error
}

func (e *MoveError) Error() string {
	if e.Source {
		return fmt.Sprintf("source: %v", e.Err)
	}
	return fmt.Sprintf("destination: %v", e.Err)
}

// Unwrap gives the error about the path.
func (e *MoveError) Unwrap() error { return e.Err }

// PartialError is a change that failed half-way and could not be rolled back entirely:
// the rest is an entry of the journal. Undoing that entry rolls it back, and so does the
// next start.
type PartialError struct {
	ID string
	Partly
	Cause error // why the change failed
	Stuck error // why it could not be rolled back
}

func (e *PartialError) Error() string {
	if e.Whole() {
		return fmt.Sprintf("%v; the change is complete all the same, and could not be rolled back: %v", e.Cause, e.Stuck)
	}
	return fmt.Sprintf("%v; the change is half applied (%v) and could not be rolled back: %v", e.Cause, &e.Partly, e.Stuck)
}

// Unwrap gives the cause.
func (e *PartialError) Unwrap() error { return e.Cause }

// Hint names the entry.
func (e *PartialError) Hint() string {
	if e.ID == "" {
		return ""
	}
	return fmt.Sprintf("when the cause is gone, quarry undo %s, or undo_change with this id, brings the old files back; the next start tries it too", e.ID)
}

// ErrRolledBack is returned for a change that its caller cancelled: no file has changed.
// The error also wraps the cause of the cancellation. A call that is cancelled before its
// change begins, such as Replace during its search, may return that cause alone.
var ErrRolledBack = fault.New(fault.Timeout, "the change was cancelled and rolled back: nothing was changed", "")

// Partly describes the part on disk of a change that failed half-way and could not be rolled back.
type Partly struct {
	New     []string `json:"new"`               // as the change leaves them
	Old     []string `json:"old"`               // as they were before
	Other   []string `json:"other,omitempty"`   // changed by someone else since
	Unknown []string `json:"unknown,omitempty"` // could not be read
}

// Whole reports whether all of the change is on disk.
func (p *Partly) Whole() bool { return len(p.New) > 0 && len(p.Old)+len(p.Other)+len(p.Unknown) == 0 }

// String lists the paths, at most 20 of each kind.
func (p *Partly) String() string {
	const most = 20
	var b strings.Builder
	for _, l := range []struct {
		name  string
		paths []string
	}{{"new", p.New}, {"old", p.Old}, {"changed by someone else since", p.Other}, {"not known", p.Unknown}} {
		if len(l.paths) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(l.name + ": ")
		for i, path := range l.paths[:min(len(l.paths), most)] {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(fault.Printable(path))
		}
		if n := len(l.paths) - most; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
	}
	return b.String()
}

func (p *Partly) under(at place) *Partly {
	if p == nil {
		return nil
	}
	return &Partly{at.paths(p.New), at.paths(p.Old), at.paths(p.Other), at.paths(p.Unknown)}
}

// PendingError says that a change waits for a person to review it with quarry review.
// Nothing is written. Repeating the change waits again; Workspace.Undo with the ID
// withdraws it.
type PendingError struct {
	ID string // of the proposal
	// Cancelled is the context's error if the call was cancelled while it waited, else nil.
	Cancelled error
}

func (e *PendingError) Error() string {
	if e.Cancelled != nil {
		return fmt.Sprintf("the call was cancelled; its change remains as %s, which a person can still accept; nothing is written yet", e.ID)
	}
	return fmt.Sprintf("the change waits for a person's decision as %s; nothing is written yet", e.ID)
}

// Unwrap gives the code, because the wait was over, and the context's error.
func (e *PendingError) Unwrap() []error { return []error{fault.Timeout, e.Cancelled} }

// Hint says how to proceed.
func (e *PendingError) Hint() string {
	return fmt.Sprintf("go on with other work; the next answer of a tool tells the decision. Sending the same change again waits again, undo_change with %s withdraws it", e.ID)
}

// Reason says how a path differs from the state a change left: ContentChanged, IsGone,
// IsThere, IsOther, AddedSince, NotInTrash or ModeChanged.
type Reason uint8

const (
	ContentChanged Reason = iota + 1 // the content differs
	IsGone                           // the entry is missing
	IsThere                          // an entry exists that should not
	IsOther                          // another kind of entry is there; see Conflict.Found
	AddedSince                       // an entry of a folder the change made
	NotInTrash                       // the deleted entry is not in the trash any more
	ModeChanged                      // the permissions differ
)

// Conflict is a path that differs from the state a change left.
type Conflict struct {
	Path   string `json:"path"`
	Reason Reason `json:"-"`
	Found  string `json:"-"` // IsOther: the kind of entry found
	// Touched are the places of ContentChanged where text written by the change, or
	// adjacent text, has changed since.
	Touched []Touched `json:"touched,omitempty"`
}

// Touched is a place of a change that can't be undone because it was modified since.
type Touched struct {
	First int    `json:"first"` // the lines that the change wrote, numbered as it left the file
	Last  int    `json:"last"`
	Wrote string `json:"wrote"`
	// By is the later change that touched it; "" if it was not made through Quarry.
	By       string `json:"by,omitempty"`
	NowFirst int    `json:"now_first"` // the current lines
	NowLast  int    `json:"now_last"`
	Now      string `json:"now"`
}

func (t *Touched) words() string {
	by := "outside of Quarry"
	if t.By != "" {
		by = "by " + t.By
	}
	return fmt.Sprintf("%s of the change, %s (now %s)", lineRange(t.First, t.Last), by, lineRange(t.NowFirst, t.NowLast))
}

func lineRange(first, last int) string {
	if last <= first {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, last)
}

// both shows the text that the change wrote and the current text.
func (t *Touched) both() string {
	return "the change wrote\n" + indented(t.Wrote) + "and now there is\n" + strings.TrimSuffix(indented(t.Now), "\n")
}

func indented(text string) string {
	const most = 12
	if text == "" {
		return "  (nothing)\n"
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	var b strings.Builder
	for i, l := range lines {
		if i == most {
			fmt.Fprintf(&b, "  … %d more\n", len(lines)-i)
			break
		}
		l = strings.TrimRight(l, "\r\n")
		if plain := strings.ReplaceAll(l, "\t", ""); fault.Printable(plain) != plain {
			l = fault.Printable(l)
		}
		b.WriteString("  " + fault.Clip(l, 200) + "\n")
	}
	return b.String()
}

// Words returns the reason in words, to follow the path in a sentence.
func (c Conflict) Words() string {
	switch c.Reason {
	case ContentChanged:
		if len(c.Touched) > 0 {
			var all []string
			for i := range c.Touched[:min(len(c.Touched), 3)] {
				all = append(all, c.Touched[i].words())
			}
			if n := len(c.Touched) - 3; n > 0 {
				all = append(all, fmt.Sprintf("and %d more", n))
			}
			return "changed since: " + strings.Join(all, "; ")
		}
		return "changed since"
	case IsGone:
		return "no longer exists"
	case IsThere:
		return "is taken by something else now"
	case IsOther:
		return "is something else now (" + c.Found + ")"
	case AddedSince:
		return "was added since"
	case NotInTrash:
		return "is not in the trash any more"
	case ModeChanged:
		return "has another mode now"
	}
	return "is not what the change left"
}

// UndoError refuses to undo a change because files have changed since. Nothing
// was changed. It is a conflict for errors.Is and fault.CodeOf.
type UndoError struct {
	ID    string // "" when going back to a point
	Paths []Conflict
}

func (e *UndoError) Error() string {
	var b strings.Builder
	if e.ID == "" {
		b.WriteString("going back is refused")
	} else {
		fmt.Fprintf(&b, "change %s can't be undone", e.ID)
	}
	for i, p := range e.Paths {
		if i == 5 {
			fmt.Fprintf(&b, "; and %d more", len(e.Paths)-i)
			break
		}
		fmt.Fprintf(&b, "%s %s %s", []string{":", ";"}[min(i, 1)], fault.Printable(p.Path), p.Words())
	}
	return b.String()
}

// Unwrap gives the code.
func (e *UndoError) Unwrap() error { return fault.Conflict }

// Hint says how to proceed.
func (e *UndoError) Hint() string {
	if slices.ContainsFunc(e.Paths, func(p Conflict) bool { return p.Reason == NotInTrash }) {
		return "the trash was emptied, or it was taken out of it; other changes can be undone by their ids"
	}
	hint := "look at what changed since, or undo the later changes first"
	if e.ID == "" {
		hint = "look at what changed since; --skip-conflicts leaves these files as they are and goes back with the others"
	}
	for _, p := range e.Paths {
		if len(p.Touched) > 0 {
			return hint + "\nin " + fault.Printable(p.Path) + " " + p.Touched[0].both()
		}
	}
	return hint
}
