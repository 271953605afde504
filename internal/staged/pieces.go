package staged

import "quarry/change"

// pieces is a text as parts of the file on the disk and new bytes between them, so
// that after any number of edits the bytes that nobody named are known.
type pieces []piece

// piece is the bytes [start, end) of the base, or new ones.
type piece struct {
	start, end int
	text       []byte
	fresh      bool
}

func (p piece) size() int {
	if p.fresh {
		return len(p.text)
	}
	return p.end - p.start
}

// splice replaces the bytes [start, end) of the text by others.
func (ps pieces) splice(start, end int, text []byte) pieces {
	var out pieces
	at, put := 0, false
	add := func(p piece) {
		if p.size() > 0 {
			out = append(out, p)
		}
	}
	for _, p := range ps {
		from, to := at, at+p.size()
		at = to
		// The part before the splice, and the one after it.
		if from < start {
			add(p.cut(0, min(to, start)-from))
		}
		if !put && to >= start {
			add(piece{text: text, fresh: true})
			put = true
		}
		if to > end {
			add(p.cut(max(from, end)-from, to-from))
		}
	}
	if !put {
		add(piece{text: text, fresh: true})
	}
	return out
}

func (p piece) cut(from, to int) piece {
	if p.fresh {
		return piece{text: p.text[from:to], fresh: true}
	}
	return piece{start: p.start + from, end: p.start + to}
}

// spans are the edits that make the text of a base of this size: offsets are
// those of bytes. Parts of the base never change places, so gaps between them are
// what was replaced.
func (ps pieces) spans(size int) []change.Edit {
	var edits []change.Edit
	at := 0
	var text []byte
	gap := func(until int) {
		if until > at || len(text) > 0 {
			edits = append(edits, change.Edit{Verb: change.ReplaceSpan, Start: at, End: until, New: string(text), Verbatim: true})
		}
		text = nil
	}
	for _, p := range ps {
		if p.fresh {
			text = append(text, p.text...)
			continue
		}
		gap(p.start)
		at = p.end
	}
	gap(size)
	return edits
}
