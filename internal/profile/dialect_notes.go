package profile

import (
	"slices"

	"quarry/tool"
)

// notesDialect has the tools that a vault needs, without duplicates. In trials, tool
// definitions made up two thirds of an agent's cost, and some of the vault's own tools
// duplicate others: modify_note is edit_section or edit_file, organize_note and
// create_folder are move_file, write_file is apply_changes, and read_section is read_file
// of a.md#Heading. The duplicates are available if --tools names them; vault and quarry
// have them all.
func notesDialect() *dialect {
	return &dialect{
		name:  "notes",
		about: "Tools for a vault of notes, each thing once, with short answers.",
		omits: "Files and folders whose names begin with a dot are omitted.",
		tools: slices.Concat(
			[]spec{noteSearching(), noteLines()},
			briefly(named(quarryTools(), "list_files"), "max_results", "include_hidden", "include_ignored", "offset"),
			[]spec{noteReading()},
			briefly(named(quarryTools(), "create_note"), "title"),
			briefly(named(codeDialect().tools, "edit_file"), "quiet"),
			briefly(named(noteTools(), "edit_section")),
			briefly(named(quarryTools(), "delete_file")),
			[]spec{noteMoving()},
			briefly(named(noteTools(), "properties", "tags", "links"), "offset"),
			briefly(named(codeDialect().tools, "apply_changes", "replace_in_files", "undo_change"), "quiet", "digest"),
		),
		asked: slices.Concat(
			named(quarryTools(), "modify_note", "get_file_info", "organize_note", "write_file", "create_folder", "list_changes"),
			named(noteTools(), "read_section")),
		spellings: true, lenient: true, receipts: true, explains: true, errorText: withCode,
		manyRoots: true, notePaths: true, noteNames: true, top: "the top folder", localGlobs: true, rootedGlobs: true, pcre: true,
		plain: true, omitsKnown: true, hidesVersions: true, saysOnce: true, oldNames: true,
		anyForm: true, numbersNotes: true, around: true, images: true, remaining: true, shows: true, attachments: true,
		position: true, lookAround: useOtherSyntax,
		limits: brief.with(func(l *limits) { l.codeTokens = codeTokens }),
	}
}

// briefly unlists the parameters with these names and those shared by all tools that change
// files: they are still accepted, and the instructions mention them once.
func briefly(list []spec, names ...string) []spec {
	names = append(names, "dry_run", "expected_version", "summary")
	for i := range list {
		list[i].params = slices.Clone(list[i].params)
		for j := range list[i].params {
			p := &list[i].params[j]
			p.Unlisted = p.Unlisted || slices.Contains(names, p.Name)
		}
	}
	return list
}

// noteLines is search_files. The vault's own search_files neither counts matches nor lists
// files without a match. It uses JavaScript's syntax, while replace_in_files uses Rust's.
// In trials each agent lost a turn to (?i), and read whole lines to count them.
func noteLines() spec {
	return spec{
		name: "search_files", title: "Search files",
		about: "Find lines by regex (Rust) in all files.",
		params: []tool.Param{
			orSeveral(need(str("pattern", "Regex, line by line"))),
			boolean("literal", "pattern is plain text"),
			str("path", "File or folder"),
			orList(str("glob", "Files: *.md, Projects/**, !*draft*")),
			boolean("ignore_case", "Any case"),
			oneOf(str("show", "files: path and count; or count alone"), "lines", "files", "count"),
			paramAlso, paramAll, paramLacking,
			unlisted(integer("context_lines", "Default 0", 0)), unlisted(integer("offset", "Lines to skip", 0)),
			unlisted(paramBudget), unlisted(integer("max_results", "Maximum number of lines", 1)),
		},
		action: searchByLines,
	}
}

// noteSearching is search_notes with tables and tasks.
func noteSearching() spec {
	s := named(quarryTools(), "search_notes")[0]
	s.params = []tool.Param{
		required("query", "Words, and filters: tag:, property:name>=value, has:, path:, heading:, link:\"A note\" (links to it), task:todo, task:due<date, modified:>date, base:File.base#View; -tag:x omits, OR, ( ). Filters alone list all"),
		boolean("read_content", "Give whole notes, not excerpts"),
		oneOf(str("show", "Of filters alone: a table of columns, or their tasks"), "notes", "count", "table", "tasks"),
		paramColumns, paramSort, paramGroup,
	}
	return s
}

// noteMoving is move_file. Its description says that links are updated; without that, agents
// tried it to find out.
func noteMoving() spec {
	return spec{
		name: "move_file", title: "Move or rename",
		about: "Move or rename a file or folder; links to it follow. Never overwrites.",
		params: []tool.Param{required("source", "File or folder"), required("destination", "New path, or folder/"), paramTexts,
			boolean("heading", "Its first heading too, if that is the old name"), unlisted(paramLinks), unlisted(paramDryRun), paramQuiet, paramDiff},
		action: moveFile,
	}
}

// noteReading is read_file. A path may name a part of a note as links do.
func noteReading() spec {
	return spec{
		name: "read_file", title: "Read notes",
		about: "Read notes or other files, whole or in part, several at once.",
		params: []tool.Param{
			optional(required("path", "a.md, a.md:10-40, a.md#Heading")), // or paths
			{Name: "paths", Kind: tool.Strings, Description: "Several of these"},
			boolean("fold", "Headings only"),
			boolean("numbers", "With line numbers"),
			unlisted(integer("start_line", "First line", 1)), unlisted(integer("end_line", "Last line", 1)),
			unlisted(integer("tail", "Number of last lines", 1)), unlisted(str("symbol", "Only this heading")),
			unlisted(str("expand", "Of a folded file, the parts to open")), unlisted(paramBudget), unlisted(integer("lines", "Number of lines", 1)),
		},
		action: readFile,
	}
}

// noteTools returns the tools for parts of notes. The profile notes always has them,
// quarry only if a root is a vault, so that other workspaces don't pay for them.
func noteTools() []spec {
	return []spec{
		{
			name: "read_section", title: "Read part of a note", use: "a part of a note, or its outline",
			about:  "Read a section, block or property of a note; without one, its outline.",
			params: []tool.Param{required("path", "Note"), paramHeading, paramBlock, paramProperty},
			action: readSection,
		},
		{
			name: "edit_section", title: "Edit part of a note", use: "a change of a part of a note",
			about: "Change a section, block or property of a note, or add to its beginning or end.",
			params: []tool.Param{
				required("path", "Note"),
				oneOf(need(str("operation", "rename: content is the new heading or id, links follow; done, todo: content is the task; take: tasks that where selects move here")), "append", "prepend", "replace", "before", "after", "rename", "done", "todo", "take"),
				optional(text("content", "Text; of a property, YAML")),
				paramHeading, paramBlock, paramProperty, paramWhere,
				boolean("create", "Make what is missing"), paramTexts, unlisted(integer("line", "Of the task", 1)),
				paramVersion, paramDryRun, paramQuiet, paramDiff,
			},
			action: editSection,
		},
		{
			name: "properties", title: "Properties of notes",
			about: "Properties of a note, of those that where selects (set, delete) or of all (get, rename).",
			params: []tool.Param{
				str("path", "Note"), str("name", "Property"),
				oneOf(str("operation", "Default get"), "get", "set", "delete", "rename"),
				str("value", "For set, YAML; for rename, the new name"), paramWhere, paramVersion, paramDryRun, paramQuiet, paramDiff,
			},
			action: properties,
			reading: &spec{
				name: "properties", title: "Properties of notes",
				about:  "Read properties of a note; without path, list those of all notes.",
				params: []tool.Param{str("path", "Note"), str("name", "Property")},
				action: properties.reading(),
			},
		},
		{
			name: "tags", title: "Tags of notes",
			about: "List tags with counts, or the notes with a tag or one nested in it; rename or add it.",
			params: []tool.Param{
				str("path", "Note, default all"), str("tag", "Tag"), str("new_name", "Its new name"),
				boolean("add", "To path, or to the notes that where selects"), paramWhere, paramDryRun, paramQuiet, paramDiff,
			},
			action: tags,
			reading: &spec{
				name: "tags", title: "Tags of notes",
				about:  "List tags with counts; with tag, the notes that have it or one nested in it.",
				params: []tool.Param{str("path", "Note, default all"), str("tag", "Tag")},
				action: tags.reading(),
			},
		},
		{
			name: "links", title: "Links of notes", use: "links to and from notes",
			about: "Links to or from a note, links that lead nowhere, or notes nothing links to.",
			params: []tool.Param{
				str("path", "Note; all for unresolved and orphans"),
				oneOf(str("kind", "Default backlinks"), "backlinks", "outgoing", "unresolved", "orphans"),
				oneOf(str("show", "files: notes and counts; or count alone"), "lines", "files", "count"), paramOffset,
			},
			action: links,
		},
	}
}

var (
	paramHeading  = str("heading", "Heading, or path A::B")
	paramBlock    = str("block", "Block id")
	paramProperty = str("property", "Property name")
	paramWhere    = str("where", "Filters as in search_notes")
	paramColumns  = orList(str("columns", "Properties, tags, links, tasks, modified"))
	paramSort     = orList(str("sort", "Columns; -due descends"))
	paramGroup    = str("group", "Column")
)
