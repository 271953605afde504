package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/render"
	"quarry/internal/vault"
	"quarry/search"
	"quarry/tool"
)

// noteTools are the tools for the parts of notes. The profile notes has them
// always, quarry only if a root is a vault, so that other workspaces don't pay
// for them.
var noteTools = []maker{readSection, editSection, properties, tags, links, dailyNote, mergeNotes}

// hasVault reports whether a root is an Obsidian vault.
func hasVault(ws *quarry.Workspace) bool {
	return ws != nil && slices.ContainsFunc(ws.Roots(), func(r quarry.Root) bool { return r.Workspace.IsVault() })
}

// shelf is the book of one root and the name that its paths begin with.
type shelf struct {
	*notebook.Book
	root  quarry.Root
	files *tallied
}

func newShelf(r quarry.Root) *shelf {
	files := &tallied{Workspace: r.Workspace}
	return &shelf{notebook.Open(files), r, files}
}

// tell adds to an answer that speaks of all notes how many were not searched.
func (s *shelf) tell(a *answer) *answer {
	a.tellProtected(int(s.files.denied.Load()))
	return a
}

// show is a path of the root as answers have it.
func (s *shelf) show(path string) string {
	if s.root.Name == "" {
		return path
	}
	return s.root.Name + "/" + path
}

// book finds the root a path is in, and the path there. Without a path it is the
// one root, or the one that is a vault.
func (c *call) book(path string) (*shelf, string, error) {
	all := c.ws.Roots()
	if len(all) == 1 {
		return newShelf(all[0]), path, nil
	}
	if path == "" {
		vaults := slices.DeleteFunc(slices.Clone(all), func(r quarry.Root) bool { return !r.Workspace.IsVault() })
		if len(vaults) == 1 {
			return newShelf(vaults[0]), "", nil
		}
		return nil, "", &tool.Error{Code: tool.InvalidArgument, Message: "path is required where several roots are vaults", Hint: "Begin it with the name of a root."}
	}
	if rel, inside := c.ws.Inside(path); inside {
		path = rel
	}
	name, rest, _ := strings.Cut(strings.TrimLeft(strings.ReplaceAll(path, `\`, "/"), "./"), "/")
	for _, r := range all {
		if strings.EqualFold(r.Name, name) {
			return newShelf(r), rest, nil
		}
	}
	return nil, "", invalid("Invalid path %q: it begins with the name of no root.", path)
}

// note finds the book and the path of a note that has to be named.
func (c *call) note(ctx context.Context, name string) (*shelf, string, error) {
	path, err := c.givenPath(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return c.book(path)
}

func (c *call) noteOptions() notebook.Options {
	return notebook.Options{DryRun: c.Bool("dry_run"), ExpectedVersion: c.String("expected_version"), Tool: c.tool.Name, Client: change.Client(c.client)}
}

// target reads which part of a note is meant.
func (c *call) target() notebook.Target {
	return notebook.Target{Heading: c.String("heading"), Block: c.String("block"), Property: c.String("property")}
}

// partError words the error for a missing note. Errors about a part of a note
// have words of their own.
func (c *call) partError(err error, path string) error {
	var missing *fault.PathError
	if errors.As(err, &missing) {
		return c.noteError(err, path, "")
	}
	return err
}

// did is the answer to a change of notes.
func (c *call) did(s *shelf, ch *change.Change) *answer {
	ch = ch.Under(s.root.Name, "/")
	if len(ch.Files) == 1 {
		ch.Version = ch.Files[0].Version
	}
	ch.Files, ch.Digest = nil, ""
	return s.tell(c.changed(ch, render.Sentence(ch.Summary)+"."))
}

var (
	paramHeading  = str("heading", "Heading, or path A::B")
	paramBlock    = str("block", "Block id")
	paramProperty = str("property", "Property name")
)

// partAnswer is the answer of read_section for a whole note.
type partAnswer struct {
	foundPath
	*notebook.Outline
	remark
}

const (
	anySchema   = `{"type":"object"}`
	namesSchema = `{"type":"object","properties":{"total":{"type":"integer"},` + noteSchema + `},"required":["total"]}`
)

func readSection(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "read_section", Title: "Read part of a note",
		Description:  "Read a section, block or property of a note; without one, its outline.",
		Params:       []tool.Param{required("path", "Note"), paramHeading, paramBlock, paramProperty},
		OutputSchema: schema(anySchema), Hints: readOnly,
	}, readPart)
}

func readPart(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.note(ctx, "path")
	if err != nil {
		return nil, err
	}
	t := c.target()
	if t == (notebook.Target{}) {
		o, err := s.Outline(ctx, path)
		if err != nil {
			return nil, c.partError(err, s.show(path))
		}
		o.Path = s.show(o.Path)
		a := &answer{text: render.Outline(nil, o), data: &partAnswer{foundPath: pathOf(o.Path), Outline: o}}
		a.receipt = []string{"version " + o.Version}
		return a, nil
	}
	p, err := s.ReadPart(ctx, path, t)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	text := &search.Text{Path: s.show(p.Path), Lines: p.Lines, First: p.First, Total: p.Total, Version: p.Version}
	if len(text.Lines) > readLines {
		text.Lines, text.Cut = text.Lines[:readLines], true
	}
	data := &readAnswer{
		foundPath: pathOf(text.Path), Start: text.First, End: text.First + len(text.Lines) - 1, Total: text.Total, Cut: text.Cut,
		Version: text.Version, Encoding: p.Encoding, Ending: p.Ending, Lines: append([]string{}, text.Lines...),
	}
	a := &answer{text: render.Lines(nil, text, text.First, text.First+len(p.Lines)-1), data: data}
	a.receipt = []string{"version " + p.Version}
	if text.Cut {
		a.receipt = append(a.receipt, fmt.Sprintf("next: read_file {\"path\":%s,\"start_line\":%d,\"end_line\":%d}", jsonText(text.Path), data.End+1, p.First+len(p.Lines)-1))
	}
	return a, nil
}

func editSection(e *env) *tool.Tool {
	operation := need(str("operation", "rename: content is the new heading or id, links follow"))
	operation.Enum = []string{"append", "prepend", "replace", "before", "after", "rename"}
	return e.make(tool.Tool{
		Name: "edit_section", Title: "Edit part of a note",
		Description: "Change a section, block or property of a note; all else stays.",
		Params: []tool.Param{
			required("path", "Note"), operation, text("content", "Text; of a property, YAML"),
			paramHeading, paramBlock, paramProperty,
			boolean("create", "Make what is missing"), paramVersion, paramDryRun,
		},
		OutputSchema: schema(changeSchema), Hints: tool.Hints{Destructive: true},
	}, editPart)
}

func editPart(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.note(ctx, "path")
	if err != nil {
		return nil, err
	}
	t, o := c.target(), c.noteOptions()
	var ch *change.Change
	if op := c.String("operation"); op == "rename" && t.Property != "" {
		ch, err = s.RenameProperty(ctx, path, t.Property, c.String("content"), o)
	} else if op == "rename" {
		ch, err = s.RenamePart(ctx, path, t, c.String("content"), o)
	} else {
		e := notebook.Edit{Operation: vault.Operation(op), Content: c.String("content"), Create: c.Bool("create")}
		if t.Property != "" {
			e.Value = vault.ParseValue(e.Content)
		}
		ch, err = s.EditPart(ctx, path, t, e, o)
	}
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	return c.did(s, ch), nil
}

func properties(e *env) *tool.Tool {
	operation := str("operation", "Default get")
	operation.Enum = []string{"get", "set", "delete", "rename"}
	t := tool.Tool{
		Name: "properties", Title: "Properties of notes",
		Description: "Read, set, delete or rename properties. Without path: those of all notes (get, rename).",
		Params: []tool.Param{
			str("path", "Note"), str("name", "Property"), operation,
			str("value", "For set, YAML; for rename, the new name"), paramVersion, paramDryRun,
		},
		OutputSchema: schema(anySchema), Hints: tool.Hints{Destructive: true},
	}
	if e.o.ReadOnly {
		t.Description, t.Params, t.Hints = "Read properties of a note; without path, list those of all notes.", t.Params[:2], readOnly
	}
	return e.make(t, changeProperties)
}

// propertiesAnswer is the answer of properties that are read.
type propertiesAnswer struct {
	Path       string              `json:"path,omitempty"`
	Version    string              `json:"version,omitempty"`
	Properties []notebook.Property `json:"properties,omitempty"`
	Names      []notebook.Name     `json:"names,omitempty"`
	remark
}

func changeProperties(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.book(c.path(ctx, "path"))
	if err != nil {
		return nil, err
	}
	op, name := c.String("operation"), c.String("name")
	if op == "" || op == "get" {
		return c.readProperties(ctx, s, path, name)
	}
	if name == "" {
		return nil, invalid("name is required to %s a property.", op)
	}
	if path == "" && op != "rename" {
		return nil, invalid("path is required to %s a property.", op)
	}
	var ch *change.Change
	switch op {
	case "set":
		if !c.Given("value") {
			return nil, invalid("value is required to set a property.")
		}
		ch, err = s.SetProperties(ctx, path, map[string]any{name: vault.ParseValue(c.String("value"))}, nil, c.noteOptions())
	case "delete":
		ch, err = s.SetProperties(ctx, path, nil, []string{name}, c.noteOptions())
	default:
		ch, err = s.RenameProperty(ctx, path, name, c.String("value"), c.noteOptions())
	}
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	return c.did(s, ch), nil
}

func (c *call) readProperties(ctx context.Context, s *shelf, path, name string) (*answer, error) {
	if path == "" {
		names, err := s.PropertyNames(ctx)
		if err != nil {
			return nil, err
		}
		return s.tell(&answer{text: render.Names(nil, names, "property", "properties", "", c.limits()), data: &propertiesAnswer{Names: names}}), nil
	}
	n, list, err := s.Properties(ctx, path)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	if name != "" {
		list = slices.DeleteFunc(list, func(p notebook.Property) bool { return p.Name != name })
	}
	data := &propertiesAnswer{Path: s.show(n.Path), Version: n.Version, Properties: list}
	var text []byte
	for _, p := range list {
		text = append(append(text, p.Raw...), '\n')
	}
	if len(list) == 0 {
		text = fmt.Appendf(nil, "No properties in %s.\n", render.Path(data.Path))
	}
	return &answer{text: text[:len(text)-1], data: data, receipt: []string{"version " + n.Version}}, nil
}

// namesAnswer is the answer of tags.
type namesAnswer struct {
	Total int             `json:"total"`
	Tags  []notebook.Name `json:"tags,omitempty"`
	Notes []string        `json:"notes,omitempty"`
	remark
}

func tags(e *env) *tool.Tool {
	t := tool.Tool{
		Name: "tags", Title: "Tags of notes",
		Description: "List tags with counts; with tag, the notes that have it or one nested in it; with new_name, rename it.",
		Params: []tool.Param{
			str("path", "Note, default all"), str("tag", "Tag"), str("new_name", "Its new name"), paramDryRun,
		},
		OutputSchema: schema(namesSchema), Hints: tool.Hints{Destructive: true},
	}
	if e.o.ReadOnly {
		t.Description, t.Params, t.Hints = "List tags with counts; with tag, the notes that have it or one nested in it.", t.Params[:2], readOnly
	}
	return e.make(t, listTags)
}

func listTags(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.book(c.path(ctx, "path"))
	if err != nil {
		return nil, err
	}
	tag := c.String("tag")
	switch {
	case c.Given("new_name") && tag == "":
		return nil, invalid("tag is required: the tag to rename.")
	case c.Given("new_name"):
		ch, err := s.RenameTag(ctx, path, tag, c.String("new_name"), c.noteOptions())
		if err != nil {
			return nil, c.partError(err, s.show(path))
		}
		return c.did(s, ch), nil
	case tag != "":
		notes, err := s.Tagged(ctx, tag)
		if err != nil {
			return nil, err
		}
		for i := range notes {
			notes[i] = s.show(notes[i])
		}
		return s.tell(&answer{text: render.PathList(nil, notes, "note", "notes", c.limits()), data: &namesAnswer{Total: len(notes), Notes: notes}}), nil
	}
	names, err := s.Tags(ctx, path)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	a := &answer{text: render.Names(nil, names, "tag", "tags", "#", c.limits()), data: &namesAnswer{Total: len(names), Tags: names}}
	if path == "" {
		s.tell(a)
	}
	return a, nil
}

// linksAnswer is the answer of links.
type linksAnswer struct {
	Total int             `json:"total"`
	Links []notebook.Link `json:"links,omitempty"`
	Notes []string        `json:"notes,omitempty"`
	remark
}

func links(e *env) *tool.Tool {
	kind := str("kind", "Default backlinks")
	kind.Enum = []string{"backlinks", "outgoing", "unresolved", "orphans"}
	return e.make(tool.Tool{
		Name: "links", Title: "Links of notes",
		Description:  "Links to or from a note, links that lead nowhere, or notes nothing links to.",
		Params:       []tool.Param{str("path", "Note; all for unresolved and orphans"), kind, paramOffset},
		OutputSchema: schema(namesSchema), Hints: readOnly,
	}, listLinks)
}

func listLinks(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.book(c.path(ctx, "path"))
	if err != nil {
		return nil, err
	}
	kind := c.String("kind")
	if path == "" && (kind == "" || kind == "backlinks" || kind == "outgoing") {
		return nil, invalid("path is required: the note whose links are wanted.")
	}
	var found []notebook.Link
	switch kind {
	case "orphans":
		notes, err := s.Orphans(ctx)
		if err != nil {
			return nil, err
		}
		for i := range notes {
			notes[i] = s.show(notes[i])
		}
		total := len(notes)
		notes = notes[min(c.Int("offset"), total):]
		return s.tell(&answer{text: render.PathList(nil, notes, "note", "notes", c.limits()), data: &linksAnswer{Total: total, Notes: notes}}), nil
	case "outgoing":
		found, err = s.Outgoing(ctx, path)
	case "unresolved":
		found, err = s.Unresolved(ctx, path)
	default:
		found, err = s.Backlinks(ctx, path)
	}
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	for i := range found {
		found[i].Source = s.show(found[i].Source)
		if found[i].Target != "" {
			found[i].Target = s.show(found[i].Target)
		}
	}
	total := len(found)
	from := min(c.Int("offset"), total)
	text, shown := render.NoteLinks(nil, found[from:], total, kind == "outgoing", c.limits())
	a := &answer{text: text, data: &linksAnswer{Total: total, Links: found[from : from+shown]}}
	if from+shown < total {
		a.receipt = append(a.receipt, "next: "+c.next(from+shown))
	}
	if kind != "outgoing" {
		s.tell(a)
	}
	return a, nil
}

// dailyAnswer is the answer of daily_note.
type dailyAnswer struct {
	foundPath
	Exists  bool           `json:"exists"`
	Version string         `json:"version,omitempty"`
	Text    string         `json:"text,omitempty"`
	Change  *change.Change `json:"change,omitempty"`
	remark
}

func dailyNote(e *env) *tool.Tool {
	period := str("period", "Default daily")
	for _, p := range vault.Periods {
		period.Enum = append(period.Enum, string(p))
	}
	t := tool.Tool{
		Name: "daily_note", Title: "Daily note",
		Description: "Read the note of a day or other period, where the vault's settings put it.",
		Params: []tool.Param{
			str("date", "2024-12-31, today, yesterday, tomorrow, or +N, -N periods"), period,
			boolean("create", "Make it from its template if missing"), paramDryRun,
		},
		OutputSchema: schema(anySchema), Hints: tool.Hints{Idempotent: true},
	}
	if e.o.ReadOnly {
		t.Params, t.Hints = t.Params[:2], readOnly
	}
	return e.make(t, openDaily)
}

func openDaily(ctx context.Context, c *call) (*answer, error) {
	s, _, err := c.book("")
	if err != nil {
		return nil, err
	}
	d, err := s.Daily(ctx, vault.Period(c.String("period")), c.String("date"), time.Now().In(c.o.Zone), c.Bool("create"), c.noteOptions())
	if err != nil {
		return nil, err
	}
	path := s.show(d.Path)
	data := &dailyAnswer{foundPath: pathOf(path), Exists: d.Note != nil}
	a := &answer{data: data}
	if d.Change != nil {
		data.Change = d.Change.Under(s.root.Name, "/")
		a = c.did(s, d.Change)
		if d.Note == nil {
			return a, nil
		}
		a.text = append(a.text, '\n')
	}
	if d.Note == nil {
		a.text = fmt.Appendf(nil, "%s does not exist yet.", render.Path(path))
		a.receipt = append(a.receipt, `create it with "create":true`)
		return a, nil
	}
	data.Version, data.Text = d.Note.Version, string(d.Note.Text)
	text, err := c.ws.Read(ctx, path, &search.ReadOptions{MaxLines: readLines, MaxBytes: readBytes})
	if err != nil {
		return nil, err
	}
	a.text = append(a.text, render.Path(path)+"\n"...)
	a.text = render.Lines(a.text, text, 0, 0)
	if d.Change == nil {
		a.receipt = append(a.receipt, "version "+d.Note.Version)
	}
	a.data = data
	return a, nil
}

func mergeNotes(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "merge_notes", Title: "Merge notes",
		Description:  "Append a note to another and delete it; links follow.",
		Params:       []tool.Param{required("source", "Note that goes"), required("destination", "Note that stays"), paramDryRun},
		OutputSchema: schema(changeSchema), Hints: tool.Hints{Destructive: true},
	}, func(ctx context.Context, c *call) (*answer, error) {
		s, from, err := c.note(ctx, "source")
		if err != nil {
			return nil, err
		}
		other, into, err := c.note(ctx, "destination")
		if err != nil {
			return nil, err
		}
		if other.root.Name != s.root.Name {
			return nil, invalid("Both notes have to be in one root.")
		}
		ch, err := s.Merge(ctx, from, into, c.noteOptions())
		if err != nil {
			if _, second := errors.AsType[*notebook.TargetError](err); second {
				from = into
			}
			return nil, c.partError(err, s.show(from))
		}
		return c.did(s, ch), nil
	})
}

// moveAttached moves a note with its attachments, if the vault's settings allow
// it. The strict profile moves only what was named.
func (c *call) moveAttached(ctx context.Context, from, to string, links change.LinkUpdate) (*answer, error) {
	if !c.union() {
		return nil, nil
	}
	s, from, err := c.book(from)
	if err != nil || !s.root.Workspace.IsVault() {
		return nil, nil // the move will tell
	}
	other, to, err := c.book(to)
	if err != nil || other.root.Name != s.root.Name {
		return nil, nil
	}
	ch, attached, err := s.MoveNote(ctx, from, to, links, c.noteOptions())
	if err != nil {
		return nil, err
	}
	if attached == 0 {
		return nil, nil
	}
	return c.did(s, ch), nil
}
