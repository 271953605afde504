package changer

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
	"quarry/internal/stress"
)

// gnuPatch applies a patch to a file with GNU patch and returns the result. Without fuzz
// it requires the exact lines of a hunk, as Quarry does; with fuzz, its default, it may
// ignore lines of context.
func gnuPatch(t *testing.T, program, dir, fuzz string, m *mutation) (result string, ok bool) {
	t.Helper()
	file := filepath.Join(dir, "f.txt")
	if err := os.WriteFile(file, []byte(m.file), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p1", "--fuzz="+fuzz, "--batch", "--forward", "--no-backup-if-mismatch", "--reject-file=-", "--silent")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(m.patch)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	data, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(data), err == nil
}

// Mutated patches are compared with GNU patch: Quarry doesn't apply a hunk that GNU patch
// can't place, and if both place it correctly, the results are equal. The test logs how
// often GNU patch chooses a different place, with its default fuzz and without.
func TestAgainstGNUPatch(t *testing.T) {
	program, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("GNU patch is not installed (Debian: patch)")
	}
	if out, err := exec.Command(program, "--version").Output(); err != nil || !strings.HasPrefix(string(out), "GNU patch") {
		t.Skip("patch is not GNU's")
	}
	run := stress.Start(t, "mutated patches against GNU patch", 200, 10_000)
	w := changing(t, nil)
	file, dir := filepath.Join(w.root.RealDir(), "f.txt"), t.TempDir()
	var both, weRefuse, exactWrong, fuzzWrong, neither int
	for seed := range run.Cases() {
		m := newMutation(stress.Rand(seed))
		if err := os.WriteFile(file, []byte(m.file), 0o644); err != nil {
			t.Fatal(err)
		}
		ops, err := patch.Parse(m.patch, -1)
		if err == nil {
			_, err = w.Apply(context.Background(), change.Set{Ops: ops})
		}
		ours, exact := text(t, w, "f.txt"), ""
		exact, exactOK := gnuPatch(t, program, dir, "0", m)
		if loose, ok := gnuPatch(t, program, dir, "2", m); ok && loose != m.want {
			fuzzWrong++
		}
		if exactOK && exact != m.want {
			exactWrong++
		}
		switch {
		case err == nil && !exactOK:
			run.Violation(seed, "applied what GNU patch finds nowhere (%s):\n%s\npatch\n%s\ngives\n%s", m.kind, m.file, m.patch, ours)
		case err == nil && ours != m.want:
			run.Violation(seed, "applied in a wrong place (%s):\n%s\npatch\n%s\ngives\n%s", m.kind, m.file, m.patch, ours)
		case err == nil && exact == m.want:
			both++
		case err != nil && exactOK:
			weRefuse++
		case err != nil:
			neither++
		}
	}
	t.Logf("both right %d, both refuse %d, only we refuse %d; GNU patch applied in a wrong place: %d without fuzz, %d by default", both, neither, weRefuse, exactWrong, fuzzWrong)
	if both == 0 || neither == 0 {
		t.Errorf("%d applied by both, %d refused by both: the test shows nothing", both, neither)
	}
}
