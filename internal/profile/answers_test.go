package profile_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"quarry/internal/profile"
)

var goFile = "package store\n\nimport \"os\"\n\n// Store keeps things.\ntype Store struct {\n\tname string\n}\n\n" +
	"// Open opens a store.\nfunc (s *Store) Open() error {\n\tf, err := os.Open(s.name)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\treturn nil\n}\n\n" +
	"func helper() int {\n\tx := 1\n\tx++\n\tx++\n\tx++\n\treturn x\n}\n"

func answersTree() map[string]string {
	return map[string]string{
		"store.go": goFile, "notes.txt": "one\ntwo\nthree\nfour\nfive\n", "src/app.ts": "export const limit = 10;\n// TODO: one\n",
		"empty.txt": "", "licensed.go": "// Copyright 2015 Someone\n//\n// Licensed under a License;\n// you may not use it otherwise.\n// That is all.\n\npackage licensed\n",
		"src/app.test.ts": "// TODO: two\nlimit limit\n", "big.log": strings.Repeat("a line of the log\n", 4000),
	}
}

func TestReadParts(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, answersTree())
	for _, c := range []struct{ name, args, want string }{
		{"lines", `{"path":"notes.txt:2-3"}`, "two\nthree"},
		{"with numbers", `{"path":"notes.txt:2-3","numbers":true}`, "2: two\n3: three\n[version V]"},
		{"two ranges", `{"path":"notes.txt:1-1,4-5"}`, "## notes.txt:1\none\n\n## notes.txt:4-5\nfour\nfive"},
		{"to the end", `{"path":"notes.txt:4-"}`, "four\nfive\n[lines 4-5 of 5]"},
		{"beyond the end", `{"path":"notes.txt:4-9"}`, "four\nfive\n[lines 4-5 of 5]"},
		{"around a line", `{"path":"big.log:100"}`, strings.Repeat("a line of the log\n", 41) + "[lines 95-135 of 4000]"},
		{"no such line", `{"path":"notes.txt:15"}`, "Error: Line 15 does not exist in file with 5 lines.\n[INVALID_ARGUMENT]"},
		{"an address", `{"path":"notes.txt#L2-L3"}`, "two\nthree"},
		{"all of it", `{"path":"notes.txt"}`, "one\ntwo\nthree\nfour\nfive"},
		{"an empty file", `{"path":"empty.txt"}`, "\n[the file is empty]"},
		{"a licence", `{"path":"licensed.go"}`, "[lines 1-6: licence]\npackage licensed"},
		{"a definition", `{"path":"store.go#Store.Open"}`, "// Open opens a store.\nfunc (s *Store) Open() error {\n\tf, err := os.Open(s.name)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\treturn nil\n}\n[lines 10-18 of 26]"},
		{"two definitions", `{"path":"store.go#Store,helper"}`, "## store.go:5-8 Store\n// Store keeps things.\ntype Store struct {\n\tname string\n}\n\n## store.go:20-26 helper\nfunc helper() int {\n\tx := 1\n\tx++\n\tx++\n\tx++\n\treturn x\n}"},
		{"several", `{"paths":["notes.txt:5","src/app.ts"]}`, "## notes.txt:1-5\none\ntwo\nthree\nfour\nfive\n\n## src/app.ts\nexport const limit = 10;\n// TODO: one"},
		{"a list as path", `{"path":["notes.txt:1-1","src/app.ts:1-1"]}`, "## notes.txt:1\none\n\n## src/app.ts:1\nexport const limit = 10;"},
		{"one is missing", `{"paths":["nope.txt","notes.txt:1-1"]}`, "## nope.txt\nError: File not found: \"nope.txt\"\nThere is \"notes.txt\".\n\n## notes.txt:1\none"},
		{"no such definition", `{"path":"store.go#Close"}`, "Error: store.go defines no \"Close\""},
		{"lines twice", `{"path":"notes.txt:1-2","start_line":3}`, "Error: Give lines in the path or as parameters, not both.\n[INVALID_ARGUMENT]"},
		{"folded", `{"path":"store.go","fold":true}`, "1: package store\n3: import \"os\"\n5: // Store keeps things.\n6: type Store struct {\n7: \tname string\n8: }\n10: // Open opens a store.\n11: func (s *Store) Open() error { … 7 lines\n20: func helper() int { … 6 lines\n[26 lines, 2 bodies folded: path#Name,Name reads them, fold: false all]"},
		{"one open", `{"path":"store.go","expand":"helper"}`, "1: package store\n3: import \"os\"\n5: // Store keeps things.\n6: type Store struct {\n7: \tname string\n8: }\n10: // Open opens a store.\n11: func (s *Store) Open() error { … 7 lines\n20: func helper() int {\n21: \tx := 1\n22: \tx++\n23: \tx++\n24: \tx++\n25: \treturn x\n26: }\n[26 lines, 1 body folded: path#Name,Name reads them, fold: false all]"},
		{"open by its text", `{"path":"store.go","expand":"x\\+\\+"}`, "1: package store\n3: import \"os\"\n5: // Store keeps things.\n6: type Store struct {\n7: \tname string\n8: }\n10: // Open opens a store.\n11: func (s *Store) Open() error { … 7 lines\n20: func helper() int {\n21: \tx := 1\n22: \tx++\n23: \tx++\n24: \tx++\n25: \treturn x\n26: }\n[26 lines, 1 body folded: path#Name,Name reads them, fold: false all]"},
	} {
		got := regexp.MustCompile(`version [0-9a-f]{12}`).ReplaceAllString(callText(t, r, "read_file", c.args), "version V")
		if got != c.want && !(strings.HasPrefix(c.want, "Error: store.go") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: read_file %s\n got %q\nwant %q", c.name, c.args, got, c.want)
		}
	}
	log := callText(t, r, "read_file", `{"path":"big.log"}`)
	if len(log) > 41<<10 || !strings.Contains(log, `next: read_file {"path":"big.log","start_line":`) {
		t.Errorf("a log: %d bytes, it ends with %q", len(log), log[len(log)-200:])
	}
	shared := callText(t, r, "read_file", `{"paths":["big.log","notes.txt","store.go"],"budget":2000}`)
	if len(shared) > 9000 || !strings.Contains(shared, "\nfive\n") || !strings.Contains(shared, "helper") || !strings.Contains(shared, "\na line of the log") {
		t.Errorf("one budget for three files: %d bytes\n%s", len(shared), shared)
	}
}

func TestShow(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, answersTree())
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"limit"}`, "3 matches on 2 lines in 2 files\n# src/app.test.ts\n2: limit limit\n# src/app.ts\n1: export const limit = 10;"},
		{`{"pattern":"limit","show":"files"}`, "3 matches on 2 lines in 2 files\nsrc/app.test.ts 2\nsrc/app.ts 1"},
		{`{"pattern":"limit","show":"count"}`, "3 matches on 2 lines in 2 files"},
		{`{"pattern":"\\w+ = |limit","show":"matches"}`, "3 matches on 2 lines in 2 files, 2 different\n2 limit\n1 limit =   src/app.ts:1"},
		{`{"pattern":"return [a-z]+","show":"matches"}`, "3 matches in 1 file, 3 different\n1 return err  store.go:14\n1 return nil  store.go:17\n1 return x  store.go:25"},
		{`{"pattern":"\\{\n\tx","multiline":true,"show":"matches"}`, "1 match in 1 file, 1 different\n1 {\\n\tx  store.go:20"},
		{`{"pattern":"x\\+\\+","show":"definitions"}`, "3 matches in 1 file\n\n## store.go:20-26 helper\nfunc helper() int {\n\tx := 1\n\tx++\n\tx++\n\tx++\n\treturn x\n}"},
		{`{"pattern":"func helper","show":"definitions"}`, "1 match in 1 file\n\n## store.go:20-26 helper\nfunc helper() int {\n\tx := 1\n\tx++\n\tx++\n\tx++\n\treturn x\n}"},
		{`{"pattern":"name string","show":"definitions"}`, "1 match in 1 file\n\n## store.go:5-8 struct Store\n// Store keeps things.\ntype Store struct {\n\tname string\n}"},
		{`{"pattern":"defer","context_lines":1}`, "1 match in 1 file\n# store.go\n15- }\n@@ Store.Open\n16: defer f.Close()\n17- return nil"},
		{`{"pattern":"defer","more":[{"pattern":"limit","path":"src/app.ts"},{"pattern":"zzz","glob":"*.ts"}],"show":"count"}`, "=== defer\n1 match in 1 file\n\n=== limit in src/app.ts\n1 match in 1 file\n\n=== zzz\nNo matches.\n[searched the whole workspace, glob \"*.ts\", without hidden and ignored files]"},
		{`{"pattern":"s.name)","literal":true}`, "1 match in 1 file\n# store.go\n@@ Store.Open\n12: f, err := os.Open(s.name)"},
	} {
		if got := callText(t, r, "search_files", c.args); got != c.want {
			t.Errorf("search_files %s\n got %q\nwant %q", c.args, got, c.want)
		}
	}
	if got := callText(t, r, "search_files", `{"pattern":"lmiit"}`); !strings.HasPrefix(got, "No matches.\n[searched the whole workspace") || !strings.Contains(got, `near spelling: "limit"`) {
		t.Error(got)
	}
	both := callText(t, r, "find_symbol", `{"names":["helper","Store.Open","nope"]}`)
	if !strings.Contains(both, "func helper() int {") || !strings.Contains(both, "func (s *Store) Open() error {") || !strings.Contains(both, `No definition of "nope" found.`) {
		t.Errorf("several names:\n%s", both)
	}
}

func TestOccursOnce(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, answersTree())
	got := callText(t, r, "edit_file", `{"path":"store.go","old_text":"\tx++","new_text":"\tx--"}`)
	if !strings.HasPrefix(got, "Error: The text occurs 3 times, on lines 22, 23, 24") {
		t.Errorf("three occurrences:\n%s", got)
	}
	got = callText(t, r, "edit_file", `{"path":"store.go","old_text":"\tx++","new_text":"\tx--","line":23}`)
	if !strings.Contains(got, "@@ 22\n \tx++\n-\tx++\n+\tx--\n \tx++\n") {
		t.Errorf("one of them:\n%s", got)
	}
}

// TestNaturalFirstCalls makes calls that fit the published schemas of other programs'
// tools, and compares each answer with the answer to our own spelling.
func TestNaturalFirstCalls(t *testing.T) {
	type pair struct{ tool, theirs, ours string }
	calls := map[string][]pair{
		"quarry": {
			// Claude Code: Grep, Glob, Read, Edit, Write.
			{"search_files", `{"pattern":"TODO","glob":"*.ts"}`, `{"pattern":"TODO","file_pattern":"*.ts"}`},
			{"search_files", `{"pattern":"TODO","output_mode":"files_with_matches"}`, `{"pattern":"TODO","show":"files"}`},
			{"search_files", `{"pattern":"TODO","output_mode":"count"}`, `{"pattern":"TODO","show":"count"}`},
			{"search_files", `{"pattern":"TODO","output_mode":"content","-n":true,"-C":1}`, `{"pattern":"TODO","context_lines":1}`},
			{"search_files", `{"pattern":"todo","-i":true,"head_limit":5}`, `{"pattern":"todo","ignore_case":true,"max_results":5}`},
			{"search_files", `{"pattern":"TODO","type":"ts"}`, `{"pattern":"TODO","file_pattern":"*.{ts,tsx,mts,cts}"}`},
			{"search_files", `{"pattern":"TODO","path":"src","-A":0}`, `{"pattern":"TODO","path":"src","context_lines":0}`},
			{"search_by_path", `{"pattern":"**/*.ts"}`, `{"pattern":"**/*.ts"}`},
			{"read_file", `{"file_path":"notes.txt"}`, `{"path":"notes.txt"}`},
			{"read_file", `{"file_path":"notes.txt","offset":2,"limit":2}`, `{"path":"notes.txt","start_line":2,"end_line":3}`},
			{"read_file", `{"file_path":"notes.txt","limit":2}`, `{"path":"notes.txt","start_line":1,"end_line":2}`},
			{"edit_file", `{"file_path":"notes.txt","old_string":"two","new_string":"2"}`, `{"path":"notes.txt","old_text":"two","new_text":"2"}`},
			{"edit_file", `{"file_path":"store.go","old_string":"x++","new_string":"x--","replace_all":true}`, `{"path":"store.go","old_text":"x++","new_text":"x--","replace_all":true}`},
			{"edit_file", `{"file_path":"notes.txt","edits":[{"old_string":"two","new_string":"2"},{"old_string":"four","new_string":"4"}]}`, `{"path":"notes.txt","edits":[{"old_text":"two","new_text":"2"},{"old_text":"four","new_text":"4"}]}`},
			{"write_file", `{"file_path":"new.txt","content":"x\n"}`, `{"path":"new.txt","content":"x\n"}`},
			// Codex: read_file, grep_files, list_dir, apply_patch.
			{"read_file", `{"file_path":"notes.txt","offset":3,"limit":1}`, `{"path":"notes.txt","start_line":3,"end_line":3}`},
			{"search_files", `{"pattern":"TODO","include":"*.ts","limit":10}`, `{"pattern":"TODO","file_pattern":"*.ts","max_results":10}`},
			{"list_files", `{"dir_path":"src","depth":1}`, `{"path":"src","depth":1}`},
			{"list_files", `{"dir_path":"src","limit":1}`, `{"path":"src","max_results":1}`},
			{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: notes.txt\n@@\n-two\n+2\n*** End Patch"}`, `{"patch":"*** Begin Patch\n*** Update File: notes.txt\n@@\n-two\n+2\n*** End Patch"}`},
			// The reference file system server.
			{"read_file", `{"path":"notes.txt","head":2}`, `{"path":"notes.txt","start_line":1,"end_line":2}`},
			{"read_file", `{"path":"notes.txt","tail":2}`, `{"path":"notes.txt","tail":2}`},
			{"read_file", `{"paths":["notes.txt","src/app.ts"]}`, `{"paths":["notes.txt","src/app.ts"]}`},
			{"write_file", `{"path":"new.txt","content":"x\n"}`, `{"path":"new.txt","content":"x\n"}`},
			{"edit_file", `{"path":"notes.txt","edits":[{"oldText":"two","newText":"2"}],"dryRun":true}`, `{"path":"notes.txt","edits":[{"old_text":"two","new_text":"2"}],"dry_run":true}`},
			{"create_folder", `{"path":"made"}`, `{"path":"made"}`},
			{"list_files", `{"path":"src"}`, `{"path":"src"}`},
			{"move_file", `{"source":"notes.txt","destination":"moved.txt"}`, `{"source":"notes.txt","destination":"moved.txt"}`},
			{"search_files", `{"path":"src","pattern":"TODO","excludePatterns":["*.test.ts"]}`, `{"path":"src","pattern":"TODO","file_pattern":"!*.test.ts"}`},
			{"get_file_info", `{"path":"notes.txt"}`, `{"path":"notes.txt"}`},
			// Cursor.
			{"read_file", `{"target_file":"notes.txt","should_read_entire_file":false,"start_line_one_indexed":2,"end_line_one_indexed_inclusive":3,"explanation":"look"}`, `{"path":"notes.txt","start_line":2,"end_line":3}`},
			{"read_file", `{"target_file":"notes.txt","offset":2,"limit":2}`, `{"path":"notes.txt","start_line":2,"end_line":3}`},
			{"search_code", `{"query":"open a store","target_directories":["."],"explanation":"where"}`, `{"query":"open a store"}`},
			{"search_files", `{"query":"TODO","include_pattern":"*.ts","case_sensitive":true,"explanation":"todos"}`, `{"regex":"TODO","file_pattern":"*.ts"}`},
			{"search_files", `{"query":"todo","case_sensitive":false}`, `{"regex":"todo","ignore_case":true}`},
			{"search_files", `{"query":"TODO","exclude_pattern":"*.test.ts"}`, `{"regex":"TODO","file_pattern":"!*.test.ts"}`},
			{"edit_file", `{"file_path":"notes.txt","old_string":"one","new_string":"1","instructions":"do it"}`, `{"path":"notes.txt","old_text":"one","new_text":"1"}`},
			{"delete_file", `{"target_file":"notes.txt","explanation":"gone"}`, `{"path":"notes.txt"}`},
			{"list_files", `{"relative_workspace_path":"src","explanation":"look"}`, `{"path":"src"}`},
			// Gemini CLI.
			{"read_file", `{"absolute_path":"notes.txt","offset":1,"limit":2}`, `{"path":"notes.txt","start_line":1,"end_line":2}`},
			{"search_files", `{"pattern":"limit","include":"*.ts"}`, `{"pattern":"limit","file_pattern":"*.ts"}`},
			{"edit_file", `{"file_path":"notes.txt","old_string":"five","new_string":"5"}`, `{"path":"notes.txt","old_text":"five","new_text":"5"}`},
			{"replace_in_files", `{"text":"TODO","new_string":"DONE","expected_replacements":2}`, `{"text":"TODO","replacement":"DONE","expected_count":2}`},
			// VS Code.
			{"read_file", `{"filePath":"notes.txt","startLine":2,"endLine":4}`, `{"path":"notes.txt","start_line":2,"end_line":4}`},
			{"search_files", `{"query":"TODO","isRegexp":false,"includePattern":"*.ts","maxResults":5}`, `{"regex":"TODO","file_pattern":"*.ts","max_results":5}`},
			{"search_files", `{"query":"s.name)","isRegexp":false}`, `{"regex":"s\\.name\\)"}`},
			{"edit_file", `{"filePath":"notes.txt","oldString":"one","newString":"1","explanation":"x"}`, `{"path":"notes.txt","old_text":"one","new_text":"1"}`},
			{"write_file", `{"filePath":"new.txt","content":"x\n"}`, `{"path":"new.txt","content":"x\n"}`},
			// Anthropic's text editor, and others.
			{"edit_file", `{"path":"notes.txt","old_str":"one","new_str":"1"}`, `{"path":"notes.txt","old_text":"one","new_text":"1"}`},
			{"write_file", `{"path":"new.txt","file_text":"x\n"}`, `{"path":"new.txt","content":"x\n"}`},
			{"file_search", `{"pattern":"limit","glob":"*.ts"}`, `{"query":"limit","include":"*.ts"}`},
			{"find_symbol", `{"symbol":"helper"}`, `{"name":"helper"}`},
			{"find_symbol", `{"name":["helper","Store"]}`, `{"names":["helper","Store"]}`},
			{"search_code", `{"query":"open store","limit":3}`, `{"query":"open store","top_k":3}`},
		},
		"code": {
			{"search_files", `{"pattern":"TODO","glob":"*.ts","output_mode":"files_with_matches"}`, `{"pattern":"TODO","glob":"*.ts","show":"files"}`},
			{"search_files", `{"regex":"TODO","file_pattern":"*.ts"}`, `{"pattern":"TODO","glob":"*.ts"}`},
			{"search_files", `{"query":"TODO","include":"*.ts","-i":true}`, `{"pattern":"TODO","glob":"*.ts","ignore_case":true}`},
			{"search_files", `{"pattern":"x.+","path":"store.go","-n":true,"-C":2}`, `{"pattern":"x.+","path":"store.go","context_lines":2}`},
			{"read_file", `{"file_path":"notes.txt","offset":2,"limit":2}`, `{"path":"notes.txt:2-3"}`},
			{"edit_file", `{"file_path":"notes.txt","old_string":"two","new_string":"2"}`, `{"path":"notes.txt","old_text":"two","new_text":"2"}`},
			{"apply_changes", `{"edits":[{"file_path":"notes.txt","old_string":"two","new_string":"2"}]}`, `{"changes":[{"path":"notes.txt","old_text":"two","new_text":"2"}]}`},
			{"search_code", `{"query":"open store","max_results":3}`, `{"query":"open store","top_k":3}`},
		},
	}
	ids := regexp.MustCompile(`Created: [^\n]*|change \w+|digest \w+`)
	total, equal := 0, 0
	for name, list := range calls {
		for _, c := range list {
			run := func(args string) (string, bool) {
				r := openTree(t, &profile.Options{Profile: name}, answersTree())
				res, err := r.Call(context.Background(), c.tool, json.RawMessage(args))
				if err != nil {
					t.Fatal(err)
				}
				return ids.ReplaceAllString(res.Text, "id"), res.IsError
			}
			theirs, _ := run(c.theirs)
			ours, bad := run(c.ours)
			if bad || ours == "" {
				t.Errorf("%s %s fails: %s", c.tool, c.ours, ours)
			}
			if total++; theirs == ours {
				equal++
			} else {
				t.Errorf("%s/%s %s\n got %q\nwant %q as for %s", name, c.tool, c.theirs, theirs, ours, c.ours)
			}
		}
	}
	t.Logf("%d of %d natural first calls give the answer of our own spelling", equal, total)
	if total < 60 {
		t.Errorf("only %d calls", total)
	}
}

// TestStrictProfilesKeepTheirNames checks that strict profiles reject other tools' spellings.
func TestStrictProfilesKeepTheirNames(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "vault"}, answersTree())
	if got := callText(t, r, "read_file", `{"file_path":"notes.txt"}`); !strings.HasPrefix(got, "Error: unknown parameter \"file_path\"") {
		t.Error(got)
	}
}

// TestComplaints covers problems that agents had in trials.
func TestComplaints(t *testing.T) {
	r := openTree(t, nil, answersTree())
	dry := callText(t, r, "replace_in_files", `{"text":"TODO","replacement":"DONE","dry_run":true}`)
	_, digest, _ := strings.Cut(dry, "digest ")
	digest, _, _ = strings.Cut(digest, " ")
	if got := callText(t, r, "replace_in_files", `{"digest":"`+digest+`"}`); strings.HasPrefix(got, "Error") || !strings.Contains(got, "+// DONE: one") {
		t.Errorf("the digest of a dry run %q: %s", digest, got)
	}
	if got := callText(t, r, "replace_in_files", `{"text":"x"}`); !strings.HasPrefix(got, "Error: replacement is required") {
		t.Error(got)
	}
	if got := callText(t, r, "search_files", `{"regex":"func \\w+\\(\\) \\{\\n\\s+return"}`); strings.Contains(got, "one line of it") {
		t.Errorf("a part of a regular expression as advice: %s", got)
	}
	code := openTree(t, &profile.Options{Profile: "code"}, answersTree())
	for _, c := range []struct{ tool, args, never, want string }{
		{"search_files", `{"pattern":"os.Open(s.name)"}`, "file_search", "literal: true"},
		{"search_files", `{"pattern":"return  nil"}`, "(regex ", "(pattern "},
		{"read_file", `{"path":"store.go#Nope"}`, "outline", "fold: true"},
		{"search_code", `{"query":"+++"}`, "file_search", "search_files"},
	} {
		if got := callText(t, code, c.tool, c.args); strings.Contains(got, c.never) || !strings.Contains(got, c.want) {
			t.Errorf("code has no such tool or parameter: %s %s\n%s", c.tool, c.args, got)
		}
	}
	notes := openTree(t, &profile.Options{Profile: "notes"}, map[string]string{".hidden/a.md": "secretword\n", "b.md": "x\n"})
	if got := callText(t, notes, "search_files", `{"pattern":"secretword"}`); strings.Contains(got, "include_hidden") {
		t.Errorf("search_files of notes has no include_hidden: %s", got)
	}
}
