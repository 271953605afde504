package searcher

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// put writes a file and its folders.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// joinedParts searches in parts and joins them.
func joinedParts(t *testing.T, d *Folder, q search.Query) ([]search.FileMatch, *search.Summary, int) {
	t.Helper()
	q.Parts, q.RawLines = true, true
	var files []search.FileMatch
	open, parts := false, 0
	sum, err := d.SearchEach(t.Context(), q, func(f *search.FileMatch) error {
		parts++
		c := *f
		c.More, c.Lines = false, nil
		for _, l := range f.Lines {
			l.Text, l.Spans, l.Whole = slices.Clone(l.Text), slices.Clone(l.Spans), slices.Clone(l.Whole)
			c.Lines = append(c.Lines, l)
		}
		if open {
			last := &files[len(files)-1]
			if last.Path != c.Path {
				t.Fatalf("%s begins before the last part of %s", c.Path, last.Path)
			}
			last.Lines = append(last.Lines, c.Lines...)
			last.Matched, last.Matches, last.Bytes = last.Matched+c.Matched, last.Matches+c.Matches, last.Bytes+c.Bytes
		} else {
			files = append(files, c)
		}
		open = f.More
		return nil
	})
	if err != nil || open {
		t.Fatalf("%v; a file is open: %v", err, open)
	}
	return files, sum, parts
}

func inWords(files []search.FileMatch) (rows []string) {
	for _, f := range files {
		rows = append(rows, fmt.Sprint(f.Path, f.Matched, f.Matches, f.Bytes, f.ModTime.UnixNano()))
		for _, l := range f.Lines {
			rows = append(rows, fmt.Sprintf("%d %d %q %q %v %v %v %d", l.Number, l.Offset, l.Text, l.Ending, l.Hit, l.Spans, l.Whole, l.CutAfter))
		}
	}
	return rows
}

// An answer in parts equals the whole answer, with and without room for matches found
// ahead.
func TestPartsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 9))
	for i := range 60 {
		lines := rng.IntN(40)
		if i%7 == 0 {
			lines = 2000 + rng.IntN(3000)
		}
		var b strings.Builder
		for n := range lines {
			fmt.Fprintf(&b, "%s %d\n", []string{"foo", "bar", "foo\nbar", ""}[rng.IntN(4)], n)
		}
		put(t, dir, fmt.Sprintf("d%d/e%d/f%d", i%3, i%5, i), b.String())
	}
	d := openFolder(t, dir)
	for i, q := range []search.Query{
		{Pattern: "foo"},
		{Pattern: "foo", Spans: true, Before: 1, After: 2},
		{Pattern: "foo", Invert: true},
		{Pattern: `foo\s+bar`, Match: match.Options{Mode: match.Multiline}},
		{Pattern: "o", Limits: search.Limits{Lines: 3000}},
		{Pattern: "o", Limits: search.Limits{LinesPerFile: 1500, LineBytes: 3}},
		{Pattern: "o", Scope: search.Scope{Paths: []string{"d0/e0/f0"}}},
	} {
		d.Workers = 4
		var want []search.FileMatch
		wantSum, err := d.SearchEach(t.Context(), q, func(f *search.FileMatch) error { want = append(want, *f); return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{1, 100 << 10, 0} {
			d.ahead = room
			got, sum, parts := joinedParts(t, d, q)
			if w, g := inWords(want), inWords(got); !slices.Equal(w, g) {
				n := 0
				for n < min(len(w), len(g)) && w[n] == g[n] {
					n++
				}
				t.Fatalf("query %d, room %d: %d lines, want %d; at %d %q, want %q", i, room, len(g), len(w), n, g[min(n, len(g)-1)], w[min(n, len(w)-1)])
			}
			if sum.Stats.Elapsed = wantSum.Stats.Elapsed; sum.Stopped != "" {
				sum.Stats = wantSum.Stats // how much was read before the stop may differ
			}
			if diff := cmp.Diff(wantSum, sum); diff != "" {
				t.Fatalf("query %d, room %d:\n%s", i, room, diff)
			}
			if room == 1 && parts <= len(got) {
				t.Errorf("query %d: %d parts of %d files", i, parts, len(got))
			}
		}
	}
}

// A consumer may stop, or the context may end, while workers wait for room.
func TestPartsStop(t *testing.T) {
	stress.SkipShort(t)
	dir := t.TempDir()
	for i := range 50 {
		put(t, dir, fmt.Sprintf("d%d/f", i), strings.Repeat("foo\n", 5000))
	}
	d := openFolder(t, dir)
	d.Workers, d.ahead = 4, 400<<10
	enough := errors.New("enough")
	for at := range 20 {
		n := 0
		_, err := d.SearchEach(t.Context(), search.Query{Pattern: "foo", RawLines: true, Parts: true}, func(*search.FileMatch) error {
			if n++; n > at {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n = 0
		_, err = d.SearchEach(ctx, search.Query{Pattern: "foo", RawLines: true, Parts: true}, func(*search.FileMatch) error {
			if n++; n > at {
				cancel()
			}
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// Printing a file in which every line matches takes no more memory than printing one
// without matches.
func TestPartsAreBounded(t *testing.T) {
	stress.SkipShort(t)
	dir := t.TempDir()
	put(t, dir, "big", strings.Repeat("a line of a log file, in which everything matches\n", 1<<20))
	d := openFolder(t, dir)
	for _, paths := range [][]string{nil, {"big"}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines := 0
		_, err := d.SearchEach(t.Context(), search.Query{Pattern: "e", Scope: search.Scope{Paths: paths}, RawLines: true, Parts: true}, func(f *search.FileMatch) error {
			lines += len(f.Lines)
			return nil
		})
		runtime.ReadMemStats(&after)
		if err != nil || lines != 1<<20 {
			t.Fatalf("%d lines, %v", lines, err)
		}
		// Searching ahead allocates up to aheadBytes and frees them.
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 3*aheadBytes>>20 {
			t.Errorf("%v: %d MB allocated for %d MB of lines", paths, took, lines*50>>20)
		}
	}
}
