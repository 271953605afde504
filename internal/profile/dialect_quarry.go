package profile

import "quarry/tool"

// quarryDialect has every tool once, with all parameters of its variants. Models read the
// definitions at every turn, so the texts are short.
func quarryDialect() *dialect {
	return &dialect{
		name:      "quarry",
		about:     "Every tool once, with the union of parameters.",
		omits:     "Hidden and ignored files are omitted unless asked for.",
		listsUses: true,
		tools:     quarryTools(),
		inVault:   noteTools(),

		spellings: true, lenient: true, receipts: true, explains: true, errorText: withCode,
		manyRoots: true, notePaths: true, top: "the top folder", localGlobs: true,
		anyForm: true, numbersNotes: true, around: true, images: true, remaining: true, shows: true, attachments: true,
		position: true, lookAround: useOtherSyntax,
		limits: documented.with(func(l *limits) { l.codeTokens = codeTokens }),
	}
}

// withCode appends to an error its next step and its code.
func withCode(err *tool.Error, _ bool) string { return err.Text() + "\n[" + string(err.Code) + "]" }

// useOtherSyntax adds the advice to pass the pattern in the other syntax.
func useOtherSyntax(own string) string { return own + " Pass it as pattern instead of regex." }

// codeTokens limits the answer of search_code unless the caller asks for more. Measured
// on searches for 30 names, an agent sees 7.1 definitions per 10,000 tokens of answers
// with the limit and 3.7 without it. It finds 26 of the definitions either way.
const codeTokens = 1500

func quarryTools() []spec {
	return []spec{
		{
			name: "search_files", title: "Search files", use: "lines that match a pattern",
			about: "Search file text by regular expression: give regex or pattern.",
			params: []tool.Param{
				orSeveral(str("regex", "Rust syntax; blocks in path order")),
				orSeveral(str("pattern", "JavaScript syntax; files with most matches first")),
				str("structure", "Code with holes: foo($A, $$REST)"),
				str("path", "File or folder"),
				orList(str("file_pattern", "Glob: *.ts, src/**, !*_test.go")),
				integer("context_lines", "Lines of context; default 1 or 2", 0),
				integer("max_results", "Blocks (300) or, with pattern, files (10)", 1),
				boolean("ignore_case", "Any case"),
				paramShow, paramAlso, paramAll, paramLacking, paramChanged, paramHidden, paramIgnored, paramOffset, paramCount,
			},
			action: searchByEither,
		},
		{
			name: "file_search", title: "Search text", use: "lines that have a text",
			about: "Search file text for a plain string.",
			params: []tool.Param{
				orSeveral(need(str("query", "Text to find"))),
				str("path", "File or folder"),
				{Name: "ignore_case", Kind: tool.Boolean, Default: true, Description: "Any case"},
				orList(str("include", "Glob: *.md")),
				integer("max_results", "Matches; default 50", 1),
				oneOf(str("show", "As in search_files"), "lines", "files", "count", "definitions"),
				paramAlso, paramAll, paramLacking, paramChanged, paramHidden, paramIgnored, paramOffset, paramCount,
			},
			action: searchText,
		},
		{
			name: "search_by_path", title: "Find files", use: "files by path", about: "Find files by name or glob pattern",
			params: []tool.Param{
				{Name: "pattern", Kind: tool.String, Required: true, AllowEmpty: true, Max: tool.Limit(200), Description: "Glob: auth*.ts at any depth, src/**/*.md from the top; or a part of a path, words of it, initials"},
				{Name: "limit", Kind: tool.Integer, Default: 20, Min: tool.Limit(1), Max: tool.Limit(100), Description: "Paths"},
				paramHidden, paramIgnored, paramOffset,
			},
			action: searchByPath,
		},
		{
			name: "search_code", title: "Search code", use: "the passages most relevant to a query",
			about: "Rank code and text by relevance to a query of words or identifiers.",
			params: []tool.Param{
				{Name: "query", Kind: tool.String, Required: true, Min: tool.Limit(1), Max: tool.Limit(1000), Description: "Words or identifiers"},
				{Name: "top_k", Kind: tool.Integer, Default: 10, Min: tool.Limit(1), Max: tool.Limit(50), Description: "Results"},
				boolean("compact", "Without text"),
				str("path", "Only below it"),
				integer("budget", "Tokens to fill (1500 without top_k): the best in full, others in a line", 100),
			},
			action: searchCode,
		},
		{
			name: "find_symbol", title: "Find a definition", use: "where a name is defined",
			about: "Where a function, type, method or constant is defined, with its text and doc comment.",
			params: []tool.Param{
				{Name: "name", Kind: tool.String, Min: tool.Limit(1), Max: tool.Limit(200), Description: "Open, Store.Open"},
				{Name: "names", Kind: tool.Strings, Description: "Several names"},
				str("kind", "function (methods too), type (any), method, class, struct, interface, enum, constant, variable, field, member, macro, module, prototype, impl, test, table, heading"),
				boolean("fuzzy", "Also similar names"),
				str("path", "Only below it"),
				paramReferences,
				unlisted(paramBudget),
			},
			action: findSymbol,
		},
		{
			name: "outline", title: "Outline a file or folder", use: "what a file or folder defines",
			about:  "List functions, types, methods and headings with their lines, without their bodies.",
			params: []tool.Param{required("path", "File or folder"), str("kind", "As in find_symbol")},
			action: outline,
		},
		{
			name: "search_notes", title: "Search notes", use: "the notes most relevant to some words",
			about: "Find markdown notes by words in any form, best first, or by filters.",
			params: []tool.Param{
				required("query", "Words, and filters: tag:, property:name>=value, has:, path:, heading:, link:\"A note\" (links to it), task:todo, modified:>date; -tag:x omits, OR, ( ). Filters alone list all"),
				boolean("read_content", "Give whole notes, not excerpts"),
				oneOf(str("show", "Only count"), "notes", "count", "table", "tasks"),
				unlisted(paramColumns), unlisted(paramSort), unlisted(paramGroup),
			},
			action: searchNotes,
		},
		{
			name: "list_files", title: "List files", use: "what a folder has",
			about: "List files and folders, newest first.",
			params: []tool.Param{
				{Name: "pattern", Kind: tool.String, Default: "*", Description: "Glob below path: ** for everything"},
				str("path", "Folder"),
				{Name: "max_results", Kind: tool.Integer, Default: 100, Min: tool.Limit(1), Description: "Entries"},
				integer("depth", "Show a tree of this depth, with sizes", 1), paramHidden, paramIgnored, paramOffset,
			},
			action: listFiles,
		},
		{
			name: "get_file_info", title: "File info",
			about:  "Size and dates of a file or folder.",
			params: []tool.Param{required("path", "File or folder")},
			action: getFileInfo,
		},
		{
			name: "read_file", title: "Read a file", use: "lines of a file, with their numbers",
			about: "Read a text file with line numbers, 2000 lines or 100 KB at a time, or look at an image.",
			params: []tool.Param{
				optional(required("path", "File; also a.go:10-40,80-95, a.go#Store.Open or a.yml#jobs.build")), // not needed with paths
				integer("start_line", "First line", 1),
				integer("end_line", "Last line", 1),
				integer("tail", "Number of last lines to read", 1),
				str("symbol", "Only this definition: Open, Store.Open"),
				{Name: "paths", Kind: tool.Strings, Description: "Several of them"},
				boolean("fold", "Bodies of functions as a count of lines"),
				str("expand", "Names or regex of those to open"),
				paramBudget,
				unlisted(integer("lines", "Number of lines", 1)),
			},
			action: readFile,
		},
		{
			name: "edit_file", title: "Edit a file", use: "a change of some text or lines",
			about: "Edit a text file: replace old_text, or do one line operation.",
			params: []tool.Param{
				required("path", "File"),
				str("old_text", "Exact text to replace"),
				str("new_text", "Its replacement"),
				boolean("replace_all", "All of them, not only the first"),
				integer("insert_after_line", "Insert content after this line; 0 is the top", 0),
				integer("insert_before_line", "Insert content before this line", 1),
				{Name: "delete_lines", Kind: tool.Object, Description: "Lines to delete", Fields: []tool.Param{
					need(integer("start", "First line", 1)),
					need(integer("end", "Last line", 1)),
				}},
				str("content", "Text to insert"),
				{Name: "edits", Kind: tool.Objects, Description: "Several replacements; each old_text must occur once", Fields: []tool.Param{
					need(str("old_text", "")), need(tool.Param{Name: "new_text", AllowEmpty: true}), boolean("replace_all", ""),
				}},
				integer("start_line", "Lines to replace by new_text; needs expected_version", 1), integer("end_line", "Last of them", 1),
				paramVersion, paramDryRun, paramQuiet, paramDiff,
			},
			action: editFile,
		},
		{
			name: "write_file", title: "Write a file", use: "a whole file",
			about:  "Create or overwrite a file.",
			params: []tool.Param{required("path", "File"), text("content", "Its whole text"), paramVersion, paramDryRun, paramQuiet, paramDiff},
			action: writeFile,
		},
		{
			name: "apply_changes", title: "Change several files", use: "changes of several files, all or none",
			about: "Make all changes or none, as one change. Texts and lines are those of the files before it.",
			params: []tool.Param{
				{Name: "changes", Kind: tool.Objects, Description: "For each: old_text and new_text, or lines, or content, or delete, or move_to", Fields: []tool.Param{
					need(str("path", "")),
					str("old_text", "Exact text, found once"),
					str("new_text", ""),
					boolean("replace_all", ""),
					integer("start_line", "Lines to replace by new_text; needs expected_version", 1),
					integer("end_line", "", 1),
					paramAt, paramValue,
					str("content", "Whole file, new or not"),
					boolean("delete", ""),
					str("move_to", "New path"),
					paramVersion,
				}},
				paramSummary, paramDryRun, paramQuiet, paramDiff,
				str("digest", "Apply a dry run"),
			},
			action: applyChanges,
		},
		{
			name: "apply_patch", title: "Apply a patch",
			about:  "Apply a patch to files, all of it or nothing: *** Begin Patch … *** End Patch, or a unified or git diff. Context must match exactly.",
			params: []tool.Param{need(str("patch", "The whole patch")), paramSummary, paramDryRun, paramQuiet, paramDiff},
			action: applyPatch,
		},
		{
			name: "replace_in_files", title: "Replace in files", use: "the same replacement in many files",
			about: "Replace every match in all text files below path, as one change.",
			params: []tool.Param{
				str("regex", "Rust regex; ${1} in replacement is a group"),
				str("text", "Or literal text"),
				str("structure", "Or code with holes"),
				str("symbol", "Or a name: Store.Open"), unlisted(boolean("doubtful", "Doubtful places too")), unlisted(boolean("comments", "Comments too")),
				optional(text("replacement", "New text")), // not needed with digest
				paramAlsoReplace,
				str("path", "File or folder"),
				orList(str("file_pattern", "As in search_files")),
				unlisted(boolean("ignore_case", "Any case")), unlisted(boolean("multiline", "Match across lines")), // the pattern can have (?i), (?s)
				integer("expected_count", "Refuse another number of matches", 1),
				paramLacking,
				str("digest", "Apply this dry run"),
				paramSummary, paramDryRun, paramQuiet, paramDiff,
			},
			action: replaceInFiles,
		},
		{
			name: "create_folder", title: "Create a folder",
			about:  "Create a folder and its parents.",
			params: []tool.Param{text("path", "Folder")},
			action: createFolder,
		},
		{
			name: "move_file", title: "Move or rename", use: "move or rename",
			about:  "Move or rename a file or folder. Never overwrites.",
			params: []tool.Param{required("source", "File or folder"), required("destination", "New path, or folder/"), paramLinks, unlisted(paramTexts), paramDryRun, paramQuiet, paramDiff},
			action: moveFile,
		},
		{
			name: "delete_file", title: "Delete",
			about:  "Delete a file or folder, to the trash.",
			params: []tool.Param{required("path", "File or folder"), paramVersion, paramDryRun},
			action: deleteFile,
		},
		{
			name: "create_note", title: "Create a note",
			about: "Create a markdown note. Never overwrites.",
			params: []tool.Param{
				text("content", "Its text"), str("path", "Its path, .md is added; default from title or text"), str("title", "Its name"), paramDryRun,
			},
			action: createNote,
		},
		{
			name: "modify_note", title: "Modify a note",
			about: "Add text to a note, or replace text in it.",
			params: []tool.Param{
				required("path", "Note"),
				oneOf(need(str("operation", "prepend goes after front matter")), "append", "prepend", "replace"),
				text("content", "Text to add or put in"), str("search", "Text to replace"), paramVersion, paramDryRun, paramQuiet, paramDiff,
			},
			action: modifyNote,
		},
		{
			name: "organize_note", title: "Move a note",
			about:  "Move or rename a note; .md is added. Never overwrites.",
			params: []tool.Param{required("source", "Note"), required("destination", "New path"), paramLinks, paramDryRun, paramQuiet, paramDiff},
			action: organizeNote,
		},
		{
			name: "list_changes", title: "List changes",
			about:  "List the last changes, newest first.",
			params: []tool.Param{{Name: "limit", Kind: tool.Integer, Default: 10, Min: tool.Limit(1), Max: tool.Limit(100), Description: "Changes"}},
			action: listChanges,
		},
		{
			name: "undo_change", title: "Undo a change", use: "undo a change",
			about:  "Undo a change, by default the last of this connection, beneath later edits. Refuses where those touch it. Undo the undo's id to redo.",
			params: []tool.Param{str("id", "Id from list_changes"), str("path", "Only this file"), integer("hunk", "Only this hunk of its diff", 1), paramDryRun},
			action: undoChange,
		},
		{name: "get_index_status", title: "Index status", about: "State of the search index.", action: indexState},
	}
}
