package changer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/change"
	regime "quarry/internal/stress"
)

// A small edit in a large file takes at most three times as long as reading the file and
// writing it back durably.
func TestLargeEditSpeed(t *testing.T) {
	if testing.Short() || os.Getenv("PERF") == "" && !regime.Long() {
		t.Skip("writes a gigabyte; PERF=1 runs it")
	}
	line := []byte("The quick brown fox jumps over the lazy dog; 0123456789 and so on and on.\n")
	data := append([]byte("the start\n"), bytes.Repeat(line, 100<<20/len(line))...)
	data = append(data, "the end\n"...)
	ws := changeable(t, nil, nil)
	file := filepath.Join(ws.Dir(), "big.txt")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"end", "start"} {
		plain, edit := time.Hour, time.Hour
		from, to := "the "+word, "The "+word
		for range 5 { // alternate, so that other load affects both
			plain = min(plain, best(1, func(int) { rewrite(t, file) }))
			edit = min(edit, best(1, func(int) {
				must(t)(ws.Edit(ctx, "big.txt", []change.Edit{change.Edit{Old: from, New: to, Occurrence: change.First}}, nil))
			}))
			from, to = to, from
		}
		ratio := float64(edit) / float64(plain)
		t.Logf("1 byte at the %s of 100 MB: %v, plain read and rewrite %v: %.1f times", word, edit, plain, ratio)
		if ratio > 3 {
			slower(t, "more than 3 times a plain rewrite")
		}
	}
}

// rewrite reads a file and writes it back, durably.
func rewrite(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file + ".new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func TestSmallEditSpeed(t *testing.T) {
	regime.SkipShort(t)
	edits := regime.N(1000)
	ws := changeable(t, map[string]string{"n.md": "count 0\n" + string(bytes.Repeat([]byte("some text\n"), 400))}, nil)
	start := time.Now()
	for i := range edits {
		edit := change.Edit{Old: fmt.Sprintf("count %d\n", i), New: fmt.Sprintf("count %d\n", i+1), Occurrence: change.First}
		must(t)(ws.Edit(ctx, "n.md", []change.Edit{edit}, nil))
	}
	took := time.Since(start)
	t.Logf("%d durable edits: %v", edits, took)
	if took > time.Duration(edits)*10*time.Millisecond {
		slower(t, "more than 10 ms an edit")
	}
}

// TestVaultMoveSpeed moves a note in a large vault, for which all notes are searched for
// links.
func TestVaultMoveSpeed(t *testing.T) {
	regime.SkipShort(t)
	notes, moves := 1500, 2
	if regime.Thorough() {
		notes, moves = 5000, 5
	}
	ws := bigVault(t, notes)
	links, from := 0, "folder 3/sub 3/Note 3.md"
	least := best(moves, func(i int) {
		to := fmt.Sprintf("moved/Renamed %d.md", i)
		c := must(t)(ws.Move(ctx, from, to, nil))
		links += c.Links.Updated
		from = to
	})
	t.Logf("moving a note in a vault of %d: %v, %d links a move", notes, least, links/moves)
	if links == 0 {
		t.Error("no link was updated")
	}
	if least > 200*time.Millisecond {
		slower(t, "more than 200 ms")
	}
}
