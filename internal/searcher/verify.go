package searcher

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/match"
	"quarry/search"
)

// CompareAnswers compares answers of the index with those of a scan: the list of paths
// must equal a walk's, and searches for words of the files must equal a scan's. It calls
// fault for every difference. The results are the number of paths listed and of searches
// made.
func (d *Folder) CompareAnswers(ctx context.Context, fault func(path, what string)) (listed, searches int, err error) {
	v := &verifying{folder: d, tell: fault}
	err = v.answers(ctx)
	return v.listed, v.searches, err
}

type verifying struct {
	folder           *Folder
	tell             func(path, what string)
	listed, searches int
}

// answers compares answers with and without the index. Files may change in the meantime,
// so only differences that occur twice are reported.
func (v *verifying) answers(ctx context.Context) error {
	entries, err := v.paths(ctx)
	if err != nil {
		return err
	}
	v.listed = len(entries)
	words, err := v.sample(ctx, entries)
	if err != nil {
		return err
	}
	for _, word := range words {
		if err := v.search(ctx, word); err != nil {
			return err
		}
		v.searches++
	}
	return nil
}

// twice returns the differences of two answers that occur in two consecutive comparisons.
func twice(compare func() (map[string]string, error)) (map[string]string, error) {
	first, err := compare()
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := compare()
	for path := range first {
		if _, still := again[path]; !still {
			delete(first, path)
		}
	}
	return first, err
}

func (v *verifying) paths(ctx context.Context) (scanned []search.Entry, err error) {
	differ, err := twice(func() (map[string]string, error) {
		indexed, err := v.folder.Find(ctx, search.FindQuery{})
		if err != nil {
			return nil, err
		}
		list, err := v.folder.Find(ctx, search.FindQuery{Scope: search.Scope{NoIndex: true}})
		if err != nil {
			return nil, err
		}
		scanned = list.Entries
		out := map[string]string{}
		for _, e := range indexed.Entries {
			out[e.Path] = "is in the index, but a walk doesn't list it"
		}
		for _, e := range scanned {
			if _, ok := out[e.Path]; ok {
				delete(out, e.Path)
			} else {
				out[e.Path] = "is missing in the index"
			}
		}
		return out, nil
	})
	for path, what := range differ {
		v.tell(path, what)
	}
	return scanned, err
}

// sample picks words from files all over the tree.
func (v *verifying) sample(ctx context.Context, files []search.Entry) ([]string, error) {
	const most = 16 // a scan of Linux takes half a second
	var words []string
	step := max(1, len(files)/most)
	for i := 0; i < len(files) && len(words) < most; i += step {
		t, err := v.folder.Read(ctx, files[i].Path, &search.ReadOptions{MaxLines: 200})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		if w := longestWord(t.Lines); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words, nil
}

func longestWord(lines []string) string {
	longest := ""
	for _, line := range lines {
		for _, w := range strings.FieldsFunc(line, func(r rune) bool {
			return r < 0x80 && r != '_' && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
		}) {
			if len(w) > len(longest) && len(w) < 40 {
				longest = w
			}
		}
	}
	return longest
}

func (v *verifying) search(ctx context.Context, word string) error {
	differ, err := twice(func() (map[string]string, error) {
		indexed, err := v.count(ctx, word, false)
		if err != nil {
			return nil, err
		}
		scanned, err := v.count(ctx, word, true)
		out := map[string]string{}
		for path, n := range scanned {
			if indexed[path] != n {
				out[path] = fmt.Sprintf("%q is in %d lines by the index, in %d by a scan", word, indexed[path], n)
			}
			delete(indexed, path)
		}
		for path, n := range indexed {
			out[path] = fmt.Sprintf("%q is in %d lines by the index, in none by a scan", word, n)
		}
		return out, err
	})
	for path, what := range differ {
		v.tell(path, what)
	}
	return err
}

func (v *verifying) count(ctx context.Context, word string, scan bool) (map[string]int, error) {
	lines := map[string]int{}
	q := search.Query{Pattern: word, Match: match.Options{Syntax: match.Literal}, Detail: search.Counts, Scope: search.Scope{NoIndex: scan}}
	_, err := v.folder.SearchEach(ctx, q, func(f *search.FileMatch) error {
		lines[f.Path] = f.Matched
		return nil
	})
	return lines, err
}
