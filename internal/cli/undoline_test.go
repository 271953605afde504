package cli

import (
	"runtime"
	"strings"
	"testing"
)

// In an argument FILE:LINE whose LINE is not a number, the text after the colon is part of the
// file's name. If the change has no such file, the message explains the format.
func TestUndoOfALine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	if r := runQuarry("", "write", "a.txt", "--content", "x"); r.code != 0 {
		t.Fatal(r.err)
	}
	id := strings.Fields(runQuarry("", "log").out)[0]
	r := runQuarry("", "undo", id, "a.txt:zz")
	wanted := []string{"has not changed a.txt:zz", "it changed a.txt", "in FILE:LINE the line is a number"}
	if runtime.GOOS == "windows" { // Windows doesn't allow this file name
		wanted = []string{"a.txt:zz: a name can't contain a colon here"}
	}
	for _, want := range wanted {
		if r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("exit code %d, %q; want %q", r.code, r.err, want)
		}
	}
	if r := runQuarry("", "undo", id, "a.txt"); r.code != 0 {
		t.Error(r.err)
	}
}
