package clients

import (
	"encoding/json"
	"strings"
	"testing"
)

// Adding and removing our hooks leaves other hooks unchanged.
func TestHooks(t *testing.T) {
	for _, name := range HookClients {
		h := HooksOf(name)
		event := h.events[0].name
		for _, old := range []string{
			"", "{}\n", "{\n  // mine\n  \"a\": 1,\n}\n",
			"{\r\n\t\"hooks\": {\r\n\t\t\"" + event + "\": [\r\n\t\t\t{\"matcher\": \"X\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\r\n\t\t]\r\n\t}\r\n}\r\n",
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say"}]}]}}`,
		} {
			added, err := h.Add([]byte(old), "quarry", false)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, old, err)
			}
			if n := strings.Count(string(added), "quarry hook "); n != 3 {
				t.Errorf("%s: %d hooks in %s", name, n, added)
			}
			if again, err := h.Add(added, "/other/quarry", false); err != nil || string(again) != string(added) {
				t.Errorf("%s: the second time %v:\n%s", name, err, again)
			}
			removed, found, err := h.Remove(added)
			if err != nil || !found || strings.Contains(string(removed), "quarry") || strings.Contains(old, "other") != strings.Contains(string(removed), "other") {
				t.Errorf("%s: %v, left %s", name, err, removed)
			}
			var a, b any
			if json.Unmarshal([]byte(old), &a) == nil && (json.Unmarshal(removed, &b) != nil || mustJSON(t, a) != mustJSON(t, b)) {
				t.Errorf("%s: %s became %s", name, old, removed)
			}
			if _, found, _ := h.Remove(removed); found {
				t.Errorf("%s: found some in %s", name, removed)
			}
		}
		if _, err := h.Add([]byte(`{"hooks": [`), "quarry", false); err == nil {
			t.Errorf("%s: a broken file was changed", name)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
