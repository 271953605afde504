package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"quarry/internal/profile"
	"quarry/tool"
)

// longTree makes a tree for which every reading tool has a long answer.
func longTree() map[string]string {
	files := map[string]string{".obsidian/app.json": "{}"}
	for i := range 400 {
		dir := fmt.Sprintf("d%02d", i%20)
		files[fmt.Sprintf("%s/f%03d.go", dir, i)] = fmt.Sprintf("package p\n\n// Needle%d is a needle.\nfunc Needle%d() {\n\tneedle()\n\tneedle()\n}\n\nfunc needle() {}\n", i, i)
		files[fmt.Sprintf("%s/n%03d.md", dir, i)] = fmt.Sprintf("---\ntags: [hay, t%d]\np%d: v\n---\n# Note %d\nA needle in [[hub]], [[none%d]].\n", i, i, i, i)
	}
	var code, log, hub strings.Builder
	code.WriteString("package p\n\n")
	for i := range 400 {
		fmt.Fprintf(&code, "func Part%d() {\n\tx()\n}\n\n", i)
		fmt.Fprintf(&log, "line %d\n", i)
		fmt.Fprintf(&hub, "## Part %d\n[[n%03d]]\n", i, i)
	}
	files["long.go"], files["log.txt"], files["hub.md"] = code.String(), strings.Repeat(log.String(), 5), hub.String()
	return files
}

// longCalls request more than a client shows.
var longCalls = []struct{ profile, tool, args string }{
	{"code", "search_files", `{"pattern":"needle"}`},
	{"code", "search_files", `{"pattern":"needle","show":"files"}`},
	{"code", "search_files", `{"pattern":"needle","show":"definitions"}`},
	{"code", "search_files", `{"pattern":"Needle\\d+","show":"matches"}`},
	{"code", "search_files", `{"pattern":"needle","context_lines":3}`},
	{"code", "search_code", `{"query":"needle","budget":20000}`},
	{"code", "find_symbol", `{"name":"needle"}`},
	{"code", "find_symbol", `{"name":"needle","references":true}`},
	{"code", "read_file", `{"path":"long.go"}`},
	{"code", "read_file", `{"path":"long.go","fold":false}`},
	{"code", "read_file", `{"path":"log.txt"}`},
	{"code", "read_file", `{"paths":["long.go","log.txt","hub.md"]}`},
	{"quarry", "search_files", `{"regex":"needle"}`},
	{"quarry", "file_search", `{"pattern":"needle"}`},
	{"quarry", "search_by_path", `{"pattern":"**/*.go","limit":100}`},
	{"quarry", "search_code", `{"query":"needle","top_k":50}`},
	{"quarry", "find_symbol", `{"name":"needle"}`},
	{"quarry", "outline", `{"path":"long.go"}`},
	{"quarry", "outline", `{"path":"d01"}`},
	{"quarry", "search_notes", `{"query":"needle"}`},
	{"quarry", "search_notes", `{"query":"tag:hay"}`},
	{"quarry", "search_notes", `{"query":"needle","read_content":true}`},
	{"quarry", "list_files", `{"pattern":"**","max_results":1000}`},
	{"quarry", "list_files", `{"depth":3}`},
	{"quarry", "read_file", `{"path":"long.go"}`},
	{"quarry", "read_file", `{"path":"long.go","fold":true}`},
	{"quarry", "read_file", `{"path":"log.txt","start_line":100}`},
	{"quarry", "properties", `{}`},
	{"quarry", "tags", `{}`},
	{"quarry", "tags", `{"tag":"hay"}`},
	{"quarry", "links", `{"path":"hub.md"}`},
	{"quarry", "links", `{"path":"hub.md","show":"files"}`},
	{"quarry", "links", `{"path":"hub.md","kind":"outgoing"}`},
	{"quarry", "links", `{"kind":"unresolved"}`},
	{"quarry", "links", `{"kind":"orphans"}`},
	{"notes", "search_files", `{"pattern":"needle"}`},
	{"notes", "search_notes", `{"query":"tag:hay"}`},
	{"notes", "read_file", `{"path":"hub.md"}`},
	{"notes", "tags", `{}`},
	{"notes", "properties", `{}`},
	{"notes", "links", `{"path":"hub.md"}`},
	{"notes", "links", `{"kind":"unresolved"}`},
}

// saysMore matches the various remarks that an answer is incomplete.
var saysMore = regexp.MustCompile(`more|cut|omitted|first|start_line|offset|budget|\d+ of \d+`)

// TestClientsThatCut checks that, if a client is known to cut long answers, every tool's
// answers fit its limit. Other clients get longer answers.
func TestClientsThatCut(t *testing.T) {
	files := longTree()
	tools := map[string]*tool.Registry{}
	codex := tool.WithClient(context.Background(), tool.Client{Name: "codex-mcp-client"})
	longer := 0
	for _, c := range longCalls {
		r := tools[c.profile]
		if r == nil {
			r = openTree(t, &profile.Options{Profile: c.profile}, files)
			tools[c.profile] = r
		}
		res, err := r.Call(codex, c.tool, json.RawMessage(c.args))
		if err != nil || strings.HasPrefix(res.Text, "Error") {
			t.Errorf("%s %s %s: %v %.200s", c.profile, c.tool, c.args, err, res.Text)
			continue
		}
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // as Codex writes it
		if err := enc.Encode(res.Text); err != nil {
			t.Fatal(err)
		}
		asJSON := strings.TrimSuffix(b.String(), "\n")
		lines := strings.Count(res.Text, "\n") + 1
		if len(asJSON) > 10_000 || lines > 256 {
			t.Errorf("%s %s %s: %d bytes as JSON, %d lines", c.profile, c.tool, c.args, len(asJSON), lines)
		}
		whole := callText(t, r, c.tool, c.args)
		if len(whole) > len(res.Text) {
			longer++
			if len(asJSON) < 5_000 && lines < 128 && len(asJSON) < len(whole)/2 {
				t.Errorf("%s %s %s: only %d bytes in %d lines of %d are given", c.profile, c.tool, c.args, len(asJSON), lines, len(whole))
			}
			if !saysMore.MatchString(res.Text) {
				t.Errorf("%s %s %s: the answer is cut without a word:\n%s", c.profile, c.tool, c.args, res.Text[max(len(res.Text)-300, 0):])
			}
		}
	}
	t.Logf("%d calls, of %d others get more", len(longCalls), longer)
	if longer < len(longCalls)/2 {
		t.Errorf("only %d of %d answers are long enough to tell", longer, len(longCalls))
	}
}
