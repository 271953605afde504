package textfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// Every result for a text in pages equals the result for the same text in memory, for
// every page size.
func TestPagesAgree(t *testing.T) {
	stress.SkipTiny(t)
	rng := rand.New(rand.NewPCG(18, 2))
	letters := []string{"a", "b", "ab", "é", "日", "😀", "\r", "\n", "\r\n", "\n\n", " ", "\r\r\n", "aaaa", "longer text without an end"}
	for i := range 400 {
		var b strings.Builder
		for range rng.IntN(80) {
			b.WriteString(letters[rng.IntN(len(letters))])
		}
		raw := encoded(t, b.String(), Encoding(i%5))
		if i%7 == 0 && len(raw) > 4 {
			raw = raw[:len(raw)-1] // half a unit, half a character
		}
		d, err := New(raw)
		if err != nil {
			continue
		}
		var tee bytes.Buffer
		pages, err := ScanPages(bytes.NewReader(raw), int64(len(raw)), 16+rng.IntN(40), &tee)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(tee.Bytes(), raw) {
			t.Fatalf("tee got %q, want %q", tee.Bytes(), raw)
		}
		agree(t, rng, raw, InMemory(d), pages)
	}
}

// encoded returns a text in an encoding, as far as it can be represented.
func encoded(t *testing.T, text string, e Encoding) []byte {
	t.Helper()
	if e == Windows1252 {
		text = strings.NewReplacer("日", "\u00ff", "😀", "€").Replace(text)
	}
	raw, err := e.Append([]byte(e.BOM()), text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func agree(t *testing.T, rng *rand.Rand, raw []byte, flat, pages *Text) {
	t.Helper()
	text := flat.Slice(0, flat.Len())
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Fatalf("%q: %s = %v in pages, %v in memory", raw, what, got, want)
		}
	}
	same("Encoding", pages.Encoding(), flat.Encoding())
	same("Slice", string(pages.Slice(0, pages.Len())), string(text))
	same("Endings", pages.Endings(), flat.Endings())
	same("Guessed", pages.Guessed(), flat.Guessed())
	same("HalfUnit", pages.HalfUnit(), flat.HalfUnit())
	same("LineCount", pages.LineCount(), flat.LineCount())
	same("Terminated", pages.Terminated(), flat.Terminated())
	for _, pat := range []string{"a", "aa", "\n", "\r\n", "b\n", "é", "aaaa", "longer text without an endlonger", "none"} {
		from := rng.IntN(len(text) + 1)
		same("Index "+pat, pages.Index(from, []byte(pat)), flat.Index(from, []byte(pat)))
		same("Count "+pat, pages.Count(from, []byte(pat)), flat.Count(from, []byte(pat)))
		var a, b []int
		for i := range pages.Matches([]byte(pat)) {
			a = append(a, i)
		}
		for at := 0; ; {
			i := flat.Index(at, []byte(pat))
			if i < 0 {
				break
			}
			b, at = append(b, i), i+len(pat)
		}
		if len(a) != len(b) || len(a) > 0 && a[len(a)-1] != b[len(b)-1] {
			t.Fatalf("%q: Matches(%q) = %v, want %v", raw, pat, a, b)
		}
	}
	for range 20 {
		off := rng.IntN(len(text) + 1)
		same("LineAt", pages.LineAt(off), flat.LineAt(off))
		same("EndingAt", pages.EndingAt(off), flat.EndingAt(off))
		same("EndingBefore", pages.EndingBefore(off), flat.EndingBefore(off))
		same("LastNewline", pages.LastNewline(off), flat.LastNewline(off))
		same("RawOffset", pages.RawOffset(off), flat.RawOffset(off))
	}
	for n := range flat.LineCount() + 2 {
		a, okA := pages.Line(n)
		b, okB := flat.Line(n)
		same("Line", a, b)
		same("Line is there", okA, okB)
	}
	n := 0
	for i, l := range pages.LinesFrom(1) {
		n++
		want, _ := flat.Line(i)
		same("LinesFrom", l, want)
	}
	same("LinesFrom", n, flat.LineCount())
	agreeFolded(t, text, flat, pages)
	var back bytes.Buffer
	for at := int64(0); at < pages.RawLen(); {
		b := pages.RawSpan(at)
		back.Write(b)
		at += int64(len(b))
	}
	same("RawSpan", back.String(), string(raw))
	same("Err", pages.Err(), nil)
}

func agreeFolded(t *testing.T, text []byte, texts ...*Text) {
	t.Helper()
	want := strings.ReplaceAll(string(text), "\r\n", "\n")
	for _, x := range texts {
		f := x.Folded()
		if got := string(f.Slice(0, f.Len())); got != want {
			t.Fatalf("folded %q, want %q", got, want)
		}
		for off := 0; off <= len(want); off++ {
			if got := strings.ReplaceAll(string(text[:f.Unfolded(off)]), "\r\n", "\n"); got != want[:off] {
				t.Fatalf("%q: %d unfolds to %d", text, off, f.Unfolded(off))
			}
		}
	}
}

// changing is a file whose content differs when it is read again.
type changing struct{ first io.ReaderAt }

func (c *changing) ReadAt(b []byte, off int64) (int, error) { return c.first.ReadAt(b, off) }

// A file that changes after the scan gives wrong results and an error, and never a panic.
func TestPagesOfAChangingFile(t *testing.T) {
	stress.SkipTiny(t)
	raw := strings.Repeat("some text\r\nand more é\n", 100)
	for _, then := range []string{"", raw[:500], strings.Repeat("\r\n", len(raw)/2), strings.Repeat("é", len(raw)/2), strings.Repeat("x", len(raw))} {
		for _, e := range []Encoding{UTF8, UTF16LE} {
			before, after := encoded(t, raw, e), encoded(t, then, e)
			file := &changing{first: bytes.NewReader(before)}
			text, err := ScanPages(file, int64(len(before)), 64, nil)
			if err != nil {
				t.Fatal(err)
			}
			file.first = bytes.NewReader(after)
			f := text.Folded()
			for off := range text.Len() {
				text.LineAt(off)
				text.EndingAt(off)
				text.RawOffset(off)
				f.Unfolded(min(off, f.Len()))
			}
			for n := range text.LineCount() {
				text.Line(n)
			}
			for range f.Matches([]byte("\n")) {
			}
			if len(after) < len(before) && text.Err() == nil {
				t.Errorf("%v: no error though the file became shorter", e)
			}
		}
	}
}

// Binary files and disk errors are reported.
func TestScanFails(t *testing.T) {
	var binary *BinaryError
	if _, err := Scan(strings.NewReader("a\x00b"), 3, nil); !errors.As(err, &binary) {
		t.Errorf("%v", err)
	}
	if _, err := Scan(strings.NewReader("abc"), 10, nil); !errors.Is(err, errShorter) {
		t.Errorf("%v", err)
	}
}
