package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry"
	"quarry/search"
	"quarry/toolset"
)

// faces measures options of the search tools by the tokens that an agent reads in an answer:
// references with their enclosing function, files that contain two names, a name in changed files,
// and two texts at once.
type faces struct {
	rows  map[string]*faceRow
	order []string
}

// faceRow counts the questions of one kind asked in one way, those answered, and the tokens of the
// answers.
type faceRow struct{ asked, answered, tokens int }

func (f *faces) add(what string, asked, answered int, text ...string) {
	r := f.rows[what]
	if r == nil {
		r = &faceRow{}
		f.rows[what] = r
		f.order = append(f.order, what)
	}
	r.asked += asked
	r.answered += answered
	for _, t := range text {
		r.tokens += (len(t) + 3) / 4
	}
}

// measureFaces asks questions about the names in the benchmark's questions.
func measureFaces(trees, annotations string) error {
	repos, err := readRepos(annotations)
	if err != nil {
		return err
	}
	f := &faces{rows: map[string]*faceRow{}}
	for _, name := range slices.Sorted(maps.Keys(repos)) {
		root := filepath.Join(trees, name, filepath.FromSlash(repos[name].Root))
		list, err := definitions(filepath.Join(annotations, "annotations", name+".json"), root, repos[name].Root)
		if err != nil {
			return err
		}
		if len(list) < 2 {
			continue
		}
		if err := f.uses(root, list[0].name); err != nil {
			return err
		}
		if err := f.pair(root, list[0].name, list[1].name); err != nil {
			return err
		}
		if err := f.changed(root, list[0].name); err != nil {
			return err
		}
	}
	fmt.Printf("%-66s %6s %9s %8s %9s\n", "way", "asked", "answered", "tokens", "per item")
	for _, what := range f.order {
		r := f.rows[what]
		fmt.Printf("%-66s %6d %9d %8d %9.1f\n", what, r.asked, r.answered, r.tokens, float64(r.tokens)/float64(max(r.answered, 1)))
	}
	return nil
}

// caller opens a folder as a workspace. It also returns a function that calls a tool of a profile
// and returns the text.
func caller(root string) (ws *quarry.Workspace, call func(profile, tool string, args map[string]any) (string, error), err error) {
	ws, err = quarry.Open(root, nil)
	if err != nil {
		return nil, nil, err
	}
	return ws, func(profile, tool string, args map[string]any) (string, error) {
		tools, err := toolset.New(ws, &toolset.Options{Profile: profile})
		if err != nil {
			return "", err
		}
		raw, _ := json.Marshal(args)
		r, err := tools.Call(context.Background(), tool, raw)
		if err == nil && r.IsError {
			err = fmt.Errorf("%s %s: %s", tool, raw, r.Text)
		}
		if err != nil {
			return "", err
		}
		return r.Text, nil
	}, nil
}

// uses asks in which functions a name is used.
func (f *faces) uses(root, name string) error {
	ws, call, err := caller(root)
	if err != nil {
		return err
	}
	defer ws.Close()
	pattern := `\b` + regexp.QuoteMeta(name) + `\b`
	r, err := ws.Search(context.Background(), search.Query{Pattern: pattern, Symbols: true})
	if err != nil {
		return err
	}
	around := map[string]string{} // enclosing function, by path:line
	for _, file := range r.Files {
		for _, l := range file.Lines {
			if l.Symbol != nil {
				around[file.Path+":"+strconv.Itoa(l.Number)] = l.Symbol.Name
			}
		}
	}
	for _, profile := range []string{"roo", "quarry"} {
		what := "uses with their function: search_files of profile " + profile
		text, err := call(profile, "search_files", map[string]any{"path": ".", "regex": pattern})
		if err != nil {
			return err
		}
		asked, answered := visible(text, around)
		f.add(what, asked, answered, text)
	}
	return nil
}

var blockLine = regexp.MustCompile(`^ *(\d+) \| `)

// visible returns the number of uses in an answer, and how many of them have their function's name
// in the same block or above.
func visible(text string, around map[string]string) (uses, named int) {
	path, above := "", ""
	var block []string
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			path, above, block = line[2:], "", nil
		case strings.HasPrefix(line, "@@ "):
			above = line[3:]
		case line == "----":
			whole := strings.Join(block, "\n")
			for _, l := range block {
				name := ""
				if m := blockLine.FindStringSubmatch(l); m != nil {
					name = around[path+":"+m[1]]
				}
				if name != "" {
					uses++
					if strings.HasSuffix(above, name) || strings.Contains(whole, name+"(") || strings.Contains(whole, " "+name+" ") {
						named++
					}
				}
			}
			block = nil
		default:
			block = append(block, line)
		}
	}
	return uses, named
}

// pair asks which files contain two names, and for two texts at once.
func (f *faces) pair(root, a, b string) error {
	ws, call, err := caller(root)
	if err != nil {
		return err
	}
	defer ws.Close()
	quoted := []string{`\b` + regexp.QuoteMeta(a) + `\b`, `\b` + regexp.QuoteMeta(b) + `\b`}
	r, err := ws.Search(context.Background(), search.Query{Patterns: quoted, Each: true, Detail: search.Files})
	if err != nil || len(r.Files) == 0 {
		return err
	}
	count := func(text string) (n int) {
		for _, file := range r.Files {
			if strings.Contains(text, file.Path) {
				n++
			}
		}
		return n
	}
	for _, way := range []struct {
		what string
		args map[string]any
	}{
		{"files with two names: search_files {regex: A|B}", map[string]any{"regex": quoted[0] + "|" + quoted[1]}},
		{"files with two names: search_files {regex, also, all}", map[string]any{"regex": quoted[0], "also": quoted[1:], "all": true}},
	} {
		text, err := call("quarry", "search_files", way.args)
		if err != nil {
			return err
		}
		f.add(way.what, len(r.Files), count(text), text)
	}
	one, err := call("quarry", "file_search", map[string]any{"query": a})
	if err != nil {
		return err
	}
	two, err := call("quarry", "file_search", map[string]any{"query": b})
	if err != nil {
		return err
	}
	f.add("either of two texts: file_search twice", 1, 1, one, two)
	both, err := call("quarry", "file_search", map[string]any{"query": a, "also": []string{b}})
	f.add("either of two texts: file_search {query, also}", 1, 1, both)
	return err
}

// changed asks for a name that occurs in five of the changed files.
func (f *faces) changed(root, name string) error {
	ws, _, err := caller(root)
	if err != nil {
		return err
	}
	pattern := `\b` + regexp.QuoteMeta(name) + `\b`
	r, err := ws.Search(context.Background(), search.Query{Pattern: pattern, Detail: search.Files})
	ws.Close()
	if err != nil || len(r.Files) < 10 {
		return err
	}
	copied, err := os.MkdirTemp("", "faces")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copied)
	if err := commit(root, copied); err != nil {
		return err
	}
	var edited []string
	for i := range 5 {
		file := r.Files[i*len(r.Files)/5].Path
		text, err := os.ReadFile(filepath.Join(copied, file))
		if err != nil {
			return err
		}
		edited = append(edited, file)
		if err := os.WriteFile(filepath.Join(copied, file), append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	ws, call, err := caller(copied)
	if err != nil {
		return err
	}
	defer ws.Close()
	for _, changed := range []bool{false, true} {
		text, err := call("quarry", "search_files", map[string]any{"regex": pattern, "changed": changed})
		if err != nil {
			return err
		}
		n := 0
		for _, file := range edited {
			if strings.Contains(text, "# "+file) {
				n++
			}
		}
		f.add(fmt.Sprintf("a name in 5 changed files: search_files {regex, changed: %v}", changed), 5, n, text)
	}
	return nil
}

// commit copies the files of a tree to another folder and commits them there.
func commit(from, to string) error {
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"}} {
		if err != nil {
			return err
		}
		cmd := exec.Command("git", args...)
		cmd.Dir = to
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	return err
}

// readRepos reads the list of the benchmark's repositories.
func readRepos(annotations string) (map[string]repository, error) {
	data, err := os.ReadFile(filepath.Join(annotations, "repos.json"))
	if err != nil {
		return nil, err
	}
	var repos map[string]repository
	return repos, json.Unmarshal(data, &repos)
}
