package profile

import "quarry/tool"

// Parameters shared by several tools. Models read the descriptions at every turn, so they
// are short.

func str(name, about string) tool.Param {
	return tool.Param{Name: name, Kind: tool.String, Description: about}
}

func boolean(name, about string) tool.Param {
	return tool.Param{Name: name, Kind: tool.Boolean, Description: about}
}

func integer(name, about string, low int) tool.Param {
	return tool.Param{Name: name, Kind: tool.Integer, Description: about, Min: tool.Limit(low)}
}

func need(p tool.Param) tool.Param { p.Required = true; return p }

// optional makes a parameter optional, for tools in which another parameter can replace
// it.
func optional(p tool.Param) tool.Param { p.Required = false; return p }

// oneOf restricts a parameter to a choice of values.
func oneOf(p tool.Param, values ...string) tool.Param { p.Enum = values; return p }

// orSeveral adds advice for callers that pass several patterns at once.
func orSeveral(p tool.Param) tool.Param {
	p.Several = "Give one as " + p.Name + " and the others in also, a list; all shows only files that have each of them."
	return p
}

// orList also accepts a list of globs.
func orList(p tool.Param) tool.Param { p.OrList = true; return p }

// required is the parameter of an existing path, described as in the vault's tools.
func required(name, about string) tool.Param {
	p := need(str(name, about))
	p.Missing = name + " is required and must be a non-empty string."
	return p
}

// text is a required text parameter that may be empty.
func text(name, about string) tool.Param {
	p := need(str(name, about))
	p.AllowEmpty = true
	p.Missing = name + " is required and must be a string."
	return p
}

// unlisted makes a parameter accepted but not shown: a hint names it, or another tool
// lists it.
func unlisted(p tool.Param) tool.Param { p.Unlisted = true; return p }

var (
	paramQuiet = unlisted(boolean("quiet", "Only count what changed"))
	paramDiff  = unlisted(boolean("diff", "Show every line of a dry run"))

	paramBudget = integer("budget", "Tokens of the answer", 100)

	paramHidden  = boolean("include_hidden", "Also dot files")
	paramIgnored = boolean("include_ignored", "Also ignored files")
	paramOffset  = integer("offset", "Results to skip", 0)
	paramAlso    = tool.Param{Name: "also", Kind: tool.Strings, Description: "Further patterns: any may match"}
	paramAll     = boolean("all", "Only files with each")
	paramLacking = tool.Param{Name: "lacking", Kind: tool.Strings, Description: "Omit files that match these"}
	// For replace_in_files.
	paramAlsoReplace = tool.Param{Name: "also", Kind: tool.Texts, Description: `More of the same kind: {"old": "new"}`}
	paramChanged     = boolean("changed", "Only what differs from HEAD")
	paramCount       = tool.Param{Name: "count", Kind: tool.String, Enum: []string{"exact"}, Description: "Count all results"}
	paramVersion     = str("expected_version", "Refuse other versions")
	paramDryRun      = boolean("dry_run", "Only preview")
	paramLinks       = boolean("update_links", "Rewrite links to it")
	paramTexts       = boolean("keep_texts", "Link texts after | that are the old name stay")
	// The path of a value in a structured file; with move_to, its key is renamed.
	paramAt    = str("at", "Path of a value: jobs.build.steps[2].run, a[name=x]; a[+] appends")
	paramValue = tool.Param{Name: "value", Kind: tool.Any, Description: "In JSON, YAML, TOML, ini, front matter"}

	paramSummary = str("summary", "One line for people")
)
