package textedit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/stress"
	"quarry/internal/textfile"
)

// The reference below has no splices, marks or line indexes. A file is a list of tokens with
// their raw bytes, and an edit changes the list.

// token is one character, or one line ending whose key is "\n" in either form.
type token struct{ key, raw string }

const upper1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ"

var upperRunes = []rune(upper1252)

func refRune1252(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return upperRunes[b-0x80]
	}
	return rune(b)
}

func refTokens(raw string, enc textfile.Encoding) []token {
	var out []token
	body := raw[len(enc.BOM()):]
	for len(body) > 0 {
		r, n := utf8.RuneError, 1
		switch enc {
		case textfile.Windows1252:
			r = refRune1252(body[0])
		case textfile.UTF16LE, textfile.UTF16BE:
			at := func(i int) rune {
				if enc == textfile.UTF16BE {
					return rune(body[i])<<8 | rune(body[i+1])
				}
				return rune(body[i+1])<<8 | rune(body[i])
			}
			if len(body) >= 2 {
				if r, n = at(0), 2; utf16.IsSurrogate(r) {
					r = utf8.RuneError
					if len(body) >= 4 {
						if p := utf16.DecodeRune(at(0), at(2)); p != utf8.RuneError {
							r, n = p, 4
						}
					}
				}
			}
		default:
			r, n = utf8.DecodeRuneInString(body)
		}
		out = append(out, token{string(r), body[:n]})
		body = body[n:]
		if k := len(out); r == '\n' && k > 1 && out[k-2].key == "\r" {
			out[k-2] = token{"\n", out[k-2].raw + out[k-1].raw}
			out = out[:k-1]
		}
	}
	return out
}

// refEncode returns false if the encoding can't represent the text.
func refEncode(keys []string, enc textfile.Encoding, crlf bool) (string, bool) {
	var b []byte
	for _, key := range keys {
		runes := []rune(key)
		if key == "\n" && crlf {
			runes = []rune("\r\n")
		}
		for _, r := range runes {
			switch enc {
			case textfile.UTF16LE, textfile.UTF16BE:
				for _, u := range utf16.Encode([]rune{r}) {
					if enc == textfile.UTF16BE {
						b = append(b, byte(u>>8), byte(u))
					} else {
						b = append(b, byte(u), byte(u>>8))
					}
				}
			case textfile.Windows1252:
				found := -1
				for i := range 256 {
					if refRune1252(byte(i)) == r {
						found = i
					}
				}
				if found <= 0 {
					return "", false
				}
				b = append(b, byte(found))
			default:
				if r == 0 {
					return "", false
				}
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return string(b), true
}

// refPiece replaces tokens [from, to) by raw bytes.
type refPiece struct {
	from, to           int
	namedFrom, namedTo int
	text               []string
	crlf, glue         bool
}

type reference struct {
	enc    textfile.Encoding
	bom    string
	tokens []token
	pieces []refPiece
}

func (f *reference) isCRLF(i int) bool { return len(f.tokens[i].raw) > f.newline() }

// newline returns the size of a plain newline in the file's encoding.
func (f *reference) newline() int {
	if f.enc == textfile.UTF16LE || f.enc == textfile.UTF16BE {
		return 2
	}
	return 1
}

func (f *reference) endingAt(i int) bool {
	for j := i; j < len(f.tokens); j++ {
		if f.tokens[j].key == "\n" {
			return f.isCRLF(j)
		}
	}
	return f.endingBehind(i)
}

func (f *reference) endingBehind(i int) bool {
	for j := i - 1; j >= 0; j-- {
		if f.tokens[j].key == "\n" {
			return f.isCRLF(j)
		}
	}
	return false
}

func (f *reference) lineStarts() []int {
	var out []int
	for i := range f.tokens {
		if i == 0 || f.tokens[i-1].key == "\n" {
			out = append(out, i)
		}
	}
	return out
}

func keys(ts []token) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.key
	}
	return out
}

func (f *reference) replace(e change.Edit) bool {
	old, repl := keys(refTokens(e.Old, textfile.UTF8)), keys(refTokens(e.New, textfile.UTF8))
	file := keys(f.tokens)
	pre := 0
	for pre < min(len(old), len(repl)) && old[pre] == repl[pre] {
		pre++
	}
	suf := 0
	for suf < min(len(old), len(repl))-pre && old[len(old)-1-suf] == repl[len(repl)-1-suf] {
		suf++
	}
	seen := 0
	for i := 0; i+len(old) <= len(file); {
		if !slices.Equal(file[i:i+len(old)], old) {
			i++
			continue
		}
		if seen++; e.Occurrence == change.All || seen == e.Occurrence {
			f.pieces = append(f.pieces, refPiece{
				from: i + pre, to: i + len(old) - suf, namedFrom: i, namedTo: i + len(old),
				text: repl[pre : len(repl)-suf],
			})
			if p := &f.pieces[len(f.pieces)-1]; slices.Contains(p.text, "\n") {
				p.crlf = f.endingAt(i)
			}
		}
		i += len(old)
	}
	return e.Occurrence == change.All && seen > 0 || seen >= max(e.Occurrence, 1)
}

func (f *reference) insert(at int, text string) {
	ts := refTokens(text, textfile.UTF8)
	if n := len(ts); n > 0 && ts[n-1].key == "\n" {
		ts = ts[:n-1]
	}
	p := refPiece{from: at, to: at, namedFrom: at, namedTo: at, text: keys(ts)}
	if p.crlf = f.endingBehind(at); !slices.Contains(keys(f.tokens[:at]), "\n") {
		p.crlf = f.endingAt(at)
	}
	if p.glue = at > 0 && f.tokens[at-1].key != "\n"; p.glue {
		p.text = append([]string{"\n"}, p.text...)
	} else {
		p.text = append(p.text, "\n")
	}
	f.pieces = append(f.pieces, p)
}

// do applies e. It returns false if the edit must fail.
func (f *reference) do(e change.Edit) bool {
	starts := f.lineStarts()
	end := func(line int) int {
		if line == len(starts) {
			return len(f.tokens)
		}
		return starts[line]
	}
	switch e.Verb {
	case change.ReplaceText:
		if e.Old == "" || slices.Equal(keys(refTokens(e.Old, 0)), keys(refTokens(e.New, 0))) {
			return false
		}
		return f.replace(e)
	case change.InsertAfter:
		if e.First < 0 || e.First > len(starts) {
			return false
		}
		at := 0
		if e.First > 0 {
			at = end(e.First)
		}
		f.insert(at, e.New)
	case change.InsertBefore:
		if e.First < 1 || e.First > len(starts) {
			return false
		}
		f.insert(starts[e.First-1], e.New)
	case change.DeleteLines:
		if e.First < 1 || e.First > e.Last || e.Last > len(starts) {
			return false
		}
		a, b := starts[e.First-1], end(e.Last)
		f.pieces = append(f.pieces, refPiece{from: a, to: b, namedFrom: a, namedTo: b})
	}
	return true
}

// result returns the new file, or false if the change must be refused.
func (f *reference) result() (string, bool) {
	slices.SortStableFunc(f.pieces, func(a, b refPiece) int {
		if a.namedFrom != b.namedFrom {
			return a.namedFrom - b.namedFrom
		}
		return a.namedTo - b.namedTo
	})
	var b strings.Builder
	b.WriteString(f.bom)
	at := 0
	for i, p := range f.pieces {
		if i > 0 && p.namedFrom < f.pieces[i-1].namedTo {
			return "", false
		}
		if i > 0 && p.glue {
			q := f.pieces[i-1]
			if q.to == len(f.tokens) && q.from < q.to && len(q.text) == 0 && (q.from == 0 || f.tokens[q.from-1].key == "\n") {
				p.text = p.text[1:]
			}
		}
		raw, ok := refEncode(p.text, f.enc, p.crlf)
		if n := len(f.tokens); !ok || raw != "" && p.from == n && n > 0 && f.enc != textfile.Windows1252 && !f.enc.IsUTF8() && len(f.tokens[n-1].raw)%2 == 1 {
			return "", false
		}
		for _, t := range f.tokens[at:p.from] {
			b.WriteString(t.raw)
		}
		b.WriteString(raw)
		at = p.to
	}
	for _, t := range f.tokens[at:] {
		b.WriteString(t.raw)
	}
	out := b.String()
	if f.enc == textfile.Windows1252 && strings.ContainsFunc(out, func(r rune) bool { return r >= 0x80 }) {
		if k := textfile.Detect([]byte(out)); !k.Binary && k.Encoding != f.enc {
			return "", false
		}
	}
	return out, true
}

func randomText(rng *rand.Rand, n int) string {
	alphabet := []string{"a", "b", "c", "a", "b", "a", "b", " ", "\t", "\n", "\n", "\r\n", "\r", "é", "“", "\u0301", "世", "😀", "\uFFFD", "\u0081"}
	var b strings.Builder
	for range n {
		b.WriteString(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// randomFile makes a file of one of the kinds that editors handle wrongly.
func randomFile(rng *rand.Rand) string {
	n := rng.IntN(40)
	text := randomText(rng, n)
	switch rng.IntN(3) {
	case 0:
		text = strings.ReplaceAll(text, "\r\n", "\n")
	case 1:
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	switch kind := rng.IntN(100); {
	case kind < 30:
		return text
	case kind < 40:
		return "\xEF\xBB\xBF" + text
	case kind < 65:
		enc := []textfile.Encoding{textfile.UTF16LE, textfile.UTF16BE}[rng.IntN(2)]
		body, _ := refEncode(keys(refTokens(text, textfile.UTF8)), enc, rng.IntN(2) == 0)
		raw := []byte(enc.BOM() + body)
		for range rng.IntN(3) { // break a few units
			if len(raw) > 4 {
				raw[2+rng.IntN(len(raw)-2)] = byte(0xD7 + rng.IntN(10))
			}
		}
		return string(raw[:len(raw)-min(rng.IntN(4)/3, len(raw)-2)])
	case kind < 97:
		var b []byte
		for range n {
			b = append(b, "ab\n\n\r\n\xE9\x93\x81\xC3\xA9\x80 "[rng.IntN(13)])
		}
		return string(b)
	case kind < 99:
		return text + strings.Repeat("huge ", 4000) + text
	}
	return text + strings.Repeat("filler\r\n", 8192) + "\x00" + text + "\x00"
}

func randomEdit(rng *rand.Rand, tokens []token) change.Edit {
	lines := 0
	for _, t := range tokens {
		if t.key == "\n" {
			lines++
		}
	}
	line := func() int { return rng.IntN(min(lines, 60) + 2) }
	switch rng.IntN(6) {
	case 0:
		return change.Edit{Verb: change.InsertAfter, First: line(), New: randomText(rng, rng.IntN(4))}
	case 1:
		return change.Edit{Verb: change.InsertBefore, First: line(), New: randomText(rng, rng.IntN(4))}
	case 2:
		a := line()
		return change.Edit{Verb: change.DeleteLines, First: a, Last: a + rng.IntN(3)}
	}
	e := change.Edit{Old: randomText(rng, 1+rng.IntN(2)), New: randomText(rng, rng.IntN(4)), Occurrence: change.First}
	if rng.IntN(2) == 0 {
		e.Occurrence = change.All
	}
	if n := len(tokens); n > 0 && rng.IntN(8) > 0 { // existing text
		i := rng.IntN(n)
		e.Old = strings.Join(keys(tokens[i:min(n, i+1+rng.IntN(5))]), "")
		if rng.IntN(2) == 0 {
			e.Old = strings.ReplaceAll(e.Old, "\n", "\r\n")
		}
		if rng.IntN(3) == 0 {
			e.New = e.Old + e.New
		}
	}
	if e.Occurrence != change.All && rng.IntN(4) == 0 {
		e.Occurrence = 1 + rng.IntN(3)
	}
	return e
}

// For random files and edits, bytes outside of the spans are unchanged, the result equals the
// reference's, applying the diff to the old text gives the new one, and impossible edits are
// refused.
func TestRandomEdits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var done, refused int
	for i := 0; i < stress.N(10_000); i++ {
		raw := randomFile(rng)
		d, err := textfile.New([]byte(raw))
		if err != nil {
			i--
			continue // the broken unit contains a NUL
		}
		ref := &reference{enc: d.Encoding(), bom: d.Encoding().BOM(), tokens: refTokens(raw, d.Encoding())}
		var edits []change.Edit
		for range 1 + rng.IntN(4)/2 {
			edits = append(edits, randomEdit(rng, ref.tokens))
		}
		ok := true
		for _, e := range edits {
			ok = ok && ref.do(e)
		}
		var want string
		if ok {
			want, ok = ref.result()
		}
		text := textfile.InMemory(d)
		if i%2 == 1 { // the same text, read in pages
			if text, err = textfile.ScanPages(strings.NewReader(raw), int64(len(raw)), 16+i%200, nil); err != nil {
				t.Fatal(err)
			}
		}
		ch, err := ApplyTo("", text, DefaultMaxSize, nil, edits...)
		if guess := (*GuessError)(nil); errors.As(err, &guess) && d.Guessed() {
			refused++
			continue
		}
		if ok != (err == nil) {
			t.Fatalf("file %d %q\nedits %+v\nerror %v, reference says ok = %v", i, clipped(raw), edits, err, ok)
		}
		if err != nil {
			refused++
			continue
		}
		done++
		if got := string(ch.Bytes()); got != want {
			t.Fatalf("file %d %q\nedits %+v\ngot  %q\nwant %q", i, clipped(raw), edits, clipped(got), clipped(want))
		}
		checkSplices(t, raw, ch)
		checkDiff(t, d, ch)
		if string(d.Raw()) != raw {
			t.Fatal("the original was modified")
		}
	}
	t.Logf("%d changes made, %d refused", done, refused)
	if done < stress.N(5000) || refused < stress.N(500) {
		t.Errorf("%d changes made, %d refused: the files and edits are not what they should be", done, refused)
	}
}

func clipped(s string) string { return fault.Clip(s, 400) }

// checkSplices rebuilds the file from the splices alone.
func checkSplices(t *testing.T, raw string, ch *Change) {
	t.Helper()
	var b strings.Builder
	at := int64(0)
	for s := range ch.Splices() {
		if s.Start < at || s.End < s.Start || s.End > int64(len(raw)) {
			t.Fatalf("splice %+v behind %d in %d bytes", s, at, len(raw))
		}
		b.WriteString(raw[at:s.Start])
		b.Write(s.New)
		at = s.End
	}
	b.WriteString(raw[at:])
	var w bytes.Buffer
	n, err := ch.WriteTo(&w)
	if err != nil || n != ch.Size() || w.String() != b.String() || !bytes.Equal(ch.Bytes(), w.Bytes()) {
		t.Fatalf("WriteTo wrote %d of %d bytes, %v; splices, writer and bytes agree: %v %v", n, ch.Size(), err, w.String() == b.String(), bytes.Equal(ch.Bytes(), w.Bytes()))
	}
}

func TestWriteToReportsErrors(t *testing.T) {
	ch, err := Apply(doc(t, "abc"), change.Edit{Old: "b", New: "x", Occurrence: change.First})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := ch.WriteTo(&full{}); n != 1 || !errors.Is(err, errFull) {
		t.Errorf("WriteTo = %d, %v", n, err)
	}
}

var errFull = errors.New("disk full")

type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n++; f.n > 1 {
		return 0, errFull
	}
	return len(p), nil
}

// A result that would be too large is refused before it is made.
func TestResultIsLimited(t *testing.T) {
	d := doc(t, strings.Repeat("a", 100<<10))
	var err error
	if n := allocated(func() {
		_, err = Apply(d, change.Edit{Verb: change.ReplaceText, Old: "a", New: strings.Repeat("x", 1<<20), Occurrence: change.All})
	}); n > 64<<20 {
		t.Errorf("refusing allocated %d MB", n>>20)
	}
	var large *SizeError
	if !errors.As(err, &large) || large.Size != 100<<30 || large.Max != DefaultMaxSize {
		t.Errorf("%v", err)
	}
	dense := doc(t, strings.Repeat("a", 2<<20))
	if n := allocated(func() {
		_, err = ApplyTo("", textfile.InMemory(dense), 300<<20, nil, change.Edit{Verb: change.ReplaceText, Old: "a", New: strings.Repeat("x", 4000), Occurrence: change.All})
	}); !errors.As(err, &large) || n > 16<<20 {
		t.Errorf("2 million places: %v, %d MB", err, n>>20)
	}
	if _, err = ApplyTo("", textfile.InMemory(d), 10, nil, change.Edit{Verb: change.ReplaceText, Old: "a", New: "b", Occurrence: change.All}); err != nil {
		t.Errorf("a file over the limit that does not grow: %v", err)
	}
	if _, err = ApplyTo("", textfile.InMemory(d), 10, nil, change.Edit{Verb: change.InsertAfter, New: "x"}); !errors.As(err, &large) {
		t.Errorf("a file over the limit that grows: %v", err)
	}
	wide, err := textfile.New([]byte("\xff\xfea\x00\n\x00"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ApplyTo("", textfile.InMemory(wide), 100, nil, change.Edit{Verb: change.InsertAfter, First: 1, New: strings.Repeat("é", 60)}); !errors.As(err, &large) {
		t.Errorf("an encoding that needs more bytes than the limit: %v", err)
	}
}

// Many replacements take three times the memory of the file and some megabytes, not 200 bytes each, and
// their result equals strings.ReplaceAll's. The diff of a line that becomes very long is cheap too.
func TestDenseReplacementsAreCheap(t *testing.T) {
	stress.SkipShort(t)
	part := stress.Size(8, 1) // a fraction of the size
	for _, c := range []struct{ name, text, old, new string }{
		{"every letter", strings.Repeat("a", 4<<20/part), "a", "b"},
		{"every letter, longer", strings.Repeat("a", 2<<20/part), "a", "bcd"},
		{"lines", strings.Repeat("some text\r\n", 200_000/part), "\n", "\nx"},
		{"words far apart", strings.Repeat("x"+strings.Repeat(" ", 200), 20_000/part), "x", "yy"},
		{"both", strings.Repeat(strings.Repeat("ab", 300)+strings.Repeat("-", 300), 4000/part), "ab", "é"},
		{"a line becomes long", strings.Repeat("a", 50<<10/part) + "\nlast\n", "a", strings.Repeat("x", 2000)},
	} {
		d := doc(t, c.text)
		var ch *Change
		var err error
		var diff string
		n := allocated(func() {
			if ch, err = Apply(d, change.Edit{Verb: change.ReplaceText, Old: c.old, New: c.new, Occurrence: change.All}); err == nil {
				diff = ch.Diff(&DiffOptions{MaxLine: 500, MaxLines: 400})
			}
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if most := (16+48/part)<<20 + 3*len(c.text); n > most {
			t.Errorf("%s: allocated %d MB, want at most %d", c.name, n>>20, most>>20)
		}
		want := strings.ReplaceAll(c.text, c.old, c.new)
		if c.old == "\n" {
			want = strings.ReplaceAll(c.text, "\r\n", "\r\nx")
		}
		h := sha256.New()
		size, _ := ch.WriteTo(h)
		if sum := sha256.Sum256([]byte(want)); !bytes.Equal(h.Sum(nil), sum[:]) || size != ch.Size() {
			t.Errorf("%s: the result differs, %d bytes, want %d", c.name, size, len(want))
		}
		if got := ch.Outcomes[0].Count; got != strings.Count(c.text, c.old) {
			t.Errorf("%s: %d counted", c.name, got)
		}
		if len(diff) > 1<<20 || len(diff) < 20 {
			t.Errorf("%s: a diff of %d bytes", c.name, len(diff))
		}
		if c.name == "a line becomes long" && !strings.Contains(diff, fmt.Sprintf("[line cut: %d bytes]", 102400000/part)) {
			t.Errorf("%s: %.300s", c.name, diff)
		}
	}
}

func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
