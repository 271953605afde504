package search

import "time"

// IndexStatus describes the index of a workspace.
type IndexStatus struct {
	State     string `json:"state"`   // ready, indexing, not_found, failed
	Remote    bool   `json:"remote"`  // another process owns it
	PID       int    `json:"pid"`     // the process that owns it
	Version   string `json:"version"` // version of its program
	Dir       string `json:"dir"`     // folder of the index
	Files     int    `json:"files"`
	TextBytes int64  `json:"text_bytes"` // size of the indexed files
	DiskBytes int64  `json:"disk_bytes"`
	Pending   int    `json:"pending"`   // files to read again
	Watches   int    `json:"watches"`   // folders watched
	Unwatched int    `json:"unwatched"` // parts of the tree compared before each answer
	Freshness string `json:"freshness"` // event or sweep
	// Updated is when the whole tree was last compared with the index. Sweeps counts comparisons of any part
	// of it, Restamps counts comparisons of only the times and sizes of known files.
	Updated  time.Time `json:"updated,omitzero"`
	Sweeps   uint64    `json:"sweeps"`
	Restamps uint64    `json:"restamps"`
	Used     time.Time `json:"used,omitzero"` // when a process last opened or closed it
	// AllBytes is the size of all indexes in the folder that contains this one, and
	// MaxBytes the limit; 0 is unknown.
	AllBytes int64 `json:"all_bytes"`
	MaxBytes int64 `json:"max_bytes"`
	// Building is the progress of a build; zero if none is running.
	Building Progress `json:"building,omitzero"`
	Error    string   `json:"error,omitzero"`
	// ProgramReplaced says that the owner's program file was replaced since it started.
	// FolderReplaced says that the folder at the workspace's path is not the one that the
	// owner indexed.
	ProgramReplaced bool `json:"program_replaced"`
	FolderReplaced  bool `json:"folder_replaced"`
	// Overlay says that the workspace is on an overlay: a file written beneath the mount
	// may go unnoticed.
	Overlay bool `json:"overlay,omitempty"`
	// Ignored says that the index includes ignored files.
	Ignored bool `json:"ignored"`
}

// Progress counts the files read for an index.
type Progress struct {
	Files int   `json:"files"` // read
	Total int   `json:"total"` // to be read; 0 is unknown
	Bytes int64 `json:"bytes"`
}

// Verification tells how much of an index was compared with its files.
type Verification struct {
	Files    int   `json:"files"`    // read and compared with their index entries
	Bytes    int64 `json:"bytes"`    // read
	Changed  int   `json:"changed"`  // files that changed meanwhile and were not compared
	Listed   int   `json:"listed"`   // paths listed by the index and by a walk
	Searches int   `json:"searches"` // made with the index and by a scan
	Faults   int   `json:"faults"`   // differences; anything but 0 is a bug
	Remote   bool  `json:"remote"`   // another process owns the index, so only its answers were compared
}
