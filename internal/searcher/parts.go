package searcher

import (
	"bytes"

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/textfile"
)

// For a large file, the index knows which parts could contain a match. They are
// enough to count lines, or to know that there is a match. For other queries they are
// read first, since usually none matches. If one does, the whole file is searched like
// any other, so that line numbers and context are computed in one way.

// Parts are also enough when an answer is full and further files are only
// counted. Blocks of matching lines in two parts are separate if enough lines of
// these parts are between them.

// partial reports whether to read the parts first: if no more is needed, or if they
// are at most half of the file.
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

// byParts searches the parts of an open file that could contain a match. It reports
// false if they are not enough: the file's stamp, before or after, differs from the
// index, or a line matches and its number is wanted.
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
	after := 0 // lines after the match in the last part that has one
	for _, p := range c.parts {
		got, ok := r.part(k, f, p, &req)
		if !ok || got.Matched > 0 && !counts {
			return res, false
		}
		if req.Gap > 0 && got.Matched > 0 {
			// There are lines between the parts; their number is unknown.
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
		return scan.Result{}, false // a scan will report why
	}
	text := k.part[:n]
	if p.Off == 0 {
		text = bytes.TrimPrefix(text, []byte(textfile.UTF8BOM.BOM()))
	}
	res, err := r.scanner(k).Bytes(text, req)
	return res, err == nil
}
