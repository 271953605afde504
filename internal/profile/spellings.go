package profile

import (
	"slices"

	"quarry/tool"
)

// Models call a new tool as they would call one they know. spellings maps our parameters
// to their names in Claude Code, Codex, Cursor, Gemini, VS Code and the reference file
// system server. These names are accepted but not listed. If a tool has a parameter of
// exactly that name, it takes precedence.
var spellings = map[string][]string{
	"path": {
		"file_path", "filename", "file", "target_file", "absolute_path", "relative_path", "relative_workspace_path",
		"dir_path", "directory", "target_directory", "target_directories", "dir", "folder", "notebook_path",
	},
	"paths":             {"file_paths", "files"},
	"file_pattern":      {"glob", "include", "include_pattern", "file_glob", "glob_pattern"},
	"glob":              {"file_pattern", "include", "include_pattern", "file_glob", "glob_pattern"},
	"include":           {"file_pattern", "glob", "include_pattern", "file_glob"},
	"max_results":       {"limit", "head_limit", "top_k", "max_count", "num_results"},
	"top_k":             {"limit", "max_results", "head_limit", "num_results", "k"},
	"limit":             {"max_results", "head_limit", "top_k"},
	"old_text":          {"old_string", "old_str", "old"},
	"new_text":          {"new_string", "new_str", "new", "replacement"},
	"replacement":       {"new_text", "new_string", "new", "replace"},
	"replace_all":       {"all_occurrences"},
	"start_line":        {"offset", "start", "start_line_one_indexed"},
	"end_line":          {"end", "end_line_one_indexed_inclusive"},
	"tail":              {"last_lines"},
	"lines":             {"limit", "head", "line_count", "num_lines"},
	"ignore_case":       {"-i", "case_insensitive"},
	"context_lines":     {"-C", "context", "-A", "-B"},
	"depth":             {"max_depth"},
	"patch":             {"input", "patch_text", "diff"},
	"content":           {"contents", "file_text", "text"},
	"source":            {"from", "old_path", "src", "source_path"},
	"destination":       {"to", "new_path", "dst", "destination_path", "target"},
	"dry_run":           {"preview"},
	"query":             {"pattern", "search", "search_term", "q", "text"},
	"name":              {"symbol", "symbol_name", "query"},
	"names":             {"symbols"},
	"symbol":            {"name"},
	"edits":             {"changes", "replacements"},
	"changes":           {"edits"},
	"expected_count":    {"expected_replacements"},
	"insert_after_line": {"insert_line"},
	"regex":             {"query", "search_pattern"},
	"pattern":           {"regex", "query", "search_pattern"},
	"exclude":           {"exclude_pattern", "exclude_patterns"},
	"literal":           {"fixed_strings"},
	"lacking":           {"without", "not"},
}

// ignored lists parameters of other tools that are accepted but have no effect here.
var ignored = []tool.Param{
	unlisted(str("explanation", "")), unlisted(str("description", "")), unlisted(str("instructions", "")),
	unlisted(boolean("should_read_entire_file", "")), unlisted(boolean("-n", "")), unlisted(boolean("recursive", "")),
}

// respelled returns a tool's parameters under the names that other tools use.
func respelled(params []tool.Param, top bool) []tool.Param {
	out := make([]tool.Param, len(params))
	for i, p := range params {
		p.Also = append([]string{p.Name}, spellings[p.Name]...)
		p.Fields = respelled(p.Fields, false)
		switch p.Name {
		case "path":
			p.List = "paths"
		case "name":
			p.List = "names"
		}
		out[i] = p
	}
	if top {
		more := ignored
		if hasParam(out, "show") {
			more = slices.Concat(ignored, respelled(searchSpellings, false))
		}
		for _, p := range more {
			if !hasParam(out, p.Name) {
				out = append(out, p)
			}
		}
	}
	return out
}
