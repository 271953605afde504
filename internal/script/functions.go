package script

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a parameter takes.
type Kind uint8

// Kinds of parameters.
const (
	Text Kind = iota
	Number
	Flag
	Any
)

// Param is a parameter of a function.
type Param struct {
	Name     string
	Kind     Kind
	Required bool
	Also     []string // spellings of other tools
}

// Function is a function of scripts that the server answers.
type Function struct {
	Name    string
	Params  []Param
	Changes bool // only change has it
	Gives   string
	About   string // of help()
}

func need(name string, also ...string) Param { return Param{Name: name, Required: true, Also: also} }
func text(name string, also ...string) Param { return Param{Name: name, Also: also} }
func number(name string, also ...string) Param {
	return Param{Name: name, Kind: Number, Also: also}
}
func flag(name string, also ...string) Param { return Param{Name: name, Kind: Flag, Also: also} }

// scope are the parameters of functions that look at many files.
var scope = []Param{
	text("path", "folder", "file", "file_path", "dir"), text("glob", "file_pattern", "include", "file_glob"), text("exclude", "not_glob"),
	flag("hidden", "include_hidden"), flag("ignored", "include_ignored"),
}

var pathParam = need("path", "file", "file_path", "filename", "note")

// Functions are all of them, in the order of help().
var Functions = []Function{
	{Name: "search", Params: slices.Concat([]Param{need("pattern", "regex", "query", "text")}, scope, []Param{flag("literal", "fixed"), flag("structure"), flag("ignore_case", "i"), flag("multiline"), number("limit", "max_results", "head_limit", "top_k", "k")}),
		Gives: "list of hits", About: "Lines that match a regular expression (Rust syntax; literal=True for plain text; structure=True for code with holes: foo($A, $$REST)), in path order, at most limit=1000. A hit has path, line, text, symbol (the definition around it), holes (a dict, of a structure)."},
	{Name: "symbols", Params: append([]Param{text("name"), text("kind")}, scope...),
		Gives: "list of symbols", About: "Definitions of files: symbols(path=\"a.go\"), symbols(\"Open\"), symbols(path=\"src\", kind=\"function\"). A symbol has path, name, container, kind, line, start, end, signature."},
	{Name: "definition", Params: []Param{need("name", "symbol"), text("path", "file"), text("kind")},
		Gives: "definition", About: "The likeliest definition of a name (Open, Store.Open) with its text; others has the rest. Fields as of a symbol, and text."},
	{Name: "references", Params: append([]Param{need("name", "symbol")}, scope...),
		Gives: "list of uses", About: "Uses of a name in code, without its definitions, comments and strings; tests last. A use has path, line, text, symbol, test, sure (False: Store.Open asked for, and what stands before the dot doesn't tell)."},
	{Name: "callers", Params: append([]Param{need("name", "symbol")}, scope...),
		Gives: "list of uses", About: "As references, only calls: name(…)."},
	{Name: "rank", Params: []Param{need("query", "pattern", "q"), number("k", "top_k", "limit", "max_results"), text("path", "folder")},
		Gives: "list of pieces", About: "Pieces of code and text, the most relevant to some words first, at most k=10. A piece has path, start, end, symbol, kind, text, score."},
	{Name: "files", Params: append([]Param{text("glob", "pattern", "file_pattern")}, text("path", "folder", "dir"), text("exclude"), flag("hidden", "include_hidden"), flag("ignored", "include_ignored"), number("limit", "max_results")),
		Gives: "list of paths", About: "Paths of files: files(\"*.go\"), files(path=\"src\"). At most limit=10000."},
	{Name: "exists", Params: []Param{pathParam},
		Gives: "True or False", About: "Whether there is a file or folder of that path."},
	{Name: "read", Params: []Param{pathParam, number("start", "start_line", "offset", "first"), number("end", "end_line", "last"), text("symbol")},
		Gives: "text", About: "The text of a file, of lines start to end, or of a definition in it."},
	{Name: "lines", Params: []Param{pathParam, number("start", "start_line", "offset", "first"), number("end", "end_line", "last"), text("symbol")},
		Gives: "list of lines", About: "The same as lines with path, line (its number) and text; show() prints them numbered."},
	{Name: "value", Params: []Param{pathParam, need("at", "key", "name"), Param{Name: "default", Kind: Any}},
		Gives: "value", About: "The value at a path of a JSON, YAML, TOML or ini file, or of front matter: value(\"package.json\", \"dependencies.react\"), value(\"ci.yml\", \"jobs.build.steps[2].run\"), a[name=x].b. One that is missing is an error unless default is given."},
	{Name: "findall", Params: []Param{need("pattern", "regex"), need("text", "string")},
		Gives: "list of matches", About: "Matches of a regular expression in a text: strings, or lists of groups if the pattern has any."},
	{Name: "links", Params: []Param{pathParam},
		Gives: "list of links", About: "Links of a note: source, line, link, target (\"\" if it leads nowhere)."},
	{Name: "backlinks", Params: []Param{pathParam},
		Gives: "list of links", About: "Links to a file: source, line, link, target."},
	{Name: "tags", Params: []Param{text("path", "note", "file")},
		Gives: "dict", About: "Tags of a note, or of the whole vault, with how often each is used."},
	{Name: "tagged", Params: []Param{need("tag", "name")},
		Gives: "list of paths", About: "Notes with a tag or one nested in it."},
	{Name: "properties", Params: []Param{pathParam},
		Gives: "dict", About: "Front matter of a note. frontmatter(path) is the same."},
	{Name: "frontmatter", Params: []Param{pathParam}, Gives: "dict", About: "Front matter of a note, as properties(path)."},

	{Name: "replace", Changes: true, Params: []Param{pathParam, need("old", "old_text", "old_string"), Param{Name: "new", Required: true, Also: []string{"new_text", "new_string"}}, number("count", "expected_count"), text("within", "symbol")},
		Gives: "number", About: "Replace a text that occurs exactly count=1 times (count=0: any number, at least once) in a file, or within=\"Store.Open\", a definition of it."},
	{Name: "sub", Changes: true, Params: slices.Concat([]Param{need("pattern", "regex"), need("new", "replacement")}, scope, []Param{number("count", "expected_count"), text("within", "symbol"), flag("literal"), flag("structure"), flag("ignore_case"), flag("multiline")}),
		Gives: "number", About: "Replace every match of a regular expression ($1, ${name} are groups) in all files of the scope; structure=True: both are code with holes; with count it is an error if there are more or fewer. Gives the number of replacements."},
	{Name: "rename", Changes: true, Params: []Param{need("name", "symbol", "old"), need("new", "to", "new_name", "replacement"), text("path", "folder", "file"), flag("doubtful"), flag("comments")},
		Gives: "report", About: "Rename a definition (Open, Store.Open, or store.go#Open where several have the name) and its uses; strings stay. Where it isn't evident that a place is a use it is doubtful, and changed only with doubtful=True; comments=True changes the name there too. Gives sure (a number), doubtful (a list of places), left, comments."},
	{Name: "set_value", Changes: true, Params: []Param{pathParam, need("at", "key"), Param{Name: "value", Kind: Any}, flag("delete", "remove"), text("rename", "new_key")},
		Gives: "None", About: "Set the value at a path, as value() reads it; only its bytes change. What is missing on the way is made, tags[+] appends. None is null; delete=True deletes it, rename=\"key\" renames its key."},
	{Name: "insert", Changes: true, Params: []Param{pathParam, need("text", "content", "new"), number("after", "line", "after_line"), number("before", "before_line")},
		Gives: "None", About: "Insert lines after or before a line; without either at the end. after=0 is the top."},
	{Name: "write", Changes: true, Params: []Param{pathParam, need("text", "content")},
		Gives: "None", About: "Create or overwrite a file."},
	{Name: "move", Changes: true, Params: []Param{need("path", "source", "src", "from_path"), need("to", "destination", "dst")},
		Gives: "report", About: "Move or rename a file or folder; links of notes follow where the vault says so. Gives to, links (rewritten), broken."},
	{Name: "delete", Changes: true, Params: []Param{pathParam}, Gives: "None", About: "Delete a file or folder, to the trash."},
	{Name: "add_tag", Changes: true, Params: []Param{pathParam, need("tag", "name")},
		Gives: "True if it was new", About: "Add a tag to the front matter of a note."},
	{Name: "set_property", Changes: true, Params: []Param{pathParam, need("name", "key"), Param{Name: "value", Kind: Any}},
		Gives: "None", About: "Set a property of a note's front matter; None removes it."},
	{Name: "rename_heading", Changes: true, Params: []Param{pathParam, need("old", "heading"), need("new", "to")},
		Gives: "report", About: "Rename a heading; links to it follow. Gives links (rewritten), broken."},
}

func function(name string) *Function {
	i := slices.IndexFunc(Functions, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &Functions[i]
}

// signature is a function as it is written: search(pattern, path="", …).
func (f *Function) signature() string {
	var parts []string
	for _, p := range f.Params {
		switch {
		case p.Required:
			parts = append(parts, p.Name)
		case p.Kind == Flag:
			parts = append(parts, p.Name+"=False")
		default:
			parts = append(parts, p.Name+"=…")
		}
	}
	return f.Name + "(" + strings.Join(parts, ", ") + ")"
}

// helpText is what help() prints: of one function, or of all.
func helpText(name string, changes bool) string {
	if f := function(name); f != nil {
		also := ""
		if f.Changes {
			also = " Only in change."
		}
		return fmt.Sprintf("%s → %s\n%s%s", f.signature(), f.Gives, f.About, also)
	}
	switch name {
	case "show", "print":
		return "show(x, …) prints values tersely: hits grouped by file, definitions in full, lines numbered. print(x, …) prints any value."
	}
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "There is no function %s.\n", name)
	}
	for i := range Functions {
		if f := &Functions[i]; changes || !f.Changes {
			fmt.Fprintf(&b, "%s → %s\n", f.signature(), f.Gives)
		}
	}
	b.WriteString("show(x, …), print(x, …), help(\"search\")")
	return b.String()
}
