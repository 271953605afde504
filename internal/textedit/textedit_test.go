package textedit

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

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
		edits     []Edit
		want      string
	}{
		{"first only", "a b a", []Edit{Replace{Old: "a", New: "x"}}, "x b a"},
		{"all", "a b a", []Edit{Replace{Old: "a", New: "x", All: true}}, "x b x"},
		{"n-th", "a b a a", []Edit{Replace{Old: "a", New: "x", Nth: 2}}, "a b x a"},
		{"without overlap, from the left", "aaaaa", []Edit{Replace{Old: "aa", New: "b", All: true}}, "bba"},
		{"$& means itself", "cost", []Edit{Replace{Old: "cost", New: "$& $1 \\0"}}, "$& $1 \\0"},
		{"\\n matches \\r\\n", "a\r\nb\r\nc\r\n", []Edit{Replace{Old: "a\nb\n", New: "x\ny\nz\n"}}, "x\r\ny\r\nz\r\nc\r\n"},
		{"\\r\\n matches \\n", "a\nb\n", []Edit{Replace{Old: "a\r\nb", New: "a\r\nc"}}, "a\nc\n"},
		{"context keeps its endings", "a\r\nb\nc\r\nd\n", []Edit{Replace{Old: "a\nb\nc\nd", New: "a\nb\nX\nd"}}, "a\r\nb\nX\r\nd\n"},
		{"mixed: the ending of the place", "a\nb\r\nc\n", []Edit{Replace{Old: "b", New: "1\n2"}}, "a\n1\r\n2\r\nc\n"},
		{"a match does not split \\r\\n", "a\r\nb\n", []Edit{Replace{Old: "\nb", New: "!"}}, "a!\n"},
		{"a lone \\r is a character", "a\rb\r\n", []Edit{Replace{Old: "\r", New: "-", All: true}}, "a-b\r\n"},
		{"bom stays", "\xEF\xBB\xBFab", []Edit{Replace{Old: "a", New: "é"}}, "\xEF\xBB\xBFéb"},
		{"latin-1 stays", "caf\xE9 \x81 th\xE9", []Edit{Replace{Old: "thé", New: "€"}}, "caf\xE9 \x81 \x80"},
		{"utf-16 stays", utf16("a\r\nb\r\n"), []Edit{Replace{Old: "b", New: "😀\nc"}}, utf16("a\r\n😀\r\nc\r\n")},
		{"lone surrogates stay", "\xFF\xFE\x00\xD8a\x00\x00\xDCb", []Edit{Replace{Old: "a", New: "z"}}, "\xFF\xFE\x00\xD8z\x00\x00\xDCb"},

		{"insert X", "a\nb\n", []Edit{InsertAfter{1, "X"}}, "a\nX\nb\n"},
		{"insert X\\n is the same", "a\nb\n", []Edit{InsertAfter{1, "X\n"}}, "a\nX\nb\n"},
		{"insert X\\r\\n is the same", "a\nb\n", []Edit{InsertAfter{1, "X\r\n"}}, "a\nX\nb\n"},
		{"insert an empty line", "a\nb\n", []Edit{InsertAfter{1, "\n"}}, "a\n\nb\n"},
		{"insert at the beginning", "a\r\n", []Edit{InsertAfter{0, "X\nY"}}, "X\r\nY\r\na\r\n"},
		{"behind the bom", "\xEF\xBB\xBFa", []Edit{InsertAfter{0, "X"}}, "\xEF\xBB\xBFX\na"},
		{"into an empty file", "", []Edit{InsertAfter{0, "X"}}, "X\n"},
		{"behind the last line", "a\nb\n", []Edit{InsertAfter{2, "X"}}, "a\nb\nX\n"},
		{"behind a last line without ending", "a\r\nb", []Edit{InsertAfter{2, "X\n"}}, "a\r\nb\r\nX"},
		{"before", "a\nb", []Edit{InsertBefore{2, "X"}}, "a\nX\nb"},
		{"before the first", "a\r\nb\n", []Edit{InsertBefore{1, "X"}}, "X\r\na\r\nb\n"},
		{"takes the ending of the line before", "a\r\nb\nc\n", []Edit{InsertAfter{1, "X"}}, "a\r\nX\r\nb\nc\n"},

		{"delete one", "a\nb\nc\n", []Edit{DeleteLines{2, 2}}, "a\nc\n"},
		{"delete to the end", "a\r\nb\r\nc", []Edit{DeleteLines{2, 3}}, "a\r\n"},
		{"delete all", "a\nb", []Edit{DeleteLines{1, 2}}, ""},

		{"span", "héllo", []Edit{Span{1, 3, "e"}}, "hello"},
		{"span inserts at the end", "a\r\nb", []Edit{Span{4, 4, "\nc\n"}}, "a\r\nb\r\nc\r\n"},

		{"all refer to the original", "a\nb\nc\n", []Edit{DeleteLines{1, 1}, InsertAfter{3, "X"}, Replace{Old: "b", New: "a"}}, "a\nc\nX\n"},
		{"insertions follow the list", "a\n", []Edit{InsertAfter{1, "X"}, InsertAfter{1, "Y"}}, "a\nX\nY\n"},
		{"the same without final newline", "a", []Edit{InsertAfter{1, "X"}, InsertAfter{1, "Y"}}, "a\nX\nY"},
		{"replace a line", "a\nb\nc\n", []Edit{DeleteLines{2, 2}, InsertAfter{2, "X"}}, "a\nX\nc\n"},
		{"replace the last line", "a\nb", []Edit{InsertAfter{2, "X"}, DeleteLines{2, 2}}, "a\nX"},
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
		edits     []Edit
		want      string
	}{
		{"line past the end", thirty, []Edit{InsertAfter{50, "x"}}, "Line 50 does not exist in file with 30 lines."},
		{"before a line past the end", thirty, []Edit{InsertBefore{31, "x"}}, "Line 31 does not exist in file with 30 lines."},
		{"before line 0", thirty, []Edit{InsertBefore{0, "x"}}, "Line 0 does not exist in file with 30 lines."},
		{"negative", "a", []Edit{InsertAfter{-1, "x"}}, "Line -1 does not exist in file with 1 line."},
		{"in an empty file", "", []Edit{InsertBefore{1, "x"}}, "Line 1 does not exist in file with 0 lines."},
		{"delete past the end", thirty, []Edit{DeleteLines{29, 50}}, "Line 50 does not exist in file with 30 lines."},
		{"delete backwards", thirty, []Edit{DeleteLines{5, 3}}, "lines 5-3: the first is behind the last"},
		{"empty old text", "a", []Edit{Replace{New: "x"}}, ErrEmptyOld.Error()},
		{"nothing to do", "a\r\n", []Edit{Replace{Old: "a\n", New: "a\r\n"}}, ErrSame.Error()},
		{"not found", "abc", []Edit{Replace{Old: "zzz", New: "y"}}, "text 'zzz' not found"},
		{"no such occurrence", "a b a", []Edit{Replace{Old: "a", New: "y", Nth: 3}}, "occurrence 3 does not exist: the text occurs 2 times"},
		{"half a \\r\\n is not there", "a\r\n", []Edit{Replace{Old: "a\r", New: "b"}}, "text 'a\r' not found"},
		{"can't be encoded", "caf\xE9", []Edit{Replace{Old: "café", New: "日本"}}, "the file is windows-1252, which can't hold '日' (U+65E5), at line 1, column 1 of the text"},
		{"NUL", "abc", []Edit{Replace{Old: "a", New: "\x00"}}, "a NUL character (at line 1, column 1 of the text) would turn a utf-8 text file into a binary file"},
		{"half a character to find", "é", []Edit{Replace{Old: "\xC3", New: "x"}}, "text to replace: the text is not valid UTF-8 at line 1, column 1 of the text"},
		{"half a unit at the end", "\xFF\xFEa\x00b", []Edit{Span{4, 4, "x"}}, ErrHalfUnit.Error()},
		{"would read as utf-8", "caf\xE9", []Edit{Replace{Old: "é", New: "Ã©"}}, "after this edit the windows-1252 file would be read as utf-8 and show other characters"},
		{"would read as utf-16", "caf\xE9", []Edit{InsertAfter{0, "ÿþ"}}, "after this edit the windows-1252 file would be read as utf-16le and show other characters"},
		{"overlap", "a\nbc\nd\n", []Edit{Replace{Old: "d", New: "x"}, Replace{Old: "bc", New: "x"}, DeleteLines{2, 2}}, "edits 2 and 3 overlap on line 2; all edits refer to the file as it is before any of them"},
		{"which edit", "a", []Edit{Replace{Old: "a", New: "x"}, InsertAfter{9, "x"}}, "edit 2: Line 9 does not exist in file with 1 line."},
		{"span outside", "é", []Edit{Span{0, 3, ""}}, "span 0-3 does not lie in a text of 2 bytes"},
		{"span in a character", "é", []Edit{Span{1, 2, ""}}, "offset 1 is inside a character"},
	} {
		ch, err := Apply(doc(t, c.raw), c.edits...)
		if err == nil || err.Error() != c.want || ch != nil {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	var le *LineError
	_, err := Apply(doc(t, "a"), DeleteLines{1, 1}, DeleteLines{7, 7})
	if !errors.As(err, &le) || le.Line != 7 || le.Count != 1 {
		t.Errorf("a LineError is lost in a list: %v", err)
	}
}

// Only removing the last character of its kind may take a file out of
// Windows-1252: what is left is ASCII and reads the same.
func TestASCIIRemains(t *testing.T) {
	ch, err := Apply(doc(t, "caf\xE9"), Replace{Old: "é", New: "e"})
	if err != nil || string(ch.Bytes()) != "cafe" {
		t.Errorf("%v", err)
	}
}

func TestOutcome(t *testing.T) {
	d := doc(t, "x\nx x\n\nx\n"+strings.Repeat("x\n", 30))
	for _, c := range []struct {
		edit Edit
		want Outcome
	}{
		{Replace{Old: "x", New: "y", All: true}, Outcome{Count: 34, Line: 1}},
		{Replace{Old: "x", New: "y"}, Outcome{Count: 1, Line: 1, Remaining: 33,
			RemainingLines: []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}}},
		{Replace{Old: "x", New: "y", Nth: 33}, Outcome{Count: 1, Line: 33, Remaining: 33,
			RemainingLines: []int{1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}}},
		{Replace{Old: "x x", New: "y"}, Outcome{Count: 1, Line: 2}},
		{InsertAfter{2, "a\nb\nc\n"}, Outcome{Count: 3, Line: 2}},
		{InsertBefore{2, "a"}, Outcome{Count: 1, Line: 1}},
		{DeleteLines{2, 4}, Outcome{Count: 3, Line: 2}},
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
	if ch, err := Apply(d, Replace{Old: "line", New: "LINE"}); err != nil || ch.TurnsBinary {
		t.Errorf("an edit that keeps the NUL late: %v", err)
	}
	if ch, err := Apply(d, DeleteLines{1, 100}); err != nil || !ch.TurnsBinary {
		t.Errorf("an edit that moves the NUL to the front is not reported: %v", err)
	}
}

// One huge line with very many matches must not cost a look for its end each.
func TestManyMatchesInOneLine(t *testing.T) {
	d := doc(t, strings.Repeat("ab", 800_000))
	began := stress.CPU()
	ch, err := Apply(d, Replace{Old: "a", New: "1\n2", All: true})
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
			if _, err := Apply(d, Replace{Old: "#", New: "!"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replace, text of 12 bytes", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Apply(d, Replace{Old: "the lazy#dog", New: "!", All: true}); err == nil {
				b.Fatal("found")
			}
		}
	})
	b.Run("detect and replace", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			d, _ := textfile.New(data)
			if _, err := Apply(d, Replace{Old: "#", New: "!"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with diff", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			d, _ := textfile.New(data)
			c, err := Apply(d, Replace{Old: "#", New: "!"})
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
