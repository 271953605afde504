// Package profile makes tools of a workspace: arguments become a query, its
// result becomes text and a structured answer.
//
// A profile is a list of tools and a way of wording. The strict ones (vault,
// roo, godoctor, smcp) print exactly what the documents of those systems say;
// quarry has every tool once, prints the same body and then at most one line in
// square brackets that tells what the body can't. The same call on the same
// files gives the same bytes: no times, no counts that depend on how the answer
// was found.
package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/tool"
)

// Options say which tools to make and how they answer; nil is the profile
// quarry.
type Options struct {
	// Profile is one of Names; "" is quarry.
	Profile string
	// Tools narrows the profile to these; none is all of them.
	Tools []string
	// ReadOnly removes every tool that changes files.
	ReadOnly bool

	// Structured makes the text of an answer the JSON of its structured form,
	// for clients that want data. The content is the same.
	Structured bool

	// Budget bounds the text of an answer in bytes; 0 is 60 KB. What read_file
	// shows has a bound of its own.
	Budget int
	// NoIndex says that the owner has switched the index off or deleted it.
	// search_by_path of the profile smcp then answers INDEX_NOT_FOUND.
	NoIndex bool
	// Time bounds a search; 0 is 30 seconds. A text search gives what it found
	// until then and says so, another one ends with the error TIMEOUT.
	Time time.Duration
	// Zone is the time zone of dates; nil is the system's.
	Zone *time.Location
}

const (
	defaultBudget = 60 << 10
	defaultTime   = 30 * time.Second
)

// profiles lists the tools of each profile, in the order models see them.
var profiles = []struct {
	name  string
	about string
	tools []maker
}{
	{"quarry", "Every tool once, with the union of parameters.", []maker{
		unionSearchFiles, fileSearch, searchByPath, searchCode, findSymbol, outline, searchNotes, listFiles, getFileInfo, readFile,
		editFile, writeFile, applyChanges, applyPatch, replaceInFiles, createFolder, moveFile, deleteFile, createNote, modifyNote, organizeNote,
		listChanges, undoChange, getIndexStatus,
	}},
	{"vault", "The thirteen tools of an Obsidian vault, in their documented words.", []maker{
		createNote, modifyNote, searchNotes, vaultSearchFiles, listFiles, getFileInfo, organizeNote, readFile,
		editFile, writeFile, createFolder, deleteFile, moveFile,
	}},
	{"roo", "Roo's search_files.", []maker{rooSearchFiles}},
	{"godoctor", "Godoctor's file_search.", []maker{fileSearch}},
	{"smcp", "The tools of search-mcp.", []maker{searchByPath, getIndexStatus, searchCode}},
	{"notes", "The vault's tools and those for sections, properties, tags and links.", append([]maker{
		createNote, modifyNote, searchNotes, vaultSearchFiles, listFiles, getFileInfo, organizeNote, readFile,
		editFile, writeFile, createFolder, deleteFile, moveFile,
	}, append(noteTools, listChanges, undoChange)...)},
}

// maker makes one tool.
type maker func(e *env) *tool.Tool

// Names lists the profiles, the default first.
func Names() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// About says in a sentence what a profile is.
func About(name string) string {
	for _, p := range profiles {
		if p.name == name {
			return p.about
		}
	}
	return ""
}

// InJSON reports a profile whose documents answer in JSON. Its tools have the
// same object as text and as structured result, whatever the options say.
func InJSON(name string) bool { return name == "smcp" }

// RootNames are the names of the roots that a workspace joins; nil if it is one.
func RootNames(ws *quarry.Workspace) []string {
	list := ws.Roots()
	if len(list) == 1 {
		return nil
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.Name
	}
	return names
}

// New makes the tools of a profile for a workspace. Without one (nil) they can
// be described but not called. The strict profiles take a single root: their
// documents know no other, and print its paths bare.
func New(ws *quarry.Workspace, opts *Options) (*tool.Registry, error) {
	if opts == nil {
		opts = &Options{}
	}
	e := &env{ws: ws, o: *opts}
	if e.o.Profile == "" {
		e.o.Profile = "quarry"
	}
	if e.o.Budget <= 0 {
		e.o.Budget = defaultBudget
	}
	if e.o.Time <= 0 {
		e.o.Time = defaultTime
	}
	if e.o.Zone == nil {
		e.o.Zone = time.Local
	}
	i := slices.Index(Names(), e.o.Profile)
	if i < 0 {
		return nil, fmt.Errorf("unknown profile %q: %s", e.o.Profile, strings.Join(Names(), ", "))
	}
	if ws != nil && len(RootNames(ws)) > 0 && !e.union() {
		return nil, fmt.Errorf("the profile %s has one root: its documents know no names of roots in paths. Use the profile quarry, or a server for each root", e.o.Profile)
	}
	var tools []*tool.Tool
	makers := profiles[i].tools
	if e.is("quarry") && hasVault(ws) {
		makers = append(slices.Clone(makers), noteTools...)
	}
	for _, m := range makers {
		tools = append(tools, m(e))
	}
	tools, err := narrow(tools, e.o.Tools)
	if err != nil {
		return nil, err
	}
	if e.o.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t *tool.Tool) bool { return !t.Hints.ReadOnly })
	}
	for _, t := range tools {
		e.names = append(e.names, t.Name)
	}
	return tool.NewRegistry(tools...)
}

// narrow keeps the tools that are wanted, in the profile's order.
func narrow(tools []*tool.Tool, wanted []string) ([]*tool.Tool, error) {
	if len(wanted) == 0 {
		return tools, nil
	}
	var kept []*tool.Tool
	left := slices.Clone(wanted)
	for _, t := range tools {
		if slices.Contains(wanted, t.Name) {
			kept = append(kept, t)
			left = slices.DeleteFunc(left, func(n string) bool { return n == t.Name })
		}
	}
	if len(left) > 0 {
		var names []string
		for _, t := range tools {
			names = append(names, t.Name)
		}
		return nil, fmt.Errorf("this profile has no tool %q; its tools: %s", left[0], strings.Join(names, ", "))
	}
	return kept, nil
}
