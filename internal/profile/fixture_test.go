package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/tool"
)

// A fixture describes a workspace: its files and the options to open it with.
type fixture struct {
	files map[string]string
	opts  quarry.Options
}

// day is the default modification time of a fixture's files.
var day = time.Date(2026, 2, 3, 14, 22, 45, 0, time.UTC)

// make writes the files in path order, with ascending modification times, and opens the
// workspace.
func (f fixture) make(t testing.TB) *quarry.Workspace {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	folders := map[string]bool{}
	for i, name := range names {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(f.files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		touch(t, full, day.Add(-24*time.Hour*time.Duration(i)))
		for d := filepath.Dir(full); d != dir; d = filepath.Dir(d) {
			folders[d] = true
		}
	}
	folders[dir] = true
	for d := range folders {
		touch(t, d, day.AddDate(-1, 0, 0))
	}
	opts := f.opts
	opts.StateDir, opts.TrashDir = t.TempDir(), t.TempDir()
	if opts.Workers == 0 {
		opts.Workers = 2
	}
	ws, err := quarry.Open(dir, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func touch(t testing.TB, name string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(name, when, when); err != nil {
		t.Fatal(err)
	}
}

// tools makes a profile's tools for a workspace.
func tools(t testing.TB, ws *quarry.Workspace, o profile.Options) *tool.Registry {
	t.Helper()
	return toolsOf(t, ws, o)
}

func toolsOf(t testing.TB, set *quarry.Workspace, o profile.Options) *tool.Registry {
	t.Helper()
	o.Zone = time.UTC
	r, err := profile.New(set, &o)
	if err != nil {
		t.Fatal(err)
	}
	r.Panicked = func(name string, v any, stack []byte) { t.Errorf("%s: %v\n%s", name, v, stack) }
	return r
}

func call(t testing.TB, r *tool.Registry, name, args string) *tool.Result {
	t.Helper()
	res, err := r.Call(t.Context(), name, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// code is a small project.
func code() fixture {
	return fixture{opts: quarry.Options{Trash: change.TrashLocal}, files: map[string]string{
		".gitignore":       "build/\n",
		".github/ci.yml":   "run: make TODO\n",
		"README.md":        "# Shop\n\nTODO: write this.\n",
		"build/out.js":     "// TODO generated\n",
		"data.bin":         "TODO\x00\x01",
		"empty.txt":        "",
		"id_rsa":           "TODO secret\n",
		"notes/todo.md":    "- [ ] milk\n- [ ] bread\n- [ ] eggs\n",
		"src/a.py":         "alpha\nTODO: one\nbeta\ngamma\ndelta\nTODO: two\n",
		"src/crlf.txt":     "TODO\r\n",
		"src/calc.js":      "async function calculateTotal(items) {\n  return items.length;\n}\n\nfunction other() {}\n",
		"src/long.txt":     strings.Repeat("x", 700) + " needle " + strings.Repeat("y", 700) + "\nneedle first" + strings.Repeat("z", 600) + "\n",
		"src/sub/deep.ts":  "const a = fetch('/api/users');\nfoo(bar)\n",
		"src/sub/latin.md": "caf\xe9 TODO\n",
	}}
}

// vault is a small Obsidian vault.
func vault() fixture {
	return fixture{files: map[string]string{
		".obsidian/app.json":  `{"trashOption":"local","alwaysUpdateLinks":true,"userIgnoreFilters":["Archive/"]}`,
		".hidden/secret.md":   "TODO hidden\n",
		"Archive/old.md":      "TODO archived\n",
		"Inbox/meeting.md":    "# Meeting\n\nTalked about the project timeline.\nSee [[Alpha]].\n",
		"Notes/daily.md":      strings.Repeat("\n", 9) + "FIXME: needs review\nfollowing content\n",
		"Notes/script.js":     "// TODO: in a script\n",
		"Projects/Alpha.md":   strings.Repeat("filler\n", 39) + "filler\nsome context before\nthe matching line with TODO\nsome context after\n",
		"Projects/README.md":  "# Projects\n\nproject timeline is set for Q2, see TODO list\n",
		"Projects/readme2.md": "",
		"Tasks.md":            "TODO 1\nTODO 2\n\n\n\n\n\n\nTODO 3\n",
	}}
}

// many makes n files with several blocks each, more than fit in an answer.
func many(n, blocks int) fixture {
	f := fixture{files: map[string]string{}}
	for i := range n {
		f.files[fmt.Sprintf("f%04d.txt", i)] = strings.Repeat("match\n\n\n\n\n", blocks)
	}
	return f
}
