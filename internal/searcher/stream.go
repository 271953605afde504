package searcher

import (
	"errors"
	"io"
	"sync"

	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/search"
)

// With Query.Parts, the memory of a search doesn't grow with the number of matches. A
// file whose turn has come is searched while its lines are delivered. Workers that search
// ahead of delivery keep at most aheadBytes of matches together. A worker without room
// waits. If waiting can't help, it drops its matches, and the file is searched again when
// its turn comes.

// aheadBytes limits the matches that wait for delivery. With half as much, printing every
// line of the Linux source took the same time.
const aheadBytes = 24 << 20

// errLater is returned if a file's matches don't fit, so that it is searched when its
// turn comes.
var errLater = errors.New("no space to store the matches")

// backlog counts the bytes of undelivered matches.
type backlog struct {
	mu      sync.Mutex
	changed sync.Cond
	room    int
	used    int
	idle    bool // the delivering goroutine waits for a result, so no room will become free
	ended   bool
}

func newBacklog(room int) *backlog {
	b := &backlog{room: room}
	b.changed.L = &b.mu
	return b
}

// take reserves n bytes. It reports false if there is no room and waiting can't
// help.
func (b *backlog) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.used+n > b.room && !b.idle && !b.ended {
		b.changed.Wait()
	}
	if b.used+n > b.room || b.ended {
		return false
	}
	b.used += n
	return true
}

func (b *backlog) release(n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.changed.Broadcast()
	b.mu.Unlock()
}

// wait records whether the delivering goroutine is waiting for a result.
func (b *backlog) wait(idle bool) {
	b.mu.Lock()
	if b.idle = idle; idle {
		b.changed.Broadcast()
	}
	b.mu.Unlock()
}

// end releases all waiting workers.
func (b *backlog) end() {
	b.mu.Lock()
	b.ended = true
	b.changed.Broadcast()
	b.mu.Unlock()
}

// inParts reports whether a query's files can be delivered while they are read. This is
// the case if only their lines are needed.
func inParts(q *search.Query) bool {
	l := &q.Limits
	return q.Parts && q.RawLines && q.Detail == search.Lines && q.Order == search.ByPath && q.Offset == 0 && !q.FilesWithoutMatch && !q.AllFiles &&
		l.Files == 0 && l.Blocks == 0 && l.Bytes == 0 && !boundsReads(l) && l.CountTo == 0
}

// kept holds the matches that a worker found in a file whose turn has not come yet.
type kept struct {
	run   *searchRun
	bytes int
	parts []scan.Result
}

// add copies the lines of part, because they are only valid during the call.
func (k *kept) add(part *scan.Result) error {
	size, text, spans := 0, 0, 0
	for i := range part.Lines {
		l := &part.Lines[i]
		text += len(l.Text)
		spans += len(l.Spans) + len(l.Whole)
	}
	size = len(part.Lines)*lineBytes + text + spans*spanBytes
	if !k.run.ahead.take(size) {
		return errLater
	}
	k.bytes += size
	texts, found := make([]byte, 0, text), make([]search.Span, 0, spans)
	keepSpans := func(s []search.Span) []search.Span {
		if s == nil {
			return nil
		}
		n := len(found)
		found = append(found, s...)
		return found[n:len(found):len(found)]
	}
	lines := make([]search.Line, 0, len(part.Lines))
	for _, l := range part.Lines {
		n := len(texts)
		texts = append(texts, l.Text...)
		l.Text = texts[n:len(texts):len(texts)]
		l.Spans, l.Whole = keepSpans(l.Spans), keepSpans(l.Whole)
		lines = append(lines, l)
	}
	k.parts = append(k.parts, scan.Result{Lines: lines, Matched: part.Matched, Matches: part.Matches})
	return nil
}

// Bytes of memory that a line and a match take in addition to their text.
const (
	lineBytes = 144
	spanBytes = 16
)

// scanAhead searches a file and keeps its matches, or leaves the file for later.
func (r *searchRun) scanAhead(k *worker, text io.Reader, out *found) {
	keep := &k.keep
	if *keep = (kept{run: r}); k.request.Emit == nil {
		k.request = r.request
		k.request.Emit = keep.add
	}
	out.res, out.err = r.scanner(k).File(text, out.info.Size, &k.request)
	if len(out.res.Lines) > 0 && !errors.Is(out.err, errLater) {
		if err := keep.add(&out.res); err != nil {
			out.err = err
		}
	}
	if errors.Is(out.err, errLater) {
		r.ahead.release(keep.bytes)
		out.err, out.later, *keep = nil, true, kept{}
	}
	if out.res.Lines, out.kept = nil, keep.bytes; len(keep.parts) > 0 {
		last := len(keep.parts) - 1
		out.res.Lines, out.before = keep.parts[last].Lines, keep.parts[:last]
	}
}

// waiting returns the function for the argument waiting of inOrder, or nil.
func (r *searchRun) waiting() func(bool) {
	if r.ahead == nil {
		return nil
	}
	return r.ahead.wait
}

// deliver delivers the matches kept for a file, or searches it now.
func (r *searchRun) deliver(path string, f *found) (err error) {
	if r.ahead == nil {
		err = r.collect.add(path, f)
		if !r.counting.Load() && r.countsRest() {
			r.counting.Store(true)
		}
		return err
	}
	if f.later {
		err = r.due(path)
	} else if err = r.collect.before(path, f); err == nil {
		err = r.collect.add(path, f)
	}
	r.ahead.release(f.kept)
	if err != nil {
		r.ahead.end()
	}
	return err
}

// due searches a file that was left for later.
func (r *searchRun) due(path string) error {
	if r.late == nil {
		r.late = &worker{}
	}
	p, err := r.folder.Root.Resolve(path)
	var f *rootfs.File
	if err == nil {
		f, err = r.folder.Root.OpenFile(p)
	}
	if err != nil {
		return r.collect.add(path, &found{err: err})
	}
	defer f.Close()
	out := &found{info: f.Info()}
	err = r.streamed(r.late, path, f, out)
	r.count(out)
	return err
}

// asOpened limits reading to the size that the file had when it was opened. Otherwise the
// search of a file that grows as fast as it is read would never end. Files in /proc have
// size 0 and are read to their end.
func asOpened(f *rootfs.File, l *io.LimitedReader) io.Reader {
	if size := f.Info().Size; size > 0 {
		*l = io.LimitedReader{R: f, N: size}
		return l
	}
	return f
}

// stream searches a text and delivers its lines as they are found. A large text is
// searched by all scanners. src is the file with the text, or nil.
func (c *collector) stream(path string, all []*scan.Scanner, text io.Reader, src *rootfs.File, view scan.View, out *found, request *scan.Request) error {
	req := *request
	var own error // error of the callback
	if inParts(c.q) {
		req.Emit = func(part *scan.Result) error {
			file := search.FileMatch{Path: path, Lines: part.Lines, More: true, ModTime: out.info.ModTime}
			own = c.part(&file, part, out)
			return own
		}
	}
	out.res, out.err = scan.Together(all, text, out.info.Size, view, &req)
	if own != nil {
		return own
	}
	if src != nil {
		if req.Decode && out.err == nil {
			out.err = out.res.Decode(src)
		}
		identify(c.q, src, out)
	}
	return c.add(path, out)
}

// before delivers all kept matches of a file except the last piece.
func (c *collector) before(path string, f *found) error {
	if c.full && len(f.before) > 0 { // nothing more is needed
		f.before = nil
	}
	for i := range f.before {
		part := &f.before[i]
		file := search.FileMatch{Path: path, Lines: part.Lines, More: true, ModTime: f.info.ModTime}
		if err := c.part(&file, part, f); err != nil {
			return err
		}
	}
	return nil
}

// part delivers the lines of res as the next lines of a file.
func (c *collector) part(f *search.FileMatch, res *scan.Result, out *found) error {
	f.Matched, f.Matches = res.Matched-out.matched, res.Matches-out.matches
	out.matched, out.matches = res.Matched, res.Matches
	if c.full && f.More {
		return nil
	}
	out.parts++
	if c.full {
		f.Lines, f.Matched, f.Matches = nil, 0, 0
	}
	if lim := c.q.Limits.Lines; lim > 0 && c.given.lines+f.Matched > lim {
		cutLines(f, lim-c.given.lines)
		stop(&c.sum, search.StopLines)
		c.full = true
	}
	c.given.lines += f.Matched
	return c.yield(f)
}

// last delivers the end of a file that was delivered in parts.
func (c *collector) last(f *search.FileMatch, out *found) error {
	c.given.files++
	if err := c.part(f, &out.res, out); err != nil {
		return err
	}
	if c.full {
		return c.counted()
	}
	return nil
}
