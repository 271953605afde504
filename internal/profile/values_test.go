package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
)

// TestValuesByPath reads values with path#value and changes them with the parameter at
// and in scripts.
func TestValuesByPath(t *testing.T) {
	dir := t.TempDir()
	const ci = "# ci\njobs:\n  build:\n    runs-on: x # os\n    steps:\n      - run: a\n      - run: b # last\n"
	for name, text := range map[string]string{
		"ci.yml": ci, "package.json": "{\n  \"dependencies\": {\n    \"@types/node\": \"1\",\n    \"react\": \"2\"\n  }\n}\n",
		"note.md": "---\ntitle: x\n---\n# Head\ntext\n", "latin.ini": "[s]\nk = caf\xe9\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	r := tools(t, ws, profile.Options{})
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path": "ci.yml#jobs.build.steps[1]"}`, "7:       - run: b # last"},
		{"read_file", `{"path": "package.json#dependencies.@types/node"}`, "3:     \"@types/node\": \"1\","},
		{"read_file", `{"path": "note.md#Head"}`, "# Head"},
		{"read_file", `{"path": "note.md#title"}`, "title: x"},
		{"read_file", `{"path": "ci.yml#jobs.test"}`, "it has build"},
		{"apply_changes", `{"changes": [{"path": "ci.yml", "at": "jobs.build.steps[1].run", "value": "c"}, {"path": "ci.yml", "at": "jobs.build.steps[0]", "delete": true}, {"path": "ci.yml", "old_text": "# ci", "new_text": "# CI"}, {"path": "package.json", "at": "dependencies.react", "move_to": "preact"}]}`, "ci.yml"},
		{"apply_changes", `{"changes": [{"path": "ci.yml", "at": "jobs.build.steps[+]", "value": {"run": "d", "if": null}}]}`, "ci.yml"},
		{"apply_changes", `{"changes": [{"path": "latin.ini", "at": "s.k", "value": "tée"}]}`, "latin.ini"},
		{"apply_changes", `{"changes": [{"path": "ci.yml", "value": 1}]}`, "give at"},
		{"apply_changes", `{"changes": [{"path": "ci.yml", "at": "jobs", "value": 1, "content": "x"}]}`, "content can't be given"},
		{"apply_changes", `{"changes": [{"path": "ci.yml", "at": "jobs.build.runs-on.x", "value": 1}]}`, "is a text and has nothing in it"},
	} {
		if got := call(t, r, c.tool, c.args).Text; !strings.Contains(got, c.want) {
			t.Errorf("%s %s:\n%s\nwant %q", c.tool, c.args, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"ci.yml":       "# CI\njobs:\n  build:\n    runs-on: x # os\n    steps:\n      - run: c # last\n      - run: d\n        if: null\n",
		"package.json": "{\n  \"dependencies\": {\n    \"@types/node\": \"1\",\n    \"preact\": \"2\"\n  }\n}\n",
		"latin.ini":    "[s]\nk = t\xe9e\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}
