package profile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
	"quarry/tool"
)

// The definitions that a client reads, including hints, are short. A token is assumed to
// be 4 bytes.
func TestDefinitionsAreShort(t *testing.T) {
	_, inVault := noteTools(t, "quarry", true)
	vault, err := quarry.Open(inVault, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer vault.Close()
	for _, c := range []struct {
		name    string
		profile string
		ws      *quarry.Workspace
		most    int
	}{
		{"quarry", "quarry", nil, 4500}, {"quarry in a vault", "quarry", vault, 5650}, {"code", "code", nil, 1700}, {"notes", "notes", nil, 2700},
	} {
		r, err := profile.New(c.ws, &profile.Options{Profile: c.profile})
		if err != nil {
			t.Fatal(err)
		}
		_, total, err := profile.Costs(r, false)
		if t.Logf("%s: %d tokens", c.name, total); err != nil || total > c.most || total < 1000 {
			t.Errorf("%s takes %d tokens, more than %d; %v", c.name, total, c.most, err)
		}
	}
}

// Claude Code silently drops everything after the 2,048th character of a description.
func TestDescriptionsAreShownWhole(t *testing.T) {
	seen := 0
	for _, name := range profile.Names() {
		r, err := profile.New(nil, &profile.Options{Profile: name})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Tools() {
			if seen++; len(d.Description) > 2048 {
				t.Errorf("%s: %s has %d characters", name, d.Name, len(d.Description))
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d descriptions", seen)
	}
}

func TestProfiles(t *testing.T) {
	for name, want := range map[string]string{
		"vault": "create_note modify_note search_notes search_files list_files get_file_info organize_note read_file edit_file write_file " +
			"create_folder delete_file move_file",
		"notes": "search_notes search_files list_files read_file create_note edit_file edit_section delete_file move_file properties tags links " +
			"apply_changes replace_in_files undo_change",
		"code": "search_files search_code find_symbol read_file edit_file apply_changes replace_in_files undo_change",
		"roo":  "search_files", "godoctor": "file_search", "smcp": "search_by_path get_index_status search_code",
	} {
		if got := toolNames(tools(t, nil, profile.Options{Profile: name})); got != want {
			t.Errorf("%s has %s", name, got)
		}
	}
	if got := toolNames(tools(t, nil, profile.Options{Profile: "vault", ReadOnly: true})); got != "search_notes search_files list_files get_file_info read_file" {
		t.Errorf("read-only: %s", got)
	}
	if got := toolNames(tools(t, nil, profile.Options{Tools: []string{"read_file", "file_search"}})); got != "file_search read_file" {
		t.Errorf("narrowed: %s", got)
	}
	for _, bad := range []profile.Options{{Profile: "emacs"}, {Tools: []string{"nope"}}} {
		if _, err := profile.New(nil, &bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func toolNames(r *tool.Registry) string {
	var names []string
	for _, t := range r.Tools() {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// Every tool has a title and a description, and its hints are consistent with its name.
// Every parameter has a description, except parameters with self-explanatory names in the
// profiles code and notes.
func TestDefinitionsAreComplete(t *testing.T) {
	changing := regexp.MustCompile(`^((edit|write|create|move|delete|modify|organize|undo|apply|replace|merge)_|properties$|tags$)`)
	plain := regexp.MustCompile(`^(path|old_text|new_text|replacement|ignore_case|budget)$`)
	for _, name := range profile.Names() {
		for _, tl := range tools(t, nil, profile.Options{Profile: name}).Tools() {
			if tl.Title == "" || tl.Description == "" {
				t.Errorf("%s/%s: title %q, description %q", name, tl.Name, tl.Title, tl.Description)
			}
			if changing.MatchString(tl.Name) == tl.Hints.ReadOnly {
				t.Errorf("%s/%s: read-only is %v", name, tl.Name, tl.Hints.ReadOnly)
			}
			if tl.Hints.ReadOnly && tl.Hints.Destructive {
				t.Errorf("%s/%s destroys nothing", name, tl.Name)
			}
			for _, p := range tl.Params {
				if p.Unlisted {
					continue
				}
				if p.Description == "" && !(plain.MatchString(p.Name) && (name == "code" || name == "notes")) {
					t.Errorf("%s/%s: %s has no description", name, tl.Name, p.Name)
				}
			}
			if !json.Valid(tl.InputSchema()) || !json.Valid(tl.OutputSchema) {
				t.Errorf("%s/%s: schemas", name, tl.Name)
			}
		}
	}
}

// TestDocs checks docs/PROFILES.md, which is generated from the definitions. go test
// -update rewrites it.
func TestDocs(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Profiles and tools\n\nGenerated from the tool definitions by `go test ./internal/profile -update`; don't edit.\n")
	b.WriteString("\nA profile is a set of tools with its own parameters and answers. `quarry mcp --profile P` serves one, `quarry tools --profile P` lists it,\n" +
		"`quarry call TOOL JSON --profile P` calls a tool. `--tools a,b` serves only these, `--read-only` only those that change nothing.\n\n" +
		"`vault`, `roo`, `godoctor` and `smcp` are *strict*: they imitate tools of other systems and print what the documents of those say, and nothing more. The others add\n" +
		"a line in square brackets: what was omitted and the call that continues, the version of a file, the id of a change, or\n" +
		"why nothing was found. The same call on the same files gives the same text.\n\n" +
		"- The text is the whole answer. For clients that want data, `quarry mcp --structured` (key `mcp.structured`) adds an output schema to\n" +
		"  every tool and answers with a JSON object, as text and as `structuredContent`.\n" +
		"  That is off by default because many clients show the model only one of the two. `smcp` always answers in JSON.\n" +
		"- A block, which `max_results` of `search_files` counts, is a run of matching lines whose context lines touch.\n" +
		"- An error begins with `Error: …`. Outside the strict profiles it has the next step and a code; structured it is\n" +
		"  `{\"error\": {\"code\", \"message\", \"hint\"}}`.\n" +
		"- Arguments are read leniently: `\"10\"` is 10, `\"true\"` is true, `null` is absent. An unknown one is an error, but outside the strict profiles the names\n" +
		"  of other programs are understood (`file_path`, `glob`, `include`, `limit`, `head_limit`, `output_mode`, `old_string`, `new_string`, `offset` and `limit` of a read,\n" +
		"  `oldText` …). `quiet` and `diff` of changing tools are not listed either.\n" +
		"- Paths are relative to the workspace; with several roots they begin with the name of one. A path that can't be printed comes as `base64:…`, which every tool takes back.\n" +
		"- An answer has at most 60 KB of text (`read_file` 100 KB; in `code` 16 and 40), or what `budget` says. Clients that cut answers (Copilot's command line and Codex) get at most 10,000 bytes as\n" +
		"  JSON, Codex also 256 lines. Totals are exact up to 20 times the limit, then `6000+`.\n\n" +
		"The definitions of all tools are in a model's context at every turn. Their cost, at 4 bytes a token, is what\n" +
		"`quarry tools --tokens` prints:\n\n" +
		"| profile | tools | tokens | with `--structured` | |\n|---|---|---|---|---|\n")
	for _, name := range profile.Names() {
		reg := tools(t, nil, profile.Options{Profile: name})
		_, plain, err := profile.Costs(reg, profile.InJSON(name))
		_, structured, err2 := profile.Costs(reg, true)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %d | %d | %d | %s |\n", name, name, len(reg.Tools()), plain, structured, profile.About(name))
	}
	earlier := toolTexts{}
	for _, name := range profile.Names() {
		fmt.Fprintf(&b, "\n## %s\n", name)
		for _, tl := range tools(t, nil, profile.Options{Profile: name}).Tools() {
			earlier.write(&b, name, tl)
		}
	}
	compare(t, filepath.Join("..", "..", "docs", "PROFILES.md"), b.Bytes())
}

// plain escapes globs in Markdown.
var plain = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;")

// toolTexts maps texts to the first profile that contains them. A text is a tool's
// description without parameters, or one row of its parameters.
type toolTexts map[string]string

// write refers to an earlier profile instead of repeating its text.
func (e toolTexts) write(b *bytes.Buffer, in string, tl *tool.Tool) {
	about := plain.Replace(tl.Description)
	switch {
	case tl.Hints.ReadOnly:
		about += " *Changes nothing.*\n"
	case tl.Hints.Destructive:
		about += " *Changes files.*\n"
	default:
		about += " *Adds files.*\n"
	}
	var params bytes.Buffer
	writeParams(&params, "", tl.Params)
	fmt.Fprintf(b, "\n### `%s`\n\n", tl.Name)
	whole := tl.Name + "\n" + about + params.String()
	if first, ok := e[whole]; ok {
		fmt.Fprintf(b, "As in [`%s`](#%s).\n", first, first)
		return
	}
	e[whole] = in
	b.WriteString(about)
	var rows, equal []string
	from := ""
	for row := range strings.Lines(params.String()) {
		key := tl.Name + "\n" + row
		if first, ok := e[key]; ok && (from == "" || from == first) {
			from = first
			name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
			equal = append(equal, name)
			continue
		} else if !ok {
			e[key] = in
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		b.WriteString("\n| parameter | type | |\n|---|---|---|\n" + strings.Join(rows, ""))
	}
	if len(equal) > 0 {
		fmt.Fprintf(b, "\nAs in [`%s`](#%s): %s.\n", from, from, strings.Join(equal, ", "))
	}
}

func writeParams(b *bytes.Buffer, prefix string, params []tool.Param) {
	for _, p := range params {
		if p.Unlisted && p.Description == "" {
			continue // an entry of another tool
		}
		kind := [...]string{"text", "integer", "boolean", "list", "object", "list of objects", "any JSON", "object of texts"}[p.Kind]
		if len(p.Enum) > 0 {
			kind = "`" + strings.Join(p.Enum, "`, `") + "`"
		}
		about := []string{}
		if p.Required {
			about = append(about, "required")
		}
		if p.Description != "" {
			about = append(about, plain.Replace(p.Description))
		}
		if p.Default != nil {
			about = append(about, fmt.Sprintf("default `%v`", p.Default))
		}
		switch {
		case p.Min != nil && p.Max != nil:
			about = append(about, fmt.Sprintf("%d to %d%s", *p.Min, *p.Max, unit(p)))
		case p.Max != nil:
			about = append(about, fmt.Sprintf("at most %d%s", *p.Max, unit(p)))
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, p.Name, kind, strings.Join(about, "; "))
		writeParams(b, p.Name+".", p.Fields)
	}
}

func unit(p tool.Param) string {
	if p.Kind == tool.String {
		return " characters"
	}
	return ""
}

// Structured results conform to the output schemas.
func TestStructuredResults(t *testing.T) {
	for file, scenes := range goldens() {
		name, toolName, _ := strings.Cut(file, "/")
		toolName, _, _ = strings.Cut(toolName, "@") // the part after @ distinguishes several files of one tool
		for _, s := range scenes {
			s.opts.Profile = name
			reg := tools(t, s.make().make(t), s.opts)
			for _, st := range s.steps {
				if st.tool == "" {
					st.tool = toolName
				}
				r := call(t, reg, st.tool, st.args)
				data, err := json.Marshal(r.Structured)
				if err != nil {
					t.Fatal(err)
				}
				schema := reg.Lookup(st.tool).OutputSchema
				if r.IsError {
					schema = json.RawMessage(`{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},"required":["code","message"]}},"required":["error"]}`)
				}
				for _, problem := range violations(schema, data) {
					t.Errorf("%s: %s: %s", file, st.name, problem)
				}
			}
		}
	}
}

// violations validates a value against the subset of JSON schema used here.
func violations(schema, value json.RawMessage) []string {
	var s struct {
		Type       string                     `json:"type"`
		Enum       []any                      `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Items      json.RawMessage            `json:"items"`
	}
	var v any
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(value, &v) != nil {
		return []string{"not JSON"}
	}
	var found []string
	is := map[string]bool{"": true}
	switch v := v.(type) {
	case map[string]any:
		is["object"] = true
		var fields map[string]json.RawMessage
		json.Unmarshal(value, &fields)
		for _, name := range s.Required {
			if fields[name] == nil {
				found = append(found, name+" is missing")
			}
		}
		for name, sub := range s.Properties {
			if fields[name] != nil {
				for _, p := range violations(sub, fields[name]) {
					found = append(found, name+": "+p)
				}
			}
		}
	case []any:
		is["array"] = true
		var items []json.RawMessage
		json.Unmarshal(value, &items)
		for i, item := range items {
			if s.Items != nil {
				for _, p := range violations(s.Items, item) {
					found = append(found, fmt.Sprintf("[%d]: %s", i, p))
				}
			}
		}
	case string:
		is["string"] = true
	case bool:
		is["boolean"] = true
	case float64:
		is["number"], is["integer"] = true, v == float64(int64(v))
	}
	if !is[s.Type] {
		found = append(found, fmt.Sprintf("%s is not a %s", value, s.Type))
	}
	if len(s.Enum) > 0 {
		ok := false
		for _, e := range s.Enum {
			ok = ok || e == v
		}
		if !ok {
			found = append(found, fmt.Sprintf("%v is none of %v", v, s.Enum))
		}
	}
	return found
}
