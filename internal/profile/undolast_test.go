package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// undo_change without an id undoes the last change of the calling connection.
func TestUndoIsOfTheConnection(t *testing.T) {
	dir := t.TempDir()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	tools, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(s *tool.Session, name, args string) *tool.Result {
		t.Helper()
		ctx := t.Context()
		if s != nil {
			ctx = tool.WithSession(ctx, s)
		}
		res, err := tools.Call(ctx, name, []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	one, two := &tool.Session{}, &tool.Session{}
	call(one, "write_file", `{"path":"one","content":"1"}`)
	call(one, "write_file", `{"path":"one more","content":"1"}`)
	call(two, "write_file", `{"path":"two","content":"2"}`)

	if res := call(one, "undo_change", `{"dry_run":true}`); res.IsError || !exists("one more") {
		t.Fatalf("dry run: %s", res.Text)
	}
	for _, name := range []string{"one more", "one"} {
		if res := call(one, "undo_change", `{}`); res.IsError || exists(name) || !exists("two") {
			t.Fatalf("undo of %s: %s", name, res.Text)
		}
	}
	// The first connection has nothing left to undo, and its answer shows the other
	// connection's change.
	res := call(one, "undo_change", `{}`)
	if !res.IsError || !exists("two") || !strings.Contains(res.Text, "two") || !strings.Contains(res.Text, "Give an id") {
		t.Fatalf("undo of nothing: %s", res.Text)
	}
	// A new connection has made no changes.
	if res := call(&tool.Session{}, "undo_change", `{}`); !res.IsError || !exists("two") {
		t.Fatalf("undo after a reconnect: %s", res.Text)
	}
	// A change already undone by its id is skipped.
	call(two, "write_file", `{"path":"three","content":"3"}`)
	log, err := ws.Changes(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	call(one, "undo_change", `{"id":"`+log.Changes[0].ID+`"}`)
	if res := call(two, "undo_change", `{}`); res.IsError || exists("two") {
		t.Fatalf("undo of two: %s", res.Text)
	}
	// If a part of a change is missing, the error doesn't say that the change is missing.
	call(two, "write_file", `{"path":"four","content":"4\n"}`)
	call(two, "edit_file", `{"path":"four","old_text":"4","new_text":"IV"}`)
	if log, err = ws.Changes(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	id := log.Changes[0].ID
	for args, want := range map[string]string{
		`{"id":"` + id + `","path":"four","hunk":2}`: "has no hunk 2 of four", `{"id":"` + id + `","path":"one"}`: "has not changed one",
		`{"id":"` + id + `","hunk":1}`: "Give path too", `{"path":"four"}`: "Give its id",
	} {
		if res := call(two, "undo_change", args); !res.IsError || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %s, want %s", args, res.Text, want)
		}
	}
	if res := call(two, "undo_change", `{"id":"`+id+`","path":"four","hunk":1}`); res.IsError || !strings.Contains(res.Text, "+4") {
		t.Errorf("undo of a hunk: %s", res.Text)
	}
}
