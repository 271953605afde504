package profile_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
	"quarry/tool"
)

// library is a tree with code, notes and odd files, for random calls.
func library() fixture {
	f := vault()
	for name, text := range code().files {
		f.files[name] = text
	}
	f.files["lib/store.go"] = "package lib\n\n// Store keeps.\ntype Store struct{ n int }\n\n// Open opens a Store.\nfunc Open(path string) (*Store, error) {\n\treturn &Store{}, nil\n}\n\nfunc (s *Store) Close() error {\n\t// Open again\n\treturn nil\n}\n"
	f.files["lib/store_test.go"] = "package lib\n\nfunc TestOpen(t *T) {\n\ts, _ := Open(\"Open\")\n\ts.Close()\n}\n"
	f.files["cmd/main.go"] = "package main\n\nfunc main() {\n\ts, err := lib.Open(\"x\")\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer s.Close()\n}\n"
	f.files["Plan.md"] = "---\nstatus: open\ntags: [a, b/c]\n---\n# Log\n- one ^id\n\n## Today\nsee [[Alpha]] and [[gone]]\n"
	f.files["Other.md"] = "see [[Plan#Log]] #a/b [[Plan|the plan]] and [x](Plan.md#Today)\n"
	return f
}

// data is the structured answer of a tool.
func data(t *testing.T, res *tool.Result) map[string]any {
	t.Helper()
	raw, err := json.Marshal(res.Structured)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func field(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// A pair is a call of a function and one of its tool that must give the same.
type pair struct {
	script string // prints lines
	tool   string
	args   map[string]any
	lines  func(d map[string]any) []string // the same lines of the tool's answer
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// readingPairs makes a random call of each function that reads.
func readingPairs(r *rand.Rand) map[string]pair {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	pattern := pick(r, "TODO", "Open", "[a-z]+ing", "^#", "func \\w+", "s\\.Close", "é", "zzz", "o", "\\d+")
	glob := pick(r, "*", "*.go", "*.md", "src/**", "!*.md", "lib/*")
	path := pick(r, ".", "src", "lib", "Projects", "Plan.md")
	file := pick(r, "src/a.py", "lib/store.go", "Plan.md", "src/crlf.txt", "src/sub/latin.md", "Projects/Alpha.md")
	note := pick(r, "Plan.md", "Other.md", "Projects/Alpha.md", "Inbox/meeting.md")
	name := pick(r, "Open", "Store", "Store.Close", "main", "calculateTotal", "TestOpen", "Today")
	first := 1 + r.IntN(3)
	last := first + r.IntN(4)
	words := pick(r, "open store", "total items", "project timeline", "todo list", "close")
	k := 1 + r.IntN(6)
	linked := func(d map[string]any) []string {
		var out []string
		for _, l := range list(d["links"]) {
			out = append(out, fmt.Sprintf("%s %s %s", text(field(l, "Source")), text(field(l, "Line")), text(field(l, "Link"))))
		}
		return out
	}
	return map[string]pair{
		"search": {fmt.Sprintf("for h in search(%s, path=%s, glob=%s): print(h.path, h.line, h.symbol)", q(pattern), q(path), q(glob)),
			"search_files", map[string]any{"regex": pattern, "path": path, "file_pattern": glob, "context_lines": 0, "max_results": 1000},
			func(d map[string]any) []string {
				var out []string
				for _, f := range list(d["files"]) {
					for _, l := range list(field(f, "lines")) {
						if field(l, "context") != true {
							out = append(out, fmt.Sprintf("%s %s %s", text(field(f, "path")), text(field(l, "line")), text(field(l, "symbol"))))
						}
					}
				}
				return out
			}},
		"definition": {fmt.Sprintf("d = definition(%s)\nfor s in [d] + d.others: print(s.path, s.name, s.container, s.kind, s.line, s.start, s.end)\nprint(d.text)", q(name)),
			"find_symbol", map[string]any{"name": name},
			func(d map[string]any) []string {
				var out []string
				for _, s := range list(d["symbols"]) {
					out = append(out, fmt.Sprintf("%s %s %s %s %s %s %s", text(field(s, "path")), text(field(s, "name")), text(field(s, "container")), text(field(s, "kind")), text(field(s, "line")), text(field(s, "start_line")), text(field(s, "end_line"))))
				}
				return append(out, strings.Split(text(field(list(d["symbols"])[0], "text")), "\n")...)
			}},
		"symbols": {fmt.Sprintf("for s in symbols(path=%s): print(s.path, s.name, s.kind, s.start, s.end)", q(file)),
			"outline", map[string]any{"path": file},
			func(d map[string]any) []string {
				var out []string
				for _, s := range list(d["symbols"]) {
					out = append(out, fmt.Sprintf("%s %s %s %s %s", text(field(s, "path")), text(field(s, "name")), text(field(s, "kind")), text(field(s, "start_line")), text(field(s, "end_line"))))
				}
				return out
			}},
		"rank": {fmt.Sprintf("for p in rank(%s, k=%d): print(p.path, p.start, p.end, p.symbol)", q(words), k),
			"search_code", map[string]any{"query": words, "top_k": k},
			func(d map[string]any) []string {
				var out []string
				for _, c := range list(d["results"]) {
					out = append(out, fmt.Sprintf("%s %s %s %s", text(field(c, "path")), text(field(c, "startLine")), text(field(c, "endLine")), text(field(c, "symbol"))))
				}
				return out
			}},
		"files": {fmt.Sprintf("for p in files(%s): print(p)", q(glob)),
			"search_by_path", map[string]any{"pattern": glob, "limit": 100},
			func(d map[string]any) []string {
				var out []string
				for _, p := range list(d["matches"]) {
					out = append(out, text(p))
				}
				return out
			}},
		"exists": {fmt.Sprintf("print(exists(%s), exists(%s))", q(file), q(file+"x")),
			"get_file_info", map[string]any{"path": file},
			func(d map[string]any) []string { return []string{"True False"} }},
		"read": {fmt.Sprintf("print(read(%s, %d, %d), sep=\"\")", q(file), first, last),
			"read_file", map[string]any{"path": file, "start_line": first, "end_line": last},
			func(d map[string]any) []string {
				var out []string
				for _, l := range list(d["lines"]) {
					out = append(out, text(l))
				}
				return out
			}},
		"lines": {fmt.Sprintf("for l in lines(%s, %d, %d): print(l.text)", q(file), first, last),
			"read_file", map[string]any{"path": file, "start_line": first, "end_line": last},
			func(d map[string]any) []string {
				var out []string
				for _, l := range list(d["lines"]) {
					out = append(out, text(l))
				}
				return out
			}},
		"links":     {fmt.Sprintf("for l in links(%s): print(l.source, l.line, l.link)", q(note)), "links", map[string]any{"path": note, "kind": "outgoing"}, linked},
		"backlinks": {fmt.Sprintf("for l in backlinks(%s): print(l.source, l.line, l.link)", q(note)), "links", map[string]any{"path": note}, linked},
		"tags": {"for t, n in sorted(tags().items()): print(t, n)", "tags", map[string]any{},
			func(d map[string]any) []string {
				var out []string
				for _, n := range list(d["tags"]) {
					out = append(out, fmt.Sprintf("%s %s", text(field(n, "Name")), text(field(n, "Uses"))))
				}
				return out
			}},
		"tagged": {fmt.Sprintf("for p in tagged(%s): print(p)", q(pick(r, "a", "b", "b/c"))), "tags", nil, nil},
		"properties": {fmt.Sprintf("for k, v in sorted(properties(%s).items()): print(k)", q("Plan.md")), "properties", map[string]any{"path": "Plan.md"},
			func(d map[string]any) []string {
				var out []string
				for _, p := range list(d["properties"]) {
					out = append(out, text(field(p, "Name")))
				}
				return out
			}},
	}
}

// Every function that reads gives what its tool gives.
func TestFunctionsEqualTools(t *testing.T) {
	ws := library().make(t)
	r := scripts(t, ws)
	compared, full := map[string]int{}, map[string]int{}
	for seed := range uint64(stress.N(1000)) {
		for name, p := range readingPairs(stress.Rand(seed)) {
			if name == "tagged" {
				tag := strings.Split(p.script, `"`)[1]
				p.args = map[string]any{"tag": tag}
				p.lines = func(d map[string]any) []string {
					var out []string
					for _, n := range list(d["notes"]) {
						out = append(out, text(n))
					}
					return out
				}
			}
			args, err := json.Marshal(p.args)
			if err != nil {
				t.Fatal(err)
			}
			want := call(t, r, p.tool, string(args))
			got := run(t, r, "look", p.script)
			compared[name]++
			if want.IsError || got.IsError {
				if want.IsError != got.IsError {
					t.Fatalf("%s: %s\n%s\n%s %s\n%s", name, p.script, got.Text, p.tool, args, want.Text)
				}
				continue
			}
			lines := p.lines(data(t, want))
			printed := data(t, got)["printed"].(string)
			if name == "tags" || name == "properties" {
				lines = sorted(lines)
			}
			trim := func(s string) string { // the last line of a text, and spaces at ends of lines
				var out []string
				for _, l := range strings.Split(s, "\n") {
					out = append(out, strings.TrimRight(l, " "))
				}
				return strings.TrimRight(strings.Join(out, "\n"), "\n")
			}
			if diff := cmp.Diff(trim(strings.Join(lines, "\n")), trim(printed)); diff != "" {
				t.Fatalf("seed %d, %s: %s (+) and %s %s (-) differ:\n%s", seed, name, p.script, p.tool, args, diff)
			}
			if len(lines) > 0 {
				full[name]++
			}
		}
	}
	t.Logf("compared %v, of these not empty %v", compared, full)
	for name, n := range compared {
		if full[name] == 0 {
			t.Errorf("%s: %d comparisons, all empty", name, n)
		}
	}
}

func sorted(lines []string) []string {
	out := append([]string(nil), lines...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// files of a workspace, but for the trash.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".trash" {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Every function that changes leaves the files as its tool does.
func TestChangingFunctionsEqualTools(t *testing.T) {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	changed, tried := map[string]int{}, map[string]int{}
	for seed := range uint64(stress.N(200)) {
		r := stress.Rand(seed)
		file := pick(r, "src/a.py", "lib/store.go", "src/crlf.txt", "src/sub/latin.md", "Projects/README.md")
		word := pick(r, "TODO", "Open", "alpha", "project", "one")
		content := pick(r, "x\n", "two\nlines\n", "no end", "é ü\n")
		to := pick(r, "Plan 2.md", "Archive/Plan.md", "Inbox/p.md")
		line := r.IntN(3)
		symbol, fresh := pick(r, "Open", "Store", "Store.Close", "Store.n", "calculateTotal", "lib/store.go#Open", "gone"), pick(r, "Begin", "x2", "no name")
		doubtful, comments := r.IntN(2) == 0, r.IntN(2) == 0
		for name, c := range map[string]struct {
			script, tool string
			args         map[string]any
		}{
			"replace":        {fmt.Sprintf("replace(%s, %s, %s, count=0)", q(file), q(word), q(content)), "edit_file", map[string]any{"path": file, "old_text": word, "new_text": content, "replace_all": true}},
			"sub":            {fmt.Sprintf("sub(%s, %s, glob=\"*.md\")", q(word+"(\\w*)"), "\"<$1>\""), "replace_in_files", map[string]any{"regex": word + "(\\w*)", "replacement": "<$1>", "file_pattern": "*.md"}},
			"rename":         {fmt.Sprintf("rename(%s, %s, doubtful=bool(%d), comments=bool(%d))", q(symbol), q(fresh), toInt(doubtful), toInt(comments)), "replace_in_files", map[string]any{"symbol": symbol, "replacement": fresh, "doubtful": doubtful, "comments": comments}},
			"insert":         {fmt.Sprintf("insert(%s, %s, after=%d)", q(file), q(content), line), "edit_file", map[string]any{"path": file, "insert_after_line": line, "content": content}},
			"write":          {fmt.Sprintf("write(%s, %s)", q(file), q(content)), "write_file", map[string]any{"path": file, "content": content}},
			"write new":      {fmt.Sprintf("write(%s, %s)", q("n/"+file), q(content)), "write_file", map[string]any{"path": "n/" + file, "content": content}},
			"move":           {fmt.Sprintf("move(\"Plan.md\", %s)", q(to)), "move_file", map[string]any{"source": "Plan.md", "destination": to}},
			"move a folder":  {"move(\"Projects\", \"Work/P\")", "move_file", map[string]any{"source": "Projects", "destination": "Work/P"}},
			"delete":         {fmt.Sprintf("delete(%s)", q(file)), "delete_file", map[string]any{"path": file}},
			"set_property":   {fmt.Sprintf("set_property(\"Plan.md\", \"status\", %s)", q(word)), "properties", map[string]any{"path": "Plan.md", "operation": "set", "name": "status", "value": word}},
			"rename_heading": {fmt.Sprintf("rename_heading(\"Plan.md\", \"Log\", %s)", q("New "+word)), "edit_section", map[string]any{"path": "Plan.md", "operation": "rename", "heading": "Log", "content": "New " + word}},
		} {
			if testing.Short() && seed%7 != uint64(len(name))%7 {
				continue
			}
			tried[name]++
			a, b := library().make(t), library().make(t)
			args, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, a.Dir())
			byTool := call(t, scripts(t, a), c.tool, string(args))
			byScript := run(t, scripts(t, b), "change", c.script)
			if byTool.IsError != byScript.IsError {
				t.Fatalf("seed %d, %s: %s\n%s\n%s %s\n%s", seed, name, c.script, byScript.Text, c.tool, args, byTool.Text)
			}
			want, got := treeOf(t, a.Dir()), treeOf(t, b.Dir())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %s: %s (+) and %s %s (-) leave other files:\n%s", seed, name, c.script, c.tool, args, diff)
			}
			if !cmp.Equal(before, want) {
				changed[name]++
			}
			a.Close()
			b.Close()
		}
	}
	t.Logf("calls: %v, that changed files: %v", tried, changed)
	if changed["rename"] == 0 && tried["rename"] > 4 { // half of the names can't be renamed
		t.Error("no rename changed something")
	}
	if len(changed) < 5 {
		t.Errorf("only %d functions changed something", len(changed))
	}
}
