package search

import "time"

// IndexStatus describes the index of a workspace.
type IndexStatus struct {
	State     string // ready, indexing, not_found, failed
	Remote    bool   // another process holds it
	PID       int    // the process that holds it
	Version   string // of its program
	Dir       string // where it is
	Files     int
	TextBytes int64 // of the files indexed
	DiskBytes int64
	Pending   int    // files to be read again
	Watches   int    // folders watched
	Unwatched int    // parts of the tree that are compared before each answer
	Freshness string // event or sweep
	// Updated is when the whole tree was last compared with the index. Sweeps
	// counts comparisons of any part of it, Restamps those of the times and
	// sizes of known files alone.
	Updated          time.Time
	Sweeps, Restamps uint64
	Used             time.Time // when a process last opened or left it
	// AllBytes is the size of all indexes in the folder that holds this one, and
	// MaxBytes the limit; 0 is unknown.
	AllBytes, MaxBytes int64
	// Building is the progress of a build; zero if none is running.
	Building Progress
	Error    string
	// ProgramReplaced says that the owner's program file was replaced since it
	// started. FolderReplaced says that another folder is at the workspace's path
	// than the one that the owner has indexed.
	ProgramReplaced, FolderReplaced bool
	// Ignored says that the index has ignored files too.
	Ignored bool
	// Outdated counts the indexes of earlier versions in the folder that holds
	// this one.
	Outdated int
}

// Progress is how many files have been read for an index.
type Progress struct {
	Files, Total int // read, and to be read; a total of 0 is unknown
	Bytes        int64
}

// Verification is what a comparison of an index with its files covered.
type Verification struct {
	Files    int   // read and compared with what the index has of them
	Bytes    int64 // read
	Changed  int   // files that changed meanwhile and so were not compared
	Listed   int   // paths listed by the index and by a walk
	Searches int   // made by the index and by a scan
	Faults   int   // differences; always 0, or there is a bug
	Remote   bool  // another process holds the index: only its answers were compared
}
