package quarry

import "quarry/search"

// The contract of searching is in package search. These names are for the time
// until every caller uses it.
type (
	Query        = search.Query
	Scope        = search.Scope
	Dialect      = search.Dialect
	Detail       = search.Detail
	Order        = search.Order
	Limits       = search.Limits
	Result       = search.Result
	File         = search.FileMatch
	Line         = search.Line
	Span         = search.Span
	Summary      = search.Summary
	Stop         = search.Stop
	Reason       = search.Reason
	Skip         = search.Skip
	Stats        = search.Stats
	FindQuery    = search.FindQuery
	EntryKind    = search.EntryKind
	Entry        = search.Entry
	FindResult   = search.FindResult
	CodeQuery    = search.CodeQuery
	Chunk        = search.Chunk
	CodeResult   = search.CodeResult
	NotesQuery   = search.NotesQuery
	NotesResult  = search.NotesResult
	Note         = search.Note
	Info         = search.Info
	ReadOptions  = search.ReadOptions
	Text         = search.Text
	IndexStatus  = search.IndexStatus
	Progress     = search.Progress
	Verification = search.Verification
)

const (
	Gitignore = search.Gitignore
	Vault     = search.Vault
	Minimatch = search.Minimatch

	Lines  = search.Lines
	Counts = search.Counts
	Files  = search.Files

	ByPath      = search.ByPath
	ByRelevance = search.ByRelevance
	ByModTime   = search.ByModTime
	BySize      = search.BySize

	StopFiles  = search.StopFiles
	StopLines  = search.StopLines
	StopBlocks = search.StopBlocks
	StopBytes  = search.StopBytes
	StopTime   = search.StopTime
	StopReads  = search.StopReads
	StopBudget = search.StopBudget

	Binary     = search.Binary
	Unreadable = search.Unreadable
	TooLarge   = search.TooLarge
	Protected  = search.Protected
	Ignored    = search.Ignored
	Hidden     = search.Hidden
	Filtered   = search.Filtered
	NotRegular = search.NotRegular
	Loop       = search.Loop
	Symlink    = search.Symlink
	Outside    = search.Outside

	OnlyFiles       = search.OnlyFiles
	OnlyFolders     = search.OnlyFolders
	FilesAndFolders = search.FilesAndFolders
)
