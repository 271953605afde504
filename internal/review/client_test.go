package review_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/review"
	"quarry/internal/stress"
	"quarry/tool"
	"quarry/toolset"
)

// works has for each changing tool arguments that have an effect.
var works = map[string]map[string]any{
	"edit_file":        {"path": "a.txt", "old_text": "15\n", "new_text": "fifteen\n"},
	"write_file":       {"path": "a.txt", "content": "x\n"},
	"apply_changes":    {"changes": []any{map[string]any{"path": "a.txt", "content": "x\n"}}},
	"apply_patch":      {"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-1\n+one\n"},
	"replace_in_files": {"text": "15", "replacement": "fifteen"},
	"create_folder":    {"path": "new"},
	"move_file":        {"source": "a.txt", "destination": "b.txt"},
	"delete_file":      {"path": "a.txt"},
	"create_note":      {"path": "notes/new.md", "content": "# new\n"},
	"modify_note":      {"path": "notes/n.md", "operation": "append", "content": "more"},
	"organize_note":    {"source": "notes/n.md", "destination": "notes/o.md"},
	"edit_section":     {"path": "notes/n.md", "heading": "n", "operation": "append", "content": "more"},
	"properties":       {"path": "notes/n.md", "operation": "set", "name": "status", "value": "done"},
	"tags":             {"tag": "old", "new_name": "newer"},
}

// working returns arguments with which the tool name has an effect. last is a change of
// another client, for undo_change.
func working(t testing.TB, name, last string) map[string]any {
	t.Helper()
	if name == "undo_change" {
		return map[string]any{"id": last}
	}
	args, ok := works[name]
	if !ok {
		t.Fatalf("%s changes files and has no call in this test", name)
	}
	return maps.Clone(args)
}

// TestOneClientIsHeld holds back one client only. Each changing tool of each profile
// waits when that client calls it, however its name is spelled, and when the client has
// no name. Changes of another client are made at once.
func TestOneClientIsHeld(t *testing.T) {
	stress.SkipTiny(t)
	for _, profile := range []string{"quarry", "notes"} { // together these have all changing tools
		for name, held := range map[string]bool{"rev": true, "REV": true, "": true, "other": false} {
			if profile == "quarry" && (name == "REV" || name == "") {
				continue // in one profile only
			}
			t.Run(profile+" "+name, func(t *testing.T) { oneClient(t, profile, name, held) })
		}
	}
}

func oneClient(t *testing.T, profile, name string, held bool) {
	files := map[string]string{"a.txt": ten, "notes/n.md": "# n\n\n[[m]] #old\n", "notes/m.md": "# m\n", ".obsidian/app.json": "{}"}
	all, err := toolset.New(nil, &toolset.Options{Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	for i, described := range all.Tools() {
		if described.Hints.ReadOnly || !stress.Samples(i) {
			continue
		}
		b := newBench(t, files, -1)
		ws := b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1, Clients: []string{"rev"}})
		written, err := b.person.Write(t.Context(), "a.txt", []byte(ten+"31\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := toolset.New(ws, &toolset.Options{Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(working(t, described.Name, written.ID))
		if err != nil {
			t.Fatal(err)
		}
		before := b.tree()
		res := tools.Lookup(described.Name).Execute(tool.WithClient(t.Context(), tool.Client{Name: name}), raw)
		waits := strings.Contains(res.Text, "waits for") && b.tree() == before
		if waits != held || (b.tree() == before) != held {
			t.Errorf("%s by %q: held %v, wanted %v: %s", described.Name, name, waits, held, res.Text)
		}
		list, err := b.store.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.State == review.Waiting && p.Client.Name != name {
				t.Errorf("%s: proposed by %q, called by %q", described.Name, p.Client.Name, name)
			}
		}
		log, err := b.person.Changes(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if !held && log.Changes[0].Client.Name != name {
			t.Errorf("%s: logged as done by %q, called by %q", described.Name, log.Changes[0].Client.Name, name)
		}
	}
}
