package profile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/quarrytest"
	"quarry/internal/stress"
	"quarry/search"
	"quarry/tool"
)

// leakTexts are arguments that are neither paths nor ids. None contains the canary
// literally, because an answer that repeats its arguments would then contain it, too.
var leakTexts = []string{"q7c[4]nary", "(?i)TOKEN|PASSWORD", "TOKEN", "A=1", "*.env", "**", "1-3"}

// leakCalls returns the arguments for calls of a tool. Each call tries one value in one
// parameter and has typical values for the required ones.
func leakCalls(tl *tool.Tool, h *quarrytest.Hushed) (calls []map[string]any) {
	usual := map[string]any{}
	has := map[string]bool{}
	for i := range tl.Params {
		p := &tl.Params[i]
		has[p.Name] = true
		switch {
		case p.Name == "dry_run", p.Name == "include_hidden", p.Name == "include_ignored":
			usual[p.Name] = true
		case !p.Required:
		case len(p.Enum) > 0:
			usual[p.Name] = p.Enum[0]
		case p.Kind == tool.Integer:
			usual[p.Name] = 1
		case p.Kind == tool.Boolean:
			usual[p.Name] = true
		case p.Kind == tool.String && pathParams[p.Name]:
			usual[p.Name] = "open.txt"
		case p.Kind == tool.String:
			usual[p.Name] = leakTexts[0]
		default:
			usual[p.Name] = []any{}
		}
	}
	with := func(more map[string]any) {
		args := map[string]any{}
		for k, v := range usual {
			args[k] = v
		}
		for k, v := range more {
			args[k] = v
		}
		calls = append(calls, args)
	}
	with(nil)
	for i := range tl.Params {
		p := &tl.Params[i]
		for _, e := range p.Enum {
			for _, path := range h.Paths[:16] {
				with(map[string]any{p.Name: e, "path": path})
			}
		}
		if len(p.Enum) > 0 || p.Kind == tool.Integer || p.Kind == tool.Boolean {
			continue
		}
		for k, path := range h.Paths {
			if k > 3 && p.Kind == tool.String && !pathParams[p.Name] {
				break
			}
			with(map[string]any{p.Name: path})
			if p.Kind != tool.String {
				with(map[string]any{p.Name: []any{path}})
				with(map[string]any{p.Name: []any{map[string]any{"path": path, "old_text": "TOKENS", "new_text": "x"}}})
				with(map[string]any{p.Name: []any{map[string]any{"source": path, "destination": "made.txt"}}})
			}
			if p.Name == "patch" {
				with(map[string]any{p.Name: fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n@@ -1,2 +1,1 @@\n-A=2\n-TOKEN=x\n+x\n", path)})
			}
			if p.Name == "id" && has["path"] {
				for _, id := range h.IDs {
					with(map[string]any{"id": id, "path": path})
				}
			}
		}
		if p.Name == "id" {
			for _, id := range h.IDs {
				with(map[string]any{p.Name: id})
			}
		}
		for _, text := range leakTexts {
			with(map[string]any{p.Name: text})
			if has["path"] && p.Name != "path" {
				with(map[string]any{p.Name: text, "path": h.Paths[len(calls)%len(h.Paths)]})
			}
		}
	}
	return calls
}

// Copies of a closed file's text remain in the log, the trash and proposals. No tool of
// any profile shows them, whatever the arguments.
func TestNothingClosedLeaks(t *testing.T) {
	for _, deny := range []bool{true, false} {
		t.Run(fmt.Sprintf("a denied folder %v", deny), func(t *testing.T) { testLeaks(t, deny) })
	}
}

func testLeaks(t *testing.T, deny bool) {
	h := quarrytest.Hush(t, deny)
	ws, err := quarry.Open(h.Dir, &h.Agent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	run := stress.Start(t, fmt.Sprintf("leaks: every tool on what log, trash and proposals keep, denied %v", deny), 1, 8)
	calls, leaks, shown := 0, 0, 0
	for seed := range run.Cases() {
		for i, tl := range everyTool(t, ws) {
			for k, args := range leakCalls(tl, h) {
				if (k+i+int(seed))%8 != 0 || !tl.Hints.ReadOnly && args["dry_run"] == nil && (args["path"] == "." || args["source"] == ".") {
					continue // it would delete the files of the other calls
				}
				data, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				r := tl.Execute(t.Context(), data)
				structured, _ := json.Marshal(r.Structured)
				if all := r.Text + string(structured); strings.Contains(all, quarrytest.Canary) {
					if leaks++; leaks < 20 {
						t.Errorf("%s %s: %s", tl.Name, data, all)
					}
				} else if !r.IsError {
					shown++
				}
				calls++
			}
		}
	}
	run.Tried(calls)
	// Files in the trash are restored under names that an agent may read.
	items, _, err := ws.Trashed(t.Context())
	for i, it := range items {
		if _, err := ws.RestoreTrashed(t.Context(), it.ID, fmt.Sprintf("restored/%d.txt", i), nil); err != nil {
			t.Errorf("restore %s: %v", it.ID, err)
		}
	}
	for _, path := range []string{".", ".trash", ".trash/.netrc 1", "restored"} {
		q := search.Query{Pattern: quarrytest.Canary, Scope: search.Scope{Paths: []string{path}, IncludeHidden: true, IncludeIgnored: true}}
		if r, err := ws.Search(t.Context(), q); err == nil && r.FilesMatched > 0 {
			t.Errorf("afterwards a search in %s finds %s", path, r.Files[0].Path)
		}
	}
	t.Logf("%d calls, %d answered, %d leaks, %d items restored; %v", calls, shown, leaks, len(items), err)
	if calls < 2000 || shown < calls/10 {
		t.Errorf("too few calls: %d, answered %d", calls, shown)
	}
}
