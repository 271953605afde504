package textedit

import (
	"errors"
	"fmt"
	"strings"

	"quarry/internal/textfile"
)

var (
	// ErrEmptyOld is returned for a Replace without text to look for.
	ErrEmptyOld = errors.New("the text to replace is empty")
	// ErrSame is returned for a Replace that would change nothing.
	ErrSame = errors.New("the old and the new text are the same (line endings compare equal)")
	// ErrHalfUnit is returned for text added behind half a UTF-16 unit.
	ErrHalfUnit = errors.New("the file ends in half a UTF-16 character; text behind it could not be read back")
)

// LineError names a line that is not there. Its text is the user's sentence.
type LineError struct{ Line, Count int }

func (e *LineError) Error() string {
	s := "s"
	if e.Count == 1 {
		s = ""
	}
	return fmt.Sprintf("Line %d does not exist in file with %d line%s.", e.Line, e.Count, s)
}

// NotFoundError says that a Replace found nothing.
type NotFoundError struct {
	Old string
	// Near is the most similar text of the file, nil if nothing is similar.
	Near *Near
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("text '%s' not found", Clip(e.Old, 200)) }

// Clip shortens s to about n bytes for a message, at a character, marked.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// OccurrenceError says that a Replace asked for an occurrence there is not.
type OccurrenceError struct{ Want, Have int }

func (e *OccurrenceError) Error() string {
	if e.Have == 1 {
		return fmt.Sprintf("occurrence %d does not exist: the text occurs once", e.Want)
	}
	return fmt.Sprintf("occurrence %d does not exist: the text occurs %d times", e.Want, e.Have)
}

// OverlapError names two edits, counted from 0, that want to change the same
// text, and the line where they meet.
type OverlapError struct{ First, Second, Line int }

func (e *OverlapError) Error() string {
	return fmt.Sprintf("edits %d and %d overlap on line %d; all edits refer to the file as it is before any of them", e.First+1, e.Second+1, e.Line)
}

// EditError says which edit of a list, counted from 0, failed.
type EditError struct {
	Index int
	Err   error
}

func (e *EditError) Error() string { return fmt.Sprintf("edit %d: %v", e.Index+1, e.Err) }

// Unwrap returns the error of the edit itself.
func (e *EditError) Unwrap() error { return e.Err }

// MeaningError says that the edited file would be read in another encoding, so
// that characters the edit did not touch would change.
type MeaningError struct{ From, To textfile.Encoding }

func (e *MeaningError) Error() string {
	return fmt.Sprintf("after this edit the %s file would be read as %s and show other characters", e.From, e.To)
}
