package profile

import (
	"quarry/search"
	"quarry/tool"
)

// smcpDialect is search-mcp. Its tools answer in JSON.
func smcpDialect() *dialect {
	return &dialect{
		name:      "smcp",
		about:     "The tools of search-mcp.",
		omits:     "Ignored files are omitted; hidden ones are listed.",
		listsUses: true,
		tools: []spec{
			{
				name: "search_by_path", title: "Find files", use: "files by path", about: "Find files by name or glob pattern",
				params: []tool.Param{
					{Name: "pattern", Kind: tool.String, Required: true, AllowEmpty: true, Max: tool.Limit(200), Description: "Glob pattern to match (e.g., '**/auth*.ts', 'src/**/*.md')"},
					{Name: "limit", Kind: tool.Integer, Default: 20, Min: tool.Limit(1), Max: tool.Limit(100), Description: "Maximum results to return"},
				},
				action: pathsAsJSON,
			},
			{name: "get_index_status", title: "Index status", about: "State of the search index.", action: indexState},
			{
				name: "search_code", title: "Search code", use: "the passages most relevant to a query",
				about: "Rank code and text by relevance to a query of words or identifiers.",
				params: []tool.Param{
					{Name: "query", Kind: tool.String, Required: true, Min: tool.Limit(1), Max: tool.Limit(1000), Description: "Words or identifiers"},
					{Name: "top_k", Kind: tool.Integer, Default: 10, Min: tool.Limit(1), Max: tool.Limit(50), Description: "Maximum number of results"},
					boolean("compact", "Without text"),
				},
				action: codeAsJSON,
			},
		},
		json: true,
		// The document of search-mcp doesn't specify the wording of errors, so the next
		// step is added.
		errorText: func(err *tool.Error, _ bool) string {
			worded := *err
			worded.Message = string(err.Code) + ": " + err.Message
			return worded.Text()
		},
		scope:    search.Scope{Dialect: search.Minimatch, IncludeHidden: true},
		position: true,
		limits:   documented.with(func(l *limits) { l.countedWhole = true }),
	}
}
