package quarry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"quarry/change"
	"quarry/internal/quarrytest"
	"quarry/internal/stress"
	"quarry/search"
)

// encodings are encodings of text files. golang.org/x/text writes the files.
var encodings = []struct {
	name string
	mark string // bytes at the start of the file
	with encoding.Encoding
}{
	{"UTF-8", "", encoding.Nop},
	{"UTF-8 with a byte order mark", "", unicode.UTF8BOM},
	{"UTF-16LE", "", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
	{"UTF-16BE", "", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
	{"Windows-1252", "", charmap.Windows1252},
	{"Windows-1252 after the mark of UTF-8", "ï»¿", charmap.Windows1252},
}

// Line.Offset and spans count bytes of the text that Read returns and Edit accepts. So for every
// encoding and every kind of line, an edit at a match's offset changes that match.
func TestOffsetsOfLines(t *testing.T) {
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			edits, want := 0, stress.N(8000)
			for seed := uint64(1); edits < want; seed++ {
				rng := rand.New(rand.NewPCG(seed, 54))
				text := e.mark + offsetText(rng)
				raw := encoded(t, e.with, text)
				ws := quarrytest.Changeable(t, map[string]string{"f.txt": raw}, nil)
				q := offsetQuery(rng)
				r := quarrytest.Search(t, ws, q)
				if len(r.Files) == 0 {
					continue
				}
				var list []change.Edit
				out, done := []byte(nil), 0
				for _, s := range offsetSpans(t, fmt.Sprintf("seed %d: %+v", seed, q), r.Files[0].Lines, text) {
					if s.Start < done || rng.IntN(3) == 0 {
						continue
					}
					new := fmt.Sprintf("<%dé>", len(list))
					list = append(list, change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: new})
					out = append(append(out, text[done:s.Start]...), new...)
					done = s.End
				}
				if len(list) == 0 {
					continue
				}
				if _, err := ws.Edit(ctx, "f.txt", list, &change.Options{ExpectedVersion: r.Files[0].Version}); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got, err := ws.ReadBytes(ctx, "f.txt", 0)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, []byte(encoded(t, e.with, string(out)+text[done:]))) {
					t.Fatalf("seed %d: %+v: the edits changed other bytes", seed, q)
				}
				if sum := sha256.Sum256([]byte(raw)); r.Files[0].Version != hex.EncodeToString(sum[:16]) {
					t.Fatalf("seed %d: %+v: version %q", seed, q, r.Files[0].Version)
				}
				edits += len(list)
			}
		})
	}
}

func encoded(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	raw, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// offsetText returns a random text that has a character outside ASCII in some line. In
// Windows-1252, "Ã©" alone would look like UTF-8.
func offsetText(rng *rand.Rand) string {
	words := []string{"needle", "n", "é", "Ã©", "€ 5", "straße", "x", "nÃ©edle", "“n”"}
	var b strings.Builder
	lines := 1 + rng.IntN(30)
	odd := rng.IntN(lines)
	pad := 0
	if rng.IntN(25) == 0 { // a line longer than one read
		pad = 300_000
	}
	for i := range lines {
		for range rng.IntN(8) {
			w := words[rng.IntN(len(words))]
			if i < odd && rng.IntN(3) > 0 {
				w = "needle"
			}
			b.WriteString(w + " ")
		}
		if i == odd {
			b.WriteString(strings.Repeat(" ", rng.IntN(pad+1)) + "caffè needle " + strings.Repeat("é ", 2*lines+40) + strings.Repeat(" ", pad))
		}
		b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
	}
	return b.String()
}

func offsetQuery(rng *rand.Rand) search.Query {
	q := search.Query{Pattern: []string{"n[a-z]+e", "needle", `\w+`, "é|ß"}[rng.IntN(4)], Spans: true, Versions: true}
	switch rng.IntN(6) {
	case 0:
		q.Before, q.After = rng.IntN(3), rng.IntN(3)
	case 1:
		q.Limits.LineBytes = 4 + rng.IntN(30)
	case 2:
		q.Limits.LinesPerFile = 1 + rng.IntN(3)
	case 3:
		q.Match.Mode = 1 // multiline
		q.Pattern = `needle\s+(\w+)|n`
	case 4:
		q.Limits.Lines = 1 + rng.IntN(5)
	}
	return q
}

// offsetSpans returns the matches as offsets in the whole text. It checks that the other fields of
// the lines agree with them.
func offsetSpans(t *testing.T, what string, lines []search.Line, text string) (spans []search.Span) {
	t.Helper()
	for _, l := range lines {
		at := int(l.Offset)
		from, to := at+l.CutBefore, at+l.CutBefore+len(l.Text)
		if to > len(text) || text[from:to] != string(l.Text) {
			t.Fatalf("%s\nline %d, offset %d, cut %d: %q is not there in\n%q", what, l.Number, at, l.CutBefore, l.Text, text)
		}
		if end := to + l.CutAfter; !strings.HasPrefix(text[end:], l.Ending) || strings.Count(text[:at], "\n") != l.Number-1 || l.Number > 1 && text[at-1] != '\n' {
			t.Fatalf("%s\nline %d, offset %d: ends with %d bytes of %q", what, l.Number, at, l.CutAfter, l.Text)
		}
		for _, s := range l.Whole {
			if m := text[at+s.Start : at+s.End]; m != "n" && !strings.HasPrefix(m, "needle") {
				t.Fatalf("%s\nline %d: match %q", what, l.Number, m)
			}
			spans = append(spans, search.Span{Start: at + s.Start, End: at + s.End})
		}
		for _, s := range l.Spans {
			if len(l.Whole) == 0 && l.Hit {
				spans = append(spans, search.Span{Start: from + s.Start, End: from + s.End})
			}
		}
	}
	return spans
}
