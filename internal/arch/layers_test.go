package arch

// layers are the packages of the module, from top to bottom. A package imports packages
// of its own layer and lower ones. A package that is missing here fails the test: assign
// new packages to a layer first. go test ./internal/arch -update writes the list into
// docs/ARCHITECTURE.md.
var layers = []layer{
	{"tools", "A module of its own, `quarry/tools`: they may import everything; nothing imports them.", []pkg{
		{"tools/bench", "Quarry beside ripgrep, and beside an older Quarry"},
		{"tools/bench/agents", "tasks for fresh agents, and their judges"},
		{"tools/bench/checks", "syntax checks beside the languages' own parsers"},
		{"tools/bench/compiled", "the tests of ripgrep and fd, compiled and run against quarry"},
		{"tools/bench/conformance", "runs every suite of others, writes docs/CONFORMANCE.md"},
		{"tools/bench/patches", "patches of real commits beside git apply and GNU patch"},
		{"tools/bench/ranking", "ranked search on outside benchmarks"},
		{"tools/bench/rebar", "patterns of rebar, beside Rust's engine"},
		{"tools/bench/renames", "renames beside gopls"},
		{"tools/bench/structure", "searches by structure beside ast-grep"},
		{"tools/bench/symbols", "definitions beside universal-ctags"},
		{"tools/bench/values", "values of real configuration files beside other readers"},
		{"tools/clients", "coding agents from npm with a scripted model"},
		{"tools/packaging/bundle", "builds the MCP bundles and server.json"},
		{"tools/packaging/publish", "gives the source the place it is published at"},
		{"tools/picture", "makes the pictures of the README from real runs"},
		{"tools/stress/fuzz", "runs all fuzz targets"},
		{"tools/stress/hostile", "memory and time of hostile calls of the built program"},
		{"tools/stress/lines", "draws random comments and messages to be read"},
		{"tools/stress/run", "runs all regimes"},
		{"tools/stress/tests", "go test with a summary of skipped tests"},
		{"tools/ucd", "writes the tables of internal/re/ucd"},
	}},
	{"tests", "They may import everything; nothing imports them.", []pkg{
		{"internal/arch", "this plan"},
		{"internal/powercut", "the disks a power cut may leave"},
		{"internal/quarrytest", "workspaces for tests"},
		{"internal/stress", "how hard tests try: counts, seeds, reports"},
		{"internal/re/syntax/ecma/ecmatest", "random JavaScript patterns"},
		{"internal/re/hir/hirtest", "shows, compares and checks trees, for tests"},
		{"internal/re/nfa/nfatest", "trees for the engines' tests"},
	}},
	{"programs", "", []pkg{
		{"cmd/quarry", "main: signals, cli.Run, os.Exit"},
		{"examples/agent", "an agent loop with a scripted model"},
		{"examples/todo", "the program of the README"},
	}},
	{"faces", "What people, models and programs see.", []pkg{
		{"toolset", "Quarry's tools for a Go program that talks to a model"},
		{"project", "opens a folder as the program does, for Go programs beside it"},
		{"internal/cli", "the commands of a person: their flags and exit codes"},
		{"internal/cli/agents", "quarry mcp, call, tools, ui and install: for agents"},
		{"internal/cli/hook", "answers hooks of agents' clients"},
		{"internal/cli/manual", "help, manual pages and completions, from the command tree"},
		{"internal/cli/command", "parts of commands: texts, groups of flags, kinds of values"},
		{"internal/cli/env", "streams, settings and folders of one run"},
		{"internal/cli/filetypes", "the file types of -t and -T"},
		{"internal/cli/printing", "matching lines, JSON Lines, colour, progress"},
		{"internal/page", "the local page of quarry ui"},
		{"internal/colour", "keywords, strings and comments of a source text, to show it"},
		{"internal/presence", "which clients are connected to a workspace"},
		{"internal/activity", "a line for each call of a tool, kept for a day"},
		{"internal/mcpserver", "the protocol, on the MCP SDK; sees no workspace"},
		{"internal/profile", "tools by dialect: arguments → query → text"},
		{"internal/usage", "where a name is used in code"},
		{"internal/rename", "places that a new name for a definition changes: sure, doubtful, left"},
		{"internal/explain", "why a search found nothing, and which other one would"},
		{"internal/doctor", "finds problems of a workspace, its index, log and settings; changes nothing"},
		{"internal/strangers", "connections that have not shown a token, bounded"},
		{"internal/clients", "settings of programs that use MCP servers"},
		{"internal/render", "results in words, pure"},
		{"internal/patch", "patches as operations: Codex, unified, git; pure"},
		{"internal/content", "the text of a file: unpacked, decoded, made by a program"},
		{"internal/config", "the environment, git's configuration, quarry.toml, the root"},
	}},
	{"facade", "The Go API, and the only place where backends and extensions are put together.", []pkg{
		{".", "package quarry: Open, Join; Workspace, a facade over one backend"},
	}},
	{"notes", "Contents of notes. Nothing below knows notes.", []pkg{
		{"internal/vaultdir", "a folder that is a vault: its settings, and links that follow a move"},
		{"internal/notebook", "notes: searched, their parts, properties, tags and links"},
		{"internal/notes", "turns changes of notes into operations on files"},
		{"internal/noterank", "how well a note answers words"},
		{"internal/notefilter", "reads queries for notes: words and filters"},
		{"internal/notefields", "fields that an index keeps of a note"},
		{"internal/vault", "Obsidian: sections, links, front matter, the move plan; pure"},
	}},
	{"engine", "One search, one change, the index owner.", []pkg{
		{"internal/backend", "files of a workspace: one folder, or several as one"},
		{"internal/review", "changes that wait for a person: proposals, decisions"},
		{"internal/searcher", "one search of a folder, by index or walk"},
		{"internal/changer", "one change: plan, steps, undo, recovery, locks, moves, trash"},
		{"internal/recorder", "changes of other programs: baseline, comparison, entries of a second log"},
		{"internal/owner", "the process that holds the index of a root, and its clients"},
		{"internal/lookup", "definitions by name, and of files"},
		{"internal/replacer", "replaces every match of a search: the operations of a set"},
	}},
	{"middle", "The parts of a search and of a change.", []pkg{
		{"internal/index", "which files could match: segments, sweeps, snapshots"},
		{"internal/watch", "change events, the barrier, what must be swept"},
		{"internal/walk", "parallel listing"},
		{"internal/ignore", "ignore files, per path and per walk"},
		{"internal/gitdir", "where git's folder of a checkout is; opens nothing that does not name the checkout back"},
		{"internal/githead", "which files differ from the last commit; reads git's folder, runs nothing"},
		{"internal/scan", "matching lines of one file"},
		{"internal/rank", "relevance of a text to words"},
		{"internal/terms", "words of a text, as ranked search counts them"},
		{"internal/fuzzy", "ranks paths by remembered parts of one"},
		{"internal/pcre", "patterns of PCRE2 in JavaScript's syntax"},
		{"internal/symbols", "definitions of a text, without a language server"},
		{"internal/check", "whether a change broke the syntax of a file"},
		{"internal/structure", "code with holes: patterns on tokens, and what replaces a match"},
		{"internal/trigram", "grams of texts and patterns, posting lists"},
		{"internal/journal", "the undo log"},
		{"internal/progress", "counts the work of a call, in its context"},
		{"internal/trash", "system trash, .trash, permanent"},
	}},
	{"bottom", "Files and texts.", []pkg{
		{"internal/rootfs/mounts", "mounts below a folder, and the top of its volume"},
		{"internal/rootfs", "the sandbox: Path, safe open, replace; what every system shares"},
		{"internal/rootfs/linux", "files by the system calls of Linux"},
		{"internal/rootfs/windows", "files by the native calls of Windows"},
		{"internal/rootfs/posix", "files on os.Root: macOS and the BSDs"},
		{"internal/rootfs/file", "an entry's attributes, and why it can't be opened"},
		{"internal/rootfs/version", "contents by their hash, and the hash of edited ones"},
		{"internal/rootfs/layer", "a test's hook between a root and the system"},
		{"internal/rootfs/lock", "locks on open files"},
		{"internal/rootfs/names", "names that mean something else to the system; pure"},
		{"internal/rootfs/outside", "files outside of any root: settings, credentials, folders for state"},
		{"internal/policy", "what may be touched, by name and path; pure"},
		{"internal/glob", "the glob dialects"},
		{"internal/textedit", "edits on bytes and their diffs, pure"},
		{"internal/value", "values of JSON, YAML, TOML, ini and front matter by path, pure"},
		{"internal/splice", "byte splices, pure"},
		{"internal/lineage", "where the bytes of a file come from, through its changes"},
		{"internal/textfile", "encodings, binary test, lines"},
		{"internal/crew", "runs goroutines; their panics reach the caller"},
	}},
	{"contracts", "Data that every layer may use. They import each other, and match its engine.", []pkg{
		{"search", "contract of searching: queries and their answers"},
		{"change", "contract of changing: sets of edits, results, errors"},
		{"match", "patterns in three syntaxes, and the literals that a match needs"},
		{"tool", "Tool, Registry, lenient arguments; no transport"},
		{"fault", "codes and errors"},
	}},
	{"patterns", "The engine of match.", []pkg{
		{"internal/re/hir", "the tree every pattern becomes"},
		{"internal/re/ucd", "Unicode 17 tables (generated)"},
		{"internal/re/syntax", "common parts of the parsers"},
		{"internal/re/syntax/rust", "parser of the Rust syntax"},
		{"internal/re/syntax/ecma", "parser of the ECMAScript syntax"},
		{"internal/re/literal", "text that every match contains"},
		{"internal/re/vec", "vector kernels with a portable twin"},
		{"internal/re/nfa", "the automaton; pike, backtrack, onepass and dfa run it"},
		{"internal/re/pike", "all threads in step: exact, linear"},
		{"internal/re/backtrack", "groups on short texts"},
		{"internal/re/onepass", "groups of patterns that never choose"},
		{"internal/re/dfa", "one table look-up a byte"},
		{"internal/re/backref", "the exact engine for look-around"},
	}},
}

// roads maps packages to their only permitted importers, whatever their layer: the engine
// is reached through the facade, and special handling of one kind of file enters in one
// place. "x/..." is every package below x.
var roads = map[string][]string{
	"internal/backend":        {".", "internal/review"},
	"internal/searcher":       {".", "internal/backend"},
	"internal/changer":        {".", "internal/backend", "internal/vaultdir"},
	"internal/owner":          {".", "internal/backend", "internal/doctor"},
	"internal/index":          {"internal/searcher", "internal/owner", "internal/doctor", "internal/notefields"},
	"internal/journal":        {"internal/changer", "internal/doctor", "internal/recorder"},
	"internal/recorder":       {"internal/owner"},
	"internal/watch":          {"internal/owner"},
	"internal/trash":          {"internal/changer", "internal/doctor"},
	"internal/vaultdir":       {"."},
	"internal/rootfs/linux":   {"internal/rootfs"},
	"internal/rootfs/windows": {"internal/rootfs"},
	"internal/rootfs/posix":   {"internal/rootfs"},
	"internal/cli":            {"cmd/quarry"},
	"internal/cli/...":        {"internal/cli", "internal/cli/..."},
	"internal/profile":        {"toolset", "internal/cli/..."},
	"internal/re/...":         {"match", "internal/pcre", "internal/re/...", "internal/scan", "internal/terms"},
}

// opensUserFiles are the only packages that may call os functions with a path. All others
// use rootfs, which enforces the sandbox.
var opensUserFiles = map[string]bool{
	"internal/rootfs":         true,
	"internal/rootfs/mounts":  true, // the kernel's mount table
	"internal/rootfs/outside": true, // files that a person names, or at a fixed place
	"internal/rootfs/posix":   true, // folders, on os.Root
	"internal/powercut":       true,
	"internal/quarrytest":     true, // test folders
	"internal/cli":            true,
	"internal/cli/agents":     true, // tokens, the page's address
	"internal/clients":        true, // client settings
	"internal/cli/hook":       true, // which process works where
	"internal/cli/env":        true, // folders that a person names, and its own
	"internal/cli/manual":     true, // the generated pages
	"internal/config":         true,
	"internal/doctor":         true, // folders and settings it examines
	"internal/owner":          true, // its own socket
	"internal/stress":         true, // tries whether symlinks can be made
	"cmd/quarry":              true,
	"examples/agent":          true, // its demonstration folder
}
