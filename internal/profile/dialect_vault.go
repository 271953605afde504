package profile

import (
	"quarry/search"
	"quarry/tool"
)

// vaultDialect has the thirteen tools of an Obsidian vault.
func vaultDialect() *dialect {
	return &dialect{
		name:  "vault",
		about: "The thirteen tools of an Obsidian vault, in their documented words.",
		omits: "Files and folders whose names begin with a dot are omitted.", closed: ".smarthole",
		listsUses: true,
		tools: []spec{
			{
				name: "create_note", title: "Create a note", about: "Create new markdown notes in the vault.",
				params: []tool.Param{
					text("content", "Note content"),
					str("path", "Target path (optional, auto-generated if omitted)"),
					str("title", "Note title (optional, extracted from content if omitted)"),
				},
				action: createNote,
			},
			{
				name: "modify_note", title: "Modify a note", about: "Modify existing notes with atomic read-modify-write operations.",
				params: []tool.Param{
					required("path", "File path"),
					oneOf(need(str("operation", "Operation type")), "append", "prepend", "replace"),
					text("content", "Content to add/replace with"),
					str("search", "Text to find (required for replace)"),
				},
				action: modifyNote,
			},
			{
				name: "search_notes", title: "Search notes", use: "the notes most relevant to some words", about: "Search notes for text. Every word of the query must occur.",
				params: []tool.Param{
					required("query", "Search query"),
					boolean("read_content", "Return full file content (default: false)"),
				},
				action: searchNotes,
			},
			vaultSearchFiles(),
			{
				name: "list_files", title: "List files", use: "what a folder has",
				about: "List files and folders matching a glob pattern. Returns paths sorted by modification time (most recent first).",
				params: []tool.Param{
					{Name: "pattern", Kind: tool.String, Default: "*", Description: "Glob pattern to match (default: '*')"},
					str("path", "Base path to search from (default: vault root)"),
					{Name: "max_results", Kind: tool.Integer, Default: 100, Min: tool.Limit(1), Description: "Maximum items to return (1-1000, default: 100)"},
				},
				action: listFiles,
			},
			{
				name: "get_file_info", title: "File info", about: "Get metadata about a file or folder without reading its contents.",
				params: []tool.Param{required("path", "Path to the file or folder")},
				action: getFileInfo,
			},
			{
				name: "organize_note", title: "Move a note", about: "Rename or move notes within the vault.",
				params: []tool.Param{required("source", "Current file path"), required("destination", "New file path")},
				action: organizeNote,
			},
			{
				name: "read_file", title: "Read a file", use: "lines of a file, with their numbers", about: "Read file contents from the vault with optional line range filtering.",
				params: []tool.Param{
					required("path", "File path"),
					integer("start_line", "First line to read, 1-indexed", 1),
					integer("end_line", "Last line to read, 1-indexed", 1),
				},
				action: readFile,
			},
			{
				name: "edit_file", title: "Edit a file", use: "a change of some text or lines", about: "Make targeted edits to files using search/replace or line-based operations.",
				params: []tool.Param{
					required("path", "File path"),
					str("old_text", "Text to search for and replace"),
					str("new_text", "Text to replace old_text with"),
					boolean("replace_all", "Replace all occurrences (default: false, first only)"),
					integer("insert_after_line", "Line number after which to insert (0 = beginning)", 0),
					integer("insert_before_line", "Line number before which to insert (1-indexed)", 1),
					{Name: "delete_lines", Kind: tool.Object, Description: "Line range to delete", Fields: []tool.Param{
						need(integer("start", "First line to delete (1-indexed)", 1)),
						need(integer("end", "Last line to delete (1-indexed, inclusive)", 1)),
					}},
					str("content", "Content to insert (required for insert operations)"),
				},
				action: editFile,
			},
			{
				name: "write_file", title: "Write a file", use: "a whole file", about: "Write content to a file, creating it if it doesn't exist or overwriting if it does.",
				params: []tool.Param{required("path", "File path"), text("content", "Content to write")},
				action: writeFile,
			},
			{
				name: "create_folder", title: "Create a folder", about: "Create folders in the vault, including nested folder structures.",
				params: []tool.Param{text("path", "Folder path to create")},
				action: createFolder,
			},
			{
				name: "delete_file", title: "Delete", about: "Soft-delete files or folders to Obsidian's trash. Respects user's trash settings.",
				params: []tool.Param{required("path", "Path to the file or folder to delete")},
				action: deleteFile,
			},
			{
				name: "move_file", title: "Move or rename", use: "move or rename", about: "Move or rename files and folders within the vault.",
				params: []tool.Param{
					required("source", "Path to the file or folder to move"),
					required("destination", "New path for the file or folder"),
				},
				action: moveFile,
			},
		},
		errorText:  oneSentence,
		slashIsTop: true, notePaths: true,
		top: "vault root",
		// As in Obsidian, all files but dot entries are in scope. Obsidian shows files that git
		// ignores like any other note, and its userIgnoreFilters only rank notes lower in
		// lists.
		scope:    search.Scope{Dialect: search.Plain, IncludeIgnored: true, StrictHidden: true},
		searched: "**/*.md",
		limits:   documented.with(func(l *limits) { l.countedWhole = true }),
	}
}

// vaultSearchFiles is search_files as the vault's documents describe it.
func vaultSearchFiles() spec {
	return spec{
		name: "search_files", title: "Search files", use: "lines that match a pattern",
		about: "Search file contents using regex patterns. Returns matching file paths with excerpts showing context around matches.",
		params: []tool.Param{
			need(str("pattern", "Regex pattern to search for")),
			str("file_pattern", "Glob pattern to filter files (e.g., `*.md`, `Projects/**`)"),
			{Name: "context_lines", Kind: tool.Integer, Default: documented.context, Min: tool.Limit(0), Description: "Number of lines before/after match (default: 2)"},
			{Name: "max_results", Kind: tool.Integer, Default: documented.files, Min: tool.Limit(1), Description: "Maximum files to return (default: 10)"},
		},
		action: searchByPattern,
	}
}
