package profile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
)

// The requirement documents are checked sentence by sentence. The files of testdata/seeds
// consist of blocks: a call, the expected answer, and the sentences that it proves.
//
//	@ vault                    the profile, until the next; "vault large" has larger files
//	? tool {json}              a call; also "? file PATH", "? definition TOOL", "? tools"
//	= text, ~ part, ! absent, ^ regexp    expected of the last answer
//	- sentence                 of the document
//	x why                      the block's sentences were decided otherwise
//
// Blocks are separated by empty lines. A block that changes files has its own workspace.

// requirement is one block.
type requirement struct {
	line      int
	profile   string
	steps     []string
	sentences []string
	otherwise string
}

var seedDocuments = []struct{ id, title string }{
	{"000", "search_files of a vault"},
	{"001", "search_files of Roo"},
	{"002", "file_search of godoctor"},
	{"003", "the tools of a vault"},
	{"004", "search_by_path of smcp"},
}

func TestSeeds(t *testing.T) {
	total := 0
	for _, doc := range seedDocuments {
		t.Run(doc.id, func(t *testing.T) {
			list := readRequirements(t, doc.id)
			shared := map[string]*quarry.Workspace{} // workspaces of blocks that change nothing
			for _, r := range list {
				total += len(r.sentences)
				r.check(t, shared)
			}
			checkSentences(t, doc.id, list)
		})
	}
	t.Logf("%d sentences", total)
	if total < 400 {
		t.Errorf("only %d sentences have their check", total)
	}
}

func readRequirements(t *testing.T, id string) []requirement {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "seeds", id+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []requirement
	var r requirement
	name := ""
	end := func() {
		if len(r.sentences) > 0 {
			list = append(list, r)
		} else if len(r.steps) > 0 {
			t.Errorf("%s:%d: a block without a sentence", id, r.line)
		}
		r = requirement{}
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if r.line == 0 {
			r.line, r.profile = n, name
		}
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "":
			end()
		case "#":
		case "@":
			name, r.profile = rest, rest
		case "x":
			r.otherwise = rest
		case "-":
			r.sentences = append(r.sentences, rest)
		case "?", "=", "~", "!", "^":
			r.steps = append(r.steps, line)
		default:
			t.Fatalf("%s:%d: %q", id, n, line)
		}
	}
	end()
	return list
}

// check runs a block. A block without steps must give a reason instead.
func (r *requirement) check(t *testing.T, shared map[string]*quarry.Workspace) {
	t.Helper()
	if len(r.steps) == 0 {
		if r.otherwise == "" {
			t.Errorf("line %d: %q has no check", r.line, r.sentences[0])
		}
		return
	}
	if call := r.onlyAbsent(); call != "" {
		t.Errorf("line %d: %s: an error would pass, too: add a text that the answer must contain", r.line, call)
	}
	ws := shared[r.profile]
	if ws == nil || r.changes() {
		ws = seedFiles(r.profile).make(t)
	}
	if !r.changes() {
		shared[r.profile] = ws
	}
	name, _, _ := strings.Cut(r.profile, " ")
	reg := tools(t, ws, profile.Options{Profile: name})
	text, asked, checked := "", "", false
	for _, step := range r.steps {
		kind, rest, _ := strings.Cut(step, " ")
		want := rest
		if strings.HasPrefix(rest, `"`) {
			if s, err := strconv.Unquote(rest); err == nil {
				want = s
			}
		}
		ok := true
		switch kind {
		case "?":
			asked = step
			what, args, _ := strings.Cut(rest, " ")
			switch what {
			case "file":
				data, err := os.ReadFile(filepath.Join(ws.Dir(), filepath.FromSlash(args)))
				if text = string(data); err != nil {
					text = "no file"
				}
			case "tools":
				text = toolNames(reg)
			case "definition":
				for _, d := range profile.Definitions(reg, true) {
					if d.Name == args {
						b, err := json.Marshal(d)
						if err != nil {
							t.Fatal(err)
						}
						text = strings.ReplaceAll(string(b), `\u003c`, "<")
					}
				}
			default:
				text = call(t, reg, what, args).Text
			}
			continue
		case "=":
			ok = text == want
		case "~":
			ok = strings.Contains(text, want)
		case "!":
			ok = !strings.Contains(text, want)
		case "^":
			ok = regexp.MustCompile(want).MatchString(text)
		}
		if checked = true; !ok {
			t.Errorf("line %d: %q\n%s\nwants %s\ngot %.700s", r.line, r.sentences[0], asked, step, text)
		}
	}
	if !checked {
		t.Errorf("line %d: nothing is checked", r.line)
	}
}

// onlyAbsent returns a call for which the block expects only absent texts, or "".
func (r *requirement) onlyAbsent() string {
	call, absent, present := "", false, false
	for _, step := range append(slices.Clone(r.steps), "?") {
		switch step[0] {
		case '?':
			if absent && !present {
				return call
			}
			call, absent, present = step, false, false
		case '!':
			absent = true
		default:
			present = true
		}
	}
	return ""
}

var changing = regexp.MustCompile(`^\? (create|modify|organize|edit|write|delete|move)_`)

// changes reports whether a block may change files.
func (r *requirement) changes() bool { return slices.ContainsFunc(r.steps, changing.MatchString) }

var spaces = regexp.MustCompile(`\s+`)

// checkSentences compares the sentences with the documents themselves, if QUARRY_SEEDS
// names their folder.
func checkSentences(t *testing.T, id string, list []requirement) {
	dir := os.Getenv("QUARRY_SEEDS")
	if dir == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, id+"_*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v %v", dir, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	whole := spaces.ReplaceAllString(string(data), " ")
	for _, r := range list {
		for _, s := range r.sentences {
			if !strings.Contains(whole, spaces.ReplaceAllString(s, " ")) {
				t.Errorf("line %d: %q is not in the document", r.line, s)
			}
		}
	}
}

// TestSeedsDoc checks testdata/seeds/REQUIREMENTS.md, which counts the checked sentences
// and lists the deviations. go test -update rewrites it.
func TestSeedsDoc(t *testing.T) {
	var b, table bytes.Buffer
	total := 0
	for _, doc := range seedDocuments {
		held, other := 0, 0
		for _, r := range readRequirements(t, doc.id) {
			if r.otherwise == "" {
				held += len(r.sentences)
				continue
			}
			other += len(r.sentences)
			for i, s := range r.sentences {
				why := r.otherwise
				if i > 0 {
					why = "as above"
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", doc.id, plain.Replace(s), plain.Replace(why))
			}
		}
		total += held + other
		fmt.Fprintf(&table, "| %s | %s | %d | %d |\n", doc.id, doc.title, held, other)
	}
	text := "# Requirements\n\nGenerated from `internal/profile/testdata/seeds` by `go test ./internal/profile -update`; don't edit.\n\n" +
		"The strict profiles are built from five documents. Each of their sentences has a check that the tests run: a call and\n" +
		"what its answer must be. " + strconv.Itoa(total) + " sentences are in the list.\n\n" +
		"| document | about | hold | decided otherwise |\n|---|---|---|---|\n" + table.String() +
		"\n## Decided otherwise\n\nThe documents disagree in places, with each other and with their own code, or speak of a program that this is not.\n\n" +
		"| document | sentence | what holds instead, and why |\n|---|---|---|\n" + b.String()
	compare(t, filepath.Join("testdata", "seeds", "REQUIREMENTS.md"), []byte(text))
}

// seedFiles returns the files that the blocks of a document use.
func seedFiles(name string) fixture {
	at := func(line int, text string) string { return strings.Repeat("\n", line-1) + text + "\n" }
	if name == "vault large" {
		f := fixture{files: map[string]string{"large.md": strings.Repeat(strings.Repeat("z", 1023)+"\n", 1024)}}
		for i := range 1100 {
			f.files[fmt.Sprintf("Lots/%04d.md", i)] = "x\n"
		}
		return f
	}
	if name != "vault" {
		f := fixture{files: map[string]string{
			".gitignore":                "node_modules/\nbuild/\n",
			".git/config":               "TODO in git\n",
			".github/ci.yml":            "TODO: ci\n",
			"README.md":                 at(12, "// TODO: Add setup instructions"),
			"internal/config/config.go": at(45, "\t// TODO(refactor): Move this to a separate package"),
			"design/roadmap.md":         at(5, "- [ ] TODO: Implement file_search tool"),
			"src/app.py":                "import os\n# TODO: tidy up\nx = 1\n",
			"src/lib/deep.py":           "# FIXME: slow\n",
			"src/other.js":              "// TODO: not Python\n",
			"web/cart.ts":               "// sums\nasync function calculateTotal(items: Item[]) {\n  return 0\n",
			"web/old.jsx":               "function calculateTotal(a, b) {}\n",
			"src/api/client.js":         "one\nconst users = await fetch(\"/api/users\")\ntwo\n",
			"src/auth/authService.ts":   "export class AuthService {}\n",
			"src/auth/guide.md":         "# Guide\n",
			"index.ts":                  "export {}\n",
			"empty.ts":                  "",
			"node_modules/a/index.js":   "TODO ignored\n",
			"build/out.js":              "TODO ignored\n",
			"logo.bin":                  "TODO\x00\x01",
			"a.zip":                     "PK\x03\x04\x00\x00TODO",
			"long.txt":                  strings.Repeat("a", 900) + "LONGMATCH" + strings.Repeat("b", 900) + "\n",
			"docs/a.txt":                "a\n",
			"docs/b.txt":                "b\n",
			"near.txt":                  "hit\nx\nhit\nx\nx\nx\nx\nhit\n",
		}}
		var many strings.Builder
		for i := range 450 {
			fmt.Fprintf(&many, "MANY %d\n\n\n\n", i)
		}
		f.files["many.txt"] = many.String()
		return f
	}
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	f := fixture{opts: quarry.Options{}, files: map[string]string{
		".obsidian/app.json":     `{"trashOption":"local","alwaysUpdateLinks":true}`,
		".obsidian/note.md":      "TODO closed\n",
		".smarthole/inbox.md":    "TODO closed\n",
		".gitignore":             "Ignored/\n",
		"Ignored/seen.md":        "an ignored needle\n",
		"Projects/Alpha.md":      strings.Repeat("\n", 40) + "some context before\nthe matching line with TODO\nsome context after\n",
		"Projects/notes.md":      "# Document Title\n\nFirst paragraph content...\nMore content here...\n",
		"Projects/todo.md":       "- [ ] one\n",
		"Projects/Archive/x.md":  "x\n",
		"Projects/project-a.md":  strings.Repeat("x", 2456),
		"Inbox/daily.md":         strings.Repeat("\n", 9) + "FIXME: needs review\nfollowing content\n",
		"Inbox/meeting-notes.md": "# Meeting\n\nThe project timeline is set for Q2. [[Alpha]]\n",
		"Journal/daily.md":       "# Day\n",
		"Links.md":               "[[meeting-notes]] and [[old-name]]\n",
		"notes/document.md":      strings.Repeat("2025\n", 3) + strings.Repeat("x\n", 27),
		"notes/log.md":           strings.Repeat("x\n", 42),
		"notes/todo.md":          "[ ] a\n[ ] b\n",
		"notes/list.md":          strings.Repeat("- item\n", 5),
		"notes/draft.md":         "old\n",
		"notes/old-name.md":      "x\n",
		"notes/old-note.md":      "x\n",
		"notes/file.md":          "x\n",
		"notes.md":               "x\n",
		"existing-file.md":       "kept\n",
		"Archive/2024/a.md":      "x\n",
		"src/main.js":            "function  hello (x) {}\n// TODO js\n",
		"readme.txt":             "TODO in a text file\n",
		"long.md":                long.String(),
		"case/Same.md":           "1\n",
		"case/same.md":           "2\n",
		"Templates/t.md":         "t\n",
	}}
	for i := range 12 {
		f.files[fmt.Sprintf("Many/m%02d.md", i)] = strings.Repeat("common word\n\n\n\n\n\n\n", i+1)
	}
	return f
}
