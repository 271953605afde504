// Package host answers the functions of scripts: on a workspace, with the changes
// that a script has staged so far.
//
// It is the server's side. Policy, budgets and the journal are the workspace's;
// nothing is changed before the script has ended without an error, and then all of
// it is one set.
package host

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/internal/script"
	"quarry/internal/staged"
	"quarry/search"
)

// Host answers the functions of one script. It is not safe for concurrent use.
type Host struct {
	ws      *quarry.Workspace
	view    *staged.View
	book    *notebook.Book
	change  bool
	missed  search.Summary // what was not searched, over all functions
	stopped map[string]bool
}

// New makes the host of one script.
func New(ws *quarry.Workspace, change bool) *Host {
	h := &Host{ws: ws, view: staged.New(ws), change: change, stopped: map[string]bool{}}
	h.missed.SkippedCount = map[search.Reason]int{}
	h.book = notebook.Open(h.view)
	return h
}

// View has what was staged.
func (h *Host) View() *staged.View { return h.view }

// NotSearched says in words what the functions could not look at, each once.
func (h *Host) NotSearched() []string {
	var said []string
	var parts []string
	if n := h.missed.Denied; n > 0 {
		parts = append(parts, render.Protected(n, h.missed.Secrets))
	}
	for _, r := range []search.Reason{search.Unreadable, search.TooLarge} {
		if n := h.missed.SkippedCount[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(r), "_", " ")))
		}
	}
	if len(parts) > 0 {
		said = append(said, "not searched: "+strings.Join(parts, ", "))
	}
	for what := range h.stopped {
		said = append(said, what)
	}
	return said
}

func (h *Host) sum(s *search.Summary) {
	h.missed.Denied = max(h.missed.Denied, s.Denied)
	h.missed.AddSecrets(s.Secrets...)
	for _, r := range []search.Reason{search.Unreadable, search.TooLarge} {
		h.missed.SkippedCount[r] = max(h.missed.SkippedCount[r], s.SkippedCount[r])
	}
}

// args are the arguments of a function, by name; package script has checked them.
type args map[string]any

func (a args) text(name string) string {
	s, _ := a[name].(string)
	return s
}

func (a args) flag(name string) bool {
	b, _ := a[name].(bool)
	return b
}

func (a args) given(name string) bool { return a[name] != nil }

func (a args) number(name string, otherwise int) int {
	if n, ok := a[name].(float64); ok {
		return int(n)
	}
	return otherwise
}

// list is a text or a list of texts.
func (a args) list(name string) []string {
	switch v := a[name].(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []any:
		var out []string
		for _, one := range v {
			if s, ok := one.(string); ok && s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// Answer answers one function.
func (h *Host) Answer(ctx context.Context, name string, data json.RawMessage) (any, error) {
	a := args{}
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if name == "set_value" { // its numbers keep their digits
		var exact struct{ Value json.RawMessage }
		if err := json.Unmarshal(data, &exact); err != nil {
			return nil, err
		}
		if delete(a, "value"); exact.Value != nil {
			a["value"] = exact.Value
		}
	}
	if answer := reading[name]; answer != nil {
		return answer(h, ctx, a)
	}
	answer := changing[name]
	if answer == nil {
		return nil, &script.Error{Message: "unknown function " + name}
	}
	if !h.change { // the worker refuses it too; this side decides
		return nil, &script.Error{Message: name + "() changes files and look does not", Hint: "Use the tool change for this script.", Code: string(fault.ReadOnly)}
	}
	return answer(h, ctx, a)
}

type answering = func(h *Host, ctx context.Context, a args) (any, error)

var reading map[string]answering

var changing map[string]answering

func init() {
	reading = map[string]answering{
		"search": (*Host).search, "symbols": (*Host).symbols, "definition": (*Host).definition,
		"references": (*Host).references, "callers": (*Host).callers, "rank": (*Host).rank, "files": (*Host).files,
		"exists": (*Host).exists, "read": (*Host).read, "lines": (*Host).lines, "findall": (*Host).findall, "value": (*Host).value,
		"links": (*Host).links, "backlinks": (*Host).backlinks, "tags": (*Host).tags, "tagged": (*Host).tagged,
		"properties": (*Host).properties, "frontmatter": (*Host).properties,
	}
	changing = map[string]answering{
		"replace": (*Host).replace, "sub": (*Host).sub, "insert": (*Host).insert, "write": (*Host).write, "move": (*Host).move, "set_value": (*Host).setValue,
		"delete": (*Host).remove, "add_tag": (*Host).addTag, "set_property": (*Host).setProperty, "rename_heading": (*Host).renameHeading,
		"rename": (*Host).rename,
	}
}

// path is a path as tools take it: relative, or absolute inside the root.
func (h *Host) path(p string) string {
	p = strings.TrimSpace(p)
	if rel, inside := h.ws.Inside(p); inside {
		p = rel
	}
	if strings.Contains(p, `\`) && !strings.Contains(p, "/") {
		if _, err := h.ws.Stat(context.Background(), p); err != nil {
			p = strings.ReplaceAll(p, `\`, "/")
		}
	}
	return p
}

// existing is the path of a file as it is spelled on the disk, or staged.
func (h *Host) existing(ctx context.Context, p string) (string, error) {
	p = h.path(p)
	if p == "" {
		return "", &script.Error{Message: "the path is empty"}
	}
	info, err := h.view.Stat(ctx, p)
	if err != nil {
		return "", err
	}
	if info.Folder {
		return "", &script.Error{Message: p + " is a folder", Hint: `files(path="` + p + `") lists it.`}
	}
	return info.Path, nil
}

// scope is where a function looks.
func (h *Host) scope(a args) search.Scope {
	s := search.Scope{IncludeHidden: a.flag("hidden"), IncludeIgnored: a.flag("ignored")}
	for _, p := range a.list("path") {
		if p = h.path(p); p != "" && p != "." {
			s.Paths = append(s.Paths, p)
		}
	}
	for _, g := range a.list("glob") {
		s.Globs = append(s.Globs, h.glob(g))
	}
	for _, g := range a.list("exclude") {
		s.Globs = append(s.Globs, "!"+strings.TrimPrefix(h.glob(g), "!"))
	}
	return s
}

func (h *Host) glob(g string) string {
	not := strings.HasPrefix(g, "!")
	g = strings.TrimPrefix(g, "!")
	if rest, here := strings.CutPrefix(g, "./"); here {
		g = "/" + rest
	} else if rel, inside := h.ws.Inside(g); inside && path.IsAbs(g) {
		g = "/" + rel
	}
	if not {
		g = "!" + g
	}
	return g
}

// Set is what the script staged, as one set.
func (h *Host) Set() (change.Set, error) { return h.view.Set() }
