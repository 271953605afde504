package quarry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
)

// A client that may not see secret and denied files is not told their names by the
// log, by an undo, even as a dry run, or by a diff; their owner is.
func TestLogHidesWhatPolicyDoes(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	ctx := context.Background()
	owner, err := quarry.Open(dir, &quarry.Options{StateDir: state, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	ids := map[string]string{}
	for _, path := range []string{"plain.txt", ".env", "private/plan.txt"} {
		c, err := owner.Write(ctx, path, []byte("TOPSECRET\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		ids[path] = c.ID
	}
	agent, err := quarry.Open(dir, &quarry.Options{StateDir: state, Deny: []string{"private"}})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	log, err := agent.Changes(ctx, 0)
	if err != nil || len(log.Changes) != 3 {
		t.Fatalf("%+v, %v", log, err)
	}
	said, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{".env", "private", "plan", "TOPSECRET"} {
		if strings.Contains(string(said), word) {
			t.Errorf("the log says %q: %s", word, said)
		}
	}
	if !strings.Contains(string(said), "plain.txt") || !strings.Contains(string(said), "not shown here") {
		t.Errorf("the log says %s", said)
	}
	for _, id := range []string{"", ids[".env"], ids["private/plan.txt"]} {
		for _, dry := range []bool{true, false} {
			c, err := agent.Undo(ctx, id, &change.Options{DryRun: dry})
			if fault.CodeOf(err) != fault.ProtectedPath || strings.Contains(err.Error(), "plan") || strings.Contains(err.Error(), ".env") {
				t.Errorf("undo %q, dry %v: %+v, %v", id, dry, c, err)
			}
		}
	}
	if _, err := agent.Undo(ctx, ids["plain.txt"], nil); err != nil {
		t.Errorf("undo of a visible change: %v", err)
	}
	if _, err := owner.Undo(ctx, ids[".env"], nil); err != nil {
		t.Errorf("undo by the owner: %v", err)
	}
}
