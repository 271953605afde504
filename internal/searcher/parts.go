package searcher

import (
	"bytes"

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/textfile"
)

// For a large file, the index knows which parts may contain a match. Reading those parts
// is enough to count lines, or to find out whether there is a match. Other queries also
// read them first, since usually none matches. If one does, the whole file is searched as
// usual, so that line numbers and context are always computed in the same way.

// Parts are also enough if an answer is full and further files are only counted. Matches
// in two parts belong to different blocks if the parts themselves have enough lines
// between the matches.

// partial reports whether to read the parts first. This is the case if the parts are
// sufficient, or if they are at most half of the file.
func (r *searchRun) partial(d *index.Doc) bool {
	if d.Parts == nil || d.Dirty || r.jointly != nil || r.shapes != nil {
		return false
	}
	if r.countsOnly() || r.counting.Load() {
		return true
	}
	sum := int64(0)
	for _, p := range d.Parts {
		sum += p.Len
	}
	return sum <= d.Size/2
}

// countsOnly reports whether an answer needs only the number of matching lines of
// a file.
func (r *searchRun) countsOnly() bool {
	return r.request.Detail != scan.Lines && r.request.Gap == 0
}

// byParts searches the parts of an open file that may contain a match. ok is false if
// that isn't sufficient: the file's stamp, before or after the search, differs from the
// index, or a line matches and its number is needed.
func (r *searchRun) byParts(k *worker, f *rootfs.File, c *candidate) (res scan.Result, ok bool) {
	info := f.Info()
	if !c.stamp.Of(&info) {
		return res, false
	}
	req, counts := scan.Request{Detail: scan.Exists}, false
	switch {
	case r.countsOnly():
		req, counts = r.request, true
	case r.counting.Load():
		req, counts = countRequest(&r.request), true
	}
	after := 0 // number of lines after the last match in the previous part that has one
	for _, p := range c.parts {
		got, ok := r.part(k, f, p, &req)
		if !ok || got.Matched > 0 && !counts {
			return res, false
		}
		if req.Gap > 0 && got.Matched > 0 {
			// The number of lines between the parts is unknown.
			if res.Matched > 0 && after+got.First <= req.Gap {
				return res, false
			}
			res.Blocks += got.Blocks
			after = bytes.Count(k.part[:p.Len], []byte("\n")) - got.Last
		}
		res.Matched += got.Matched
		res.Matches += got.Matches
		res.Bytes += got.Bytes
		if res.Stopped = got.Stopped; got.Stopped || req.Detail == scan.Exists && got.Matched > 0 {
			break
		}
		if req.MaxLines > 0 {
			req.MaxLines -= got.Matched
		}
	}
	info, err := f.Stat()
	return res, err == nil && c.stamp.Of(&info)
}

// part reads and searches one part.
func (r *searchRun) part(k *worker, f *rootfs.File, p index.Part, req *scan.Request) (scan.Result, bool) {
	if int64(cap(k.part)) < p.Len {
		k.part = make([]byte, p.Len)
	}
	n, _ := f.ReadAt(k.part[:p.Len], p.Off)
	if int64(n) < p.Len {
		return scan.Result{}, false // a full scan will report why
	}
	text := k.part[:n]
	if p.Off == 0 {
		text = bytes.TrimPrefix(text, []byte(textfile.UTF8BOM.BOM()))
	}
	res, err := r.scanner(k).Bytes(text, req)
	return res, err == nil
}
