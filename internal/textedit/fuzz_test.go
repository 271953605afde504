package textedit

import (
	"bytes"
	"testing"

	"quarry/change"
	"quarry/internal/textfile"
)

// FuzzApply makes arbitrary edits to an arbitrary file. Bytes outside the splices must not change, and making
// the diff must not fail.
func FuzzApply(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree"), "two", "2\n", 1, 2, true)
	f.Add([]byte("\xff\xfea\x00b\x00\n\x00"), "a", "é", 0, 1, false)
	f.Add([]byte("caf\xe9\n"), "caf\u00e9", "日", 1, 1, false)
	f.Add([]byte("\xef\xbb\xbfx\ny\n"), "", "z", -1, 9, true)
	f.Add([]byte(""), "\n", "\r\n", 0, 0, true)
	f.Fuzz(func(t *testing.T, raw []byte, old, new string, first, last int, all bool) {
		doc, err := textfile.New(raw)
		if err != nil {
			return
		}
		occurrence := change.First
		if all {
			occurrence = change.All
		}
		for _, edits := range [][]change.Edit{
			{change.Edit{Old: old, New: new, Occurrence: occurrence}}, {change.Edit{Verb: change.InsertAfter, First: first, New: new}}, {change.Edit{Verb: change.InsertBefore, First: last, New: new}}, {change.Edit{Verb: change.DeleteLines, First: first, Last: last}},
			{change.Edit{Old: old, New: new, Occurrence: change.First}, change.Edit{Verb: change.InsertAfter, First: first, New: new}, change.Edit{Verb: change.DeleteLines, First: first, Last: last}},
		} {
			c, err := Apply(doc, edits...)
			if err != nil {
				continue
			}
			at := int64(0)
			var want []byte
			for s := range c.Splices() {
				if s.Start < at || s.End < s.Start || s.End > int64(len(raw)) {
					t.Fatalf("%q %+v: splice %d to %d behind %d", raw, edits, s.Start, s.End, at)
				}
				want = append(append(want, raw[at:s.Start]...), s.New...)
				at = s.End
			}
			want = append(want, raw[at:]...)
			if got := c.Bytes(); !bytes.Equal(got, want) || int64(len(got)) != c.Size() {
				t.Fatalf("%q %+v: %q, want %q", raw, edits, got, want)
			}
			c.Diff(nil)
		}
	})
}
