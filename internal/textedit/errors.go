package textedit

import (
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/textfile"
)

// ErrHalfUnit is returned for text added after half a UTF-16 unit.
var ErrHalfUnit = fault.New(fault.InvalidArgument, "the file ends in half a UTF-16 character; text behind it could not be read back", "")

// Clip shortens s to about n bytes for a message, at a character, marked.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// MeaningError says that the edited file would be read in another encoding, so
// that characters the edit did not touch would change.
type MeaningError struct{ From, To textfile.Encoding }

func (e *MeaningError) Error() string {
	return fmt.Sprintf("after this edit the %s file would be read as %s and show other characters", e.From, e.To)
}

// Code is InvalidArgument.
func (e *MeaningError) Code() fault.Code { return fault.InvalidArgument }
