package textedit

import (
	"fmt"

	"quarry/fault"
	"quarry/internal/textfile"
)

// Errors for refused edits. The ones that callers examine are in package change.
var (
	ErrEmptyOld = fault.New(fault.InvalidArgument, "the text to replace is empty", "")
	ErrSame     = fault.New(fault.InvalidArgument, "the old and the new text are the same (line endings compare equal)", "the file has this text already, or the edit says the same twice")
	// ErrHalfUnit refuses text added after an incomplete UTF-16 unit.
	ErrHalfUnit = fault.New(fault.InvalidArgument, "the file ends in half a UTF-16 character; text after it could not be read back", "")
)

// errNoContext refuses a hunk that adds lines without context: nothing confirms its line
// number.
var errNoContext = fault.New(fault.InvalidArgument, "the hunk adds lines without any context, and the file is not the one the patch was made for",
	"make the diff with context (git diff without -U0), or insert the lines by an edit that names the text beside them")

// edgeError refuses a hunk whose context implies the beginning or end of the file.
type edgeError struct {
	line  int
	start bool
}

func (e *edgeError) Error() string {
	if e.start {
		return fmt.Sprintf("by its context the hunk is at the beginning of the file, but its lines stand at line %d", e.line)
	}
	return fmt.Sprintf("by its context the hunk is at the end of the file, but its lines stand at line %d, and the file goes on after them", e.line)
}

// Unwrap returns the error code, Conflict: the file has changed since the patch was made.
func (e *edgeError) Unwrap() error { return fault.Conflict }

func (e *edgeError) Hint() string {
	return "make the diff again from the file as it is; by hand, give as many lines of context before the change as after it"
}

// misplacedError refuses a hunk with little context whose lines were found at another line.
type misplacedError struct{ at, stated int }

func (e *misplacedError) Error() string {
	return fmt.Sprintf("the hunk has little context, and its text is at line %d, not at line %d as the patch says", e.at, e.stated)
}

func (e *misplacedError) Unwrap() error { return fault.InvalidArgument }

func (e *misplacedError) Hint() string { return "make the diff with three lines of context" }

// invalid returns the error of an invalid edit.
func invalid(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, fmt.Sprintf(format, args...), "")
}

// SizeError reports that the edited file would be larger than allowed. The new text has not been made.
type SizeError struct{ Size, Max int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the edited file would have %d bytes, more than the limit of %d", e.Size, e.Max)
}

func (e *SizeError) Unwrap() error { return fault.TooLarge }

func (e *SizeError) Hint() string {
	return "replace fewer occurrences, or put less text in their place; change.max-size in quarry.toml is the limit"
}

// GuessError refuses non-ASCII text in a file whose encoding is a guess. In the file's real
// encoding the new bytes could mean other characters.
type GuessError struct{ Encoding textfile.Encoding }

func (e *GuessError) Error() string {
	return fmt.Sprintf("the file's encoding is not known: it is read as %s, but looks like another one", e.Encoding)
}

func (e *GuessError) Unwrap() error { return fault.InvalidArgument }

func (e *GuessError) Hint() string {
	return "new text in ASCII alone is fine; for more, convert the file to UTF-8 first"
}

// MeaningError reports that the edited file would be read in another encoding, which would
// change characters that the edit did not touch.
type MeaningError struct{ From, To textfile.Encoding }

func (e *MeaningError) Error() string {
	return fmt.Sprintf("after this edit the %s file would be read as %s and show other characters", e.From, e.To)
}

func (e *MeaningError) Unwrap() error { return fault.InvalidArgument }

// occurrenceError reports that occurrence Want was requested, but only Have exist.
type occurrenceError struct{ Want, Have int }

func (e *occurrenceError) Error() string {
	if e.Have == 1 {
		return fmt.Sprintf("occurrence %d does not exist: the text occurs once", e.Want)
	}
	return fmt.Sprintf("occurrence %d does not exist: the text occurs %d times", e.Want, e.Have)
}

func (e *occurrenceError) Unwrap() error { return fault.NotFound }

// overlapError reports two edits, counted from 0, that would change the same text at Line.
type overlapError struct{ First, Second, Line int }

func (e *overlapError) Error() string {
	return fmt.Sprintf("edits %d and %d overlap on line %d; all edits refer to the file as it is before any of them", e.First+1, e.Second+1, e.Line)
}

func (e *overlapError) Unwrap() error { return fault.InvalidArgument }

func (e *overlapError) Hint() string { return "make one edit of the two, or two calls" }
