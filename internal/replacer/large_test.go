package replacer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/replacer"
	"quarry/match"
	"quarry/search"
)

// replaced returns the text of a file after applying the result of Find.
func replaced(t *testing.T, text, pattern, with string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	q := replacer.Query{Replacement: with, Literal: true}
	q.Pattern, q.Match.Syntax = pattern, match.Literal
	found, err := replacer.Find(t.Context(), ws, q)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(text, pattern); found.Matches != want {
		t.Errorf("%d matches, want %d", found.Matches, want)
	}
	if _, err := ws.Apply(t.Context(), change.Set{Ops: found.Ops}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// When there are very many matches, several are joined into one edit. That leaves the text
// between them unchanged, including both kinds of line endings.
func TestJoinedMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	var b strings.Builder
	for range 60_000 {
		b.WriteString([]string{"x", "x", " ", "\r", "\n", "\r\n", "é", strings.Repeat("-", 200)}[rng.IntN(8)])
	}
	text := b.String()
	if got := replaced(t, text, "x", "yy"); got != strings.ReplaceAll(text, "x", "yy") {
		t.Error("the result differs from strings.ReplaceAll")
	}
	lf := strings.ReplaceAll(text, "\r", "")
	if got := replaced(t, lf, "x", "y\nz"); got != strings.ReplaceAll(lf, "x", "y\nz") {
		t.Error("with line breaks the result differs from strings.ReplaceAll")
	}
}

// Millions of matches take a few times the file's size of memory, not 650 bytes each.
func TestManyMatchesAreCheap(t *testing.T) {
	files := &fake{text: strings.Repeat("0123456789abcdef\n", 60_000)}
	q := replacer.Query{Replacement: "z"}
	q.Pattern = "."
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := replacer.Find(t.Context(), files, q)
	runtime.ReadMemStats(&after)
	if err != nil || found.Matches != 16*60_000 {
		t.Fatalf("%v", err)
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 32 {
		t.Errorf("%d MB for a file of 1 MB", mb)
	}
}

// The total of new text in all files is limited, not only each file's.
func TestTooMuch(t *testing.T) {
	files := &fake{text: "K\n", paths: make([]string, 60)}
	for i := range files.paths {
		files.paths[i] = fmt.Sprintf("f%02d", i)
	}
	q := replacer.Query{Replacement: strings.Repeat("x", 10<<20)}
	q.Pattern = "K"
	if _, err := replacer.Find(t.Context(), files, q); !errors.Is(err, replacer.ErrTooMuch) {
		t.Errorf("%v", err)
	}
}

// If some files can't be searched, the replacement is refused.
func TestIncomplete(t *testing.T) {
	for _, c := range []struct {
		name    string
		summary search.Summary
		want    string
	}{
		{"unreadable", search.Summary{Skipped: []search.Skip{{Path: "secret", Reason: search.Unreadable, Detail: "permission denied"}}, SkippedCount: map[search.Reason]int{search.Unreadable: 3}}, "secret (permission denied), and 2 more"},
		{"stopped", search.Summary{Stopped: search.StopBudget}, "did not finish"},
		{"binary", search.Summary{Skipped: []search.Skip{{Path: "b", Reason: search.Binary}}, SkippedCount: map[search.Reason]int{search.Binary: 1}}, ""},
		{"a long line", search.Summary{Skipped: []search.Skip{{Path: "long", Reason: search.TooLarge}}, SkippedCount: map[search.Reason]int{search.TooLarge: 1}}, ""},
		{"long lines that are not listed", search.Summary{SkippedCount: map[search.Reason]int{search.TooLarge: 1}}, "and 1 more"},
	} {
		q := replacer.Query{Replacement: "N"}
		q.Pattern = "needle"
		found, err := replacer.Find(t.Context(), &fake{text: "needle\n", paths: []string{"a"}, summary: c.summary}, q)
		var missed *replacer.IncompleteError
		if errors.As(err, &missed) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if want := 2; c.name == "a long line" && (err != nil || len(found.Ops) != want) {
			t.Errorf("%s: %+v, %v", c.name, found, err)
		}
	}
}

// fake has the same text in every file.
type fake struct {
	text    string
	paths   []string
	summary search.Summary
}

func (f *fake) SearchEach(_ context.Context, _ search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	if f.paths == nil {
		f.paths = []string{"a.txt"}
	}
	for _, p := range f.paths {
		if err := yield(&search.FileMatch{Path: p}); err != nil {
			return nil, err
		}
	}
	return &f.summary, nil
}

func (f *fake) ReadBytes(context.Context, string, int64) ([]byte, error) { return []byte(f.text), nil }
