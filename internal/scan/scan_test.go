package scan

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/stress"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// dribble returns at most n bytes per read, so that lines and characters are cut anywhere.
type dribble struct {
	r io.Reader
	n int
}

func (d dribble) Read(b []byte) (int, error) { return d.r.Read(b[:min(len(b), d.n)]) }

// reference implements the contract of Scanner in the simplest way: split, match each line.
func reference(text string, m *match.Matcher, req *Request) Result {
	var out Result
	type row struct {
		text, ending string
		offset       int
		hit          bool
	}
	var rows []row
	for offset := 0; offset < len(text); {
		line := text[offset:]
		ending := ""
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line, ending = line[:i], "\n"
			if strings.HasSuffix(line, "\r") {
				line, ending = line[:i-1], "\r\n"
			}
		}
		hit := m.MatchLine([]byte(line))
		if !hit && !isUTF8(line) {
			decoded, _ := textfile.Windows1252.AppendDecoded(nil, []byte(line), true)
			hit = m.MatchLine(decoded)
		}
		rows = append(rows, row{line, ending, offset, hit != req.Invert})
		offset += len(line) + len(ending)
	}
	shown := make([]bool, len(rows))
	for i, r := range rows {
		if !r.hit {
			continue
		}
		out.Matched++
		for j := max(0, i-req.Before); j <= min(len(rows)-1, i+req.After); j++ {
			shown[j] = true
		}
		if out.Matched == req.MaxLines {
			out.Stopped = true
			for j := i + 1; j < len(rows); j++ {
				rows[j].hit = false
			}
			break
		}
	}
	if req.Detail != Lines {
		return out
	}
	for i, r := range rows {
		if shown[i] {
			out.Lines = append(out.Lines, search.Line{Number: i + 1, Offset: int64(r.offset), Text: []byte(r.text), Ending: r.ending, Hit: r.hit})
		}
	}
	return out
}

func isUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// plainResult drops fields that the reference doesn't compute.
func plainResult(r Result) Result {
	r.Bytes, r.Matches = 0, 0
	for i := range r.Lines {
		r.Lines[i].Block, r.Lines[i].Spans, r.Lines[i].Whole = 0, nil, nil
	}
	return r
}

func randomText(rng *rand.Rand) string {
	words := []string{"foo", "bar", "foobar", "x", "", " ", "caf\xe9", "café", "\r", "FOO", "baz foo"}
	endings := []string{"\n", "\n", "\n", "\r\n", "\n\n"}
	var b strings.Builder
	for range rng.IntN(40) {
		for range rng.IntN(4) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		b.WriteString(endings[rng.IntN(len(endings))])
	}
	if rng.IntN(2) == 0 {
		b.WriteString(words[rng.IntN(len(words))])
	}
	return b.String()
}

func TestAgainstReference(t *testing.T) {
	patterns := []string{"foo", "^foo$", "o+b", "café", "x|^$", `\w+`, "zzz"}
	for seed := range uint64(stress.N(400)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		text := randomText(rng)
		if seed%4 == 0 { // several blocks
			text += strings.Repeat("filler line\n", textfile.SniffLen/12+1) + randomText(rng) + strings.Repeat("f\n", rng.IntN(5)) + randomText(rng)
		}
		req := &Request{
			Detail: Detail(rng.IntN(2)), Before: rng.IntN(4), After: rng.IntN(4),
			Invert: rng.IntN(4) == 0, Spans: rng.IntN(2) == 0, MaxLines: rng.IntN(6),
		}
		p := match.MustCompile(patterns[rng.IntN(len(patterns))], match.Options{})
		s := New(p.NewMatcher())
		want := reference(text, p.NewMatcher(), req)
		for _, step := range []int{7, 1000, 1 << 20} {
			if step == 7 && len(text) > 4000 {
				step = 61
			}
			got, err := s.File(dribble{strings.NewReader(text), step}, int64(len(text)), req)
			if err != nil {
				t.Fatal(err)
			}
			if req.Detail == Lines {
				checkLossy(t, got)
			}
			back := undecode(plainResult(got), text)
			if reflect.DeepEqual(want, back) {
				continue // cheaper than a diff
			}
			if diff := cmp.Diff(want, back, cmpopts.IgnoreUnexported(Result{})); diff != "" {
				t.Fatalf("seed %d, %d bytes a read, %q in %q, %+v:\n%s", seed, step, p, text[:min(len(text), 600)], *req, diff)
			}
		}
	}
}

// undecode restores the raw text of lines that were reported decoded.
func undecode(r Result, text string) Result {
	for i, l := range r.Lines {
		raw := text[l.Offset:]
		if j := strings.IndexByte(raw, '\n'); j >= 0 {
			raw = raw[:j]
		}
		if l.Ending == "\r\n" {
			raw = strings.TrimSuffix(raw, "\r")
		}
		r.Lines[i].Text = []byte(raw)
	}
	return r
}

func checkLossy(t *testing.T, r Result) {
	t.Helper()
	for _, l := range r.Lines {
		for _, s := range l.Spans {
			if s.Start > s.End || s.End > len(l.Text) {
				t.Errorf("line %d %q has span %v", l.Number, l.Text, s)
			}
		}
	}
}

func TestEncodings(t *testing.T) {
	p := match.MustCompile("grün", match.Options{})
	utf16le := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune("eins\r\nzwei grün\n𝛃 grün")) {
		utf16le = append(utf16le, byte(u), byte(u>>8))
	}
	utf16be := []byte{0xFE, 0xFF}
	for _, u := range utf16.Encode([]rune("eins\r\nzwei grün\n𝛃 grün")) {
		utf16be = append(utf16be, byte(u>>8), byte(u))
	}
	for _, c := range []struct {
		name string
		data []byte
		want []int
	}{
		{"utf-8", []byte("eins\nzwei grün\n𝛃 grün"), []int{2, 3}},
		{"utf-8 with mark", []byte("\xEF\xBB\xBFgrün\n"), []int{1}},
		{"utf-16 little", utf16le, []int{2, 3}},
		{"utf-16 big", utf16be, []int{2, 3}},
		{"windows-1252", []byte("eins\ngr\xfcn\n"), []int{2}},
		{"one broken line leaves the others alone", []byte("br\xfcche\ngrün\n"), []int{2}},
	} {
		for _, step := range []int{1, 3, 1 << 20} {
			got, err := New(p.NewMatcher()).File(dribble{bytes.NewReader(c.data), step}, int64(len(c.data)), &Request{Spans: true})
			if err != nil {
				t.Fatal(err)
			}
			var lines []int
			for _, l := range got.Lines {
				lines = append(lines, l.Number)
				if len(l.Spans) != 1 || string(l.Text[l.Spans[0].Start:l.Spans[0].End]) != "grün" {
					t.Errorf("%s: line %q has spans %v", c.name, l.Text, l.Spans)
				}
			}
			if diff := cmp.Diff(c.want, lines); diff != "" {
				t.Errorf("%s, %d bytes a read:\n%s", c.name, step, diff)
			}
		}
	}
}

func TestSkips(t *testing.T) {
	p := match.MustCompile("foo", match.Options{})
	file := func(data string, req *Request) Result {
		r, err := New(p.NewMatcher()).File(strings.NewReader(data), int64(len(data)), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := file("foo\x00", &Request{}); r.Skip != Binary || r.Matched != 0 {
		t.Errorf("a NUL: %+v", r)
	}
	if r := file("foo\x00", &Request{Binary: true}); r.Skip != NotSkipped || r.Matched != 1 {
		t.Errorf("a NUL, binary wanted: %+v", r)
	}
	late := strings.Repeat("a\n", textfile.SniffLen) + "foo\x00\n"
	if r := file(late, &Request{}); r.Skip != NotSkipped || r.Matched != 1 {
		t.Errorf("a NUL after the first 64 KiB: %+v", r)
	}
	if r := file("foo\n"+strings.Repeat("a", MaxLine+2*blockSize), &Request{Detail: Count}); r.Skip != TooLarge || r.Matched != 1 {
		t.Errorf("a huge line: %v %d", r.Skip, r.Matched)
	}
}

func TestCutLine(t *testing.T) {
	p := match.MustCompile("needle", match.Options{})
	for _, before := range []int{0, 3, 100, 5000} {
		for _, after := range []int{0, 10, 5000} {
			text := strings.Repeat("ü", before) + "needle" + strings.Repeat("ü", after)
			r, err := New(p.NewMatcher()).Bytes([]byte(text), &Request{MaxText: 500})
			if err != nil {
				t.Fatal(err)
			}
			l := r.Lines[0]
			if len(l.Text) > 501 || !isUTF8(string(l.Text)) || l.CutBefore+len(l.Text)+l.CutAfter != len(text) {
				t.Errorf("%d before, %d after: %d bytes, cut %d and %d", before, after, len(l.Text), l.CutBefore, l.CutAfter)
			}
			if !strings.Contains(string(l.Text), "needle") {
				t.Errorf("%d before, %d after: the match is cut away", before, after)
			}
		}
	}
}

func TestMultiline(t *testing.T) {
	p := match.MustCompile(`b\nc|e`, match.Options{Mode: match.Multiline})
	r, err := New(p.NewMatcher()).Bytes([]byte("a\nb\nc\nd\ne e\n"), &Request{Spans: true, After: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range r.Lines {
		got = append(got, fmt.Sprintf("%d %s %v %v", l.Number, l.Text, l.Hit, l.Spans))
	}
	want := []string{"2 b true [{0 1}]", "3 c true [{0 1}]", "4 d false []", "5 e e true [{0 1} {2 3}]"}
	if diff := cmp.Diff(want, got); diff != "" || r.Matched != 3 {
		t.Errorf("matched %d\n%s", r.Matched, diff)
	}
}

// A block is what ripgrep prints as one match: adjacent lines that matches touch. The line
// in which a match begins contains all of it.
func TestMultilineBlocks(t *testing.T) {
	text := "foo foo\nbar\nfoo\n\nbaz foo\nx\ny\nz\nfoo foo\n"
	for _, c := range []struct {
		name, pattern, text string
		req                 Request
		want                []string
	}{
		{"matches over lines, adjoining lines joined", `o\s+[fb]`, text, Request{Spans: true}, []string{
			"block 1 line 1 spans [{2 5} {6 7}] whole [{2 5} {6 9}]",
			"block 1 line 2 spans [{0 1}] whole []",
			"block 1 line 3 spans [{2 3}] whole [{2 6}]",
			"block 1 line 4 spans [] whole []",
			"block 1 line 5 spans [{0 1}] whole []",
			"block 2 line 9 spans [{2 5}] whole [{2 5}]",
		}},
		{"a limit counts matches", `o\s+[fb]`, text, Request{Spans: true, MaxLines: 1}, []string{
			"block 1 line 1 spans [{2 5}] whole [{2 5}]",
		}},
		{"empty matches at both sides of a line feed", "x*", "a\nb\n", Request{Spans: true}, []string{
			"block 1 line 1 spans [{0 0} {1 1}] whole [{0 0} {1 1}]",
			"block 1 line 2 spans [{0 0} {1 1}] whole [{0 0} {1 1}]",
		}},
		{"an empty text has no line", "x*", "", Request{Spans: true}, nil},
		{"the end of the text is not a line", `\z`, text, Request{Spans: true}, nil},
	} {
		p := match.MustCompile(c.pattern, match.Options{Mode: match.Multiline})
		r, err := New(p.NewMatcher()).Bytes([]byte(c.text), &c.req)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range r.Lines {
			got = append(got, fmt.Sprintf("block %d line %d spans %v whole %v", l.Block, l.Number, l.Spans, l.Whole))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// A multiline pattern is searched for in files of any size up to MaxWhole.
func TestMultilineInLargeFile(t *testing.T) {
	stress.SkipTiny(t)
	text := strings.Repeat("a line of text that is long enough to fill the file\n", (MaxLine+1<<20)/51) + "begin\nend\n"
	parts := match.MustCompile(`begin\nend`, match.Options{Mode: match.Multiline})
	p := match.MustCompile(`begin[\s\S]end`, match.Options{Mode: match.Multiline})
	if !parts.Cuts() || p.Cuts() {
		t.Errorf("texts are cut for %q: %v, for %q: %v", parts, parts.Cuts(), p, p.Cuts())
	}
	for _, p := range []*match.Pattern{parts, p} {
		for _, hint := range []int64{int64(len(text)), 0} {
			r, err := New(p.NewMatcher()).File(strings.NewReader(text), hint, &Request{})
			if err != nil || r.Skip != NotSkipped || r.Matched != 1 || len(r.Lines) != 2 || r.Bytes != int64(len(text)) {
				t.Errorf("%q, hint %d: %d matches, %d lines, %d bytes, skipped %v, %v", p, hint, r.Matched, len(r.Lines), r.Bytes, r.Skip, err)
			}
		}
	}
	if r, err := New(p.NewMatcher()).File(strings.NewReader("x"), MaxWhole+1, &Request{}); err != nil || r.Skip != TooLarge {
		t.Errorf("a file over MaxWhole: %v, %v", r.Skip, err)
	}
}
