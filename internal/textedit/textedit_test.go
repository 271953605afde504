package textedit

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/stress"
	"quarry/internal/textfile"
)

func doc(t testing.TB, raw string) *textfile.Document {
	t.Helper()
	d, err := textfile.New([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestApply(t *testing.T) {
	utf16 := func(s string) string {
		b, err := textfile.UTF16LE.Append([]byte("\xFF\xFE"), s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, raw string
		edits     []change.Edit
		want      string
	}{
		{"first only", "a b a", []change.Edit{{Old: "a", New: "x", Occurrence: change.First}}, "x b a"},
		{"all", "a b a", []change.Edit{{Old: "a", New: "x", Occurrence: change.All}}, "x b x"},
		{"n-th", "a b a a", []change.Edit{{Old: "a", New: "x", Occurrence: 2}}, "a b x a"},
		{"without overlap, from the left", "aaaaa", []change.Edit{{Old: "aa", New: "b", Occurrence: change.All}}, "bba"},
		{"$& means itself", "cost", []change.Edit{{Old: "cost", New: "$& $1 \\0", Occurrence: change.First}}, "$& $1 \\0"},
		{"\\n matches \\r\\n", "a\r\nb\r\nc\r\n", []change.Edit{{Old: "a\nb\n", New: "x\ny\nz\n", Occurrence: change.First}}, "x\r\ny\r\nz\r\nc\r\n"},
		{"\\r\\n matches \\n", "a\nb\n", []change.Edit{{Old: "a\r\nb", New: "a\r\nc", Occurrence: change.First}}, "a\nc\n"},
		{"context keeps its endings", "a\r\nb\nc\r\nd\n", []change.Edit{{Old: "a\nb\nc\nd", New: "a\nb\nX\nd", Occurrence: change.First}}, "a\r\nb\nX\r\nd\n"},
		{"mixed: the ending of the place", "a\nb\r\nc\n", []change.Edit{{Old: "b", New: "1\n2", Occurrence: change.First}}, "a\n1\r\n2\r\nc\n"},
		{"a match does not split \\r\\n", "a\r\nb\n", []change.Edit{{Old: "\nb", New: "!", Occurrence: change.First}}, "a!\n"},
		{"a lone \\r is a character", "a\rb\r\n", []change.Edit{{Old: "\r", New: "-", Occurrence: change.All}}, "a-b\r\n"},
		{"bom stays", "\xEF\xBB\xBFab", []change.Edit{{Old: "a", New: "é", Occurrence: change.First}}, "\xEF\xBB\xBFéb"},
		{"latin-1 stays", "caf\xE9 \x81 th\xE9", []change.Edit{{Old: "thé", New: "€", Occurrence: change.First}}, "caf\xE9 \x81 \x80"},
		{"utf-16 stays", utf16("a\r\nb\r\n"), []change.Edit{{Old: "b", New: "😀\nc", Occurrence: change.First}}, utf16("a\r\n😀\r\nc\r\n")},
		{"lone surrogates stay", "\xFF\xFE\x00\xD8a\x00\x00\xDCb", []change.Edit{{Old: "a", New: "z", Occurrence: change.First}}, "\xFF\xFE\x00\xD8z\x00\x00\xDCb"},

		{"insert X", "a\nb\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X"}}, "a\nX\nb\n"},
		{"insert X\\n is the same", "a\nb\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X\n"}}, "a\nX\nb\n"},
		{"insert X\\r\\n is the same", "a\nb\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X\r\n"}}, "a\nX\nb\n"},
		{"insert an empty line", "a\nb\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "\n"}}, "a\n\nb\n"},
		{"insert at the beginning", "a\r\n", []change.Edit{{Verb: change.InsertAfter, First: 0, New: "X\nY"}}, "X\r\nY\r\na\r\n"},
		{"behind the bom", "\xEF\xBB\xBFa", []change.Edit{{Verb: change.InsertAfter, First: 0, New: "X"}}, "\xEF\xBB\xBFX\na"},
		{"into an empty file", "", []change.Edit{{Verb: change.InsertAfter, First: 0, New: "X"}}, "X\n"},
		{"behind the last line", "a\nb\n", []change.Edit{{Verb: change.InsertAfter, First: 2, New: "X"}}, "a\nb\nX\n"},
		{"behind a last line without ending", "a\r\nb", []change.Edit{{Verb: change.InsertAfter, First: 2, New: "X\n"}}, "a\r\nb\r\nX"},
		{"before", "a\nb", []change.Edit{{Verb: change.InsertBefore, First: 2, New: "X"}}, "a\nX\nb"},
		{"before the first", "a\r\nb\n", []change.Edit{{Verb: change.InsertBefore, First: 1, New: "X"}}, "X\r\na\r\nb\n"},
		{"takes the ending of the line before", "a\r\nb\nc\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X"}}, "a\r\nX\r\nb\nc\n"},

		{"delete one", "a\nb\nc\n", []change.Edit{{Verb: change.DeleteLines, First: 2, Last: 2}}, "a\nc\n"},
		{"delete to the end", "a\r\nb\r\nc", []change.Edit{{Verb: change.DeleteLines, First: 2, Last: 3}}, "a\r\n"},
		{"delete all", "a\nb", []change.Edit{{Verb: change.DeleteLines, First: 1, Last: 2}}, ""},

		{"span", "héllo", []change.Edit{{Verb: change.ReplaceSpan, Start: 1, End: 3, New: "e"}}, "hello"},
		{"span inserts at the end", "a\r\nb", []change.Edit{{Verb: change.ReplaceSpan, Start: 4, End: 4, New: "\nc\n"}}, "a\r\nb\r\nc\r\n"},

		{"all refer to the original", "a\nb\nc\n", []change.Edit{{Verb: change.DeleteLines, First: 1, Last: 1}, {Verb: change.InsertAfter, First: 3, New: "X"}, {Old: "b", New: "a", Occurrence: change.First}}, "a\nc\nX\n"},
		{"insertions follow the list", "a\n", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X"}, {Verb: change.InsertAfter, First: 1, New: "Y"}}, "a\nX\nY\n"},
		{"the same without final newline", "a", []change.Edit{{Verb: change.InsertAfter, First: 1, New: "X"}, {Verb: change.InsertAfter, First: 1, New: "Y"}}, "a\nX\nY"},
		{"replace a line", "a\nb\nc\n", []change.Edit{{Verb: change.DeleteLines, First: 2, Last: 2}, {Verb: change.InsertAfter, First: 2, New: "X"}}, "a\nX\nc\n"},
		{"replace the last line", "a\nb", []change.Edit{{Verb: change.InsertAfter, First: 2, New: "X"}, {Verb: change.DeleteLines, First: 2, Last: 2}}, "a\nX"},
	} {
		ch, err := Apply(doc(t, c.raw), c.edits...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := string(ch.Bytes()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	thirty := strings.Repeat("x\n", 30)
	for _, c := range []struct {
		name, raw string
		edits     []change.Edit
		want      string
	}{
		{"line past the end", thirty, []change.Edit{{Verb: change.InsertAfter, First: 50, New: "x"}}, "Line 50 does not exist in file with 30 lines."},
		{"before a line past the end", thirty, []change.Edit{{Verb: change.InsertBefore, First: 31, New: "x"}}, "Line 31 does not exist in file with 30 lines."},
		{"before line 0", thirty, []change.Edit{{Verb: change.InsertBefore, First: 0, New: "x"}}, "Line 0 does not exist in file with 30 lines."},
		{"negative", "a", []change.Edit{{Verb: change.InsertAfter, First: -1, New: "x"}}, "Line -1 does not exist in file with 1 line."},
		{"in an empty file", "", []change.Edit{{Verb: change.InsertBefore, First: 1, New: "x"}}, "Line 1 does not exist in file with 0 lines."},
		{"delete past the end", thirty, []change.Edit{{Verb: change.DeleteLines, First: 29, Last: 50}}, "Line 50 does not exist in file with 30 lines."},
		{"delete backwards", thirty, []change.Edit{{Verb: change.DeleteLines, First: 5, Last: 3}}, "invalid line range 5-3: the first is after the last"},
		{"empty old text", "a", []change.Edit{{New: "x", Occurrence: change.First}}, ErrEmptyOld.Error()},
		{"nothing to do", "a\r\n", []change.Edit{{Old: "a\n", New: "a\r\n", Occurrence: change.First}}, ErrSame.Error()},
		{"not found", "abc", []change.Edit{{Old: "zzz", New: "y", Occurrence: change.First}}, "text 'zzz' not found"},
		{"no such occurrence", "a b a", []change.Edit{{Old: "a", New: "y", Occurrence: 3}}, "occurrence 3 does not exist: the text occurs 2 times"},
		{"half a \\r\\n is not there", "a\r\n", []change.Edit{{Old: "a\r", New: "b", Occurrence: change.First}}, "text 'a\r' not found"},
		{"can't be encoded", "caf\xE9", []change.Edit{{Old: "café", New: "日本", Occurrence: change.First}}, "the file is windows-1252, which can't hold '日' (U+65E5), at line 1, column 1 of the text"},
		{"NUL", "abc", []change.Edit{{Old: "a", New: "\x00", Occurrence: change.First}}, "a NUL character (at line 1, column 1 of the text) would turn a utf-8 text file into a binary file"},
		{"half a character to find", "é", []change.Edit{{Old: "\xC3", New: "x", Occurrence: change.First}}, "text to replace: the text is not valid UTF-8 at line 1, column 1 of the text"},
		{"half a unit at the end", "\xFF\xFEa\x00b", []change.Edit{{Verb: change.ReplaceSpan, Start: 4, End: 4, New: "x"}}, ErrHalfUnit.Error()},
		{"would read as utf-8", "caf\xE9", []change.Edit{{Old: "é", New: "Ã©", Occurrence: change.First}}, "after this edit the windows-1252 file would be read as utf-8 and show other characters"},
		{"would read as utf-16", "caf\xE9", []change.Edit{{Verb: change.InsertAfter, First: 0, New: "ÿþ"}}, "after this edit the windows-1252 file would be read as utf-16le and show other characters"},
		{"overlap", "a\nbc\nd\n", []change.Edit{{Old: "d", New: "x", Occurrence: change.First}, {Old: "bc", New: "x", Occurrence: change.First}, {Verb: change.DeleteLines, First: 2, Last: 2}}, "edits 2 and 3 overlap on line 2; all edits refer to the file as it is before any of them"},
		{"which edit", "a", []change.Edit{{Old: "a", New: "x", Occurrence: change.First}, {Verb: change.InsertAfter, First: 9, New: "x"}}, "edit 2: Line 9 does not exist in file with 1 line."},
		{"span outside", "é", []change.Edit{{Verb: change.ReplaceSpan, Start: 0, End: 3, New: ""}}, "span 0-3 does not lie in a text of 2 bytes"},
		{"span in a character", "é", []change.Edit{{Verb: change.ReplaceSpan, Start: 1, End: 2, New: ""}}, "offset 1 is inside a character"},
	} {
		ch, err := Apply(doc(t, c.raw), c.edits...)
		if err == nil || err.Error() != c.want || ch != nil {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	var le *change.LineError
	_, err := Apply(doc(t, "a"), change.Edit{Verb: change.DeleteLines, First: 1, Last: 1}, change.Edit{Verb: change.DeleteLines, First: 7, Last: 7})
	if !errors.As(err, &le) || le.Line != 7 || le.Count != 1 {
		t.Errorf("a LineError is lost in a list: %v", err)
	}
}

// An edit may change a file's encoding from Windows-1252 only by removing its last non-ASCII
// character: the rest is ASCII and reads the same.
func TestASCIIRemains(t *testing.T) {
	ch, err := Apply(doc(t, "caf\xE9"), change.Edit{Old: "é", New: "e", Occurrence: change.First})
	if err != nil || string(ch.Bytes()) != "cafe" {
		t.Errorf("%v", err)
	}
}

func TestOutcome(t *testing.T) {
	d := doc(t, "x\nx x\n\nx\n"+strings.Repeat("x\n", 30))
	for _, c := range []struct {
		edit change.Edit
		want Outcome
	}{
		{change.Edit{Old: "x", New: "y", Occurrence: change.All}, Outcome{Count: 34, Line: 1}},
		{change.Edit{Old: "x", New: "y", Occurrence: change.First}, Outcome{Count: 1, Line: 1, Remaining: 33,
			RemainingLines: []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}}},
		{change.Edit{Old: "x", New: "y", Occurrence: 33}, Outcome{Count: 1, Line: 33, Remaining: 33,
			RemainingLines: []int{1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}}},
		{change.Edit{Old: "x x", New: "y", Occurrence: change.First}, Outcome{Count: 1, Line: 2}},
		{change.Edit{Verb: change.InsertAfter, First: 2, New: "a\nb\nc\n"}, Outcome{Count: 3, Line: 2}},
		{change.Edit{Verb: change.InsertBefore, First: 2, New: "a"}, Outcome{Count: 1, Line: 1}},
		{change.Edit{Verb: change.DeleteLines, First: 2, Last: 4}, Outcome{Count: 3, Line: 2}},
	} {
		ch, err := Apply(d, c.edit)
		if err != nil {
			t.Errorf("%+v: %v", c.edit, err)
			continue
		}
		got := ch.Outcomes[0]
		if got.Count != c.want.Count || got.Line != c.want.Line || got.Remaining != c.want.Remaining || !slices.Equal(got.RemainingLines, c.want.RemainingLines) {
			t.Errorf("%+v: %+v, want %+v", c.edit, got, c.want)
		}
	}
}

func TestTurnsBinary(t *testing.T) {
	d := doc(t, strings.Repeat("line\n", textfile.SniffLen/5+1)+"\x00\n")
	if ch, err := Apply(d, change.Edit{Old: "line", New: "LINE", Occurrence: change.First}); err != nil || ch.TurnsBinary {
		t.Errorf("an edit that keeps the NUL late: %v", err)
	}
	if ch, err := Apply(d, change.Edit{Verb: change.DeleteLines, First: 1, Last: 100}); err != nil || !ch.TurnsBinary {
		t.Errorf("an edit that moves the NUL to the front is not reported: %v", err)
	}
}

// Many matches in one huge line must not each search for the line's end.
func TestManyMatchesInOneLine(t *testing.T) {
	d := doc(t, strings.Repeat("ab", 800_000))
	began := stress.CPU()
	ch, err := Apply(d, change.Edit{Old: "a", New: "1\n2", Occurrence: change.All})
	if err != nil || ch.Outcomes[0].Count != 800_000 {
		t.Fatal(err)
	}
	if took := stress.CPU() - began; took > 15*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkReplaceOneByte(b *testing.B) {
	data := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog.\n"), 100<<20/45)
	data[len(data)-5] = '#'
	d, err := textfile.New(data)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("replace", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Apply(d, change.Edit{Old: "#", New: "!", Occurrence: change.First}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replace, text of 12 bytes", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Apply(d, change.Edit{Old: "the lazy#dog", New: "!", Occurrence: change.All}); err == nil {
				b.Fatal("found")
			}
		}
	})
	b.Run("detect and replace", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			d, _ := textfile.New(data)
			if _, err := Apply(d, change.Edit{Old: "#", New: "!", Occurrence: change.First}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with diff", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			d, _ := textfile.New(data)
			c, err := Apply(d, change.Edit{Old: "#", New: "!", Occurrence: change.First})
			if err != nil || c.Diff(nil) == "" {
				b.Fatal(err)
			}
		}
	})
	b.Run("peer=bytes.IndexByte", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			bytes.IndexByte(data, '#')
		}
	})
	b.Run("peer=copy", func(b *testing.B) {
		dst := make([]byte, len(data))
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			copy(dst, data)
		}
	})
}
