package profile_test

// rootsGoldens are calls to a server of several roots, where every path begins with
// the name of a root.
func rootsGoldens() map[string][]scene {
	two := []string{"app", "api"}
	at := func(tool, name, args string) step { return step{name: name, tool: tool, args: args} }
	return map[string][]scene{
		"quarry/search_files@roots": {{make: code, roots: two, steps: steps(
			step{name: "all roots, in their order", args: `{"regex":"TODO: t"}`, data: true},
			step{name: "a limit over the joint answer", args: `{"regex":"TODO","max_results":4}`},
			step{name: "the next page", args: `{"regex":"TODO","max_results":4,"offset":4}`},
			step{name: "one root", args: `{"regex":"TODO: o","path":"api"}`},
			step{name: "a folder of one", args: `{"regex":"TODO: o","path":"api/src"}`},
			step{name: "a glob of one root", args: `{"regex":"TODO: o","file_pattern":"api/**/*.py"}`},
			step{name: "a glob of any", args: `{"regex":"TODO: o","file_pattern":"*/src/*.py"}`},
			step{name: "a glob of names", args: `{"pattern":"TODO: o","file_pattern":"*.py"}`},
			step{name: "zero", args: `{"regex":"nowhere"}`},
			step{name: "zero in one", args: `{"regex":"nowhere","path":"api/src"}`},
			step{name: "error: no root", args: `{"regex":"TODO","path":"src"}`},
			step{name: "error: a root there is not", args: `{"regex":"TODO","path":"web/src"}`},
			step{name: "error: a glob without a root", args: `{"regex":"TODO","file_pattern":"src/*.py"}`},
			step{name: "error: outside", args: `{"regex":"TODO","path":"../x"}`},
			step{name: "error: outside, through a root", args: `{"regex":"TODO","path":"app/../../x"}`},
			step{name: "error: outside, the folder above", args: `{"regex":"TODO","path":".."}`},
		)}},
		"quarry/list_files@roots": {{make: code, roots: two, steps: steps(
			step{name: "the top has the roots", args: `{}`, data: true},
			step{name: "one root", args: `{"path":"app"}`},
			step{name: "everywhere", args: `{"pattern":"**/*.py"}`},
			at("search_by_path", "a name in all", `{"pattern":"*.py"}`),
			at("search_by_path", "a path from the top", `{"pattern":"api/src/*.py"}`),
			at("search_by_path", "error: a path without a root", `{"pattern":"src/*.py"}`),
			at("search_by_path", "zero", `{"pattern":"nope.*"}`),
			at("file_search", "in all", `{"query":"needle","max_results":3}`),
			at("search_code", "in all", `{"query":"calculate total","compact":true}`),
			at("search_notes", "in all", `{"query":"milk"}`),
			at("get_file_info", "a root", `{"path":"api"}`),
			at("get_file_info", "the top", `{"path":"."}`),
			at("get_index_status", "of each", `{}`),
		)}},
		"quarry/edit_file@roots": {{make: code, roots: two, steps: steps(
			at("read_file", "a file", `{"path":"api/src/crlf.txt"}`),
			at("read_file", "error: no root", `{"path":"src/a.py"}`),
			at("read_file", "error: not found", `{"path":"api/nope.txt"}`),
			at("read_file", "error: protected", `{"path":"app/.git/config"}`),
			step{name: "an edit", args: `{"path":"app/src/a.py","old_text":"beta","new_text":"BETA"}`, data: true},
			step{name: "error: text not there", args: `{"path":"app/src/a.py","old_text":"nope","new_text":""}`},
			step{name: "a dry run", args: `{"path":"app/src/a.py","old_text":"gamma","new_text":"GAMMA","dry_run":true}`},
			at("write_file", "a new file", `{"path":"api/new/x.txt","content":"x\n"}`),
			at("write_file", "error: no root", `{"path":"x.txt","content":"x\n"}`),
			at("create_folder", "a folder", `{"path":"api/made"}`),
			at("create_folder", "error: a root", `{"path":"api"}`),
			at("move_file", "a move", `{"source":"api/new/x.txt","destination":"api/y.txt"}`),
			at("move_file", "error: between roots", `{"source":"api/y.txt","destination":"app/y.txt"}`),
			at("create_note", "a note", `{"path":"app/","title":"Plan","content":"Text"}`),
			at("create_note", "error: which root", `{"title":"Plan","content":"Text"}`),
			at("modify_note", "a note", `{"path":"app/Plan","operation":"append","content":"More"}`),
			at("organize_note", "error: between roots", `{"source":"app/Plan","destination":"api/Plan"}`),
			at("delete_file", "a file", `{"path":"app/Plan.md"}`),
			at("delete_file", "error: a root", `{"path":"app"}`),
			at("list_changes", "of both", `{}`),
			at("undo_change", "the last", `{}`),
			at("undo_change", "error: no root", `{"id":"web/00000000"}`),
		)}},
	}
}
