package printing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/stress"
	"quarry/search"
)

// randomLines generates lines with matches and various kinds of text.
func randomLines(rng *rand.Rand, n int) (lines []search.Line) {
	texts := []string{"", "plain text", "tab\tand \"quotes\" \\", "caf\xe9", "ünï\u2028\u2029☃𝛃", "\x00\x01\b\f\x1b[31m\x7f", "  indented", strings.Repeat("long ", 20<<10)}
	for i := range n {
		number := i + 1 + rng.IntN(2)*i
		if i > 0 {
			number = max(number, lines[i-1].Number+1)
		}
		text := texts[rng.IntN(len(texts))]
		l := search.Line{Number: number, Offset: int64(number * 10), Text: []byte(text), Ending: "\n", Hit: rng.IntN(3) > 0, Block: i}
		if l.Hit && len(text) > 4 {
			l.Spans = []search.Span{{Start: 1, End: 3}, {Start: 3, End: 4}}
		}
		lines = append(lines, l)
	}
	return lines
}

// A file written in parts has the same output as the whole file, and plainLines prints the same as
// the general method.
func TestPartsArePrintedAsOne(t *testing.T) {
	for seed := range uint64(stress.Fewer(200)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := Style{
			Heading: rng.IntN(2) == 0, Path: rng.IntN(2) == 0, LineNumber: rng.IntN(2) == 0, Column: rng.IntN(2) == 0,
			ByteOffset: rng.IntN(2) == 0, OnlyMatches: rng.IntN(4) == 0, Nul: rng.IntN(4) == 0, Trim: rng.IntN(4) == 0,
			Colour: rng.IntN(4) == 0, Escape: rng.IntN(4) == 0, Context: rng.IntN(2) == 0, Vimgrep: rng.IntN(8) == 0, Spans: true,
		}
		var files [][]search.Line
		for range 1 + rng.IntN(3) {
			files = append(files, randomLines(rng, 1+rng.IntN(12)))
		}
		for _, form := range []func(*bytes.Buffer) Output{
			func(b *bytes.Buffer) Output { return NewLines(b, s, nil) },
			func(b *bytes.Buffer) Output {
				return NewJSON(b, JSONStyle{Numbers: s.LineNumber, Terminal: s.Escape}, nil)
			},
		} {
			var whole, parts bytes.Buffer
			w, p := form(&whole), form(&parts)
			for i, lines := range files {
				path := fmt.Sprintf("dir/f%d", i)
				w.File(path, &search.FileMatch{Lines: lines, Matched: len(lines), Bytes: 7})
				at := rng.IntN(len(lines) + 1)
				p.File(path, &search.FileMatch{Lines: lines[:at], Matched: at, More: true})
				p.File(path, &search.FileMatch{Lines: lines[at:], Matched: len(lines) - at, Bytes: 7})
			}
			for _, o := range []Output{w, p} {
				if err := o.Finish(&search.Summary{}); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(whole.Bytes(), parts.Bytes()) {
				t.Fatalf("seed %d, %+v: in parts\n%.900q\nas one\n%.900q", seed, s, parts.Bytes(), whole.Bytes())
			}
		}
		var plain, general bytes.Buffer
		fast, slow := newPrinter(&plain, s, nil), newPrinter(&general, s, nil)
		if !fast.plain() {
			continue
		}
		for _, lines := range files {
			fast.File("f", &search.FileMatch{Lines: lines})
			slow.begin("f")
			for i := range lines {
				slow.separate(lines[i].Number)
				slow.last = lines[i].Number
				slow.block(slow.show("f", lines[i:i+1]))
			}
		}
		fast.flush()
		slow.flush()
		if !bytes.Equal(plain.Bytes(), general.Bytes()) {
			t.Fatalf("seed %d, %+v: plain\n%.900q\ngeneral\n%.900q", seed, s, plain.Bytes(), general.Bytes())
		}
	}
}

// The messages written without an encoder equal an encoder's output.
func TestJSONEqualsEncoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	pieces := []string{"a", "\"", "\\", "\n", "\x00", "\x1f", "\x7f", "<&>", "\u2028", "\u2029", "\u2027", "é", "☃", "𝛃", "\xff", "\xe2\x80", " "}
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(TextOrBytes([]byte(b.String()))); err != nil {
			t.Fatal(err)
		}
		if got := appendJSONText(nil, []byte(b.String())); string(got)+"\n" != want.String() {
			t.Fatalf("%q: %s, want %s", b.String(), got, want.String())
		}
	}
	var out bytes.Buffer
	p := NewJSON(&out, JSONStyle{Numbers: true}, nil)
	p.File("a\"b", &search.FileMatch{Lines: randomLines(rng, 9)})
	p.File("x", &search.FileMatch{Lines: randomLines(rng, 2), More: true}) // another part of the file would follow
	p.Finish(&search.Summary{})
	kinds := ""
	for line := range strings.Lines(out.String()) {
		var m struct{ Type string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v in %.200s", err, line)
		}
		kinds += m.Type[:1]
	}
	if !strings.HasPrefix(kinds, "b") || !strings.HasSuffix(kinds, "es") || strings.Count(kinds, "b") != strings.Count(kinds, "e") {
		t.Errorf("messages %s", kinds)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// After a failed write nothing more is printed, however late the error is noticed.
func TestWriteErrors(t *testing.T) {
	lines := randomLines(rand.New(rand.NewPCG(1, 1)), 5000)
	for _, o := range []Output{NewLines(full{}, Style{}, nil), NewLines(full{}, Style{OnlyMatches: true, Spans: true}, nil), NewJSON(full{}, JSONStyle{}, nil)} {
		err := o.File("f", &search.FileMatch{Lines: lines})
		if err == nil {
			err = o.Finish(&search.Summary{})
		}
		if err == nil {
			t.Error("success, with nothing written")
		}
	}
}

// A binary file is mentioned even if its last part has no matching line.
func TestNoticeAfterParts(t *testing.T) {
	var out strings.Builder
	o := NewLines(&out, Style{BinaryNotice: true, BinaryLines: true}, nil)
	hit := search.Line{Number: 1, Text: []byte("foo"), Ending: "\n", Hit: true}
	for _, f := range []search.FileMatch{
		{Matched: 1, Lines: []search.Line{hit}, More: true}, {NUL: 9, AtNUL: true}, // parts of one file
		{NUL: 9, Lines: []search.Line{{Number: 1, Text: []byte("shown"), Ending: "\n"}}}, // the last part has no match
	} {
		if err := o.File("a", &f); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Finish(&search.Summary{}); err != nil {
		t.Fatal(err)
	}
	want := "foo\nWARNING: stopped searching binary file after match (found \"\\0\" byte around offset 8)\nshown\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
