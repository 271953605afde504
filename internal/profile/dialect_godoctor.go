package profile

import (
	"quarry/search"
	"quarry/tool"
)

// godoctorDialect is godoctor's file_search.
func godoctorDialect() *dialect {
	return &dialect{
		name:      "godoctor",
		about:     "Godoctor's file_search.",
		omits:     "Files that .gitignore names are omitted; dot files are searched.",
		listsUses: true,
		tools: []spec{{
			name: "file_search", title: "Search Project Content", use: "lines that have a text",
			about: "Perform a recursive text search throughout the project directory. " +
				"Use this to find strings in READMEs, Dockerfiles, configurations, or other non-Go source files.",
			params: []tool.Param{
				need(str("query", "The text string to search for")),
				str("path", "The directory to search in (default: project root)"),
				{Name: "ignore_case", Kind: tool.Boolean, Default: true, Description: "Whether to perform a case-insensitive search (default: true)"},
				str("include", "Optional glob pattern to restrict files (e.g. '*.md')"),
			},
			action: searchText,
		}},
		errorText: oneSentence,
		// The documented tool skips only .git and files that .gitignore names. The index
		// applies every kind of ignore file, so this dialect doesn't use it and reads the
		// files.
		scope:    search.Scope{IncludeHidden: true, Without: search.RuleFiles{Dot: true, Exclude: true, Global: true}},
		position: true,
		limits:   documented.with(func(l *limits) { l.countedWhole = true }),
	}
}

// oneSentence words an error in one sentence, as the documents of vault and godoctor do.
// Invalid arguments are still explained.
func oneSentence(err *tool.Error, badArguments bool) string {
	if badArguments {
		return err.Text()
	}
	return "Error: " + err.Message
}
