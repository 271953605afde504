package profile_test

import (
	"strings"
	"testing"

	"quarry/internal/profile"
)

// Without list_changes in the profile, a wrong id is answered with the latest changes and
// the first of their files; files that an edit left as they were don't count as changed.
func TestWrongIDListsChanges(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{"a.txt": "n = 1\n", "b.txt": "n = 5\n", "c.txt": "n = 2\n"})
	made := callText(t, r, "replace_in_files", `{"regex":"n = \\d","replacement":"n = 5","expected_count":3}`)
	if !strings.Contains(made, "Changed 2 files: +2 -2.") {
		t.Errorf("one of three files is as before:\n%s", made)
	}
	for _, id := range []string{"?", "2aaaaaaa"} {
		got := callText(t, r, "undo_change", `{"id":"`+id+`"}`)
		if !strings.Contains(got, "The last changes:\n") || !strings.Contains(got, ": a.txt, ") || strings.Contains(got, "list_changes") {
			t.Errorf("id %s:\n%s", id, got)
		}
	}
}
