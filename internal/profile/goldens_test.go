package profile_test

import (
	"fmt"
	"runtime"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
)

func steps(s ...step) []step { return s }

// goldens lists the calls of every golden file, by profile/tool.
func goldens() map[string][]scene {
	all := map[string][]scene{}
	for _, part := range []map[string][]scene{searchGoldens(), listGoldens(), changeGoldens(), rootsGoldens(), linuxGoldens(), shapeGoldens()} {
		for name, scenes := range part {
			all[name] = scenes
		}
	}
	return all
}

// linuxGoldens are calls on files whose names other systems refuse or can't tell apart.
func linuxGoldens() map[string][]scene {
	if runtime.GOOS != "linux" {
		return nil
	}
	odd := func() fixture {
		return fixture{files: map[string]string{"a\x01b\u202e.txt": "odd\n", "bad\xff.txt": "odd\n"}}
	}
	cases := func() fixture { return fixture{files: map[string]string{"Readme.md": "a\n", "README.md": "b\n"}} }
	ambiguous := []scene{{make: cases, steps: steps(
		step{name: "exact", args: `{"path":"Readme.md"}`},
		step{name: "error: ambiguous", args: `{"path":"readme.md"}`},
	)}}
	return map[string][]scene{
		"roo/search_files@odd":     {{make: odd, steps: steps(step{name: "odd names", args: `{"regex":"odd"}`, data: true})}},
		"quarry/list_files@odd":    {{make: odd, steps: steps(step{name: "odd names", args: `{}`, data: true})}},
		"smcp/search_by_path@odd":  {{make: odd, steps: steps(step{name: "odd names", args: `{"pattern":"*"}`})}},
		"vault/read_file@case":     ambiguous,
		"quarry/read_file@case":    ambiguous,
		"vault/get_file_info@case": {{make: cases, steps: steps(step{name: "error: ambiguous", args: `{"path":"readme.MD"}`})}},
	}
}

func searchGoldens() map[string][]scene {
	oneBlock := func() fixture {
		return fixture{files: map[string]string{"all.txt": strings.Repeat("match\n", 5000)}}
	}
	return map[string][]scene{
		"roo/search_files": {
			{make: code, steps: steps(
				step{name: "plural", args: `{"path":"src","regex":"TODO"}`, data: true},
				step{name: "singular, a file as path", args: `{"path":"src/crlf.txt","regex":"TODO"}`},
				step{name: "zero", args: `{"regex":"nowhere"}`, data: true},
				step{name: "null and empty file_pattern are none", args: `{"path":".","regex":"TODO: t","file_pattern":null}`},
				step{name: "braces", args: `{"path":".","regex":"^(async\\s+)?function\\s+calculateTotal\\s*\\([^)]*\\)","file_pattern":"*.{js,ts}"}`},
				step{name: "an exclusion", args: `{"path":"src","regex":"TODO","file_pattern":"!*.py"}`},
				step{name: "long lines", args: `{"path":"src/long.txt","regex":"needle"}`},
				step{name: "an ignored folder that is named", args: `{"path":"build","regex":"TODO"}`},
				step{name: "path in another case", args: `{"path":"SRC/CRLF.txt","regex":"TODO"}`},
				step{name: "error: regex", args: `{"path":".","regex":"(foo"}`},
				step{name: "error: a line feed", args: `{"path":".","regex":"a\\nb"}`},
				step{name: "error: a glob", args: `{"path":".","regex":"*.ts"}`},
				step{name: "error: look-around", args: `{"path":".","regex":"foo(?=bar)"}`},
				step{name: "error: no regex", args: `{"path":"."}`},
				step{name: "error: path not found", args: `{"path":"nope","regex":"x"}`},
				step{name: "error: outside", args: `{"path":"../x","regex":"x"}`},
				step{name: "error: protected", args: `{"path":".git","regex":"x"}`},
				step{name: "error: secret", args: `{"path":"id_rsa","regex":"x"}`},
				step{name: "error: unknown parameter", args: `{"path":".","regexp":"x"}`},
			)},
			{make: code, opts: profile.Options{Structured: true}, steps: steps(
				step{name: "structured", args: `{"regex":"alpha"}`},
				step{name: "structured, an error", args: `{}`},
			)},
			{make: func() fixture { return many(3, 150) }, opts: profile.Options{Budget: 1500}, steps: steps(
				step{name: "more than the budget", args: `{"regex":"match"}`},
			)},
			{make: oneBlock, opts: profile.Options{Budget: 1300}, steps: steps(
				step{name: "one block larger than the budget", args: `{"regex":"match"}`},
			)},
		},
		"vault/search_files": {
			{make: vault, steps: steps(
				step{name: "markdown by default, most matches first", args: `{"pattern":"TODO"}`, data: true},
				step{name: "singular", args: `{"pattern":"FIXME","context_lines":1}`},
				step{name: "glob, any case", args: `{"pattern":"TODO|FIXME|XXX","file_pattern":"projects/**","context_lines":"1","max_results":20.0}`},
				step{name: "a glob reaches other files", args: `{"pattern":"TODO","file_pattern":"**/*.js"}`},
				step{name: "a name alone is at the top", args: `{"pattern":"TODO","file_pattern":"*.md","context_lines":0}`},
				step{name: "limit", args: `{"pattern":"TODO","max_results":1,"context_lines":0}`},
				step{name: "zero", args: `{"pattern":"nowhere"}`, data: true},
				step{name: "error: regex", args: `{"pattern":"(foo"}`},
				step{name: "error: no pattern", args: `{}`},
			)},
		},
		"godoctor/file_search": {
			{make: code, steps: steps(
				step{name: "plural", args: `{"query":"todo"}`, data: true},
				step{name: "singular", args: `{"query":"alpha"}`},
				step{name: "case kept", args: `{"query":"todo","ignore_case":false}`},
				step{name: "in a folder, by glob", args: `{"query":"TODO","path":"src","include":"*.py"}`},
				step{name: "long lines", args: `{"query":"needle"}`},
				step{name: "zero", args: `{"query":"nowhere"}`, data: true},
				step{name: "error: empty query", args: `{"query":""}`},
				step{name: "error: several lines", args: `{"query":"a\nb"}`},
				step{name: "error: path", args: `{"query":"x","path":"nope"}`},
			)},
			{make: func() fixture { return many(4, 78) }, steps: steps(
				step{name: "limit", args: `{"query":"match"}`},
			)},
		},
		"smcp/search_by_path": {
			{make: code, steps: steps(
				step{name: "top only", args: `{"pattern":"*.md"}`, data: true},
				step{name: "recursive", args: `{"pattern":"**/*.md"}`},
				step{name: "folder", args: `{"pattern":"src/**/*"}`},
				step{name: "hidden are listed, ignored are not", args: `{"pattern":"**/{ci.yml,out.js}"}`},
				step{name: "limit", args: `{"pattern":"**","limit":2}`},
				step{name: "zero", args: `{"pattern":"*.xyz"}`},
				step{name: "error: empty", args: `{"pattern":""}`},
				step{name: "error: blank", args: `{"pattern":"  "}`},
				step{name: "error: [", args: `{"pattern":"src/[ab"}`},
				step{name: "error: {", args: `{"pattern":"*.{ts,js"}`},
				step{name: "error: }", args: `{"pattern":"*.ts}"}`},
				step{name: "error: limit", args: `{"pattern":"*","limit":101}`},
			)},
			{make: code, opts: profile.Options{NoIndex: true}, steps: steps(
				step{name: "error: no index", args: `{"pattern":"*.md"}`},
				step{name: "error: the pattern is checked first", args: `{"pattern":"[a"}`},
			)},
		},
		"smcp/get_index_status": {{make: code, steps: steps(step{name: "no index", args: `{}`, data: true})}},
		"smcp/search_code": {
			{make: code, steps: steps(
				step{name: "found", args: `{"query":"calculate total","top_k":1}`},
				step{name: "compact", args: `{"query":"calculateTotal","compact":true}`},
				step{name: "zero", args: `{"query":"zebra"}`},
				step{name: "error: empty", args: `{"query":""}`},
				step{name: "no word", args: `{"query":"+-*"}`},
				step{name: "error: top_k", args: `{"query":"x","top_k":51}`},
			)},
		},
		"quarry/search_files": {
			{make: code, steps: steps(
				step{name: "regex", args: `{"regex":"TODO"}`, data: true},
				step{name: "pattern", args: `{"pattern":"TODO(?=:)"}`, data: true},
				step{name: "singular", args: `{"regex":"alpha"}`},
				step{name: "the function around a match", args: `{"regex":"items\\.","context_lines":0}`, data: true},
				step{name: "the function around a match, pattern", args: `{"pattern":"items\\.","context_lines":0}`},
				step{name: "all", args: `{"regex":"^alpha","also":["^delta"],"all":true,"context_lines":0}`},
				step{name: "wider", args: `{"regex":"todo:","ignore_case":true,"include_hidden":true,"include_ignored":true,"context_lines":0}`},
				step{name: "zero: outside the filter", args: `{"regex":"TODO: one","file_pattern":"*.go","path":"src"}`, data: true},
				step{name: "zero: hidden and ignored", args: `{"regex":"generated|make TODO"}`},
				step{name: "zero: letter case", args: `{"regex":"ALPHA"}`},
				step{name: "zero: meant literally", args: `{"regex":"foo(bar)"}`},
				step{name: "zero: pattern", args: `{"pattern":"nowhere"}`},
				step{name: "error: both", args: `{"regex":"a","pattern":"b"}`},
				step{name: "error: neither", args: `{}`},
				step{name: "error: look-around", args: `{"regex":"foo(?=bar)"}`},
				step{name: "error: backreference", args: `{"regex":"(a)\\1"}`},
				step{name: "error: glob", args: `{"regex":"x","file_pattern":"[a"}`},
			)},
			{make: func() fixture { return many(3, 150) }, opts: profile.Options{Budget: 1500}, steps: steps(
				step{name: "page 1", args: `{"regex":"match"}`},
				step{name: "page 2", args: `{"regex":"match","offset":30,"max_results":2}`},
				step{name: "counted in part", args: `{"regex":"match","max_results":2}`},
				step{name: "counted to the end", args: `{"regex":"match","max_results":2,"count":"exact"}`},
				step{name: "last page", args: `{"regex":"match","offset":449}`},
				step{name: "past the end", args: `{"regex":"match","offset":450}`},
				step{name: "files, page 2", args: `{"pattern":"match","offset":1,"max_results":1,"context_lines":0}`},
			)},
		},
		"quarry/file_search": {
			{make: code, steps: steps(
				step{name: "plural", args: `{"query":"todo"}`, data: true},
				step{name: "page", args: `{"query":"TODO","offset":1,"max_results":1}`},
				step{name: "also", args: `{"query":"milk","also":["gamma"]}`},
				step{name: "all", args: `{"query":"TODO","also":["alpha"],"all":true}`},
				step{name: "zero: all", args: `{"query":"milk","also":["gamma"],"all":true}`},
				step{name: "error: changed without git", args: `{"query":"milk","changed":true}`},
				step{name: "zero", args: `{"query":"generated","include":"*.md"}`},
			)},
		},
		"quarry/search_by_path": {
			{make: code, steps: steps(
				step{name: "a name at any depth", args: `{"pattern":"*.md"}`, data: true},
				step{name: "page", args: `{"pattern":"*.md","limit":1,"offset":1}`},
				step{name: "zero: ignored", args: `{"pattern":"out.js"}`},
				step{name: "zero: letter case", args: `{"pattern":"readme.md"}`},
				step{name: "zero: a part", args: `{"pattern":"eep"}`},
				step{name: "error", args: `{"pattern":"{a"}`},
			)},
		},
		"quarry/search_code": {
			{make: code, steps: steps(
				step{name: "found", args: `{"query":"calculate total","top_k":1}`, data: true},
				step{name: "zero", args: `{"query":"zebra"}`},
				step{name: "a budget", args: `{"query":"calculate total other","budget":200}`},
				step{name: "below a path", args: `{"query":"calculate total","path":"src","compact":true}`},
			)},
		},
		"quarry/find_symbol": {
			{make: code, steps: steps(
				step{name: "found", args: `{"name":"calculateTotal"}`, data: true},
				step{name: "similar", args: `{"name":"calculate_total"}`},
				step{name: "fuzzy", args: `{"name":"calc","fuzzy":true}`},
				step{name: "of a kind", args: `{"name":"calculateTotal","kind":"class"}`},
				step{name: "zero", args: `{"name":"zebra"}`},
				step{name: "error: no name", args: `{}`},
				step{tool: "read_file", name: "its lines", args: `{"path":"src/calc.js","symbol":"other"}`},
				step{tool: "read_file", name: "error: no such symbol", args: `{"path":"src/calc.js","symbol":"calculate"}`},
				step{tool: "read_file", name: "error: symbol and lines", args: `{"path":"src/calc.js","symbol":"other","start_line":1}`},
			)},
		},
		"quarry/outline": {
			{make: code, steps: steps(
				step{name: "a file", args: `{"path":"src/calc.js"}`, data: true},
				step{name: "a folder", args: `{"path":"src"}`},
				step{name: "a kind", args: `{"path":".","kind":"function"}`},
				step{name: "error: nothing there", args: `{"path":"nope"}`},
			)},
		},
		"quarry/get_index_status": {{make: code, steps: steps(step{name: "no index", args: `{}`})}},
	}
}

func listGoldens() map[string][]scene {
	long := func() fixture {
		var b strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return fixture{files: map[string]string{
			"doc.md": "# Document Title\n\nFirst paragraph content...\nMore content here...\n", "long.txt": b.String(),
			"empty": "", "one.txt": strings.Repeat("x", 200<<10), "pic.png": "\x89PNG\r\n\x1a\n\x00\x00",
			"win.txt": "a\r\nb\r\n", ".obsidian/app.json": "{}", "latin.txt": "caf\xe9\n",
		}}
	}
	noteCases := steps(
		step{tool: "search_notes", name: "plural", args: `{"query":"project timeline"}`, data: true},
		step{tool: "search_notes", name: "singular", args: `{"query":"FIXME"}`},
		step{tool: "search_notes", name: "content", args: `{"query":"talked","read_content":true}`, data: true},
		step{tool: "search_notes", name: "zero", args: `{"query":"timeline zebra"}`},
		step{tool: "search_notes", name: "error: empty", args: `{"query":""}`},
		step{tool: "search_notes", name: "error: blank", args: `{"query":"  "}`},
	)
	listCases := steps(
		step{tool: "list_files", name: "default", args: `{}`, data: true},
		step{tool: "list_files", name: "all markdown", args: `{"pattern":"**/*.md"}`},
		step{tool: "list_files", name: "a folder, path in another case", args: `{"pattern":"*","path":"projects/"}`},
		step{tool: "list_files", name: "limit", args: `{"pattern":"**","max_results":2}`},
		step{tool: "list_files", name: "too large a limit is cut", args: `{"pattern":"Tasks.md","max_results":100000}`},
		step{tool: "list_files", name: "zero", args: `{"pattern":"*.xyz","path":"Projects"}`},
		step{tool: "list_files", name: "zero at the top", args: `{"pattern":"*.xyz"}`},
		step{tool: "list_files", name: "error: no such folder", args: `{"path":"nope"}`},
		step{tool: "list_files", name: "error: a file", args: `{"path":"Tasks.md"}`},
		step{tool: "list_files", name: "error: protected", args: `{"path":".obsidian"}`},
		step{tool: "list_files", name: "error: outside", args: `{"path":".."}`},
		step{tool: "list_files", name: "error: limit", args: `{"max_results":0}`},
	)
	infoCases := steps(
		step{tool: "get_file_info", name: "file, another case", args: `{"path":"projects/alpha.md"}`, data: true},
		step{tool: "get_file_info", name: "folder", args: `{"path":"Projects"}`},
		step{tool: "get_file_info", name: "error: not found", args: `{"path":"nonexistent/file.md"}`},
		step{tool: "get_file_info", name: "error: protected", args: `{"path":".Obsidian/app.json"}`},
		step{tool: "get_file_info", name: "error: no path", args: `{}`},
	)
	readCases := steps(
		step{tool: "read_file", name: "whole", args: `{"path":"doc.md"}`, data: true},
		step{tool: "read_file", name: "range", args: `{"path":"DOC.md","start_line":2,"end_line":3}`},
		step{tool: "read_file", name: "range past the end", args: `{"path":"doc.md","start_line":4,"end_line":99}`},
		step{tool: "read_file", name: "empty", args: `{"path":"empty"}`},
		step{tool: "read_file", name: "crlf", args: `{"path":"win.txt"}`},
		step{tool: "read_file", name: "windows-1252", args: `{"path":"latin.txt"}`},
		step{tool: "read_file", name: "error: not found", args: `{"path":"nope.md"}`},
		step{tool: "read_file", name: "error: a line that isn't there", args: `{"path":"doc.md","start_line":50}`},
		step{tool: "read_file", name: "error: range", args: `{"path":"doc.md","start_line":3,"end_line":2}`},
		step{tool: "read_file", name: "error: binary", args: `{"path":"pic.png"}`},
		step{tool: "read_file", name: "error: protected", args: `{"path":".obsidian/app.json"}`},
		step{tool: "read_file", name: "error: a folder", args: `{"path":"."}`},
		step{tool: "read_file", name: "error: blank path", args: `{"path":" "}`},
	)
	return map[string][]scene{
		"vault/search_notes":  {{make: vault, steps: noteCases}},
		"quarry/search_notes": {{make: vault, steps: noteCases}},
		"vault/list_files":    {{make: vault, steps: listCases}},
		"quarry/list_files": {{make: vault, steps: append(listCases,
			step{name: "zero: deeper", args: `{"pattern":"Alpha.*"}`},
			step{name: "a tree", args: `{"depth":2}`, data: true},
			step{name: "a tree of some files", args: `{"depth":3,"pattern":"**/*.md","path":"projects"}`},
			step{name: "a tree, cut", args: `{"depth":2,"max_results":3}`},
			step{name: "a tree of nothing", args: `{"depth":2,"pattern":"*.xyz"}`},
		)}},
		"vault/get_file_info":  {{make: vault, steps: infoCases}},
		"quarry/get_file_info": {{make: vault, steps: infoCases}},
		"vault/read_file":      {{make: long, steps: readCases}},
		"quarry/read_file": {{make: long, steps: append(readCases,
			step{name: "the last lines", args: `{"path":"long.txt","tail":2}`, data: true},
			step{name: "more than there are", args: `{"path":"doc.md","tail":50}`},
			step{name: "several files", args: `{"paths":["doc.md","nope.md","pic.png","win.txt"]}`, data: true},
			step{name: "a lone path", args: `{"paths":"doc.md"}`},
			step{name: "several, cut", args: `{"paths":["one.txt","doc.md"]}`},
			step{name: "error: neither", args: `{}`},
			step{name: "error: both", args: `{"path":"a","paths":["b"]}`},
			step{name: "error: no path at all", args: `{"paths":[]}`},
			step{name: "error: tail of a range", args: `{"path":"doc.md","tail":1,"start_line":1}`},
		)}},
	}
}

func changeGoldens() map[string][]scene {
	files := func() fixture {
		return fixture{opts: quarry.Options{Trash: change.TrashLocal}, files: map[string]string{
			".obsidian/app.json": "{}",
			"notes/todo.md":      "- [ ] milk\n- [ ] bread\n- [ ] eggs\n",
			"win.txt":            "one\r\ntwo\r\n",
			"bin":                "a\x00b",
			"old/a.md":           "see [[todo]]\n",
		}}
	}
	editCases := steps(
		step{name: "replace one", args: `{"path":"notes/todo.md","old_text":"[ ]","new_text":"[x]"}`, data: true},
		step{name: "replace all", args: `{"path":"notes/todo.md","old_text":"[ ]","new_text":"[$&]","replace_all":true}`},
		step{name: "insert at the beginning", args: `{"path":"notes/todo.md","insert_after_line":0,"content":"# Header\n\nNew"}`},
		step{name: "insert one line", args: `{"path":"notes/todo.md","insert_after_line":3,"content":"X\n"}`},
		step{name: "insert before", args: `{"path":"notes/todo.md","insert_before_line":1,"content":"## Top"}`},
		step{name: "delete lines", args: `{"path":"notes/todo.md","delete_lines":{"start":1,"end":3}}`},
		step{name: "delete one line", args: `{"path":"notes/todo.md","delete_lines":{"start":1,"end":1}}`},
		step{name: "a line break matches CRLF", args: `{"path":"win.txt","old_text":"one\ntwo","new_text":"1\n2"}`},
		step{name: "error: text not found", args: `{"path":"notes/todo.md","old_text":"foo","new_text":"bar"}`},
		step{name: "error: nearly found", args: `{"path":"notes/todo.md","old_text":"-\t[$&] bread","new_text":"bar"}`},
		step{name: "error: line", args: `{"path":"notes/todo.md","insert_after_line":50,"content":"x"}`},
		step{name: "error: delete past the end", args: `{"path":"notes/todo.md","delete_lines":{"start":1,"end":50}}`},
		step{name: "error: mixed", args: `{"path":"notes/todo.md","old_text":"a","new_text":"b","insert_after_line":1}`},
		step{name: "error: two operations", args: `{"path":"notes/todo.md","insert_before_line":1,"insert_after_line":1,"content":"x"}`},
		step{name: "error: a deletion with content", args: `{"path":"notes/todo.md","delete_lines":{"start":1,"end":1},"content":"x"}`},
		step{name: "error: nothing to do", args: `{"path":"notes/todo.md"}`},
		step{name: "error: no content", args: `{"path":"notes/todo.md","insert_after_line":1}`},
		step{name: "error: no new_text", args: `{"path":"notes/todo.md","old_text":"a"}`},
		step{name: "error: not found", args: `{"path":"nope.md","old_text":"a","new_text":"b"}`},
		step{name: "error: exact case", args: `{"path":"Notes/Todo.md","old_text":"a","new_text":"b"}`},
		step{name: "error: protected", args: `{"path":".obsidian/app.json","old_text":"{","new_text":"b"}`},
		step{name: "error: binary", args: `{"path":"bin","old_text":"a","new_text":"b"}`},
		step{name: "error: same", args: `{"path":"win.txt","old_text":"1","new_text":"1"}`},
	)
	writeCases := steps(
		step{name: "create", args: `{"path":"Projects/new-project.md","content":"# New Project\n"}`, data: true},
		step{name: "overwrite", args: `{"path":"notes/todo.md","content":"` + strings.Repeat("x", 2355) + `"}`},
		step{name: "empty", args: `{"path":"e.txt","content":""}`},
		step{name: "error: no path", args: `{"content":"x"}`},
		step{name: "error: no content", args: `{"path":"x"}`},
		step{name: "error: protected, also new", args: `{"path":".obsidian/new.json","content":"x"}`},
		step{name: "error: protected, .git", args: `{"path":"sub/.git/config","content":"x"}`},
		step{name: "error: secret", args: `{"path":".env","content":"x"}`},
		step{name: "error: outside", args: `{"path":"../x","content":"x"}`},
		step{name: "error: below a file", args: `{"path":"win.txt/x","content":"x"}`},
		step{name: "error: a folder", args: `{"path":"notes","content":"x"}`},
	)
	folderCases := steps(
		step{name: "one", args: `{"path":"Projects"}`, data: true},
		step{name: "nested", args: `{"path":"/Archive/2026/January/"}`},
		step{name: "exists", args: `{"path":"Projects"}`},
		step{name: "error: no path", args: `{}`},
		step{name: "error: empty", args: `{"path":""}`},
		step{name: "error: root", args: `{"path":"/"}`},
		step{name: "error: root, by a way round", args: `{"path":"./x/.."}`},
		step{name: "error: outside", args: `{"path":".."}`},
		step{name: "error: protected", args: `{"path":".obsidian/x"}`},
		step{name: "error: a file", args: `{"path":"win.txt"}`},
	)
	moveCases := steps(
		step{name: "rename", args: `{"source":"win.txt","destination":"wins.txt"}`, data: true},
		step{name: "into new folders", args: `{"source":"notes/todo.md","destination":"Meetings/2026/todo.md"}`},
		step{name: "a folder", args: `{"source":"old","destination":"Archive/old"}`},
		step{name: "case only", args: `{"source":"wins.txt","destination":"Wins.txt"}`},
		step{name: "same path", args: `{"source":"bin","destination":"./bin"}`},
		step{name: "error: no source", args: `{"destination":"x"}`},
		step{name: "error: no destination", args: `{"source":"bin"}`},
		step{name: "error: source", args: `{"source":"nonexistent.md","destination":"x"}`},
		step{name: "error: destination", args: `{"source":"bin","destination":"Wins.txt"}`},
		step{name: "error: into itself", args: `{"source":"Archive","destination":"Archive/x"}`},
		step{name: "error: protected source", args: `{"source":".obsidian/app.json","destination":"x"}`},
		step{name: "error: protected destination", args: `{"source":"bin","destination":".obsidian/x"}`},
	)
	deleteCases := steps(
		step{name: "file", args: `{"path":"win.txt"}`, data: true},
		step{name: "folder", args: `{"path":"old"}`},
		step{name: "error: not found", args: `{"path":"nonexistent.md"}`},
		step{name: "error: no path", args: `{}`},
		step{name: "error: protected", args: `{"path":".obsidian"}`},
		step{name: "error: root", args: `{"path":"."}`},
	)
	forGood := func() fixture {
		f := files()
		f.opts.Trash = change.TrashNone
		return f
	}
	createCases := steps(
		step{name: "at a path", args: `{"content":"# Meeting Notes\n\nDiscussed","path":"Meetings/2026-02-03"}`, data: true},
		step{name: "by heading", args: `{"content":"---\ntitle: x\n---\n# A/B: test?\n"}`},
		step{name: "by title", args: `{"content":"x","title":"My [title]"}`},
		step{name: "by first line", args: `{"content":"\nfirst line\n"}`},
		step{name: "by time", args: `{"content":""}`},
		step{name: "error: exists", args: `{"content":"x","path":"notes/todo.md"}`},
		step{name: "error: no content", args: `{"path":"x"}`},
		step{name: "error: protected", args: `{"content":"x","path":".smarthole/x"}`},
	)
	modifyCases := steps(
		step{name: "append", args: `{"path":"notes/todo.md","operation":"append","content":"- [ ] tea"}`, data: true},
		step{name: "prepend, .md left out", args: `{"path":"notes/todo","operation":"prepend","content":"# List"}`},
		step{name: "replace", args: `{"path":"notes/todo.md","operation":"replace","search":"[ ]","content":"[x]"}`},
		step{name: "error: not found", args: `{"path":"nope","operation":"append","content":"x"}`},
		step{name: "error: text not found", args: `{"path":"notes/todo.md","operation":"replace","search":"zebra","content":"x"}`},
		step{name: "error: no search", args: `{"path":"notes/todo.md","operation":"replace","content":"x"}`},
		step{name: "error: operation", args: `{"path":"notes/todo.md","operation":"insert","content":"x"}`},
	)
	organizeCases := steps(
		step{name: "move", args: `{"source":"old/a","destination":"new/b"}`, data: true},
		step{name: "same path", args: `{"source":"notes/todo","destination":"notes/todo.md"}`},
		step{name: "error: not found", args: `{"source":"nope","destination":"x"}`},
		step{name: "error: exists", args: `{"source":"notes/todo","destination":"new/b"}`},
	)
	linked := func() fixture {
		return fixture{files: map[string]string{
			".obsidian/app.json": `{"alwaysUpdateLinks":false}`,
			"a.md":               "see [[b]] and [[b|B]]\n", "b.md": "x\n", "c.md": "[[b]]\n",
		}}
	}
	out := map[string][]scene{
		"quarry/list_changes": {{make: files, steps: steps(
			step{name: "none", args: `{}`},
			step{name: "a change", tool: "write_file", args: `{"path":"x.txt","content":"1"}`},
			step{name: "another", tool: "edit_file", args: `{"path":"x.txt","old_text":"1","new_text":"2"}`},
			step{name: "all", args: `{}`, data: true},
			step{name: "limit", args: `{"limit":1}`},
		)}},
		"quarry/undo_change": {{make: files, steps: steps(
			step{name: "error: nothing to undo", args: `{}`},
			step{name: "a change", tool: "edit_file", args: `{"path":"win.txt","old_text":"one","new_text":"1"}`},
			step{name: "dry run", args: `{"dry_run":true}`},
			step{name: "the last", args: `{}`, data: true},
			step{name: "error: bad id", args: `{"id":"!"}`},
			step{name: "error: unknown id", args: `{"id":"00000000"}`},
		)}},
	}
	for name, c := range map[string][]step{
		"edit_file": editCases, "write_file": writeCases, "create_folder": folderCases, "move_file": moveCases,
		"delete_file": deleteCases, "create_note": createCases, "modify_note": modifyCases, "organize_note": organizeCases,
	} {
		out["vault/"+name] = []scene{{make: files, steps: c}}
		out["quarry/"+name] = []scene{{make: files, steps: c}}
	}
	permanent := scene{make: forGood, steps: steps(step{name: "for good", args: `{"path":"win.txt"}`})}
	out["vault/delete_file"] = append(out["vault/delete_file"], permanent)
	out["quarry/delete_file"] = append(out["quarry/delete_file"], permanent)
	out["quarry/edit_file"] = append(out["quarry/edit_file"], scene{make: files, steps: steps(
		step{name: "dry run", args: `{"path":"win.txt","old_text":"one","new_text":"1","dry_run":true}`, data: true},
		step{name: "error: another version", args: `{"path":"win.txt","old_text":"one","new_text":"1","expected_version":"00000000000000000000000000000000"}`},
		step{name: "error: no version", args: `{"path":"win.txt","old_text":"one","new_text":"1","expected_version":"latest"}`},
	)})
	out["quarry/move_file"] = append(out["quarry/move_file"], scene{make: linked, steps: steps(
		step{name: "links break", args: `{"source":"b.md","destination":"sub/d.md"}`},
		step{name: "links follow", args: `{"source":"c.md","destination":"sub/c.md","update_links":true}`},
	)}, scene{make: linked, steps: steps(
		step{name: "links updated", args: `{"source":"b.md","destination":"sub/d.md","update_links":true}`, data: true},
	)})
	return out
}
