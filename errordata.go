package quarry

import (
	"quarry/internal/glob"
	"quarry/internal/textfile"
)

// Errors with data that an answer may want to word by itself. CodeOf says what
// kind of error one is.
type (
	// GlobError is a glob (Pattern) that can't be compiled: where (Offset, in
	// bytes) and why (Reason).
	GlobError = glob.Error
	// BinaryError is a file that isn't text, with its Type ("PNG image") and
	// Size.
	BinaryError = textfile.BinaryError
)
