package searcher

import (
	"errors"
	"io"
	"sync"

	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/search"
)

// With Query.Parts the memory of a search doesn't grow with what it finds. A file
// that is due is searched as its lines are handed on. Workers that search files
// ahead of their turn keep what they find, together at most aheadBytes. Who finds no
// room waits, and if that is no use, drops what it has: the file is searched again
// when it is due.

// aheadBytes is what may wait for its turn. With half of it, printing every line of
// the Linux source took the same time.
const aheadBytes = 24 << 20

// errLater says that a file has to be searched when it is due.
var errLater = errors.New("no space to store the matches")

// backlog counts what workers have found and nobody has taken yet.
type backlog struct {
	mu      sync.Mutex
	changed sync.Cond
	room    int
	used    int
	idle    bool // who takes results waits for one, so waiting for room is no use
	ended   bool
}

func newBacklog(room int) *backlog {
	b := &backlog{room: room}
	b.changed.L = &b.mu
	return b
}

// take makes room for n bytes, and reports whether there is any.
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

// wait is told when who takes results begins and ends to wait for one.
func (b *backlog) wait(idle bool) {
	b.mu.Lock()
	if b.idle = idle; idle {
		b.changed.Broadcast()
	}
	b.mu.Unlock()
}

// end lets nobody wait any more.
func (b *backlog) end() {
	b.mu.Lock()
	b.ended = true
	b.changed.Broadcast()
	b.mu.Unlock()
}

// inParts reports whether a query's answer can be handed on while files are read:
// nothing has to be known about a file but its lines.
func inParts(q *search.Query) bool {
	l := &q.Limits
	return q.Parts && q.Detail == search.Lines && q.Order == search.ByPath && q.Offset == 0 && !q.FilesWithoutMatch && !q.AllFiles &&
		l.Files == 0 && l.Blocks == 0 && l.Bytes == 0 && l.Reads == 0 && l.CountTo == 0
}

// kept is what one worker keeps of a file that is not due.
type kept struct {
	run   *searchRun
	bytes int
	parts []scan.Result
}

// add copies lines, which are valid for the moment only.
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

// What a line and a match take beside their text.
const (
	lineBytes = 144
	spanBytes = 16
)

// scanAhead searches a file that may not be due.
func (r *searchRun) scanAhead(k *worker, text io.Reader, out *found) {
	keep := kept{run: r}
	req := r.request
	req.Emit = keep.add
	out.res, out.err = r.scanner(k).File(text, out.info.Size, &req)
	if len(out.res.Lines) > 0 && !errors.Is(out.err, errLater) {
		if err := keep.add(&out.res); err != nil {
			out.err = err
		}
	}
	if errors.Is(out.err, errLater) {
		r.ahead.release(keep.bytes)
		out.err, out.later, keep = nil, true, kept{}
	}
	if out.res.Lines, out.kept = nil, keep.bytes; len(keep.parts) > 0 {
		last := len(keep.parts) - 1
		out.res.Lines, out.before = keep.parts[last].Lines, keep.parts[:last]
	}
}

// waiting is told when nobody takes results.
func (r *searchRun) waiting() func(bool) {
	if r.ahead == nil {
		return nil
	}
	return r.ahead.wait
}

// deliver hands on what was found in a file, or searches it now.
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

// due searches a file whose turn has come.
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

// asOpened reads a file as it was when it was opened: one that grows as fast as it is
// read would never end. Files of /proc say 0 and end by themselves.
func asOpened(f *rootfs.File, l *io.LimitedReader) io.Reader {
	if size := f.Info().Size; size > 0 {
		*l = io.LimitedReader{R: f, N: size}
		return l
	}
	return f
}

// stream searches a text and hands its lines on as they are found. A large one is
// searched by all of the scanners.
func (c *collector) stream(path string, all []*scan.Scanner, text io.Reader, out *found, request *scan.Request) error {
	req := *request
	var own error // of who takes the lines
	if inParts(c.q) {
		req.Emit = func(part *scan.Result) error {
			file := search.FileMatch{Path: c.prefix + path, Lines: part.Lines, More: true, ModTime: out.info.ModTime}
			own = c.part(&file, part, out)
			return own
		}
	}
	out.res, out.err = scan.Together(all, text, out.info.Size, &req)
	if own != nil {
		return own
	}
	return c.add(path, out)
}

// before hands on all parts of a file that was kept but the last.
func (c *collector) before(path string, f *found) error {
	if c.full && len(f.before) > 0 { // no part of it is wanted
		f.before = nil
	}
	for i := range f.before {
		part := &f.before[i]
		file := search.FileMatch{Path: c.prefix + path, Lines: part.Lines, More: true, ModTime: f.info.ModTime}
		if err := c.part(&file, part, f); err != nil {
			return err
		}
	}
	return nil
}

// part hands on the next lines of a file: what res has beyond what was handed on.
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

// last hands on the rest of a file that came in parts.
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
