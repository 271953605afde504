package quarry_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
)

// replay is a text that records who last modified each line. No two lines are equal.
type replay struct {
	lines, who []string
	next       int
}

func (r *replay) text() string { return strings.Join(r.lines, "\n") + "\n" }

// edit changes some lines at random; by is the author of the new lines.
func (r *replay) edit(rng *rand.Rand, by string) {
	for range 1 + rng.IntN(4) {
		at, cut := rng.IntN(len(r.lines)+1), 0
		if at < len(r.lines) {
			cut = rng.IntN(min(3, len(r.lines)-at) + 1)
		}
		var lines, who []string
		for range rng.IntN(3) {
			r.next++
			lines, who = append(lines, fmt.Sprintf("line %d", r.next)), append(who, by)
		}
		if cut == len(r.lines) && len(lines) == 0 {
			continue // a text without lines has its own test
		}
		r.lines, r.who = slices.Replace(r.lines, at, at+cut, lines...), slices.Replace(r.who, at, at+cut, who...)
	}
}

// become restores an older text; by is the author of the lines that come back.
func (r *replay) become(lines []string, by string) {
	who := make([]string, len(lines))
	for i, l := range lines {
		if who[i] = by; slices.Contains(r.lines, l) {
			who[i] = r.who[slices.Index(r.lines, l)]
		}
	}
	r.lines, r.who = slices.Clone(lines), who
}

// TestAuthorsOfLines compares Authors with a replay, for random histories of writes, edits by other
// programs, moves, deletions that are undone, and other undos.
func TestAuthorsOfLines(t *testing.T) {
	run := stress.Start(t, "authors of lines", 160, 500)
	var compared, ours, outside int
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		dir := t.TempDir()
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal})
		if err != nil {
			t.Fatal(err)
		}
		r, name := &replay{}, "a.txt"
		for r.next < 8 {
			r.next++
			r.lines, r.who = append(r.lines, fmt.Sprintf("line %d", r.next)), append(r.who, "")
		}
		put := func() {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(r.text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		put()
		last, before := "", []string(nil) // last change of the content, and the text before that change
		for k := range 12 {
			switch rng.IntN(8) {
			case 0:
				r.edit(rng, "")
				put()
				last = ""
			case 1:
				to := fmt.Sprintf("moved%d.txt", k)
				if _, err := ws.Move(t.Context(), name, to, nil); err != nil {
					t.Fatal(err)
				}
				name, last = to, ""
			case 2:
				c, err := ws.Delete(t.Context(), name, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ws.Undo(t.Context(), c.ID, nil); err != nil {
					t.Fatal(err)
				}
				last = ""
			case 3:
				if last == "" {
					continue
				}
				c, err := ws.Undo(t.Context(), last, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.become(before, c.ID)
				last = ""
			default:
				then := slices.Clone(r.lines)
				r.edit(rng, "now")
				c, err := ws.Write(t.Context(), name, []byte(r.text()), &change.Options{Client: change.Client{Name: "agent"}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range r.who {
					if r.who[i] == "now" {
						r.who[i] = c.ID
					}
				}
				if last, before = c.ID, then; c.ID == "" {
					last = ""
				}
			}
			got, err := ws.Authors(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if !slices.Equal(got.Lines, r.who) {
				run.Violation(seed, "after step %d:\n%q\nwant\n%q\n%s", k, got.Lines, r.who, r.text())
				break
			}
			for _, id := range got.Lines {
				if id == "" {
					outside++
				} else if ours++; !slices.ContainsFunc(got.Changes, func(c change.Change) bool { return c.ID == id }) {
					t.Fatalf("%s is not among the changes", id)
				}
			}
		}
		run.Tried(1)
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d texts compared, %d lines of changes, %d not through Quarry", compared, ours, outside)
	if ours < 100 || outside < 100 {
		t.Error("too few lines of one kind")
	}
}

// TestDiffAll checks that the combined diff of several changes equals, for each file, the diff of a
// single change from the first text to the last.
func TestDiffAll(t *testing.T) {
	run := stress.Start(t, "several changes as one diff", 160, 200)
	shown := 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		dir, plain := t.TempDir(), t.TempDir()
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal})
		if err != nil {
			t.Fatal(err)
		}
		one, err := quarry.Open(plain, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal})
		if err != nil {
			t.Fatal(err)
		}
		first, now := map[string]string{}, map[string]string{}
		for i := range 3 {
			name := fmt.Sprintf("f%d.txt", i)
			r := &replay{next: i * 1000}
			r.edit(rng, "")
			r.lines = append(r.lines, name)
			first[name], now[name] = r.text(), r.text()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(r.text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var ids []string
		for k := range 1 + rng.IntN(6) {
			name := fmt.Sprintf("f%d.txt", rng.IntN(5)) // two of these don't exist at first
			now[name] += fmt.Sprintf("of change %d\n", k)
			if rng.IntN(3) == 0 {
				now[name] = now[name][strings.IndexByte(now[name], '\n')+1:] + "x\n"
			}
			c, err := ws.Write(t.Context(), name, []byte(now[name]), nil)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		all, err := ws.DiffAll(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for name, text := range now {
			if old, had := first[name]; had {
				if err := os.WriteFile(filepath.Join(plain, name), []byte(old), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c, err := one.Write(t.Context(), name, []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.ID != "" {
				d, err := one.Diff(t.Context(), c.ID, nil)
				if err != nil {
					t.Fatal(err)
				}
				want[name] = d.Diffs[0].Hunks
			}
		}
		got := map[string]string{}
		for _, d := range all.Diffs {
			got[d.New] = d.Hunks
			shown++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			run.Violation(seed, "shows\n%v\nwant\n%v", got, want)
		}
		run.Tried(1)
		ws.Close()
		one.Close()
	}
	t.Logf("%d files shown", shown)
	if shown < 10 {
		t.Error("too few")
	}
}
