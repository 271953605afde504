package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// definition is one benchmark, as described in rebar's FORMAT.md.
type definition struct {
	Model           string
	Name            string
	Regex           any
	CaseInsensitive bool `toml:"case-insensitive"`
	Unicode         bool
	Haystack        any
	Count           any
	Engines         []string

	group string
}

// full returns rebar's name for the benchmark.
func (d *definition) full() string { return d.group + "/" + d.Name }

// load reads the definitions in a folder below benchmarks/definitions.
func load(rebar, folder string) ([]definition, error) {
	files, err := filepath.Glob(filepath.Join(rebar, "benchmarks/definitions", folder, "*.toml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no definitions in %s: -rebar names a checkout of BurntSushi/rebar", rebar)
	}
	var all []definition
	for _, file := range files {
		var doc struct{ Bench []definition }
		data, err := os.ReadFile(file)
		if err == nil {
			err = toml.Unmarshal(data, &doc)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		group := filepath.Base(strings.TrimSuffix(file, ".toml"))
		for _, d := range doc.Bench {
			d.group = group
			all = append(all, d)
		}
	}
	return all, nil
}

// count returns the count expected from an engine.
func (d *definition) count(engine string) int64 {
	switch c := d.Count.(type) {
	case int64:
		return c
	case []map[string]any:
		for _, e := range c {
			if n, ok := countFor(e, engine); ok {
				return n
			}
		}
	case []any:
		for _, e := range c {
			if n, ok := countFor(e.(map[string]any), engine); ok {
				return n
			}
		}
	}
	return -1
}

func countFor(e map[string]any, engine string) (int64, bool) {
	ok, _ := regexp.MatchString("^(?:"+e["engine"].(string)+")$", engine)
	return e["count"].(int64), ok
}

// patterns returns the definition's expressions.
func (d *definition) patterns(rebar string) ([]string, error) {
	switch r := d.Regex.(type) {
	case string:
		return []string{r}, nil
	case []any:
		var out []string
		for _, p := range r {
			out = append(out, p.(string))
		}
		return out, nil
	case map[string]any:
		return patternFile(rebar, r)
	}
	return nil, fmt.Errorf("%s: regex of type %T", d.full(), d.Regex)
}

func patternFile(rebar string, r map[string]any) ([]string, error) {
	var lines []string
	if list, ok := r["patterns"].([]any); ok {
		for _, p := range list {
			lines = append(lines, p.(string))
		}
	} else {
		data, err := os.ReadFile(filepath.Join(rebar, "benchmarks/regexes", r["path"].(string)))
		if err != nil {
			return nil, err
		}
		lines = []string{strings.TrimRight(string(data), "\r\n")}
		if r["per-line"] != nil {
			lines = strings.Split(lines[0], "\n")
			lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
		}
	}
	if literal, _ := r["literal"].(bool); literal {
		for i, l := range lines {
			lines[i] = regexp.QuoteMeta(l)
		}
	}
	before, _ := r["prepend"].(string)
	after, _ := r["append"].(string)
	for i, l := range lines {
		lines[i] = before + l + after
	}
	if r["per-line"] == "alternate" {
		return []string{strings.Join(lines, "|")}, nil
	}
	return lines, nil
}

// haystack returns the definition's text.
func (d *definition) haystack(rebar string) ([]byte, error) {
	h, ok := d.Haystack.(map[string]any)
	if !ok {
		return []byte(d.Haystack.(string)), nil
	}
	var text []byte
	if path, ok := h["path"].(string); ok {
		data, err := os.ReadFile(filepath.Join(rebar, "benchmarks/haystacks", path))
		if err != nil {
			return nil, err
		}
		text = data
	} else {
		text = []byte(h["contents"].(string))
	}
	if lossy, _ := h["utf8-lossy"].(bool); lossy {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if trim, _ := h["trim"].(bool); trim {
		text = bytes.TrimSpace(text)
	}
	if h["line-start"] != nil || h["line-end"] != nil {
		lines := bytes.SplitAfter(text, []byte("\n"))
		from, _ := h["line-start"].(int64)
		to, ok := h["line-end"].(int64)
		if !ok {
			to = int64(len(lines))
		}
		text = bytes.Join(lines[min(from, int64(len(lines))):min(to, int64(len(lines)))], nil)
	}
	if n, ok := h["repeat"].(int64); ok {
		text = bytes.Repeat(text, int(n))
	}
	before, _ := h["prepend"].(string)
	after, _ := h["append"].(string)
	return []byte(before + string(text) + after), nil
}
