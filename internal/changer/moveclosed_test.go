package changer_test

import (
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
)

// A folder can't be moved if that would expose files that the owner's rules deny.
func TestMoveKeepsClosed(t *testing.T) {
	files := map[string]string{"docs/private/x.txt": "closed", "docs/open.txt": "open", "keys/server.pem": "closed", "lib/.git/config": "closed", "lib/a.txt": "open"}
	for _, c := range []struct {
		name, from, to string
		opts           quarry.Options
		code           fault.Code
	}{
		{"out of a denied place", "docs", "docs2", quarry.Options{Deny: []string{"docs/private"}}, fault.ProtectedPath},
		{"out of a denied place, deeper", "docs", "a/b/docs", quarry.Options{Deny: []string{"/docs/private/**"}}, fault.ProtectedPath},
		{"into an allowed place", "keys", "testdata", quarry.Options{Allow: []string{"testdata/*.pem"}}, fault.ProtectedPath},
		{"closed at both places", "docs", "docs2", quarry.Options{Deny: []string{"private"}}, ""},
		{"closed by name", "keys", "keys2", quarry.Options{Deny: []string{"docs"}}, ""},
		{"with a repository inside", "lib", "lib2", quarry.Options{Deny: []string{"docs"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, files, &c.opts)
			_, err := ws.Move(ctx, c.from, c.to, nil)
			if (err == nil) != (c.code == "") || err != nil && fault.CodeOf(err) != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			for _, at := range []string{c.from, c.to} {
				for _, name := range []string{"/private/x.txt", "/server.pem", "/.git/config"} {
					if _, err := ws.Read(ctx, at+name, nil); err == nil {
						t.Errorf("%s can be read", at+name)
					}
				}
			}
		})
	}
}

// Undoing a move must not expose files either: the owner's rules also apply when an agent
// undoes or redoes changes.
func TestUndoKeepsClosed(t *testing.T) {
	files := map[string]string{"pub/p.txt": "hush", "docs/private/x.txt": "closed", "docs/open.txt": "open", "keys/server.pem": "closed"}
	state := t.TempDir()
	owner := changeable(t, files, &quarry.Options{StateDir: state, Trusted: true, AllowAny: true})
	open := func(deny string) *quarry.Workspace {
		ws, err := quarry.Open(owner.Dir(), &quarry.Options{StateDir: state, Trash: change.TrashLocal, Deny: []string{deny}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	for _, c := range []struct {
		name string
		do   func() (*change.Change, error)
		deny string
	}{
		{"a folder moved into a denied place", func() (*change.Change, error) { return owner.Move(ctx, "pub", "private", nil) }, "private/**"},
		{"a folder with a denied one in it", func() (*change.Change, error) { return owner.Move(ctx, "moved", "docs", nil) }, "docs/private"},
		{"a deleted folder with a secret in it", func() (*change.Change, error) {
			return owner.Delete(ctx, "keys", &change.DeleteOptions{Trash: change.TrashNone})
		}, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.deny == "docs/private" {
				if _, err := owner.Move(ctx, "docs", "moved", nil); err != nil {
					t.Fatal(err)
				}
			}
			made, err := c.do()
			if err != nil {
				t.Fatal(err)
			}
			agent := open(c.deny)
			for _, id := range []string{made.ID, ""} {
				if _, err := agent.Undo(ctx, id, nil); fault.CodeOf(err) != fault.ProtectedPath {
					t.Errorf("the agent undoes it: %v", err)
				}
				if _, err := agent.Undo(ctx, id, &change.Options{DryRun: true}); fault.CodeOf(err) != fault.ProtectedPath {
					t.Errorf("the agent could undo it: %v", err)
				}
			}
			undone, err := owner.Undo(ctx, made.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.deny == "docs/private" {
				return // the redo hides files, as any move may
			}
			if _, err := agent.Undo(ctx, undone.ID, nil); fault.CodeOf(err) != fault.ProtectedPath {
				t.Errorf("the agent makes it again: %v", err)
			}
		})
	}
}

// A folder with a denied file can't be deleted, and a dry run says so too. No answer
// names the folder's contents.
func TestFoldersWithClosedFiles(t *testing.T) {
	files := map[string]string{"docs/private/hush.txt": "closed", "docs/sub/x.pem": "closed", "docs/open.txt": "open"}
	ws := changeable(t, files, &quarry.Options{Deny: []string{"docs/private/**"}})
	for _, path := range []string{"docs", "docs/sub"} {
		for _, dry := range []bool{true, false} {
			_, err := ws.Delete(ctx, path, &change.DeleteOptions{Options: change.Options{DryRun: dry}})
			if fault.CodeOf(err) != fault.ProtectedPath || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "x.pem") {
				t.Errorf("delete %s, dry run %v: %v", path, dry, err)
			}
		}
	}
	_, err := ws.Move(ctx, "docs", "d2", nil)
	if fault.CodeOf(err) != fault.ProtectedPath || strings.Contains(err.Error(), "hush") {
		t.Errorf("move: %v", err)
	}
	if log, err := ws.Changes(ctx, 0); err != nil || len(log.Changes) != 0 {
		t.Errorf("refused changes are in the log: %v %v", log, err)
	}
}
