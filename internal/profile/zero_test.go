package profile_test

import (
	"strings"
	"testing"
	"time"

	"quarry/internal/profile"
)

// A wider look that has no time says so instead of looking like one that found
// nothing.
func TestZeroWithoutTime(t *testing.T) {
	ws := code().make(t)
	for _, c := range []struct{ tool, args, cut string }{
		{"search_files", `{"regex":"generated"}`, "in another letter case, with include_hidden, with include_hidden and include_ignored"},
		{"search_files", `{"regex":"TODO","file_pattern":"*.none"}`, "without file_pattern, "},
		{"search_by_path", `{"pattern":"out.js"}`, "with include_hidden and include_ignored"},
		{"list_files", `{"pattern":"*.none"}`, "with include_hidden and include_ignored"},
		{"search_notes", `{"query":"milk nonesuch"}`, `"milk", "nonesuch"`},
	} {
		hurried := call(t, tools(t, ws, profile.Options{WiderTime: time.Nanosecond}), c.tool, c.args)
		if hurried.IsError || !strings.Contains(hurried.Text, "not looked to the end: ") || !strings.Contains(hurried.Text, c.cut) {
			t.Errorf("%s %s without time: %s; want %q", c.tool, c.args, hurried.Text, c.cut)
		}
		if patient := call(t, tools(t, ws, profile.Options{}), c.tool, c.args); strings.Contains(patient.Text, "not looked") {
			t.Errorf("%s %s with time: %s", c.tool, c.args, patient.Text)
		}
	}
}

// A note that was found with .md added is called so in the error.
func TestNoteErrorNamesTheNote(t *testing.T) {
	ws := vault().make(t)
	r := call(t, tools(t, ws, profile.Options{}), "modify_note", `{"path":"Tasks","operation":"replace","search":"nonesuch","content":"x"}`)
	if !r.IsError || !strings.Contains(r.Text, "Text 'nonesuch' not found in Tasks.md") {
		t.Error(r.Text)
	}
	r = call(t, tools(t, ws, profile.Options{}), "modify_note", `{"path":"Nowhere","operation":"append","content":"x"}`)
	if !r.IsError || !strings.Contains(r.Text, `There is no note at "Nowhere"`) {
		t.Error(r.Text)
	}
}
