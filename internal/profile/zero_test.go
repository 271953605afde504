package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/search"
)

// The path of a note may lack .md; an error about the note uses the full path.
func TestNoteErrorNamesTheNote(t *testing.T) {
	ws := vault().make(t)
	r := call(t, tools(t, ws, profile.Options{}), "modify_note", `{"path":"Tasks","operation":"replace","search":"nonesuch","content":"x"}`)
	if !r.IsError || !strings.Contains(r.Text, "Text 'nonesuch' not found in Tasks.md") {
		t.Error(r.Text)
	}
	r = call(t, tools(t, ws, profile.Options{}), "modify_note", `{"path":"Nowhere","operation":"append","content":"x"}`)
	if !r.IsError || !strings.Contains(r.Text, `There is no note at "Nowhere"`) {
		t.Error(r.Text)
	}
}

// The hint about ignored files agrees with a search that includes them, wherever the
// files are and whatever the query is.
func TestZeroKnowsIgnoredFiles(t *testing.T) {
	stress.SkipTiny(t)
	t.Run("scan", func(t *testing.T) { zeroKnowsIgnoredFiles(t, quarry.Options{}) })
	t.Run("index", func(t *testing.T) {
		zeroKnowsIgnoredFiles(t, quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	})
}

func zeroKnowsIgnoredFiles(t *testing.T, opts quarry.Options) {
	ws := fixture{opts: opts, files: map[string]string{
		".gitignore":         "build/\n*.o\n.cache/\n",
		"build/a/out.js":     "needle\n",
		"build/b/out.c":      "needle\n",
		"src/main.c":         "other\n",
		"src/main.o":         "needle\n",
		"src/gen/x.o":        "needle\n",
		"products/all.o":     "needle\n",
		"products/sub/one.o": "other\n",
		"docs/build/page.md": "needle\n",
		".github/ci.yml":     "needle\n",
		".github/ci.o":       "needle\n",
		".cache/x.md":        "needle\n",
		"README.md":          "other\n",
	}}.make(t)
	if opts.Index != nil {
		if err := ws.Index().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r := tools(t, ws, profile.Options{})
	for _, path := range []string{"", ".", "src", "SRC", "src/gen", "products", "docs", "build", "README.md", ".github"} {
		for _, glob := range []string{"", "*.o", "*.c", "*.md", "src/**", "!*.o"} {
			for _, pattern := range []string{"needle", "nowhere"} {
				q := search.Query{Pattern: pattern, Scope: search.Scope{Paths: []string{path}}}
				if glob != "" {
					q.Globs = []string{glob}
				}
				narrow, err := ws.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if narrow.FilesMatched > 0 {
					continue
				}
				q.IncludeHidden = true
				hidden, err := ws.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				q.IncludeIgnored = true
				wide, err := ws.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				q.IncludeHidden = false
				alone, err := ws.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				want := ""
				switch n := wide.FilesMatched; {
				case alone.FilesMatched > 0: // the only flag that helps
					want = fmt.Sprintf("; with include_ignored %d file", alone.FilesMatched)
				case n > hidden.FilesMatched:
					want = fmt.Sprintf("; with include_hidden and include_ignored %d file", n)
				}
				args := fmt.Sprintf(`{"regex":%q,"path":%q,"file_pattern":%q}`, pattern, path, glob)
				text := call(t, r, "search_files", args).Text
				if want == "" && (strings.Contains(text, "; with include_ignored") || strings.Contains(text, "; with include_hidden and")) || !strings.Contains(text, want) {
					t.Errorf("%s: %s; want %q", args, text, want)
				}
			}
		}
	}
}

// A folder of ignored files counts as one place, however many files it has.
func TestZeroLooksIntoLargeFolders(t *testing.T) {
	f := fixture{files: map[string]string{".gitignore": "build/\n*.tmp\n", "src/a.txt": "x\n", "src/a.tmp": "x\n"}}
	for i := range 900 {
		f.files[fmt.Sprintf("build/d%02d/f%d.txt", i%20, i)] = "x\n"
	}
	f.files["build/d19/zz.txt"] = "needle\n"
	text := call(t, tools(t, f.make(t), profile.Options{}), "file_search", `{"query":"needle"}`).Text
	if !strings.Contains(text, "with include_ignored 1 file matches (build/d19/zz.txt)") {
		t.Error(text)
	}
}

// If nothing matches, a pattern in grep's syntax is recognized.
func TestZeroHints(t *testing.T) {
	r := tools(t, code().make(t), profile.Options{})
	got := call(t, r, "search_files", `{"regex":"zebra\\|giraffe"}`)
	if want := `\| matches a vertical bar; write | for alternatives`; !strings.Contains(got.Text, want) {
		t.Errorf("%s\nlacks %s", got.Text, want)
	}
}

// Each searching tool reports the number of files that the policy excluded; otherwise
// "nothing found" would include unread files.
func TestDeniedFilesAreCounted(t *testing.T) {
	reg := tools(t, fixture{files: map[string]string{"p/a.go": "package p\n\nfunc Hush() {}\n", "b.go": "package b\n\nfunc Other() {}\n"}, opts: quarry.Options{Deny: []string{"p/**"}}}.make(t), profile.Options{})
	for name, args := range map[string]string{
		"search_files": `{"regex":"Hush"}`, "file_search": `{"query":"Hush"}`, "search_code": `{"query":"Hush"}`,
		"find_symbol": `{"name":"Hush"}`, "outline": `{"path":"."}`, "search_by_path": `{"pattern":"**/a.go"}`,
		"replace_in_files": `{"text":"Hush","replacement":"x"}`, "list_files": `{"pattern":"**/*.go"}`,
	} {
		res := call(t, reg, name, args)
		if !strings.Contains(res.Text, "1 protected") || strings.Contains(res.Text, "p/a.go") {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
}

// Tools for notes also count denied notes; otherwise "No links." could be wrong.
func TestDeniedNotesAreCounted(t *testing.T) {
	reg := tools(t, fixture{files: map[string]string{
		".obsidian/app.json": "{}", "private/diary.md": "---\nmood: x\n---\n[[Plan]] #secret\n", "Plan.md": "# Plan\n#open\n", "Other.md": "#open\n",
	}, opts: quarry.Options{Deny: []string{"private/**"}}}.make(t), profile.Options{})
	for _, c := range [][2]string{
		{"links", `{"path":"Plan.md"}`}, {"links", `{"kind":"orphans"}`}, {"links", `{"kind":"unresolved"}`},
		{"tags", `{}`}, {"tags", `{"tag":"secret"}`}, {"tags", `{"tag":"open","new_name":"todo","dry_run":true}`},
		{"properties", `{}`},
	} {
		res := call(t, reg, c[0], c[1])
		if !strings.Contains(res.Text, "not searched: 1 protected") || strings.Contains(res.Text, "diary") {
			t.Errorf("%s %s: %s", c[0], c[1], res.Text)
		}
	}
	for _, c := range [][2]string{
		{"links", `{"path":"Plan.md","kind":"outgoing"}`}, {"tags", `{"path":"Plan.md"}`}, {"properties", `{"path":"Plan.md"}`},
	} {
		if res := call(t, reg, c[0], c[1]); strings.Contains(res.Text, "protected") {
			t.Errorf("%s %s asks one note: %s", c[0], c[1], res.Text)
		}
	}
}

// Listings omit the local trash. An answer to a call that includes hidden files says so,
// because the caller would expect the trash to be included.
func TestTrashIsNamed(t *testing.T) {
	files := map[string]string{"a.txt": "hush\n", ".trash/q.txt": "hush two\n", "sub/b.txt": "hush\n"}
	const told = "the trash is omitted: path .trash shows it"
	for _, c := range []struct {
		deny       []string
		name, args string
		want       bool
	}{
		{nil, "search_files", `{"regex":"hush","include_hidden":true,"include_ignored":true}`, true},
		{nil, "search_files", `{"regex":"hush","include_hidden":true}`, true},
		{nil, "search_files", `{"regex":"two","include_hidden":true,"path":"."}`, true},
		{nil, "file_search", `{"query":"hush","include_hidden":true}`, true},
		{nil, "search_by_path", `{"pattern":"**/*.txt","include_hidden":true}`, true},
		{nil, "list_files", `{"include_hidden":true,"include_ignored":true}`, true},
		{nil, "search_files", `{"regex":"hush"}`, false},
		{nil, "search_files", `{"regex":"hush","include_hidden":true,"path":"sub"}`, false},
		{nil, "search_files", `{"regex":"hush","include_hidden":true,"path":".trash"}`, false},
		{[]string{".trash/**"}, "search_files", `{"regex":"hush","include_hidden":true}`, false},
	} {
		ws := fixture{files: files, opts: quarry.Options{Deny: c.deny}}.make(t)
		res := call(t, tools(t, ws, profile.Options{}), c.name, c.args)
		if strings.Contains(res.Text, told) != c.want {
			t.Errorf("%s %s, deny %q: %s", c.name, c.args, c.deny, res.Text)
		}
	}
}

// If a list is given instead of a single pattern, the hint names the parameter that takes
// lists.
func TestListOfPatterns(t *testing.T) {
	reg := tools(t, fixture{}.make(t), profile.Options{})
	for name, args := range map[string]string{"search_files": `{"regex":["a","b"]}`, "file_search": `{"query":["a","b"]}`} {
		if res := call(t, reg, name, args); !strings.Contains(res.Text, "the others in also, a list") {
			t.Errorf("%s %s: %s", name, args, res.Text)
		}
	}
	if res := call(t, reg, "search_files", `{"regex":7.5e3,"path":["a"]}`); strings.Contains(res.Text, "also") {
		t.Errorf("a path: %s", res.Text)
	}
	long := `{"regex":"x","file_pattern":"` + strings.Repeat("x", 30_000) + `"}`
	if res := call(t, reg, "search_files", long); len(res.Text) > 4000 {
		t.Errorf("a glob of 30,000 characters is answered with %d bytes", len(res.Text))
	}
}
