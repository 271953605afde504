package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/search"
)

// Entries appends a listing with one line per entry, and returns how many entries fit.
func Entries(dst []byte, list []search.Entry, zone *time.Location, lim Limits) ([]byte, int) {
	for i := range list {
		mark := len(dst)
		e := &list[i]
		if e.Folder {
			dst = append(dst, "\n[folder] "...)
			dst = append(AppendPath(dst, e.Path), '/')
		} else {
			dst = append(dst, "\n[file] "...)
			dst = AppendPath(dst, e.Path)
			dst = append(dst, " (modified: "...)
			dst = e.ModTime.In(zone).AppendFormat(dst, time.DateOnly)
			dst = append(dst, ')')
		}
		if lim.Full(len(dst)) {
			return dst[:mark], i
		}
	}
	return dst, len(list)
}

// Tree appends entries as a tree. An entry is indented by the number of folders above it,
// minus above. Tree returns how many entries fit.
func Tree(dst []byte, list []search.Entry, above int, lim Limits) ([]byte, int) {
	for i := range list {
		mark := len(dst)
		e := &list[i]
		dst = append(dst, '\n')
		for range strings.Count(e.Path, "/") - above {
			dst = append(dst, "  "...)
		}
		if base := e.Path[strings.LastIndexByte(e.Path, '/')+1:]; EncodedName(base) == "" {
			dst = append(dst, base...)
		} else {
			dst = AppendPath(dst, e.Path) // the whole path, since a part of an encoded path is invalid
		}
		if e.Folder {
			dst = append(dst, '/')
		} else {
			dst = append(dst, " ("+Size(e.Size)+")"...)
		}
		if lim.Full(len(dst)) {
			return dst[:mark], i
		}
	}
	return dst, len(list)
}

// Info describes a file or folder.
func Info(dst []byte, i *search.Info, zone *time.Location) []byte {
	switch {
	case i.Folder:
		dst = append(dst, "Folder: "...)
		dst = append(AppendPath(dst, i.Path), "/\nType: folder"...)
	case i.Special:
		dst = append(dst, "File: "...)
		dst = append(AppendPath(dst, i.Path), "\nType: special (a pipe, socket or device; it can't be read)"...)
	default:
		dst = append(dst, "File: "...)
		dst = append(AppendPath(dst, i.Path), "\nType: file\nSize: "...)
		dst = append(dst, SizeExact(i.Size)...)
	}
	created := i.Created
	if created.IsZero() {
		created = i.ModTime // the oldest known time
	}
	dst = append(dst, "\nCreated: "...)
	dst = created.In(zone).AppendFormat(dst, time.DateTime)
	dst = append(dst, "\nModified: "...)
	return i.ModTime.In(zone).AppendFormat(dst, time.DateTime)
}

// Lines appends numbered lines and, after a blank line, their range. asked is the last
// requested line, or 0 for the end of the file.
func Lines(dst []byte, t *search.Text, start, asked int) []byte {
	for i, text := range t.Lines {
		dst = strconv.AppendInt(dst, int64(t.First+i), 10)
		dst = append(dst, ':')
		if text != "" {
			dst = append(dst, ' ')
			dst = append(dst, text...)
		}
		dst = append(dst, '\n')
	}
	last := t.First + len(t.Lines) - 1
	switch {
	case len(t.Lines) == 0:
		return append(dst, "[Showing lines 0-0 of 0 total]"...)
	case !t.Cut:
		return fmt.Appendf(dst, "\n[Showing lines %d-%d of %d total]", t.First, last, t.Total)
	}
	dst = fmt.Appendf(dst, "\n[... truncated, showing lines %d-%d", t.First, last)
	if start > 0 || asked > 0 {
		to := t.Total
		if asked > 0 {
			to = min(asked, t.Total)
		}
		dst = fmt.Appendf(dst, " of requested range %d-%d", t.First, to)
	}
	return fmt.Appendf(dst, ", total lines in file: %d]", t.Total)
}
