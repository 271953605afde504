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
	// AllBytes is what all indexes in the folder around take, MaxBytes what
	// they may; 0 is unknown.
	AllBytes, MaxBytes int64
	// Building tells how far a build is; zero when none is under way.
	Building Progress
	Error    string
	// ProgramReplaced says that the file of the holder's program is another one
	// than when it started, FolderReplaced that another folder stands at the
	// workspace's path than the one it has last looked at.
	ProgramReplaced, FolderReplaced bool
	// Ignored says that ignored files are in the index.
	Ignored bool
	// Outdated counts the indexes of earlier versions in the folder around.
	Outdated int
}

// Progress is how far the reading of files for an index is.
type Progress struct {
	Files, Total int // read, and to be read; a total of 0 is unknown
	Bytes        int64
}

// Verification is what a comparison of an index with its files covered.
type Verification struct {
	Files    int   // read and compared with what the index has of them
	Bytes    int64 // read
	Changed  int   // files that changed meanwhile: nothing is claimed of them
	Listed   int   // paths listed by the index and by a walk
	Searches int   // made by the index and by a scan
	Faults   int   // differences; always 0, or there is a bug
	Remote   bool  // another process holds the index: only its answers were compared
}
