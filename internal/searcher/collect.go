package searcher

import (
	"cmp"
	"errors"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/search"
)

// errEnough ends a search that has reached its limits.
var errEnough = errors.New("limits reached")

// collector takes the outcomes of files in path order, applies offset and limits, and
// delivers the matching files.
type collector struct {
	q     *search.Query
	yield func(*search.FileMatch) error
	sum   search.Summary
	held  []search.FileMatch // files to be ordered before delivery
	given struct{ files, lines, blocks, bytes int }
	full  bool // limits are reached: only count from now on
	reads int  // number of files read, and of their bytes
	read  int64
}

func newCollector(q *search.Query, yield func(*search.FileMatch) error) *collector {
	return &collector{q: q, yield: yield, sum: search.Summary{Exact: true, SkippedCount: map[search.Reason]int{}}}
}

// boundsReads reports whether reads are limited. A negative limit also counts: searches
// of earlier roots have used it up.
func boundsReads(l *search.Limits) bool { return l.Reads != 0 || l.ReadBytes != 0 }

func stop(s *search.Summary, why search.Stop) {
	s.Stopped = cmp.Or(s.Stopped, why)
	s.Exact = false
}

func (c *collector) add(path string, f *found) error {
	if lim := &c.q.Limits; boundsReads(lim) && f.res.Bytes > 0 {
		c.reads++
		c.read += f.res.Bytes
		if lim.Reads != 0 && c.reads > lim.Reads || lim.ReadBytes != 0 && c.read > lim.ReadBytes {
			stop(&c.sum, search.StopReads)
			return errEnough
		}
	}
	if f.err != nil {
		if err := c.failed(path, f.err); err != nil {
			if f.parts > 0 { // the error occurred within a file already delivered in part
				c.sum.FilesMatched++
				c.sum.LinesMatched += f.matched
				c.sum.Matches += f.matches
			}
			return err
		}
	}
	if f.res.Skip != scan.NotSkipped {
		c.skip(path, search.Reason(f.res.Skip.String()), "")
	}
	if c.q.FilesWithoutMatch {
		if f.res.Matched > 0 || f.err != nil || f.res.Skip != scan.NotSkipped {
			return nil
		}
	} else if f.res.Matched == 0 && (f.err != nil || f.res.Skip != scan.NotSkipped || !c.q.AllFiles && !c.q.Passthru) {
		return nil
	}
	return c.matched(path, f)
}

// failed decides whether an error ends the search or only skips one file.
func (c *collector) failed(path string, err error) error {
	if ends(err) {
		return err
	}
	switch rootfs.KindOf(err) {
	case fault.NotFound:
		return nil // the file vanished
	case fault.NotRegular, fault.NotFolder:
		c.skip(path, search.NotRegular, detailOf(err))
	case fault.ProtectedPath, fault.OutsideRoot:
		if secretByContent(err) {
			c.sum.Denied++
		}
		c.skip(path, search.Protected, detailOf(err))
	default:
		c.skip(path, search.Unreadable, detailOf(err))
	}
	return nil
}

// secretByContent reports whether a file is closed because of its contents.
func secretByContent(err error) bool {
	var path *fault.PathError
	return errors.As(err, &path) && path.Allow != ""
}

// detailOf returns the cause of an error without path and operation, because a Skip
// already has the path.
func detailOf(err error) string {
	if e, ok := err.(*fault.PathError); ok {
		if e.Err != nil {
			return e.Err.Error()
		}
		return e.Kind.Words()
	}
	return err.Error()
}

func (c *collector) skip(path string, why search.Reason, detail string) {
	c.sum.SkippedCount[why]++
	addSkip(&c.sum, search.Skip{Path: path, Reason: why, Detail: detail})
}

func (c *collector) matched(path string, f *found) error {
	if f.res.Matched > 0 || c.q.FilesWithoutMatch {
		c.sum.FilesMatched++
	}
	c.sum.LinesMatched += f.res.Matched
	if !c.full || c.q.CountMatches { // files that are only counted may lack this number
		c.sum.Matches += f.res.Matches
	}
	if c.q.Limits.Blocks > 0 {
		n := f.res.Blocks
		if n == 0 { // in multiline mode
			n = countBlocks(f.res.Lines, blockGap(c.q))
		}
		c.sum.Blocks += n
	}
	file := search.FileMatch{
		Path: path, Lines: f.res.Lines, Matched: f.res.Matched, Matches: f.res.Matches,
		Bytes: f.res.Bytes, NUL: f.res.NUL, AtNUL: f.res.AtNUL, ModTime: f.info.ModTime, Version: f.version,
	}
	if f.parts > 0 {
		return c.last(&file, f)
	}
	if c.full {
		return c.counted()
	}
	if c.q.Order != search.ByPath {
		c.held = append(c.held, file)
		c.dropWorst()
		return nil
	}
	return c.give(&file)
}

// counted ends a search that has counted as many results as it may.
func (c *collector) counted() error {
	n := c.sum.LinesMatched
	if c.q.Limits.Blocks > 0 {
		n = c.sum.Blocks
	}
	if n > c.q.Limits.CountTo {
		c.sum.Exact = false
		return errEnough
	}
	return nil
}

// give delivers a file, cut to the remaining offset and limits.
func (c *collector) give(f *search.FileMatch) error {
	if !c.skipOffset(f) {
		return nil
	}
	lim := &c.q.Limits
	if lim.Files > 0 && c.given.files >= lim.Files {
		return c.fill(search.StopFiles)
	}
	if lim.Lines > 0 && c.given.lines+f.Matched > lim.Lines {
		cutLines(f, lim.Lines-c.given.lines)
		if err := c.fill(search.StopLines); err != nil && f.Matched == 0 {
			return err
		}
	}
	if lim.Blocks > 0 {
		gap := blockGap(c.q)
		if room := lim.Blocks - c.given.blocks; countBlocks(f.Lines, gap) > room {
			cutBlocks(f, room, gap, c.q.After)
			if err := c.fill(search.StopBlocks); err != nil && f.Matched == 0 {
				return err
			}
		}
		c.given.blocks += countBlocks(f.Lines, gap)
	}
	if lim.Bytes > 0 && c.given.bytes+TextBytes(f) > lim.Bytes && c.given.files > 0 {
		return c.fill(search.StopBytes)
	}
	if f.Matched == 0 && !c.q.FilesWithoutMatch && !c.q.AllFiles && !c.q.Passthru {
		return nil
	}
	c.given.files++
	c.given.lines += f.Matched
	c.given.bytes += TextBytes(f)
	if err := c.yield(f); err != nil {
		return err
	}
	if c.full {
		return c.counted()
	}
	return nil
}

// fill records that a limit cut the answer. Counting may continue.
func (c *collector) fill(why search.Stop) error {
	c.sum.Stopped = cmp.Or(c.sum.Stopped, why)
	c.full = true
	if c.q.Order == search.ByMatches {
		return errEnough // everything is counted
	}
	return c.counted()
}

// skipOffset drops the lines before the offset and reports whether any lines of the file
// remain.
func (c *collector) skipOffset(f *search.FileMatch) bool {
	if c.q.Offset <= 0 {
		return true
	}
	if c.q.Detail == search.Files {
		c.q.Offset--
		return false
	}
	if c.q.Limits.Blocks > 0 {
		gap := blockGap(c.q)
		if n := countBlocks(f.Lines, gap); n <= c.q.Offset {
			c.q.Offset -= n
			return false
		}
		dropBlocks(f, c.q.Offset, gap, c.q.Before)
		c.q.Offset = 0
		return true
	}
	if f.Matched <= c.q.Offset {
		c.q.Offset -= f.Matched
		return false
	}
	dropLines(f, c.q.Offset)
	c.q.Offset = 0
	return true
}

// cutLines keeps the first n matching lines of a file and their context.
func cutLines(f *search.FileMatch, n int) {
	f.Matched = max(n, 0)
	for i := range f.Lines {
		if !f.Lines[i].Hit {
			continue
		}
		if n--; n < 0 {
			f.Lines = f.Lines[:i]
			return
		}
	}
}

// dropLines drops the first n matching lines of a file and their context.
func dropLines(f *search.FileMatch, n int) {
	f.Matched -= n
	for i := range f.Lines {
		if !f.Lines[i].Hit {
			continue
		}
		if n--; n < 0 {
			f.Lines = f.Lines[i:]
			return
		}
	}
}

// TextBytes returns the size of a file's lines as Limits.Bytes counts it.
func TextBytes(f *search.FileMatch) int {
	n := len(f.Path)
	for i := range f.Lines {
		n += len(f.Lines[i].Text) + 8 // a line number and its ending
	}
	return n
}

// dropWorst limits the held files if only those with the most matches are delivered.
func (c *collector) dropWorst() {
	if most := c.q.Limits.Files; c.q.Order == search.ByMatches && most > 0 && c.q.Offset <= 0 && len(c.held) >= 2*most+1024 {
		byOrder(c.held, c.q.Order)
		clear(c.held[most+1:])
		c.held = c.held[:most+1] // the extra file shows that there are more
	}
}

// partial delivers the held files after the time limit ended the search.
func (c *collector) partial() error {
	if err := c.finish(); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	c.sum.Stopped = "" // report the time limit instead
	return nil
}

// finish orders and delivers the held files.
func (c *collector) finish() error {
	byOrder(c.held, c.q.Order)
	for i := range c.held {
		if err := c.give(&c.held[i]); err != nil {
			return err
		}
	}
	return nil
}
