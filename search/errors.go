package search

import "quarry/fault"

// ErrNoWords is for a ranked search without a word.
var ErrNoWords = fault.New(fault.InvalidArgument, "no word to search for", "")
