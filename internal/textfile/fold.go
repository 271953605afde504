package textfile

import "bytes"

// folding maps the offsets of a text with \n for every \r\n to the offsets of its source.
type folding struct {
	of *Text
	at foldCursor
}

// foldCursor is a position on a page, as an offset in both texts. It lets sequential
// requests search for each \r\n once.
type foldCursor struct{ page, folded, text int }

// Folded returns the text with \n for every \r\n. It keeps converted copies of a few
// pages of t. A text in memory is one page.
func (t *Text) Folded() *Text {
	f := &Text{enc: t.enc, raw: t.raw, fold: &folding{of: t, at: foldCursor{page: -1}}}
	f.starts = append(f.starts, t.starts...)
	for i := range f.starts {
		f.starts[i].text -= f.starts[i].crlf
	}
	if t.doc != nil {
		f.starts[1].text -= t.Endings().CRLF
	}
	return f
}

// Unfolded maps an offset to the text that t was folded from.
func (t *Text) Unfolded(off int) int {
	c, page := t.fold.at, t.pageAt(off)
	start := t.fold.of.starts[page].text
	if c.page != page || c.folded > off {
		c = foldCursor{page, t.starts[page].text, start}
	}
	for text := t.fold.of.load(page); ; {
		i := bytes.Index(text[min(c.text-start, len(text)):], []byte("\r\n"))
		if i < 0 || c.folded+i >= off {
			break
		}
		c.folded, c.text = c.folded+i+1, c.text+i+2
	}
	t.fold.at = c
	return c.text + off - c.folded
}
