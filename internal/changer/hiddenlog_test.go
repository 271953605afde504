package changer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/stress"
)

// The log, an undo, its dry run and a diff don't show the names of secret and denied
// files to a client that may not see them. The owner sees them.
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

// After random changes of secret and denied files, a client that may not see them learns
// none of their names from the log, an undo or a diff.
func TestLogHidesRandomChanges(t *testing.T) {
	run := stress.Start(t, "policy: what the log tells", 60, 5_000)
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		dir, state := t.TempDir(), t.TempDir()
		ctx := context.Background()
		owner, err := quarry.Open(dir, &quarry.Options{StateDir: state, Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		hidden := []string{"SECRETplan/a.txt", "SECRETplan/deep/b.txt", "x/SECRET.pem", "x/.env.SECRET", "y/id_rsaSECRET"}
		shown := []string{"plain.txt", "x/open.txt", "y/z/note.md"}
		pick := func() string {
			if rng.IntN(2) == 0 {
				return hidden[rng.IntN(len(hidden))]
			}
			return shown[rng.IntN(len(shown))]
		}
		var ids []string
		for range 3 + rng.IntN(8) {
			var c *change.Change
			switch p := pick(); rng.IntN(5) {
			case 0, 1:
				c, err = owner.Write(ctx, p, []byte("SECRETtext "+strings.Repeat("x", rng.IntN(9))+"\n"), nil)
			case 2:
				c, err = owner.Move(ctx, p, pick()+"SECRET", nil)
			case 3:
				c, err = owner.Delete(ctx, p, &change.DeleteOptions{Trash: change.TrashNone})
			case 4:
				c, err = owner.Undo(ctx, "", nil)
			}
			if err == nil {
				ids = append(ids, c.ID)
			}
		}
		if err := owner.Close(); err != nil {
			t.Fatal(err)
		}
		agent, err := quarry.Open(dir, &quarry.Options{StateDir: state, Deny: []string{"SECRET*", "*SECRET"}})
		if err != nil {
			t.Fatal(err)
		}
		tell := func(what string, v any, err error) {
			said, _ := json.Marshal(v)
			if text := string(said) + fmt.Sprint(err); strings.Contains(text, "SECRET") && !onlyText(text) {
				run.Violation(seed, "%s says %s", what, text)
			}
		}
		log, err := agent.Changes(ctx, 0)
		tell("the log", log, err)
		for _, id := range append(ids, "") {
			c, err := agent.Undo(ctx, id, &change.Options{DryRun: true})
			tell("a dry run of undo", c, err)
			c, err = agent.Diff(ctx, id, nil)
			tell("a diff", c, err)
		}
		agent.Close()
		run.Tried(2*len(ids) + 3)
	}
}

// onlyText reports whether an answer contains SECRET only in the text of a visible file,
// not in a name.
func onlyText(said string) bool {
	return !strings.Contains(strings.ReplaceAll(said, "SECRETtext", ""), "SECRET")
}
