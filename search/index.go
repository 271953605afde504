package search

import "time"

// IndexStatus describes the index of a workspace.
type IndexStatus struct {
	State     string `json:"state"`   // ready, indexing, not_found, failed
	Remote    bool   `json:"remote"`  // another process holds it
	PID       int    `json:"pid"`     // the process that holds it
	Version   string `json:"version"` // of its program
	Dir       string `json:"dir"`     // where it is
	Files     int    `json:"files"`
	TextBytes int64  `json:"text_bytes"` // of the files indexed
	DiskBytes int64  `json:"disk_bytes"`
	Pending   int    `json:"pending"`   // files to be read again
	Watches   int    `json:"watches"`   // folders watched
	Unwatched int    `json:"unwatched"` // parts of the tree that are compared before each answer
	Freshness string `json:"freshness"` // event or sweep
	// Updated is when the whole tree was last compared with the index. Sweeps counts comparisons of any part
	// of it, Restamps counts comparisons of only the times and sizes of known files.
	Updated  time.Time `json:"updated,omitzero"`
	Sweeps   uint64    `json:"sweeps"`
	Restamps uint64    `json:"restamps"`
	Used     time.Time `json:"used,omitzero"` // when a process last opened or left it
	// AllBytes is the size of all indexes in the folder that holds this one, and
	// MaxBytes the limit; 0 is unknown.
	AllBytes int64 `json:"all_bytes"`
	MaxBytes int64 `json:"max_bytes"`
	// Building is the progress of a build; zero if none is running.
	Building Progress `json:"building,omitzero"`
	Error    string   `json:"error,omitzero"`
	// ProgramReplaced says that the owner's program file was replaced since it
	// started. FolderReplaced says that another folder is at the workspace's path
	// than the one that the owner has indexed.
	ProgramReplaced bool `json:"program_replaced"`
	FolderReplaced  bool `json:"folder_replaced"`
	// Overlay says that the workspace is on an overlay: a file that is written beneath
	// the mount may not be seen.
	Overlay bool `json:"overlay,omitempty"`
	// Ignored says that the index has ignored files too.
	Ignored bool `json:"ignored"`
}

// Progress is how many files have been read for an index.
type Progress struct {
	Files int   `json:"files"` // read
	Total int   `json:"total"` // to be read; 0 is unknown
	Bytes int64 `json:"bytes"`
}

// Verification tells how much a comparison of an index with its files covered.
type Verification struct {
	Files    int   `json:"files"`    // read and compared with what the index has of them
	Bytes    int64 `json:"bytes"`    // read
	Changed  int   `json:"changed"`  // files that changed meanwhile and so were not compared
	Listed   int   `json:"listed"`   // paths listed by the index and by a walk
	Searches int   `json:"searches"` // made by the index and by a scan
	Faults   int   `json:"faults"`   // differences; always 0, or there is a bug
	Remote   bool  `json:"remote"`   // another process holds the index: only its answers were compared
}
