package stress_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
)

// Folders may be nested deeper than the maximum path length. Before deleting or moving them, their
// content is examined, in time linear in their number.
func TestDeepFolders(t *testing.T) {
	stress.SkipTiny(t)
	stress.NeedsUnix(t, "3,000 folders in each other")
	dir := stress.FastDir(t)
	at, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		name := "d"
		if i == 0 {
			name = "deep"
		}
		if err := at.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		below, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		at = below
	}
	at.Close()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	longest := time.Duration(0)
	for _, c := range []struct{ tool, args string }{
		{"delete_file", `{"path":"deep","dry_run":true}`}, {"move_file", `{"source":"deep","destination":"other","dry_run":true}`},
	} {
		began := stress.CPU()
		r := reg.Lookup(c.tool).Execute(t.Context(), json.RawMessage(c.args))
		took := stress.CPU() - began
		if r.IsError || !strings.Contains(r.Text, "ry run") {
			t.Errorf("%s: %s", c.tool, r.Text)
		}
		if longest = max(longest, took); took > 500*time.Millisecond {
			t.Errorf("%s: %v of processor time", c.tool, took)
		}
	}
	t.Logf("%v at most", longest)
}
