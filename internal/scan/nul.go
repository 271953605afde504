package scan

import (
	"bytes"

	"quarry/match"
	"quarry/search"
)

// nulls implements the effect of NUL bytes on the search of a file. The rules are those
// of ripgrep, including its buffer size, because it determines which lines of a file with
// NUL are shown.
type nulls struct {
	rule   search.NULRule
	seen   bool // a NUL was found that matters according to the rule
	mapped bool // the start of the file was examined
}

// ripgrepBuffer is the size of ripgrep's buffer, which includes the incomplete line of the
// previous read.
const ripgrepBuffer = 64 << 10

// step returns how many bytes to read next. fresh is the size of the incomplete line.
func (n *nulls) step(fresh int) int {
	if n.rule == search.StopAtNUL || n.rule == search.MentionNUL {
		return max(ripgrepBuffer-fresh, ripgrepBuffer/2)
	}
	return blockSize
}

// read looks for NUL in the new data buf[fresh:]. over reports whether the search ends.
func (f *file) read(buf []byte, fresh int) (over bool) {
	n := &f.nulls
	fresh = min(fresh, len(buf))
	rule := n.rule
	if f.m.Pattern().Mode() != match.Lines { // ripgrep also reads the whole file first in this case
		switch rule {
		case search.StopAtNUL:
			rule = search.StopAtNULMapped
		case search.MentionNUL:
			rule = search.MentionNULMapped
		}
	}
	switch rule {
	case search.StopAtNUL, search.MentionNUL:
		if i := bytes.IndexByte(buf[fresh:], 0); i >= 0 && !n.seen {
			f.foundNUL(fresh + i)
		}
		if !n.seen {
			return false
		}
		if n.rule == search.StopAtNUL {
			return f.stopAtNUL()
		}
		for i := fresh; i < len(buf); i++ {
			if buf[i] == 0 {
				buf[i] = '\n'
			}
		}
	case search.StopAtNULMapped, search.MentionNULMapped:
		if !n.mapped && f.base == 0 {
			n.mapped = len(buf) >= ripgrepBuffer
			if i := bytes.IndexByte(buf[:min(len(buf), ripgrepBuffer)], 0); i >= 0 && !n.seen {
				f.foundNUL(i)
			}
		}
		if n.seen && rule == search.StopAtNULMapped {
			return f.stopAtNUL()
		}
	}
	return false
}

func (f *file) foundNUL(at int) {
	f.nulls.seen = true
	f.out.NUL = 1 + f.base + int64(at)
}

// stopAtNUL ends the search. The counts of such a file are zero.
func (f *file) stopAtNUL() bool {
	f.out.AtNUL = true
	if f.req.Detail == Count {
		f.out.Matched, f.out.Matches = 0, 0
	}
	if f.out.Matched == 0 {
		f.out.Skip = Binary // distinguishes it from a file without matches
	}
	return true
}

// lookForNUL notes a NUL in a line if the rule looks for NULs by line.
func (f *file) lookForNUL(block []byte, h hit) *nulls {
	n := &f.nulls
	if n.rule == search.StopAtNULMapped || n.rule == search.MentionNULMapped {
		if i := bytes.IndexByte(block[h.start:h.end], 0); i >= 0 && !n.seen {
			f.foundNUL(h.start + i)
		}
	}
	return n
}

// atNUL reports whether a matching line is omitted because it contains or follows a NUL.
func (f *file) atNUL(block []byte, h hit) bool {
	n := f.lookForNUL(block, h)
	switch {
	case !n.seen:
		return false
	case n.rule == search.StopAtNULMapped:
		f.done = f.stopAtNUL()
		return true
	case f.req.Detail != Lines:
		return false
	}
	f.reportOwed(block, h.start)
	if f.before(block, h.start); !f.done { // unless the context has ended the search
		f.out.Matched++
		if f.req.Spans {
			f.out.Matches += len(f.spans(f.textOf(block, h)))
		}
	}
	f.owed, f.done = 0, true
	return true
}

// contextAtNUL reports whether a context line is omitted because it contains or follows a
// NUL. As in ripgrep, the search then ends.
func (f *file) contextAtNUL(block []byte, h hit) bool {
	n := f.lookForNUL(block, h)
	f.done = f.done || n.seen
	return n.seen
}
