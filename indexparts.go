package quarry

import (
	"bytes"

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/textfile"
)

// The index tells of a large file which parts of it could hold a match. Most
// often none does, and reading those parts shows it. If one does, the whole file
// is searched as any other is, so that line numbers, context and counts come from
// one place.

// partial reports whether looking at parts first is worth it: they are at most
// half of the file.
func partial(d *index.Doc) bool {
	if d.Parts == nil || d.Dirty {
		return false
	}
	sum := int64(0)
	for _, p := range d.Parts {
		sum += p.Len
	}
	return sum <= d.Size/2
}

// excluded reports that no part of an open file that could hold a match has one.
// That is known only of the file the index has read: of one that has another
// stamp, before or after, nothing is said.
func (r *searchRun) excluded(k *worker, f *rootfs.File, c *candidate) bool {
	info := f.Info()
	if !c.stamp.Of(&info) {
		return false
	}
	for _, p := range c.parts {
		if !r.unmatched(k, f, p) {
			return false
		}
	}
	info, err := f.Stat()
	return err == nil && c.stamp.Of(&info)
}

// unmatched reports that a part was read and no line of it matches.
func (r *searchRun) unmatched(k *worker, f *rootfs.File, p index.Part) bool {
	if int64(cap(k.part)) < p.Len {
		k.part = make([]byte, p.Len)
	}
	n, _ := f.ReadAt(k.part[:p.Len], p.Off)
	k.bytes += int64(n)
	if int64(n) < p.Len {
		return false // a scan will tell why
	}
	text := k.part[:n]
	if p.Off == 0 {
		text = bytes.TrimPrefix(text, []byte(textfile.UTF8BOM.BOM()))
	}
	res, err := r.scanner(k).Bytes(text, &scan.Request{Detail: scan.Exists})
	return err == nil && res.Matched == 0
}
