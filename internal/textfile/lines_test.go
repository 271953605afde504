package textfile

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // content and ending, separated by |
	}{
		{"", nil},
		{"a\nb\n", []string{"a|\n", "b|\n"}},
		{"a\nb", []string{"a|\n", "b|"}},
		{"\n", []string{"|\n"}},
		{"\n\n", []string{"|\n", "|\n"}},
		{"a\r\nb\n", []string{"a|\r\n", "b|\n"}},
		{"a\rb\n", []string{"a\rb|\n"}},
		{"a\r", []string{"a\r|"}},
		{"a\r\r\n", []string{"a\r|\r\n"}},
		{"\r\n", []string{"|\r\n"}},
	} {
		l := IndexLines([]byte(c.text))
		var got []string
		for n, line := range l.From(1) {
			got = append(got, c.text[line.Start:line.Content]+"|"+c.text[line.Content:line.End])
			if direct, ok := l.Line(n); !ok || direct != line {
				t.Errorf("%q: Line(%d) = %v, From says %v", c.text, n, direct, line)
			}
		}
		if !slices.Equal(got, c.want) || l.Count() != len(c.want) {
			t.Errorf("%q: %d lines %q, want %q", c.text, l.Count(), got, c.want)
		}
		for _, n := range []int{-1, 0, len(c.want) + 1} {
			if _, ok := l.Line(n); ok {
				t.Errorf("%q: line %d exists", c.text, n)
			}
		}
	}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		text, want string
		dominant   Ending
	}{
		{"", "none", LF},
		{"a", "none", LF},
		{"a\r", "none", LF},
		{"a\n", "lf", LF},
		{"a\r\n", "crlf", CRLF},
		{"a\r\nb\n", "mixed", CRLF},
		{"a\nb\r\n", "mixed", LF},
		{"a\nb\r\nc\r\n", "mixed", CRLF},
		{"\r\r\n\r", "crlf", CRLF},
	} {
		e := CountEndings([]byte(c.text))
		if e.String() != c.want || e.Dominant() != c.dominant {
			t.Errorf("%q: %s, dominant %s, want %s, %s", c.text, e, e.Dominant().Name(), c.want, c.dominant.Name())
		}
	}
}

func TestEndingAt(t *testing.T) {
	text := []byte("a\r\nb\nc")
	doc, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	for off, want := range []struct{ at, before Ending }{
		{CRLF, CRLF}, {CRLF, CRLF}, {CRLF, CRLF}, {LF, CRLF}, {LF, CRLF}, {LF, LF}, {LF, LF},
	} {
		if got := EndingAt(text, off); got != want.at {
			t.Errorf("EndingAt(%d) = %s", off, got.Name())
		}
		if got := InMemory(doc).EndingBefore(off); got != want.before {
			t.Errorf("EndingBefore(%d) = %s", off, got.Name())
		}
	}
}

// naiveLines splits text byte by byte.
func naiveLines(text []byte) (lines []Line, lf, crlf int) {
	start := 0
	for i, b := range text {
		if b != '\n' {
			continue
		}
		line := Line{start, i, i + 1}
		if i > start && text[i-1] == '\r' {
			line.Content--
			crlf++
		} else {
			lf++
		}
		lines = append(lines, line)
		start = i + 1
	}
	if start < len(text) {
		lines = append(lines, Line{start, len(text), len(text)})
	}
	return lines, lf, crlf
}

func checkLines(t *testing.T, text []byte) {
	t.Helper()
	want, lf, crlf := naiveLines(text)
	l := IndexLines(text)
	if l.Count() != len(want) {
		t.Fatalf("%d lines, want %d", l.Count(), len(want))
	}
	if e := CountEndings(text); e.LF != lf || e.CRLF != crlf {
		t.Fatalf("endings %d LF %d CRLF, want %d %d", e.LF, e.CRLF, lf, crlf)
	}
	step := max(1, len(want)/50)
	for i := 0; i < len(want); i += step {
		if got, ok := l.Line(i + 1); !ok || got != want[i] {
			t.Fatalf("line %d = %v, want %v", i+1, got, want[i])
		}
		for _, off := range []int{want[i].Start, want[i].Content, want[i].End - 1} {
			if off < want[i].End && l.At(off) != i+1 {
				t.Fatalf("At(%d) = %d, want %d", off, l.At(off), i+1)
			}
		}
	}
	end := len(want)
	if len(text) == 0 || text[len(text)-1] == '\n' {
		end++
	}
	if got := l.At(len(text)); got != end {
		t.Fatalf("At(end) = %d, want %d", got, end)
	}
	i := 0
	for n, line := range l.From(1) {
		if n != i+1 || line != want[i] {
			t.Fatalf("From: line %d = %v, want %v", n, line, want[i])
		}
		i++
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkLines(t, text) })
}

func TestLinesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		n := rng.IntN(300)
		if rng.IntN(20) == 0 {
			n = lineBlock - 3 + rng.IntN(2*lineBlock)
		}
		text := make([]byte, n)
		for i := range text {
			text[i] = "ab\r\n\n"[rng.IntN(5)]
		}
		checkLines(t, text)
	}
	// Texts that end at or next to the end of a block.
	for _, n := range []int{lineBlock - 1, lineBlock, lineBlock + 1, 2 * lineBlock} {
		checkLines(t, []byte(strings.Repeat("x", n-1)+"\n"))
		checkLines(t, []byte(strings.Repeat("x", n-1)+"\r\n"))
		checkLines(t, bytes.Repeat([]byte{'\n'}, n))
	}
}

func BenchmarkIndexLines(b *testing.B) {
	data := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog.\n"), 200000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		IndexLines(data)
	}
}
