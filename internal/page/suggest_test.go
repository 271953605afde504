package page

import (
	"encoding/json"
	"maps"
	"net/url"
	"testing"
)

// TestSuggest checks that an empty answer suggests searches that would find something, as tools do,
// with the changed parameters of the address.
func TestSuggest(t *testing.T) {
	s := serve(t, map[string]string{
		".gitignore": "*.log\n", "src/store.go": "func OpenStore() {}\n// a.b(c)\n", "notes/todo.md": "milk  and bread\n",
		"x.log": "gamma\n", ".hidden": "delta\n",
	}, nil)
	for _, c := range []struct {
		query, label, first string
		set                 map[string]string
	}{
		{"q=OpenStoer", `Did you mean "OpenStore"?`, "src/store.go", map[string]string{"q": "OpenStore", "mode": ""}},
		{"q=open_store", `Did you mean "OpenStore"?`, "src/store.go", map[string]string{"q": "OpenStore", "mode": ""}},
		{"q=store.OpenStore()", `Search for "OpenStore" alone`, "src/store.go", map[string]string{"q": "OpenStore", "mode": ""}},
		{"q=milk+and+bread", "With other white space", "notes/todo.md", map[string]string{"q": `milk\s+and\s+bread`, "mode": "regex"}},
		{"q=a.b(c)&mode=regex", "Search for it as plain text", "src/store.go", map[string]string{"mode": ""}},
		{"q=Open\\w%2B", "Search for it as a regular expression", "src/store.go", map[string]string{"mode": "regex"}},
		{"q=openstore&case=1", "In any letter case", "src/store.go", map[string]string{"case": ""}},
		{"q=Open&word=1", "Also inside words", "src/store.go", map[string]string{"word": ""}},
		{"q=milk&glob=*.go", "Remove the filters", "notes/todo.md", map[string]string{"glob": "", "type": ""}},
		{"q=gamma", "Include ignored files", "x.log", map[string]string{"ignored": "1"}},
		{"q=delta", "Include hidden files", ".hidden", map[string]string{"hidden": "1"}},
		{"q=todo.md", "Show files of this name", "notes/todo.md", map[string]string{"q": "todo.md", "mode": "paths"}},
		{"q=stroe.go&mode=paths", `Did you mean "store.go"?`, "src/store.go", map[string]string{"q": "store.go"}},
		{"q=bread&mode=paths", "Search the text of files", "notes/todo.md", map[string]string{"mode": ""}},
		{"q=OpenStoer&mode=words", `Did you mean "OpenStore"?`, "src/store.go", map[string]string{"q": "OpenStore", "mode": ""}},
	} {
		v, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, body := s.request(t, "GET", "/api/suggest?"+v.Encode(), "")
		var got struct{ Suggestions []suggestion }
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Suggestions) == 0 {
			t.Errorf("%s: %v, %s", c.query, err, body)
			continue
		}
		if g := got.Suggestions[0]; g.Label != c.label || g.First != c.first || !maps.Equal(g.Set, c.set) || g.Files != 1 {
			t.Errorf("%s: %+v", c.query, g)
		}
	}
}
