package profile

import "quarry/tool"

// rooDialect is Roo's search_files.
func rooDialect() *dialect {
	return &dialect{
		name:      "roo",
		about:     "Roo's search_files.",
		omits:     "Hidden and ignored files are omitted.",
		listsUses: true,
		tools: []spec{{
			name: "search_files", title: "Search files", use: "lines that match a pattern",
			about: "Performs recursive regular expression searches across files within a specified directory, providing contextual results.",
			params: []tool.Param{
				{Name: "path", Kind: tool.String, Default: ".", Description: "The path of the directory to search within, relative to the project root. " +
					"The search will be performed recursively through all subdirectories within this path."},
				need(str("regex", "The regular expression pattern to search for. Uses Rust regex syntax.")),
				str("file_pattern", "An optional glob pattern to filter which files are searched (e.g., *.ts, src/**/*.py, !**/node_modules/**). "+
					"If omitted, searches all files respecting default ignores."),
			},
			action: searchByRegex,
		}},
		// Roo's document doesn't specify the wording of errors, so the next step is
		// added.
		errorText: func(err *tool.Error, _ bool) string { return err.Text() },
		position:  true,
		lookAround: func(string) string { // Roo has no other syntax
			return "Rust syntax has no look-around and no backreferences: search for a simpler pattern."
		},
		limits: documented.with(func(l *limits) { l.countedWhole = true }),
	}
}
