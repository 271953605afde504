package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The preview of an undo of many files begins with a summary. It says how many files the diff omits
// and which command shows them. The report after the undo says that all files are restored, and how
// to revert the undo.
func TestUndoOfManyFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	var patch strings.Builder
	for i := range 60 {
		name := fmt.Sprintf("f%02d.txt", i)
		if i < 20 {
			if err := os.WriteFile(name, []byte("first\n"+strings.Repeat("old\n", 29)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case i < 10:
			fmt.Fprintf(&patch, "--- a/%s\n+++ b/%s\n@@ -1,1 +1,1 @@\n-first\n+new\n", name, name)
		case i < 20:
			fmt.Fprintf(&patch, "--- a/%s\n+++ /dev/null\n@@ -1,30 +0,0 @@\n-first\n%s", name, strings.Repeat("-old\n", 29))
		default:
			fmt.Fprintf(&patch, "--- /dev/null\n+++ b/%s\n@@ -0,0 +1,30 @@\n%s", name, strings.Repeat("+new\n", 30))
		}
	}
	run := func(args ...string) string {
		t.Helper()
		r := runQuarry("", args...)
		if r.code != 0 {
			t.Fatalf("quarry %q: %s", args, r.err)
		}
		return r.out
	}
	wants := func(got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in\n%s", w, got[:min(len(got), 300)]+" ... "+got[max(0, len(got)-200):])
			}
		}
	}
	if r := runQuarry("", "point", "before"); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := runQuarry(patch.String(), "patch"); r.code != 0 {
		t.Fatal(r.err)
	}
	id := strings.Fields(run("log"))[0]
	const planned = "It brings back 10 files, changes back 10, removes 40:\n"
	for _, args := range [][]string{{"undo", id}, {"undo", "--to", "before"}} {
		short := run(append(args, "--dry-run")...)
		shown := strings.Count(short, "\n--- ") + strings.Count(short, "to trash: ") + strings.Count(short, "from trash: ")
		wants(short, planned, fmt.Sprintf("\n%d more files; quarry %s --dry-run --diff shows all\n", 60-shown, strings.Join(args, " ")))
		whole := run(append(args, "--dry-run", "--diff")...)
		wants(whole, planned, "f00.txt", "f59.txt")
		if strings.Contains(whole, "more file") {
			t.Errorf("%q --diff does not show all", args)
		}
	}
	done := run("undo", id)
	log := run("log")
	undo := strings.Fields(log)[0]
	wants(done, "All paths are as they were before it; quarry undo "+undo+" takes this back.\n")
	wants(log, "undo "+id+": brought back 10 files, changed back 10, removed 40")
	run("undo", undo)
	wants(run("log"), "undo "+undo+": brought back 40 files, changed back 10, removed 10")
	wants(run("undo", "--to", "before", "--all"), "brought back 10 files, changed back 10, removed 40", "takes this back")
	if r := runQuarry("", "diff", "--since", "before"); r.code != 1 || r.out != "" || r.err != "quarry: nothing differs\n" {
		t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
	}
	wants(run("undo", "--help"), "a script has just damaged many files", "modes, links and folders come back, times do not")
}
