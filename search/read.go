package search

import "time"

// Info describes a file or folder.
type Info struct {
	Path   string
	Folder bool
	// Folded says that the path exists only in another case or Unicode form. Changes
	// refuse such a path.
	Folded bool
	// Special is set for a pipe, a socket or a device. These are never opened.
	Special bool
	Size    int64
	ModTime time.Time
	// Created is the birth time, zero where the file system doesn't record it.
	Created time.Time
}

// ReadOptions select a part of a file; nil is all of it.
type ReadOptions struct {
	Start, End int // lines, from 1, both inclusive; 0 means the first or the last line
	MaxLines   int // 0 is no limit
	MaxBytes   int // of text; 0 is no limit. At least a part of the first line is returned
}

// Text is a part of a text file, decoded.
type Text struct {
	Path     string
	Lines    []string // without line endings
	First    int      // number of the first line
	Total    int      // lines in the file
	Version  string   // of the whole file's content
	Encoding string   // utf-8, utf-8-bom, utf-16le, utf-16be or windows-1252
	Ending   string   // lf, crlf, mixed or none
	// Cut says that MaxLines or MaxBytes cut the text; CutLine, that the last
	// line is not complete.
	Cut, CutLine bool
}
