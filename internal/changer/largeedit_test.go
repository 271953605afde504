package changer_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	regime "quarry/internal/stress"
)

// For a large file the journal keeps the bytes that an edit overwrote. The diff can be
// shown whatever happens to the file later, and the change can be undone and redone.
func TestLargeFileDiffAndUndo(t *testing.T) {
	regime.SkipTiny(t)
	text := strings.Repeat("some line of text\n", 150_000) + "the end\n"
	ws := changeable(t, map[string]string{"big.txt": text}, &quarry.Options{KeepBytes: 1 << 20})
	c := must(t)(ws.Edit(ctx, "big.txt", []change.Edit{change.Edit{Old: "the end", New: "The End", Occurrence: change.First}}, nil))
	if c.NoUndo != "" {
		t.Errorf("it can't be undone: %s", c.NoUndo)
	}
	want := "@@ -149998,4 +149998,4 @@\n some line of text\n some line of text\n some line of text\n-the end\n+The End\n"
	shows := func(when string) {
		t.Helper()
		d := must(t)(ws.Diff(ctx, c.ID, nil))
		if !strings.Contains(d.Diff, want) {
			t.Errorf("%s the diff is %q", when, d.Diff)
		}
	}
	shows("at once")
	later := must(t)(ws.Edit(ctx, "big.txt", []change.Edit{change.Edit{Verb: change.InsertAfter, First: 0, New: "top"}}, nil))
	shows("after another edit")
	must(t)(ws.Undo(ctx, later.ID, nil))
	undo := must(t)(ws.Undo(ctx, c.ID, nil))
	if !strings.Contains(undo.Diff, "-The End\n+the end\n") {
		t.Errorf("the undo shows %q", undo.Diff)
	}
	shows("when undone")
	if content(t, ws, "big.txt") != text {
		t.Error("undo does not give back the old content")
	}
	must(t)(ws.Undo(ctx, undo.ID, nil))
	if !strings.HasSuffix(content(t, ws, "big.txt"), "The End\n") {
		t.Error("the undo of the undo does not make the change again")
	}
}

// A large file with several hard links is rewritten in place, by the change and by its
// undo.
func TestLargeFileWithTwoNames(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 100_000)
	ws := changeable(t, map[string]string{"big.txt": string(text)}, nil)
	if err := os.Link(filepath.Join(ws.Dir(), "big.txt"), filepath.Join(ws.Dir(), "twin.txt")); err != nil {
		t.Skipf("no hard links here, set TMPDIR to a file system that has them: %v", err)
	}
	c := must(t)(ws.Edit(ctx, "big.txt", []change.Edit{change.Edit{Verb: change.DeleteLines, First: 2, Last: 3}}, nil))
	if got := content(t, ws, "twin.txt"); len(got) != len(text)-32 {
		t.Errorf("the other name has %d bytes", len(got))
	}
	must(t)(ws.Undo(ctx, c.ID, nil))
	if content(t, ws, "twin.txt") != string(text) {
		t.Error("undo does not give back the old content")
	}
}

// A large file is edited more often than the journal can keep. The kept changes can be
// undone one by one, also after reopening, and each undo restores the previous content.
func TestLargeEditsBeyondTheCap(t *testing.T) {
	regime.SkipShort(t)
	edits := regime.Size(8, 20)
	dir, state := t.TempDir(), t.TempDir()
	open := func() *quarry.Workspace {
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: state, KeepBytes: int64(edits) * 50 << 10})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	ws := open()
	var b strings.Builder
	for rng := rand.New(rand.NewPCG(1, 1)); b.Len() < 6<<20; {
		fmt.Fprintf(&b, "%016x\n", rng.Uint64()) // poorly compressible
	}
	text := b.String()
	put(t, ws, "big", text)
	states := []string{text}
	for i := range edits {
		if i == edits/2 {
			ws.Close()
			ws = open()
		}
		first := 1 + i*1000
		must(t)(ws.Edit(ctx, "big", []change.Edit{
			change.Edit{Verb: change.DeleteLines, First: first, Last: first + 5999},
			change.Edit{Verb: change.InsertAfter, First: first + 6100, New: fmt.Sprint("edit ", i)},
		}, nil))
		states = append(states, content(t, ws, "big"))
	}
	log, err := ws.Changes(ctx, 0)
	if err != nil || log.Dropped == 0 || len(log.Changes)+log.Dropped != edits {
		t.Fatalf("%d changes, %d dropped, %v", len(log.Changes), log.Dropped, err)
	}
	ws.Close()
	ws = open()
	undone := 0
	for range log.Changes {
		if _, err := ws.Undo(ctx, "", nil); fault.CodeOf(err) == fault.NotFound {
			break // the undo needs space too, so the oldest change was dropped
		} else if err != nil {
			t.Fatal(err)
		}
		undone++
		if content(t, ws, "big") != states[edits-undone] {
			t.Fatalf("undo %d led elsewhere", undone)
		}
	}
	if undone < 3 {
		t.Errorf("only %d of %d were undone", undone, len(log.Changes))
	}
}
