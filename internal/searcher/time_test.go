package searcher

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"quarry/internal/stress"
	"quarry/search"
)

// An answer that reports a timeout is a part of the complete answer; any other is
// complete.
func TestTimeLimits(t *testing.T) {
	dir := t.TempDir()
	for i := range 120 {
		text := ""
		for n := range 40 {
			text += fmt.Sprintf("line %d of file %d, which has some words\n", n, i)
		}
		put(t, dir, fmt.Sprintf("d%d/f%d.md", i%9, i), text)
	}
	d := openFolder(t, dir)
	asks := []struct {
		name string
		ask  func(limit time.Duration) ([]string, *search.Summary, error)
	}{
		{"lines", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			q := search.Query{Pattern: "words", Limits: search.Limits{Time: limit}}
			sum, err = d.SearchEach(t.Context(), q, func(f *search.FileMatch) error {
				rows = append(rows, fmt.Sprint(f.Path, len(f.Lines)))
				return nil
			})
			return rows, sum, err
		}},
		{"counts", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			q := search.Query{Pattern: "words", Detail: search.Counts, Limits: search.Limits{Time: limit}}
			sum, err = d.SearchEach(t.Context(), q, func(f *search.FileMatch) error {
				rows = append(rows, fmt.Sprint(f.Path, f.Matched))
				return nil
			})
			return rows, sum, err
		}},
		{"parts", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			q := search.Query{Pattern: "words", RawLines: true, Parts: true, Limits: search.Limits{Time: limit}}
			sum, err = d.SearchEach(t.Context(), q, func(f *search.FileMatch) error {
				for _, l := range f.Lines {
					rows = append(rows, fmt.Sprint(f.Path, l.Number))
				}
				return nil
			})
			return rows, sum, err
		}},
		{"paths", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			r, err := d.Find(t.Context(), search.FindQuery{Time: limit})
			if err != nil {
				return nil, nil, err
			}
			for _, e := range r.Entries {
				rows = append(rows, e.Path)
			}
			return rows, &r.Summary, nil
		}},
		{"texts", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			sum, err = d.EachText(t.Context(), search.TextQuery{Time: limit}, func(_ string, text []byte) any { return len(text) },
				func(path string, found any) { rows = append(rows, fmt.Sprint(path, found)) })
			return rows, sum, err
		}},
		{"code", func(limit time.Duration) (rows []string, sum *search.Summary, err error) {
			r, err := d.SearchCode(t.Context(), search.CodeQuery{Query: "words", Limit: 1000, Time: limit})
			if err != nil {
				return nil, nil, err
			}
			return []string{fmt.Sprint(r.FilesMatched)}, &r.Summary, nil
		}},
	}
	whole := make([][]string, len(asks))
	for i, a := range asks {
		var err error
		if whole[i], _, err = a.ask(0); err != nil {
			t.Fatal(err)
		}
	}
	run := stress.Start(t, "time limits", 200, 20_000)
	stopped := 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		i := rng.IntN(len(asks))
		limit := time.Duration(1 + rng.IntN(1<<uint(4+rng.IntN(20)))) // up to 16 ms
		got, sum, err := asks[i].ask(limit)
		switch {
		case err != nil:
			run.Violation(seed, "%s within %v: %v", asks[i].name, limit, err)
		case sum.Stopped == search.StopTime && sum.Exact:
			run.Violation(seed, "%s within %v: stopped and exact", asks[i].name, limit)
		case sum.Stopped == search.StopTime:
			stopped++
			for _, row := range got {
				if asks[i].name != "code" && !slices.Contains(whole[i], row) {
					run.Violation(seed, "%s within %v: %s is not in the whole answer", asks[i].name, limit, row)
				}
			}
		case !slices.Equal(got, whole[i]):
			run.Violation(seed, "%s within %v: %d rows of %d, and nothing said", asks[i].name, limit, len(got), len(whole[i]))
		}
	}
	if stopped == 0 && stress.Thorough() {
		t.Error("no search was stopped")
	}
}
