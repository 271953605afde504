package stress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
)

// heavyTree makes files that take long to process: nested code of 4 MB, notes of 4 MB, front matter
// of 800 KB, and many small files.
func heavyTree(t testing.TB) string {
	dir := stress.FastDir(t)
	put(t, filepath.Join(dir, "big.js"), strings.Repeat("export const needle = (\n", (4<<20)/24))
	put(t, filepath.Join(dir, "wide.txt"), strings.Repeat("needle aaaaaaaaaaaaaaaaaaaaaaaab ", 1<<16))
	put(t, filepath.Join(dir, "big.md"), "---\ntags: [needle]\n---\n"+strings.Repeat("# needle\n\n[[note]] needle #needle\n\n", (4<<20)/36))
	put(t, filepath.Join(dir, "ids.md"), strings.Repeat("- item [[big#needle]] ^id\n", (4<<20)/26))
	keys := "---\n"
	for i := range 40_000 {
		keys += fmt.Sprintf("key%d: needle %d\n", i, i)
	}
	put(t, filepath.Join(dir, "keys.md"), keys+"---\nneedle\n")
	put(t, filepath.Join(dir, "casts.c"), "int f() { return "+strings.Repeat("(needle)", 1<<18)+"x; }\n")
	put(t, filepath.Join(dir, "sum.py"), "x = "+strings.Repeat("needle + ", 1<<18)+"1\n")
	for _, c := range []struct{ ext, first, each, last string }{
		{"json", "{\n", "\"key%d\": {\"needle\": [1, 2]},\n", "\"last\": 1}\n"}, {"yml", "", "key%d: {needle: [1, 2]}\n", ""},
		{"toml", "", "key%d = [1, 2]\n", ""}, {"ini", "[a]\n", "key%d = needle\n", ""},
	} {
		var text strings.Builder
		text.WriteString(c.first)
		keys := 60_000
		if c.ext == "json" {
			keys = 15_000 // front matter is parsed as a whole, at 100 ms per megabyte
		}
		for i := range keys {
			fmt.Fprintf(&text, c.each, i)
		}
		put(t, filepath.Join(dir, "big."+c.ext), text.String()+c.last)
	}
	for i := range 2000 {
		put(t, filepath.Join(dir, fmt.Sprintf("d%d/f%d.go", i%50, i)), fmt.Sprintf("package p\n\nfunc needle%d() {\n%s}\n", i, strings.Repeat("\tneedle(aaaaaaaaaaaaab)\n", 40)))
	}
	return dir
}

// heavyCalls returns calls that make each tool work on the whole tree.
func heavyCalls() map[string][]string {
	patch := "--- a/big.js\n+++ b/big.js\n@@ -1,3 +1,3 @@\n-no such line\n+x\n export const needl = (\n export const needle = (\n"
	return map[string][]string{
		"search_files": {`{"regex": "(a|aa)+b|needle", "max_results": 300, "count": "exact"}`, `{"pattern": "(a+)+$", "file_pattern": "**"}`, `{"regex": "needle", "show": "definitions"}`,
			`{"structure": "$A + $B"}`, `{"structure": "$A + $A"}`, `{"structure": "needle($$X)"}`, `{"structure": "$A($B)"}`},
		"file_search": {`{"query": "needle", "count": "exact"}`}, "search_code": {`{"query": "needle aaaa export const"}`}, "search_notes": {`{"query": "needle", "read_content": true}`, `{"query": "tag:needle heading:needle"}`, `{"query": "property:key7"}`},
		"search_by_path": {`{"pattern": "**/*{a,b,c,d}*{e,f,g}*"}`}, "find_symbol": {`{"name": "nedle", "fuzzy": true}`, `{"name": "needle", "references": true}`},
		"outline": {`{"path": "big.js"}`, `{"path": "."}`}, "list_files": {`{"recursive": true}`}, "get_file_info": {`{"path": "big.js"}`}, "get_index_status": {`{}`},
		"read_file": {`{"path": "big.js", "fold": true}`, `{"path": "big.js", "expand": "needl"}`, `{"path": "wide.txt"}`, `{"path": "big.md#needle"}`,
			`{"path": "big.json#key14999.needle"}`, `{"path": "big.yml#key59999.needle"}`, `{"path": "big.toml#key59999"}`, `{"path": "big.ini#a.key59999"}`}, "edit_file": {`{"path": "big.js", "old_text": "export const neeedle = (\nexport", "new_text": "x"}`, `{"path": "big.js", "old_text": "needle", "new_text": "x", "replace_all": true, "dry_run": true}`},
		"write_file": {`{"path": "big.js", "content": "x", "dry_run": true}`}, "replace_in_files": {`{"regex": "needle", "replacement": "x", "dry_run": true}`,
			`{"structure": "$A + $B", "replacement": "add($A, $B)", "dry_run": true}`, `{"symbol": "big.js#needle", "replacement": "pin", "dry_run": true}`, `{"symbol": "needle7", "replacement": "pin", "dry_run": true}`},
		"apply_changes": {`{"changes": [{"path": "big.js", "old_text": "neeedle = (\nexport", "new_text": "y"}], "dry_run": true}`,
			`{"changes": [{"path": "big.json", "at": "key14999.needle[+]", "value": 3}], "dry_run": true}`, `{"changes": [{"path": "big.yml", "at": "key59999.needle[0]", "value": 3}], "dry_run": true}`,
			`{"changes": [{"path": "big.toml", "at": "key59999[0]", "value": 3}], "dry_run": true}`, `{"changes": [{"path": "big.ini", "at": "a.key59999", "value": "x"}], "dry_run": true}`},
		"apply_patch": {`{"patch": ` + quoted(patch) + `, "dry_run": true}`},
		"move_file":   {`{"source": "d1", "destination": "e1", "update_links": true, "dry_run": true}`}, "delete_file": {`{"path": "d2", "dry_run": true}`},
		"list_changes": {`{}`}, "undo_change": {`{"dry_run": true}`}, "create_folder": {`{"path": "new"}`}, "create_note": {`{"content": "# a\n", "dry_run": true}`},
		"modify_note": {`{"path": "big.md", "operation": "append", "content": "x", "dry_run": true}`}, "organize_note": {`{"source": "big.md", "destination": "other.md", "dry_run": true}`, `{"source": "ids.md", "destination": "d/other.md", "dry_run": true}`},
	}
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// A cancelled call ends: in the second after the cancellation, the process uses less than 100 ms of
// processor time.
func TestCancelEveryTool(t *testing.T) {
	if stress.UnderWine() {
		t.Skip("under Wine read_file with fold shows a second of processor time after it was cancelled, which nobody has explained yet")
	}
	ws, err := quarry.Open(heavyTree(t), &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls, at, underWay, longest := heavyCalls(), 0, 0, time.Duration(0)
	for _, tl := range reg.Tools() {
		if len(calls[tl.Name]) == 0 {
			t.Errorf("%s has no call here", tl.Name)
		}
		for _, args := range calls[tl.Name] {
			if at++; !stress.Takes(at) {
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				tl.Execute(ctx, json.RawMessage(args))
			}()
			select {
			case <-done: // ended before it was cancelled
				cancel()
				continue
			case <-time.After(30 * time.Millisecond):
			}
			underWay++
			cancel()
			before := stress.CPU()
			<-time.After(time.Second)
			took := stress.CPU() - before
			longest = max(longest, took)
			if took > 100*time.Millisecond {
				t.Errorf("%s %s: %v of processor time in the second after it was cancelled", tl.Name, args, took)
			}
			<-done
		}
	}
	t.Logf("%d calls, %d of them under way when they were cancelled; %v of processor time at most", at, underWay, longest.Round(time.Millisecond))
}
