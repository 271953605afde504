package textedit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/stress"
	"quarry/internal/textfile"
)

func TestClosestReason(t *testing.T) {
	code := "package x\n\nfunc one() {\n\tif ready {\n\t\tstart()\n\t}\n}\n\nfunc two() {\n\tstop(\"now\")  \n}\n"
	for _, c := range []struct {
		name, raw, old string
		first, last    int
		reason         string
	}{
		{"spaces for a tab", code, "func one() {\n    if ready {\n", 3, 4, "differs only in indentation: file has 1 tab, you gave 4 spaces (line 4)"},
		{"first line indented", code, "    if ready {", 4, 4, "differs only in indentation: file has 1 tab, you gave 4 spaces (line 4)"},
		{"trailing spaces", code, "stop(\"now\")\n}", 10, 11, "differs only in trailing spaces: file has 2 spaces, you gave none (line 10)"},
		{"curly quotes", "say “hello” now\n", "say \"hello\" now", 1, 1, "differs only in quotes: file has “ (U+201C), you gave \" (U+0022)"},
		{"straight quotes", "it's here\n", "it’s here", 1, 1, "differs only in quotes: file has ' (U+0027), you gave ’ (U+2019)"},
		{"no-break space", "ten\u00A0km away\n", "ten km away", 1, 1, "differs only in the kind of space: file has a no-break space (U+00A0), you gave a space"},
		{"zero width", "a\nfoo\u200Bbar baz\n", "foobar baz", 2, 2, "differs only in invisible characters: file has a zero width space (U+200B), you gave none"},
		{"dash", "pages 3–4 only\n", "pages 3-4 only", 1, 1, "differs only in dashes: file has – (en dash, U+2013), you gave a hyphen-minus (U+002D)"},
		{"ellipsis", "wait… what\n", "wait... what", 1, 1, "differs only in the ellipsis: one character … against three dots"},
		{"NFD in the file", "le cafe\u0301 noir\n", "le café noir", 1, 1, "differs only in Unicode form: file has e\u0301 (U+0065 U+0301), you gave é (U+00E9)"},
		{"Hangul", "한국어 text\n", "\u1112\u1161\u11AB국어 text", 1, 1, "differs only in Unicode form: file has 한 (U+D55C), you gave \u1112\u1161\u11AB (U+1112 U+1161 U+11AB)"},
		{"case", "Hello World again\n", "hello world again", 1, 1, "differs only in upper and lower case: file has \"Hello\", you gave \"hello\""},
		{"blank line", "alpha\n\nbeta gamma\n", "alpha\nbeta gamma", 1, 3, "differs only in blank lines: file has 1, you gave none"},
		{"spaces inside", "a  =  b + c\n", "a = b + c", 1, 1, "differs only in white space: file has 2 spaces, you gave 1 space (line 1)"},
		{"line break moved", "one two\nthree four\n", "one two three four", 1, 2, "differs only in white space: file has 1 line break, you gave 1 space (line 1)"},
		{"two at once", "\tsay “hi there”\n", "    say \"hi there\"", 1, 1, "differs only in quotes: file has “ (U+201C), you gave \" (U+0022); and in indentation: file has 1 tab, you gave 4 spaces (line 1)"},
		{"a word changed", code, "func two() {\n\tstopp(\"now\")", 9, 10, "first difference on line 10: file has «→stop(\"now\")», you gave «→stopp(\"now\")»"},
		{"line numbers", code, "3: func one() {\n4: \tif ready {", 3, 4, "you gave line numbers, which are not part of the file"},
		{"line numbers with a bar", code, "  3 | func one() {\n  4 | \tif ready {\n", 3, 4, "you gave line numbers, which are not part of the file"},
		{"escaped twice", code, `func one() {\n\tif ready {`, 3, 4, `you gave a backslash and a letter (\n, \t, \") where the file has the character itself`},
		{"utf-16", "\xFF\xFEA\x00b\x00c\x00d\x00\n\x00", "abcd", 1, 1, "differs only in upper and lower case: file has \"Abcd\", you gave \"abcd\""},
		{"half of \\r\\n", "some text\r\nb\r\n", "some text\r", 1, 1, "differs only in trailing spaces: file has none, you gave 1 carriage return (line 1)"},
	} {
		_, err := Apply(doc(t, c.raw), change.Edit{Old: c.old, New: "something else", Occurrence: change.First})
		var nf *change.NotFoundError
		if !errors.As(err, &nf) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		if nf.Near == nil {
			t.Errorf("%s: nothing close", c.name)
			continue
		}
		if n := nf.Near; n.First != c.first || n.Last != c.last || n.Reason != c.reason {
			t.Errorf("%s: lines %d-%d %q: %s\nwant lines %d-%d: %s", c.name, n.First, n.Last, n.Shown, n.Reason, c.first, c.last, c.reason)
		}
	}
}

func TestNothingClose(t *testing.T) {
	for _, c := range []struct{ raw, old string }{
		{"", "abc"},
		{"hello world\n", "zebra crossing"},
		{"hello world\n", "   \n"},
		{"hello world\n", "xy"},
	} {
		if n := Closest(textfile.InMemory(doc(t, c.raw)), c.old); n != nil {
			t.Errorf("%q in %q: %s", c.old, c.raw, n)
		}
	}
}

func TestNearString(t *testing.T) {
	d := doc(t, "a\r\n\tif x {\u00A0\r\n  b “q” \r\nend\r\n")
	got := Closest(textfile.InMemory(d), "    if x {\n  b \"q\"\n").String()
	want := `The closest text is on lines 2-3: differs only in the kind of space: ` +
		`file has a no-break space (U+00A0), you gave nothing there; and in quotes: file has “ (U+201C), you gave " (U+0022); ` +
		`and in trailing spaces: file has 1 space, you gave none (line 2); and in indentation: file has 1 tab, you gave 4 spaces (line 2).
The file has (→ tab, · space, ␍ carriage return, <U+…> other):
2: →if x {<U+00A0>␍
3: ··b “<U+201C>q”<U+201D>·␍
You gave:
····if x {
··b "q"
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A slightly damaged copy of a piece of real text is found at its origin.
func TestClosestFindsDamagedText(t *testing.T) {
	stress.SkipTiny(t)
	rng := rand.New(rand.NewPCG(13, 14))
	words := strings.Fields("index snapshot file walk ignore root path match line byte splice window text edit close open read write fold gram")
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%s%s_%d(%s, %s)\n", strings.Repeat("\t", rng.IntN(3)), words[rng.IntN(len(words))], i*7919%3001, words[rng.IntN(len(words))], words[rng.IntN(len(words))])
	}
	d := doc(t, b.String())
	wrong := 0
	for range 60 {
		first := 1 + rng.IntN(2900)
		count := 1 + rng.IntN(8)
		if rng.IntN(10) == 0 {
			count = 90
		}
		from, _ := d.Lines().Line(first)
		to, _ := d.Lines().Line(first + count - 1)
		old := []byte(strings.TrimSpace(string(d.Text()[from.Start:to.Content])))
		for range 1 + len(old)/40 {
			old[rng.IntN(len(old))] = 'Z'
		}
		if n := Closest(textfile.InMemory(d), string(old)); n == nil || n.First != first || n.Last != first+count-1 {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 60 damaged texts not found where they were", wrong)
	}
}

// Texts made to be slow take bounded time: one huge line, a long text, a repetitive text.
func TestClosestIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	n := stress.Size(1<<14, 1<<16)
	for _, c := range []struct{ raw, old string }{
		{strings.Repeat("ab", 4*n), strings.Repeat("ab", n) + "c"},
		{strings.Repeat("x\n", 4*n), strings.Repeat("x\r\n", n) + "y"},
		{strings.Repeat("é“—", 4*n), strings.Repeat("e\u0301\"-", n)},
	} {
		d := doc(t, c.raw)
		if n := Closest(textfile.InMemory(d), c.old); n != nil && len(n.String()) > 20000 {
			t.Errorf("a hint of %d bytes", len(n.String()))
		}
	}
}

func FuzzClosest(f *testing.F) {
	f.Add([]byte("a\tb\r\nc"), "a b\nc")
	f.Add([]byte("\xFF\xFEa\x00"), "A")
	f.Add([]byte("caf\xE9 “x”"), "cafe\u0301 \"x\"")
	f.Fuzz(func(t *testing.T, raw []byte, old string) {
		d, err := textfile.New(raw)
		if err != nil {
			return
		}
		n := Closest(textfile.InMemory(d), old)
		if n == nil {
			return
		}
		if n.Start < 0 || n.End < n.Start || n.End > len(d.Text()) || n.First < 1 || n.Last < n.First || n.Reason == "" {
			t.Fatalf("%+v", n)
		}
		_ = n.String()
		// The text of the result is in the file and can be replaced.
		if n.Text != "" && n.Text != "x" {
			if _, err := Apply(d, change.Edit{Verb: change.ReplaceSpan, Start: n.Start, End: n.End, New: "x"}); err != nil {
				var me *MeaningError
				if !errors.As(err, &me) {
					t.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkClosest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var s strings.Builder
	for s.Len() < 16<<20 {
		fmt.Fprintf(&s, "%x the quick %x brown fox\n", rng.Uint64(), rng.Uint32())
	}
	d := doc(b, s.String())
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		Closest(textfile.InMemory(d), "the quickest\n\tbrown fox and a few more words to find")
	}
}

// String returns the whole hint.
func (n *Near) String() string { return n.Contract().String() }
