package profile

import "quarry/tool"

// codeDialect has few tools, for agents that write programs. Its answers are as short as
// possible: counts first, then the piece that does the work, and nothing that repeats the
// request.
func codeDialect() *dialect {
	return &dialect{
		name:  "code",
		about: "Few tools for agents that write programs, with short answers.",
		omits: "Hidden and ignored files are omitted unless a path names them.",
		tools: []spec{
			{
				name: "search_files", title: "Search files",
				about: "Find lines by regex (Rust) in all text files. For where a name is defined use find_symbol, for a question in words search_code.",
				params: []tool.Param{
					orSeveral(need(str("pattern", "Regex, line by line; look-around works"))),
					str("path", "File or folder"),
					orList(str("glob", "Files: *.ts, src/**, !{a,b/**}")),
					{Name: "more", Kind: tool.Objects, Description: "Further searches", Fields: []tool.Param{
						need(str("pattern", "")), str("path", ""), orList(str("glob", "")),
					}},
					boolean("ignore_case", ""),
					integer("context_lines", "Default 0", 0),
					paramShow,
					paramBudget,
					unlisted(boolean("literal", "pattern is plain text")), unlisted(paramAlso),
					unlisted(integer("offset", "Lines to skip", 0)),
					unlisted(boolean("all", "Only files that have each of them")),
					{Name: "lacking", Kind: tool.Strings, Description: "Omit files that match these regexes"},
					unlisted(integer("max_results", "Maximum number of lines", 1)),
					unlisted(paramHidden), unlisted(paramIgnored), unlisted(paramChanged),
				},
				action: withMore(searchByLines),
			},
			{
				name: "search_code", title: "Search code",
				about: "Rank definitions and text by relevance to words or identifiers, when you don't know what the code calls it.",
				params: []tool.Param{
					{Name: "query", Kind: tool.String, Required: true, Min: tool.Limit(1), Max: tool.Limit(1000), Description: "Words or identifiers"},
					str("path", "Only below it"),
					integer("budget", "", 100),
					oneOf(str("show", "Without text"), "places"),
					unlisted(tool.Param{Name: "top_k", Kind: tool.Integer, Default: 10, Min: tool.Limit(1), Max: tool.Limit(50)}),
					unlisted(boolean("compact", "")),
				},
				action: bestOfCode,
			},
			{
				name: "find_symbol", title: "Find a definition",
				about: "Where functions, types, methods or constants are defined, with their text, a type with a list of its methods; of more than three names the place.",
				params: []tool.Param{
					{Name: "name", Kind: tool.String, Min: tool.Limit(1), Max: tool.Limit(200), Description: "Open, Store.Open"},
					{Name: "names", Kind: tool.Strings, Description: "Several"},
					str("path", "Only below it"),
					boolean("references", "All uses of the name in code; comments and strings only counted"),
					integer("budget", "", 100),
					unlisted(str("kind", "function, class, ...")), unlisted(boolean("fuzzy", "")),
				},
				action: findSymbol,
			},
			{
				name: "read_file", title: "Read files",
				about: "Read files or parts of them, several at once. A long file comes folded to its declarations; then read the parts you need.",
				params: []tool.Param{
					optional(required("path", "a.go, a.go:10-40,80-95, a.go#Store.Open,Store.Close")),
					{Name: "paths", Kind: tool.Strings, Description: "Several of these"},
					boolean("fold", "true: declarations only; false: a long file whole"),
					integer("budget", "", 100),
					unlisted(str("expand", "Of a folded file, bodies to open: names, or a regex of their text")),
					unlisted(boolean("numbers", "With line numbers")),
					unlisted(integer("start_line", "First line", 1)), unlisted(integer("end_line", "Last line", 1)),
					unlisted(integer("tail", "Number of last lines", 1)), unlisted(str("symbol", "Only this definition")),
					unlisted(integer("lines", "Number of lines", 1)),
				},
				action: readFile,
			},
			{
				name: "edit_file", title: "Edit a file",
				about: "Replace old_text, which must occur once, in one file. For several files use apply_changes.",
				params: []tool.Param{
					required("path", "a.go; a.go#Store.Open with new_text alone replaces that definition"),
					str("old_text", ""),
					str("new_text", ""),
					boolean("replace_all", "Every occurrence"),
					{Name: "edits", Kind: tool.Objects, Description: "Several replacements", Fields: []tool.Param{
						need(str("old_text", "")), need(tool.Param{Name: "new_text", AllowEmpty: true}), boolean("replace_all", ""),
					}},
					unlisted(paramDryRun), unlisted(integer("line", "Line that the occurrence meant begins on", 1)),
					unlisted(integer("insert_after_line", "", 0)), unlisted(integer("insert_before_line", "", 1)), unlisted(str("content", "")),
					unlisted(tool.Param{Name: "delete_lines", Kind: tool.Object, Fields: []tool.Param{need(integer("start", "", 1)), need(integer("end", "", 1))}}),
					paramQuiet,
					unlisted(integer("start_line", "", 1)), unlisted(integer("end_line", "", 1)), unlisted(paramVersion),
					paramDiff,
				},
				action: editFile,
			},
			{
				name: "apply_changes", title: "Change several files",
				about: "Create, overwrite, edit, move and delete files, all or none, as one change that undo_change undoes.",
				params: []tool.Param{
					{Name: "changes", Kind: tool.Objects, Description: "For each: old_text and new_text, or content, or delete, or move_to. A path may come several times", Fields: []tool.Param{
						need(str("path", "")),
						str("old_text", "Found once"),
						str("new_text", ""),
						boolean("replace_all", ""),
						str("content", "Whole file, new or not"),
						boolean("delete", ""),
						str("move_to", "New path"),
						unlisted(paramAt), unlisted(paramValue),
						unlisted(integer("start_line", "", 1)), unlisted(integer("end_line", "", 1)), unlisted(paramVersion),
					}},
					paramDryRun,
					paramQuiet, unlisted(paramSummary), unlisted(str("digest", "")), paramDiff,
				},
				action: applyChanges,
			},
			{
				name: "replace_in_files", title: "Replace in files",
				about: "Replace every match in all text files below path, as one change: a rename, an import path. Hidden files that match are named.",
				params: []tool.Param{
					str("regex", "As pattern of search_files; ${1} in replacement is a group"),
					str("text", "Or literal text"),
					optional(text("replacement", "")), // not needed with digest
					paramAlsoReplace,
					str("path", ""),
					orList(str("glob", "As in search_files")),
					{Name: "lacking", Kind: tool.Strings, Description: "As in search_files"},
					integer("expected_count", "Refuse another number of matches", 1),
					paramDryRun,
					unlisted(boolean("ignore_case", "Any case")), unlisted(boolean("multiline", "Match across lines")),
					unlisted(str("digest", "Apply this dry run")), unlisted(paramSummary), paramQuiet, paramDiff,
				},
				action: replaceInFiles,
			},
			{
				name: "undo_change", title: "Undo a change",
				about:  "Undo a change by its id, default this session's last. Changes of people and of other programs are undone too, if recorded; a wrong id (?) lists the latest.",
				params: []tool.Param{str("id", "Change id"), unlisted(paramDryRun), unlisted(str("path", "Only this file")), unlisted(integer("hunk", "Only this hunk of its diff", 1))},
				action: undoChange,
			},
		},

		spellings: true, lenient: true, receipts: true, explains: true, errorText: withCode,
		manyRoots: true, top: "the top folder", localGlobs: true, rootedGlobs: true,
		around: true, images: true, shows: true, folds: true, onceOnly: true, pcre: true,
		plain: true, omitsKnown: true, hidesVersions: true, saysOnce: true, oldNames: true,
		position: true,
		lookAround: func(string) string {
			return "With look-around or a backreference a replacement can't use groups that are repeated (write (?:…) for those), and each pattern must be one that PCRE2 reads."
		},
		limits: brief.with(func(l *limits) { l.codeTokens = 1000 }),
	}
}
