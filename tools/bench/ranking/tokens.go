package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry"
	"quarry/internal/rank"
	"quarry/internal/symbols"
	"quarry/toolset"
)

// agentQuestions is the number of questions for the table of tokens. They are taken one from each
// repository, then a second one.
const agentQuestions = 30

// way is one way in which an agent may search for a definition by its name.
type way struct {
	name string
	ask  func(dir string, call func(tool string, args map[string]any) string, name string) string
}

var ways = []way{
	{"rg -n -w NAME | head -100", func(dir string, _ func(string, map[string]any) string, name string) string {
		cmd := exec.Command(cmp.Or(os.Getenv("QUARRY_RG"), "rg"), "-n", "-w", "-F", "--sort=path", "--", name, ".")
		cmd.Dir = dir
		out, _ := cmd.Output()
		lines := bytes.SplitAfterN(out, []byte("\n"), 101)
		return string(bytes.Join(lines[:min(100, len(lines))], nil))
	}},
	{"search_files {regex}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("search_files", map[string]any{"regex": `\b` + regexp.QuoteMeta(name) + `\b`})
	}},
	{"file_search {query}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("file_search", map[string]any{"query": name})
	}},
	{"search_code {query, top_k: 10}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("search_code", map[string]any{"query": name, "top_k": 10})
	}},
	{"search_code {query}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("search_code", map[string]any{"query": name})
	}},
	{"search_code {query, budget: 1000}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("search_code", map[string]any{"query": name, "budget": 1000})
	}},
	{"find_symbol {name}", func(_ string, call func(string, map[string]any) string, name string) string {
		return call("find_symbol", map[string]any{"name": name})
	}},
}

// tokens searches for the definitions of 30 names from the benchmark's questions in every way. It
// prints how many tokens (of 4 bytes) an agent reads for each definition it sees. A definition is
// seen if the answer has its file and line.
func tokens(trees, annotations string) error {
	repos, err := readRepos(annotations)
	if err != nil {
		return err
	}
	seen, read := make([]int, len(ways)), make([]int, len(ways))
	asked := 0
	for round := range 2 {
		for _, name := range slices.Sorted(maps.Keys(repos)) {
			root := filepath.Join(trees, name, filepath.FromSlash(repos[name].Root))
			list, err := definitions(filepath.Join(annotations, "annotations", name+".json"), root, repos[name].Root)
			if err != nil {
				return err
			}
			if round >= len(list) || asked == agentQuestions {
				continue
			}
			asked++
			if err := list[round].ask(root, seen, read); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%-36s %5s %8s %11s\n", fmt.Sprintf("%d questions", asked), "seen", "tokens", "per 10,000")
	for i, w := range ways {
		fmt.Printf("%-36s %5d %8d %11.1f\n", w.name, seen[i], read[i], 10000*float64(seen[i])/float64(max(read[i], 1)))
	}
	fmt.Println()
	return measureFaces(trees, annotations)
}

// definition is the definition that a question is about.
type definition struct{ name, file, line string }

// definitions returns the definitions that answer those of a repository's questions that are about
// a name.
func definitions(annotation, root, below string) ([]definition, error) {
	data, err := os.ReadFile(annotation)
	if err != nil {
		return nil, err
	}
	var questions []question
	if err := json.Unmarshal(data, &questions); err != nil {
		return nil, err
	}
	var out []definition
	for _, q := range questions {
		if category(&q) != "symbol" {
			continue
		}
		name := q.Query[strings.LastIndexAny(q.Query, ".:#")+1:]
	targets:
		for _, t := range q.Relevant {
			file := strings.TrimPrefix(t.Path, path.Clean(below)+"/")
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				continue
			}
			for _, s := range symbols.Of(file, text) {
				if symbols.Key(s.Name) == symbols.Key(name) && rank.Defining(s.Kind) {
					out = append(out, definition{name, file, strings.TrimSpace(strings.Split(string(text), "\n")[s.Line-1])})
					break targets
				}
			}
		}
	}
	return out, nil
}

func (d *definition) ask(root string, seen, read []int) error {
	ws, err := quarry.Open(root, nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	tools, err := toolset.New(ws, nil)
	if err != nil {
		return err
	}
	var failed error
	call := func(tool string, args map[string]any) string {
		raw, _ := json.Marshal(args)
		r, err := tools.Call(context.Background(), tool, raw)
		if err != nil || r.IsError {
			failed = fmt.Errorf("%s %s: %v %v", tool, raw, r, err)
			return ""
		}
		return r.Text
	}
	for i, w := range ways {
		text := w.ask(root, call, d.name)
		read[i] += (len(text) + 3) / 4
		if strings.Contains(text, d.file) && strings.Contains(text, d.line) {
			seen[i]++
		}
	}
	return failed
}
