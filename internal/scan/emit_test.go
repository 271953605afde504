package scan

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/stress"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// differ compares two results of up to a hundred thousand lines. cmp.Diff takes a hundred
// times as long, so it gets only the differences.
func differ(t *testing.T, want, got *Result) string {
	t.Helper()
	if n := reflect.TypeFor[search.Line]().NumField(); n != 13 {
		t.Fatalf("a line has %d fields: compare the new ones here", n)
	}
	same := slices.EqualFunc(want.Lines, got.Lines, func(a, b search.Line) bool {
		return a.Number == b.Number && a.Offset == b.Offset && bytes.Equal(a.Text, b.Text) && a.Ending == b.Ending && a.Hit == b.Hit &&
			slices.Equal(a.Spans, b.Spans) && slices.Equal(a.Whole, b.Whole) && a.CutBefore == b.CutBefore && a.CutAfter == b.CutAfter &&
			a.Symbol == b.Symbol && a.Block == b.Block && slices.EqualFunc(a.Holes, b.Holes, slices.Equal) && slices.Equal(a.Doubts, b.Doubts)
	})
	if w, g := *want, *got; same {
		w.Lines, g.Lines = nil, nil
		return cmp.Diff(w, g, cmpopts.IgnoreUnexported(Result{}))
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Result{}))
}

// streamed searches with Emit and joins the parts.
func streamed(s *Scanner, r io.Reader, size int64, req Request) (Result, error) {
	var lines []search.Line
	keep := func(part []search.Line) {
		for _, l := range part {
			l.Text, l.Spans, l.Whole = slices.Clone(l.Text), slices.Clone(l.Spans), slices.Clone(l.Whole)
			lines = append(lines, l)
		}
		for i := range part { // overwrite them, as the next part may
			clear(part[i].Spans)
		}
	}
	req.Emit = func(part *Result) error {
		keep(part.Lines)
		return nil
	}
	out, err := s.File(r, size, &req)
	keep(out.Lines)
	out.Lines = lines
	return out, err
}

// Delivering lines while a file is read gives the same as collecting them.
func TestEmitAgrees(t *testing.T) {
	patterns := []string{"foo", "^foo$", "o+b", "café", "x|^$", `\w+`, "zzz", `o\s+[fb]`, `f\n`, `bar\r?\n(?:x|foo)`}
	run := stress.Start(t, "streaming = whole", 1000, 100_000)
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		text := randomText(rng)
		if seed%6 == 0 {
			filler := []string{"filler line\n", "f\n", "foo and bar\n"}[rng.IntN(3)]
			text += strings.Repeat(filler, (textfile.SniffLen+rng.IntN(2*blockSize))/len(filler)) + randomText(rng)
		}
		req := Request{
			Detail: Detail(rng.IntN(3)), Before: rng.IntN(4), After: rng.IntN(4), Invert: rng.IntN(4) == 0,
			Spans: rng.IntN(2) == 0, MaxText: rng.IntN(2) * 5, MaxLines: rng.IntN(3) * rng.IntN(3000),
		}
		opts := match.Options{}
		if rng.IntN(2) == 0 {
			opts.Mode = match.Multiline
		}
		p, err := match.Compile(patterns[rng.IntN(len(patterns))], opts)
		if err != nil {
			continue // a line feed, line by line
		}
		want, err := New(p.NewMatcher()).Bytes([]byte(text), &req)
		if err != nil {
			t.Fatal(err)
		}
		s := New(p.NewMatcher())
		for _, step := range []int{61, 1 << 20} {
			got, err := streamed(s, dribble{strings.NewReader(text), step}, int64(len(text)), req)
			if err != nil {
				t.Fatal(err)
			}
			got.Bytes = want.Bytes // where reading stops depends on the step
			for _, r := range []Result{want, got} {
				for i := range r.Lines {
					if !r.Lines[i].Hit {
						r.Lines[i].Block = 0 // the reference has none
					}
				}
			}
			if diff := differ(t, &want, &got); diff != "" {
				run.Violation(seed, "%d bytes a read, %q, %v, %d bytes of text, %+v:\n%s", step, p, opts.Mode, len(text), req, diff)
			}
		}
	}
}

// A file that matches everywhere takes no more memory than one that doesn't.
func TestEmitIsBounded(t *testing.T) {
	stress.SkipShort(t)
	for _, c := range []struct {
		name string
		req  Request
		mode match.Mode
	}{
		{"lines", Request{}, match.Lines},
		{"spans", Request{Spans: true}, match.Lines},
		{"inverted", Request{Invert: true}, match.Lines},
		{"context", Request{Before: 3, After: 3}, match.Lines},
		{"multiline, by a pattern of one line", Request{}, match.Multiline},
	} {
		pattern := "o"
		if c.req.Invert {
			pattern = "zzz"
		}
		lines := 0
		count := func(part []search.Line) { lines += len(part) }
		c.req.Emit = func(r *Result) error { count(r.Lines); return nil }
		s := New(match.MustCompile(pattern, match.Options{Mode: c.mode}).NewMatcher())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		size := int64(stress.Size(12, 24) << 20)
		if c.mode == match.Multiline {
			size = int64(stress.Size(40, 64) << 20)
		}
		r, err := s.File(io.LimitReader(&endless{}, size), size, &c.req)
		runtime.ReadMemStats(&after)
		count(r.Lines)
		if err != nil || lines < int(size/13) {
			t.Fatalf("%s: %d lines, %v", c.name, lines, err)
		}
		most := uint64(8 << 20)
		if c.mode == match.Multiline {
			most = 32 << 20 // all lines adjoin, so the parts are larger
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s: %d MB allocated for a file of %d MB", c.name, took>>20, size>>20)
		}
	}
}

// A consumer can end the search, also between context lines.
func TestEmitStops(t *testing.T) {
	enough := errors.New("enough")
	for _, mode := range []match.Mode{match.Lines, match.Multiline} {
		for _, req := range []Request{{After: 1}, {All: true}, {After: 1 << 40}} {
			s := New(match.MustCompile("x", match.Options{Mode: mode}).NewMatcher())
			calls := 0
			text := "x\n" + strings.Repeat("x\n-\n", blockSize)
			if req.After != 1 {
				text = "x\n" + strings.Repeat("-\n", blockSize)
			}
			req.Emit = func(*Result) error { calls++; return enough }
			_, err := s.File(strings.NewReader(text), 0, &req)
			if !errors.Is(err, enough) || calls != 1 {
				t.Errorf("mode %v, all %v, after %d: %v after %d calls", mode, req.All, req.After, err, calls)
			}
		}
	}
}
