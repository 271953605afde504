package changer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/replacer"
	regime "quarry/internal/stress"
	"quarry/search"
)

// For TestSetsTakeTurns: every set changes all files. In every file, each process has a
// line with a number that it increments.
const (
	turnFiles = 16
	turnProcs = 4
)

func turnsText() string {
	var b strings.Builder
	b.WriteString("foreign 000000\n")
	for p := range turnProcs {
		for i := range 4 {
			fmt.Fprintf(&b, "between %d %d\n", p, i)
		}
		fmt.Fprintf(&b, "process %d: 0;\n", p)
	}
	return b.String()
}

// numberOf returns a process's number if it is the same in all files, and otherwise -1.
func numberOf(t *testing.T, dir, name string) int {
	t.Helper()
	number := -2
	for i := range turnFiles {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)))
		if err != nil {
			t.Fatal(err)
		}
		n := -1
		if _, rest, ok := strings.Cut(string(data), name+": "); ok {
			fmt.Sscanf(rest, "%d;", &n)
		}
		if i > 0 && n != number {
			return -1
		}
		number = n
	}
	return number
}

// TestTurnsChild is one of the processes that change the same files.
func TestTurnsChild(t *testing.T) {
	base, name, sets := os.Getenv("QUARRY_TURNS"), os.Getenv("QUARRY_NAME"), 0
	if base == "" {
		t.Skip("runs as a child of TestSetsTakeTurns")
	}
	fmt.Sscan(os.Getenv("QUARRY_SETS"), &sets)
	ws, err := quarry.Open(filepath.Join(base, "ws"), killOptions(base, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	at, last, refused, half := 0, "", 0, 0
	for n := range sets {
		next := at + 1
		var c *change.Change
		var err error
		switch {
		case n%5 == 4 && last != "":
			next = at - 1
			c, err = ws.Undo(ctx, last, nil)
		case n%5 == 1: // by old text, without versions
			var set change.Set
			for i := range turnFiles {
				edit := change.Edit{Old: fmt.Sprintf("%s: %d;", name, at), New: fmt.Sprintf("%s: %d;", name, next)}
				set.Ops = append(set.Ops, change.Op{Verb: change.EditFile, Path: fmt.Sprintf("f%d.txt", i), Edits: []change.Edit{edit}})
			}
			c, err = ws.Apply(ctx, set)
		default: // like the tool replace_in_files
			find := func(ctx context.Context) (change.Set, error) {
				q := replacer.Query{Query: search.Query{Pattern: name + `: \d+;`}, Replacement: fmt.Sprintf("%s: %d;", name, next)}
				q.Globs = []string{"f*.txt"}
				found, err := replacer.Find(ctx, ws, q)
				if err != nil {
					return change.Set{}, err
				}
				return change.Set{Ops: found.Ops}, nil
			}
			var set change.Set
			if set, err = find(ctx); err == nil {
				set.Again = find
				c, err = ws.Apply(ctx, set)
			}
		}
		want := at
		if err == nil {
			want = next
			if last = c.ID; c.Undoes != "" {
				last = ""
			}
		} else if refused++; fault.CodeOf(err) != fault.Conflict && fault.CodeOf(err) != fault.Timeout {
			t.Errorf("set %d: %v", n, err)
		}
		var partial *change.PartialError
		if got := numberOf(t, ws.Dir(), name); got != want || errors.As(err, &partial) {
			half++
			t.Errorf("set %d of %s has %d, and is to have %d: %v", n, name, got, want, err)
		}
		if at = want; half > 0 {
			break
		}
	}
	fmt.Println("refused", refused)
}

// Two or four processes apply sets to the same files while another program writes to
// these in place. Each set is applied as a whole or not at all.
func TestSetsTakeTurns(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "sets of several processes", 500, 2000)
	total := 0
	for range run.Cases() {
		total++
	}
	for _, procs := range []int{2, turnProcs} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) { setsTakeTurns(t, procs, max(5, total/2/procs)) })
	}
}

func setsTakeTurns(t *testing.T, procs, sets int) {
	base := regime.FastDir(t)
	for _, d := range []string{"ws", "state", "data"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range turnFiles {
		if err := os.WriteFile(filepath.Join(base, "ws", fmt.Sprintf("f%d.txt", i)), []byte(turnsText()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	type result struct {
		out []byte
		err error
	}
	results := make(chan result)
	var cmds []*exec.Cmd
	for p := range procs {
		cmd := child(t, "TestTurnsChild", "QUARRY_TURNS="+base, fmt.Sprintf("QUARRY_NAME=process %d", p), fmt.Sprintf("QUARRY_SETS=%d", sets))
		cmds = append(cmds, cmd)
		go func() {
			out, err := cmd.Output()
			results <- result{out, err}
		}()
	}
	began := time.Now()
	stop, written := make(chan struct{}), make(chan int)
	go writeInPlace(filepath.Join(base, "ws"), stop, written)
	refused := 0
	for range cmds {
		r := <-results
		if r.err != nil {
			t.Errorf("%v\n%s", r.err, r.out)
		}
		var n int
		if _, rest, ok := strings.Cut(string(r.out), "refused "); ok {
			fmt.Sscan(rest, &n)
		}
		refused += n
	}
	close(stop)
	t.Logf("%d sets of %d files by %d processes beside %d foreign writes: %d refused, in %.1fs", procs*sets, turnFiles, procs, <-written, refused, time.Since(began).Seconds())
}

// writeInPlace overwrites a few bytes of the files at short intervals, like another
// program.
func writeInPlace(dir string, stop <-chan struct{}, written chan<- int) {
	rng, n := regime.Rand(1), 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			written <- n
			return
		case <-tick.C:
		}
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", rng.IntN(turnFiles))), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		n++
		fmt.Fprintf(&at{f, 8}, "%06d", n)
		f.Close()
	}
}

// at writes to f from the offset off on.
type at struct {
	f   *os.File
	off int64
}

func (w *at) Write(b []byte) (int, error) { return w.f.WriteAt(b, w.off) }
