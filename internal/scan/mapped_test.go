package scan

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/stress"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// memory is a View of a text that changes: Steady is true a given number of times; after
// that the file has the text now.
type memory struct {
	text, now string
	steady    atomic.Int64
	read      atomic.Int64 // bytes read from the file
}

func (m *memory) Bytes() []byte     { return []byte(m.text) }
func (m *memory) Steady() bool      { return m.steady.Add(-1) >= 0 }
func (m *memory) Drop(from, to int) {}
func (m *memory) ReadAt(b []byte, off int64) (int, error) {
	n, err := strings.NewReader(m.now).ReadAt(b, off)
	m.read.Add(int64(n))
	return n, err
}

// collected searches a view with several scanners and joins the parts.
func collected(all []*Scanner, view View, text string, req Request) (Result, error) {
	var lines []search.Line
	req.Emit = func(part *Result) error {
		for _, l := range part.Lines {
			l.Text, l.Spans, l.Whole = slices.Clone(l.Text), slices.Clone(l.Spans), slices.Clone(l.Whole)
			lines = append(lines, l)
		}
		return nil
	}
	got, err := together(all, strings.NewReader(text), int64(len(text)), view, &req)
	got.Lines = append(lines, got.Lines...)
	return got, err
}

// A view gives the same result as reading, even if it becomes unreliable at some block
// because the file was touched.
func TestViewAgrees(t *testing.T) {
	patterns := []string{"foo", "^foo$", "o+b", "café", "x|^$", `\w+`, "zzz", `f\n`, "(?i)FOO", "\u00e9", `\w+\s+foo`, `[a-z ]+\nfo+`}
	run := stress.Start(t, "a view = reading", 60, 20_000)
	inPlace, gaveUp := 0, 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		filler := []string{"filler line\n", "f\n", "foo and bar\r\n", "caf\xe9 foo\n", strings.Repeat("long ", 2000) + "foo\n", strings.Repeat("-", 700<<10) + "\n"}[rng.IntN(6)]
		text := randomText(rng) + strings.Repeat(filler, (blockSize+rng.IntN(3*viewBlock))/len(filler)) + randomText(rng)
		req := Request{
			Detail: Detail(rng.IntN(2)), Invert: rng.IntN(4) == 0, Binary: rng.IntN(2) == 0,
			Spans: rng.IntN(2) == 0, Matches: rng.IntN(3) == 0, MaxText: rng.IntN(2) * 5,
		}
		if rng.IntN(3) == 0 { // a NUL in a possibly matching line
			req.Binary, req.NUL = false, search.MentionNULMapped
			if rng.IntN(2) == 0 {
				at := textfile.SniffLen + rng.IntN(len(text)-textfile.SniffLen)
				text = text[:at] + "\x00 foo" + text[at:]
			}
		}
		opts := match.Options{}
		if req.Detail == Count && rng.IntN(2) == 0 {
			opts.Mode = match.Multiline
		}
		p, err := match.Compile(patterns[rng.IntN(len(patterns))], opts)
		if err != nil || opts.Mode == match.Multiline && !p.Cuts() {
			continue
		}
		want, err := streamed(New(p.NewMatcher()), strings.NewReader(text), int64(len(text)), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, steady := range []int64{1 << 40, int64(rng.IntN(4))} {
			view := &memory{text: text, now: text}
			view.steady.Store(steady)
			all := scanners(p, 1+rng.IntN(3))
			got, err := collected(all, view, text, req)
			if err != nil {
				t.Fatal(err)
			}
			if used := steady - view.steady.Load(); used > 0 && view.read.Load() == 0 {
				inPlace++
			} else if used > 0 {
				gaveUp++
			}
			if want.NUL > 0 { // the amount read depends on the blocks
				got.Bytes = want.Bytes
			}
			if diff := differ(t, &want, &got); diff != "" {
				run.Violation(seed, "steady %d times, %d scanners, %q, %v, %d bytes of text, %+v:\n%.2000s", steady, len(all), p, opts.Mode, len(text), req, diff)
			}
		}
	}
	if t.Logf("%d searched in place, %d read from some block on", inPlace, gaveUp); !t.Failed() && !testing.Short() && (inPlace == 0 || gaveUp == 0) {
		t.Error("not both ways were tried")
	}
}

// If a file is rewritten during the search, each reported line is from the old or the new
// version, and all old lines precede all new ones. No line that matches in both versions is
// omitted.
func TestViewOfChangingFile(t *testing.T) {
	const lines = 900_000
	var before, after strings.Builder
	for i := range lines {
		was, is := "xxx old\n", "xxx new\n"
		if i%512 == 0 {
			was = "foo old\n"
		}
		if i%1024 == 0 || i%1024 == 7 {
			is = "foo new\n"
		}
		before.WriteString(was)
		after.WriteString(is)
	}
	p := match.MustCompile("foo", match.Options{})
	for steady := range int64(4) {
		view := &memory{text: before.String(), now: after.String()}
		view.steady.Store(steady)
		got, err := collected(scanners(p, 2), view, before.String(), Request{})
		if err != nil {
			t.Fatal(err)
		}
		turned, next := false, 0
		for _, l := range got.Lines {
			at := l.Number - 1
			was, is := view.text[at*8:at*8+7], view.now[at*8:at*8+7]
			switch text := string(l.Text); {
			case text == is && strings.HasPrefix(is, "foo"):
				turned = true
			case text == was && strings.HasPrefix(was, "foo") && !turned:
			default:
				t.Fatalf("steady %d times: line %d is %q, was %q and is %q", steady, l.Number, text, was, is)
			}
			for ; next < at; next++ {
				if view.text[next*8] == 'f' && view.now[next*8] == 'f' {
					t.Fatalf("steady %d times: line %d is missing", steady, next+1)
				}
			}
			next = at + 1
		}
		if !turned || next < lines-2048 {
			t.Errorf("steady %d times: the change was not seen, or the end is missing (line %d of %d)", steady, next, lines)
		}
	}
}

// A panic of an engine on a changing text is harmless, and one on an unchanged text is not
// hidden.
func TestViewPanics(t *testing.T) {
	text := strings.Repeat("filler\n", 1<<20)
	s := New(match.MustCompile("foo", match.Options{}).NewMatcher())
	for _, steady := range []bool{false, true} {
		view := &memory{text: text, now: text}
		if steady {
			view.steady.Store(1)
		}
		f := s.begin(&Request{Detail: Count})
		f.Shapes = nil
		f.req = nil // the search fails
		panicked := true
		func() {
			defer func() { recover() }()
			if f.guarded([]byte(text), view) {
				t.Error("the search has not failed")
			}
			panicked = false
		}()
		if panicked != steady {
			t.Errorf("steady %v: panicked %v", steady, panicked)
		}
	}
}
