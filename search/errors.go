package search

import "quarry/fault"

// What a search or a reading may be refused for, beside errors about paths and
// patterns.
var (
	ErrNoWords = fault.New(fault.InvalidArgument, "no word to search for", "")
	ErrRange   = fault.New(fault.InvalidArgument, "invalid range of lines", "")
	ErrNotText = fault.New(fault.NotText, "not a text file", "")
)
