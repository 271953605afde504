package changer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// Lines of a given version are replaced in that version or not at all. An outdated
// version is refused whatever the file contains now.
func TestLinesOfAVersion(t *testing.T) {
	run := stress.Start(t, "edits by version and lines", 300, 10_000)
	w := changing(t, nil)
	file := filepath.Join(w.root.RealDir(), "f.txt")
	write := func(lines []string) string {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return text
	}
	stale, applied := 0, 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		lines := make([]string, 3+rng.IntN(20))
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d", rng.IntN(4))
		}
		read := write(lines)
		version := version.Of([]byte(read)).String()
		first := 1 + rng.IntN(len(lines))
		last := first + rng.IntN(len(lines)-first+1)
		now := append([]string(nil), lines...)
		switch i := rng.IntN(len(now)); rng.IntN(4) {
		case 0: // as it was read
		case 1:
			now[i] += "!"
		case 2:
			now = append(now[:i], now[i+1:]...)
		default:
			now = append(now[:i:i], append([]string{"new"}, now[i:]...)...)
		}
		before := write(now)
		_, err := w.Apply(context.Background(), change.Set{Ops: []change.Op{{
			Verb: change.EditFile, Path: "f.txt", Version: version,
			Edits: []change.Edit{{Verb: change.ReplaceLines, First: first, Last: last, New: "A\nB"}},
		}}})
		after := text(t, w, "f.txt")
		if before != read {
			stale++
			if fault.CodeOf(err) != fault.Conflict || after != before {
				run.Violation(seed, "a stale version: %v, the file is %q", err, after)
			}
			continue
		}
		applied++
		want := strings.Join(append(append(append([]string(nil), lines[:first-1]...), "A", "B"), lines[last:]...), "\n") + "\n"
		if err != nil || after != want {
			run.Violation(seed, "lines %d-%d: %v, %q, want %q", first, last, err, after, want)
		}
	}
	t.Logf("%d stale versions refused, %d applied", stale, applied)
	if stale == 0 || applied == 0 {
		t.Error("the test shows nothing")
	}
}
