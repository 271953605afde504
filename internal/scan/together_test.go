package scan

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"quarry/internal/crew"
	"quarry/internal/stress"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

func scanners(p *match.Pattern, n int) []*Scanner {
	all := make([]*Scanner, n)
	for i := range all {
		all[i] = New(p.NewMatcher())
	}
	return all
}

// Several scanners give the same result as one.
func TestTogetherAgrees(t *testing.T) {
	patterns := []string{"foo", "^foo$", "o+b", "café", "x|^$", `\w+`, "zzz", `f\n`, "(?i)FOO", "\u00e9", `\w+\s+foo`, `[a-z ]+\nfo+`}
	run := stress.Start(t, "scanners together = one", 300, 100_000)
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		text := randomText(rng)
		filler := []string{"filler line\n", "f\n", "foo and bar\r\n", "caf\xe9 foo\n", strings.Repeat("long ", 2000) + "foo\n"}[rng.IntN(5)]
		text += strings.Repeat(filler, (textfile.SniffLen+rng.IntN(blockSize))/len(filler)) + randomText(rng)
		req := Request{
			Detail: Detail(rng.IntN(2)), Invert: rng.IntN(4) == 0, Binary: rng.IntN(2) == 0,
			Spans: rng.IntN(2) == 0, Matches: rng.IntN(3) == 0, MaxText: rng.IntN(2) * 5,
		}
		opts := match.Options{}
		if req.Detail == Count && rng.IntN(2) == 0 {
			opts.Mode = match.Multiline
		}
		p, err := match.Compile(patterns[rng.IntN(len(patterns))], opts)
		if err != nil {
			continue // a line feed, line by line
		}
		want, err := streamed(New(p.NewMatcher()), strings.NewReader(text), int64(len(text)), req)
		if err != nil {
			t.Fatal(err)
		}
		all := scanners(p, 1+rng.IntN(4))
		if !shares(all[0], &req) && req.Detail == Count && p.ByLine() {
			t.Fatalf("%+v is not shared", req)
		}
		if opts.Mode == match.Multiline && !p.Cuts() {
			continue
		}
		for _, step := range []int{611, 1 << 20} {
			var lines []search.Line
			req.Emit = func(part *Result) error {
				for _, l := range part.Lines {
					l.Text, l.Spans, l.Whole = slices.Clone(l.Text), slices.Clone(l.Spans), slices.Clone(l.Whole)
					lines = append(lines, l)
				}
				return nil
			}
			got, err := together(all, dribble{strings.NewReader(text), step}, int64(len(text)), nil, &req)
			if err != nil {
				t.Fatal(err)
			}
			got.Lines = append(lines, got.Lines...)
			if diff := differ(t, &want, &got); diff != "" {
				run.Violation(seed, "%d scanners, %d bytes a read, %q, %v, %d bytes of text, %+v:\n%.2000s", len(all), step, p, opts.Mode, len(text), req, diff)
			}
		}
	}
}

// Anything that ends a search ends it for all scanners: an error of the consumer or of the
// file, a line that is too long, a context.
func TestTogetherEnds(t *testing.T) {
	stress.SkipShort(t)
	const size = 32 << 20
	enough := errors.New("enough")
	x := match.MustCompile("x", match.Options{})
	calls := 0
	_, err := Together(scanners(x, 3), strings.NewReader(strings.Repeat("x\n-\n", size/4)), size, nil, &Request{Emit: func(*Result) error { calls++; return enough }})
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(strings.Repeat("x\n", 3<<20)), errReader{broken})
	if out, err := Together(scanners(x, 3), r, size, nil, &Request{Detail: Count}); !errors.Is(err, broken) || out.Matched < 2<<20 {
		t.Errorf("%d lines, %v", out.Matched, err)
	}
	var text string
	for _, begin := range []string{"", "x"} { // one that doesn't match, and one that does
		text = strings.Repeat("x\n", 3<<20) + begin + strings.Repeat("y", MaxLine+2*blockSize) + "\nx\n"
		want, _ := New(x.NewMatcher()).File(strings.NewReader(text), int64(len(text)), &Request{Detail: Count})
		got, err := Together(scanners(x, 3), strings.NewReader(text), int64(len(text)), nil, &Request{Detail: Count})
		if got.Skip != TooLarge || got.Matched != want.Matched || err != nil {
			t.Errorf("a long line: %+v, %v; one scanner gives %+v", got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	all := scanners(x, 3)
	search := x.NewSearch()
	defer search.StopWith(ctx)()
	for i := range all {
		all[i] = New(search.NewMatcher())
	}
	if _, err := Together(all, strings.NewReader(text), int64(len(text)), nil, &Request{Detail: Count}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// A panic of one scanner, wherever it occurs, reaches the caller; the others don't wait
// for its block.
func TestTogetherPanics(t *testing.T) {
	x := match.MustCompile("x", match.Options{})
	const size = 8 << 20
	lines, long := strings.Repeat("x\n-\n", size/4), strings.Repeat("y", size/4)+"\n"
	for name, c := range map[string]struct {
		text io.Reader
		emit int // the call of Emit that panics
	}{
		"while it emits":     {strings.NewReader(lines), 3},
		"while it reads":     {io.MultiReader(strings.NewReader(lines), panicReader{}), -1},
		"within a long line": {io.MultiReader(strings.NewReader(long+long+"y"), panicReader{}), -1},
	} {
		calls := 0
		got := func() (p any) {
			defer func() { p = recover() }()
			_, err := together(scanners(x, 3), c.text, 2*size, nil, &Request{Emit: func(*Result) error {
				if calls++; calls == c.emit {
					panic(errPlanted)
				}
				return nil
			}})
			return err
		}()
		if p, ok := got.(*crew.Panic); !ok || p.Value != errPlanted || c.emit > 0 && calls != c.emit {
			t.Errorf("%s: %v after %d calls", name, got, calls)
		}
	}
}

var errPlanted = errors.New("planted")

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic(errPlanted) }
