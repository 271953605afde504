package replacer_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/replacer"
	"quarry/internal/stress"
	"quarry/match"
)

// Several replacements are all made in the original text, or refused if two overlap. Results
// are compared with Go's regexp and a mark for every byte.
func TestSeveralAtOnce(t *testing.T) {
	dir := t.TempDir()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	const seed = 7
	rng := stress.Rand(seed)
	patterns := []string{`a`, `b+`, `\bab\b`, `c(\d)`, `[xy]z`, `d$`, `^e`, `ab`, `^`, `$`, `z*`}
	made, refused := 0, 0
	for n := range stress.Size(200, 3000) {
		var text strings.Builder
		for range rng.IntN(40) {
			text.WriteString([]string{"a", "b", "ab", "c1", "xz", "yz", "d", "e", " ", "\n", "—"}[rng.IntN(11)])
		}
		if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		var list []replacer.Query
		for _, i := range rng.Perm(len(patterns))[:2+rng.IntN(2)] {
			q := replacer.Query{Replacement: fmt.Sprintf("<%d>", i)}
			if q.Pattern = patterns[i]; strings.Contains(q.Pattern, "(") {
				q.Replacement = "<$1>"
			}
			list = append(list, q)
		}
		want, overlap, matches := severally(text.String(), list)
		found, err := replacer.FindAll(t.Context(), ws, list)
		var same *replacer.OverlapError
		switch {
		case overlap:
			refused++
			if !errors.As(err, &same) {
				t.Fatalf("round %d: %q by %v: %v, want an overlap", n, text.String(), list, err)
			}
			continue
		case matches == 0:
			if !errors.Is(err, replacer.ErrNone) {
				t.Fatalf("round %d: %v, want that nothing matches", n, err)
			}
			continue
		case err != nil || found.Matches != matches:
			t.Fatalf("round %d: %q by %v: %+v, %v, want %d matches", n, text.String(), list, found, err, matches)
		}
		made++
		if _, err := ws.Apply(t.Context(), change.Set{Ops: found.Ops}); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f.txt")); string(got) != want {
			t.Fatalf("round %d: %q by %v is %q, want %q", n, text.String(), list, got, want)
		}
	}
	if made < 20 || refused < 20 {
		t.Errorf("%d made, %d refused: the patterns try too little", made, refused)
	}
}

// severally replaces the matches of each pattern in the original text, line by line.
func severally(text string, list []replacer.Query) (out string, overlap bool, matches int) {
	type span struct {
		from, to int
		new      string
	}
	var all []span
	for _, q := range list {
		re := regexp.MustCompile(q.Pattern)
		at := 0
		for line := range strings.Lines(text) {
			inside := strings.TrimSuffix(line, "\n")
			for _, m := range re.FindAllStringSubmatchIndex(inside, -1) {
				all = append(all, span{at + m[0], at + m[1], string(re.ExpandString(nil, q.Replacement, inside, m))})
			}
			at += len(line)
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	at := 0
	var b strings.Builder
	for i, s := range all {
		if s.from < at || i > 0 && s.to == all[i-1].from {
			return "", true, 0
		}
		b.WriteString(text[at:s.from] + s.new)
		at = s.to
	}
	return b.String() + text[at:], false, len(all)
}

// When there are very many matches, several are joined into one edit. That leaves the text
// between them to another replacement.
func TestSeveralOfMany(t *testing.T) {
	dir := t.TempDir()
	const lines = 3 * 4096
	if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte(strings.Repeat("a b\n", lines)), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	list := []replacer.Query{{Replacement: "B"}, {Replacement: "A"}}
	list[0].Pattern, list[1].Pattern = "a", "b"
	found, err := replacer.FindAll(t.Context(), ws, list)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Apply(t.Context(), change.Set{Ops: found.Ops}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "f.txt")); string(got) != strings.Repeat("B A\n", lines) {
		t.Error("not all were replaced")
	}
}

func TestSeveralCounts(t *testing.T) {
	files := &fake{text: "one two two\n", paths: []string{"a", "b"}}
	query := func(text, new string) replacer.Query {
		q := replacer.Query{Replacement: new, Literal: true}
		q.Pattern, q.Match.Syntax = text, match.Literal
		return q
	}
	list := []replacer.Query{query("one", "1"), query("none", "0"), query("two", "2")}
	found, err := replacer.FindAll(t.Context(), files, list)
	if err != nil || fmt.Sprint(found.Each, found.Matches, found.Counts) != "[2 0 4] 6 [{a 3} {b 3}]" {
		t.Errorf("%+v, %v", found, err)
	}
	list[0].Expected = 5
	var count *replacer.CountError
	if _, err := replacer.FindAll(t.Context(), files, list); !errors.As(err, &count) || count.Have != 6 {
		t.Errorf("with another number of matches expected: %v", err)
	}
	if _, err := replacer.FindAll(t.Context(), files, []replacer.Query{query("x", ""), query("y", "")}); !errors.Is(err, replacer.ErrNone) {
		t.Errorf("when nothing matches: %v", err)
	}
}
