package search

import "quarry/fault"

// ErrNoWords is returned for a ranked search without words.
var ErrNoWords = fault.New(fault.InvalidArgument, "no word to search for", "")
