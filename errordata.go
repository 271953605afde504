package quarry

import (
	"quarry/internal/glob"
	"quarry/internal/textfile"
)

// Errors with data that an answer may want to word by itself. CodeOf says what
// kind of error one is.
type (
	// GlobError is a glob that can't be compiled.
	GlobError = glob.Error
	// BinaryError is a file that isn't text, with its type and size.
	BinaryError = textfile.BinaryError
)
