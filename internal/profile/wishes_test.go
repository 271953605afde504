package profile_test

import (
	"strings"
	"testing"

	"quarry/internal/profile"
)

// What agents of the trials asked for, in their own calls.
func TestWishesOfAgents(t *testing.T) {
	files := map[string]string{
		"a/one.go": "package a\n\nfunc Open() {}\n", "a/one_test.go": "package a\n\nfunc TestOpen() {}\n", "b/two.ts": "export function Close() {}\n",
		"Old name.md": "# Old name\n", "n.md": "[[Old name]] and the Old name again\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
	}
	for _, c := range []struct{ profile, tool, args, want, not string }{
		{"code", "search_files", `{"pattern":"(Open|Close)","glob":["*.go","*.ts","!*_test.go"],"show":"files"}`, "b/two.ts", "one_test"},
		{"code", "search_files", `{"pattern":"(Open|Close)","glob":["*.go","*.ts","!*_test.go"],"show":"files"}`, "a/one.go", "one_test"},
		{"quarry", "search_files", `{"regex":"Open","file_pattern":["*.go","!*_test.go"]}`, "one.go", "one_test"},
		{"quarry", "file_search", `{"query":"open","include":["*.ts","*.go"]}`, "one_test.go", "Old"},
		{"code", "replace_in_files", `{"text":"Open","replacement":"Begin","glob":["*.go","!*_test.go"]}`, "one.go", "one_test"},
		{"code", "find_symbol", `{"name":"Open","path":"b"}`, "[outside of path it is defined at a/one.go:3]", "no file in scope"},
		{"code", "find_symbol", `{"name":"Nowhere","path":"b"}`, "no file in scope", "outside of path"},
		{"notes", "move_file", `{"source":"Old name","destination":"New name.md"}`, `the old name "Old name" still stands in 2 lines of 2 files`, ""},
		{"notes", "move_file", `{"source":"Old name.md","destination":"sub/"}`, "sub/Old name.md", "still stands"},
	} {
		ws := fixture{files: files}.make(t)
		got := call(t, tools(t, ws, profile.Options{Profile: c.profile}), c.tool, c.args).Text
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s %s %s\nwants %s\nand not %s\ngot %s", c.profile, c.tool, c.args, c.want, c.not, got)
		}
	}
}
