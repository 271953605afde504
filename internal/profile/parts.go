package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/notes"
	"quarry/internal/render"
	"quarry/internal/vault"
	"quarry/search"
	"quarry/tool"
)

// hasVault reports whether a root is an Obsidian vault.
func hasVault(ws *quarry.Workspace) bool {
	return ws != nil && slices.ContainsFunc(ws.Roots(), func(r quarry.Root) bool { return r.Workspace.IsVault() })
}

// shelf is the notebook of one root, with the root's name as prefix of its paths.
type shelf struct {
	*notebook.Book
	root  quarry.Root
	files *tallied
}

func newShelf(r quarry.Root) *shelf {
	files := &tallied{Workspace: r.Workspace}
	return &shelf{notebook.Open(files), r, files}
}

// tell adds to an answer about all notes how many were not searched.
func (s *shelf) tell(a *answer) *answer {
	a.tellProtected(int(s.files.denied.Load()))
	return a
}

// called resolves a name without a folder to the note of that name, as a link does, if
// there is exactly one. Otherwise it returns the name unchanged. Reading tools always
// resolve names; tools that change files do so only if the dialect accepts names of
// notes.
func (s *shelf) called(ctx context.Context, name string) string {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return name
	}
	if _, err := s.root.Workspace.Stat(ctx, name); err == nil {
		return name
	}
	if paths, err := s.Called(ctx, name); err == nil && len(paths) == 1 {
		return paths[0]
	}
	return name
}

// show converts a path below the root to the path shown in answers.
func (s *shelf) show(path string) string {
	if s.root.Name == "" {
		return path
	}
	return s.root.Name + "/" + path
}

// book returns the notebook of the root that a path is in, and the path below that root.
// Without a path it returns the only root, or the only vault.
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
		return nil, "", &tool.Error{Code: fault.InvalidArgument, Message: "path is required where several roots are vaults", Hint: "Begin it with the name of a root."}
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

// note returns the notebook and the path of a note. The name is required.
func (c *call) note(ctx context.Context, name string) (*shelf, string, error) {
	path, err := c.givenPath(ctx, name)
	if err != nil {
		return nil, "", err
	}
	s, path, err := c.book(path)
	if err == nil && c.d.noteNames {
		path = s.called(ctx, path)
	}
	return s, path, err
}

func (c *call) noteOptions() notebook.Options {
	return notebook.Options{DryRun: c.Bool("dry_run"), ExpectedVersion: c.String("expected_version"), KeepTexts: c.Bool("keep_texts"), Summary: c.String("summary"), Tool: c.tool.Name, Client: change.Client(c.client)}
}

// target reads which part of a note the arguments select.
func (c *call) target() notebook.Target {
	return notebook.Target{Heading: c.String("heading"), Block: c.String("block"), Property: c.String("property")}
}

// partError words the error for a missing note. Errors about a part of a note are
// returned unchanged.
func (c *call) partError(err error, path string) error {
	var missing *fault.PathError
	if errors.As(err, &missing) {
		return c.noteError(err, path, "")
	}
	return err
}

// noteChanged is the answer to a change of notes. path is the note that was named.
func (c *call) noteChanged(s *shelf, path string, ch *change.Change, err error) (*answer, error) {
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	ch = ch.Under(s.root.Name)
	if len(ch.Files) == 1 {
		ch.Version = ch.Files[0].Version
	}
	ch.Files, ch.Digest = nil, ""
	said := render.Sentence(ch.Summary) + "."
	if c.String("where") == "" || c.Bool("quiet") {
		return s.tell(c.changed(ch, said)), nil
	}
	// If filters selected the notes, show the change of one note and only name the others.
	shown := ch.Paths
	if !ch.DryRun { // a dry run names them all
		shown = shown[:min(len(shown), shownChosen)]
	}
	paths, _ := render.Paths(nil, shown, c.limits(), nil)
	said += string(paths)
	if more := len(ch.Paths) - len(shown); more > 0 {
		said += fmt.Sprintf("\n… and %d more", more)
	}
	if len(ch.Diffs) > 1 && c.d.shows && !c.Bool("diff") {
		said += "\nThe change in " + render.Path(ch.Diffs[0].New) + ":"
		ch.Diffs, ch.Diff = ch.Diffs[:1], ""
		said += render.ChangedLines(ch, false)
		ch.Diffs = nil
	}
	a := c.changed(ch, said)
	if ch.DryRun && ch.Diff == "" {
		a.receipt = append(a.receipt, "diff: true shows every line")
	}
	return s.tell(a), nil
}

// shownChosen limits the notes named after a change of notes that filters selected.
const shownChosen = 5

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

var readSection = action{anySchema, readOnly, readPart}

func readPart(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.note(ctx, "path")
	if err != nil {
		return nil, err
	}
	path = s.called(ctx, path)
	t := c.target()
	if t == (notebook.Target{}) {
		o, err := s.Outline(ctx, path)
		if err != nil {
			return nil, c.partError(err, s.show(path))
		}
		o.Path = s.show(o.Path)
		a := &answer{text: render.Outline(nil, o), data: &partAnswer{foundPath: pathOf(o.Path), Outline: o}}
		a.receipt = []string{"version " + render.Version(o.Version)}
		return a, nil
	}
	p, err := s.ReadPart(ctx, path, t)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	text := &search.Text{Path: s.show(p.Path), Lines: p.Lines, First: p.First, Total: p.Total, Version: p.Version}
	if most := c.d.limits.readLines; len(text.Lines) > most {
		text.Lines, text.Cut = text.Lines[:most], true
	}
	data := &readAnswer{
		foundPath: pathOf(text.Path), Start: text.First, End: text.First + len(text.Lines) - 1, Total: text.Total, Cut: text.Cut,
		Version: text.Version, Encoding: p.Encoding, Ending: p.Ending, Lines: append([]string{}, text.Lines...),
	}
	a := &answer{text: render.Lines(nil, text, text.First, text.First+len(p.Lines)-1), data: data}
	a.receipt = []string{"version " + render.Version(p.Version)}
	if text.Cut {
		a.receipt = append(a.receipt, fmt.Sprintf("next: read_file {\"path\":%s,\"start_line\":%d,\"end_line\":%d}", jsonText(text.Path), data.End+1, p.First+len(p.Lines)-1))
	}
	return a, nil
}

var editSection = action{changeSchema, tool.Hints{Destructive: true}, editPart}

func editPart(ctx context.Context, c *call) (*answer, error) {
	if op := c.String("operation"); op == "done" || op == "todo" {
		return c.checkTask(ctx, op == "done")
	}
	s, path, err := c.note(ctx, "path")
	if err != nil {
		return nil, err
	}
	t, o := c.target(), c.noteOptions()
	op, where := c.String("operation"), c.String("where")
	switch {
	case (op == "take") != (where != ""):
		return nil, invalid("The operation take needs where, the filters that select tasks; other operations have none.")
	case op != "take" && !c.Given("content"):
		return nil, invalid("content is required and must be a string.")
	}
	if t == (notebook.Target{}) && (op == "append" || op == "prepend") {
		return c.editWhole(ctx, s.show(path))
	}
	var ch *change.Change
	switch op {
	case "take":
		ch, err = s.TakeTasks(ctx, path, t, where, c.Bool("create"), o)
	case "rename":
		if t.Property != "" {
			ch, err = s.RenameProperty(ctx, path, t.Property, c.String("content"), o)
		} else {
			ch, err = s.RenamePart(ctx, path, t, c.String("content"), o)
		}
	default:
		e := notebook.Edit{Operation: vault.Operation(op), Content: c.String("content"), Create: c.Bool("create")}
		if t.Property != "" {
			e.Value = vault.ParseValue(e.Content)
		}
		ch, err = s.EditPart(ctx, path, t, e, o)
	}
	return c.noteChanged(s, path, ch, err)
}

// checkTask checks or unchecks a task. The path may include the task's line.
func (c *call) checkTask(ctx context.Context, done bool) (*answer, error) {
	given, err := c.givenPath(ctx, "path")
	if err != nil {
		return nil, err
	}
	line := c.Int("line")
	if i := strings.LastIndexByte(given, ':'); i > 0 {
		if n, err := strconv.Atoi(given[i+1:]); err == nil {
			given, line = given[:i], n
		}
	}
	s, path, err := c.book(given)
	if err != nil {
		return nil, err
	}
	ch, err := s.CheckTask(ctx, s.called(ctx, path), c.String("content"), line, done, c.noteOptions())
	return c.noteChanged(s, path, ch, err)
}

// editWhole adds text at the end of a note, or after its front matter.
func (c *call) editWhole(ctx context.Context, path string) (*answer, error) {
	op := notes.Operation(c.String("operation"))
	whole := strings.TrimSuffix(c.String("content"), "\n") + "\n" // the content ends with exactly one line feed
	change, err := c.changeNote(ctx, notes.Path(path), notes.Edit{Operation: op, Content: whole})
	if err != nil {
		return nil, c.noteError(err, path, "")
	}
	return c.changed(change, "Changed "+quoted(change.Paths[0])+"."), nil
}

var properties = action{anySchema, tool.Hints{Destructive: true}, changeProperties}

// propertiesAnswer is the answer of properties when called to read.
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
		if where := c.String("where"); path == "" && name != "" {
			return c.countValues(ctx, s, name, where)
		} else if where != "" {
			return nil, invalid("where selects the notes for set, delete, and get with a name and no path.")
		}
		return c.readProperties(ctx, s, path, name)
	}
	if name == "" {
		return nil, invalid("name is required to %s a property.", op)
	}
	where := c.String("where")
	if path == "" && where == "" && op != "rename" {
		return nil, invalid("path or where is required to %s a property.", op)
	}
	if err := oneChoice(path, where); err != nil {
		return nil, err
	}
	var ch *change.Change
	switch op {
	case "set":
		if !c.Given("value") {
			return nil, invalid("value is required to set a property.")
		}
		ch, err = s.SetProperties(ctx, notebook.Chosen{Path: path, Where: where}, map[string]any{name: vault.ParseValue(c.String("value"))}, nil, c.noteOptions())
	case "delete":
		ch, err = s.SetProperties(ctx, notebook.Chosen{Path: path, Where: where}, nil, []string{name}, c.noteOptions())
	default:
		ch, err = s.RenameProperty(ctx, path, name, c.String("value"), c.noteOptions())
	}
	return c.noteChanged(s, path, ch, err)
}

func (c *call) readProperties(ctx context.Context, s *shelf, path, name string) (*answer, error) {
	if path == "" {
		names, err := s.PropertyNames(ctx)
		if err != nil {
			return nil, err
		}
		return s.tell(&answer{text: render.Names(nil, names, "property", "properties", "", c.limits()), data: &propertiesAnswer{Names: names}, reads: true}), nil
	}
	n, list, err := s.Properties(ctx, path)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	if name != "" {
		none := &vault.NoPartError{Kind: "property", Want: name}
		list = slices.DeleteFunc(list, func(p notebook.Property) bool {
			none.Have = append(none.Have, p.Name)
			return !strings.EqualFold(p.Name, name)
		})
		if len(list) == 0 {
			return nil, none
		}
	}
	data := &propertiesAnswer{Path: s.show(n.Path), Version: n.Version, Properties: list}
	var text []byte
	for _, p := range list {
		text = append(render.NumberedLines(text, p.Raw, max(p.Line, 1)), '\n')
	}
	if len(list) == 0 {
		text = fmt.Appendf(nil, "No properties in %s.\n", render.Path(data.Path))
	}
	return &answer{text: text[:len(text)-1], data: data, receipt: []string{"version " + render.Version(n.Version)}}, nil
}

// countValues lists the values of a property, with the number of notes for each value.
func (c *call) countValues(ctx context.Context, s *shelf, name, where string) (*answer, error) {
	values, notes, err := s.PropertyValues(ctx, name, where)
	if err != nil {
		return nil, err
	}
	if notes == 0 {
		a := &answer{text: []byte("No notes."), data: &propertiesAnswer{}, reads: true}
		if where == "" {
			a.text = []byte(render.Sentence(s.NoProperty(ctx, name)) + ".")
		}
		return s.tell(a), nil
	}
	text := fmt.Appendf(nil, "%s of %s in %s", fault.Count(len(values), "value"), fault.Printable(name), fault.Count(notes, "note"))
	return s.tell(&answer{text: render.Counts(text, values, "", c.limits()), data: &propertiesAnswer{Names: values}, reads: true}), nil
}

// oneChoice reports an error if both a note and filters are given.
func oneChoice(path, where string) error {
	if path != "" && where != "" {
		return invalid("path and where can't be used together: to search below a folder, write path:folder in where.")
	}
	return nil
}

// namesAnswer is the answer of tags.
type namesAnswer struct {
	Total int             `json:"total"`
	Tags  []notebook.Name `json:"tags,omitempty"`
	Notes []string        `json:"notes,omitempty"`
	remark
}

var tags = action{namesSchema, tool.Hints{Destructive: true}, listTags}

func listTags(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.book(c.path(ctx, "path"))
	if err != nil {
		return nil, err
	}
	tag, where := c.String("tag"), c.String("where")
	if err := oneChoice(path, where); err != nil {
		return nil, err
	}
	switch {
	case c.Bool("add") && (tag == "" || c.Given("new_name")):
		return nil, invalid("With add, tag is the tag that notes get, without new_name.")
	case c.Bool("add") && path == "" && where == "":
		return nil, invalid("path or where is required: the notes that get the tag.")
	case where != "" && !c.Bool("add"):
		return nil, invalid("where selects the notes for add; search_notes with the same filters lists them.")
	case c.Bool("add"):
		ch, err := s.AddTag(ctx, notebook.Chosen{Path: path, Where: where}, tag, c.noteOptions())
		return c.noteChanged(s, path, ch, err)
	case c.Given("new_name") && tag == "":
		return nil, invalid("tag is required: the tag to rename.")
	case c.Given("new_name"):
		ch, err := s.RenameTag(ctx, path, tag, c.String("new_name"), c.noteOptions())
		return c.noteChanged(s, path, ch, err)
	case tag != "":
		notes, err := s.Tagged(ctx, tag)
		if err != nil {
			return nil, err
		}
		return s.tell(&answer{text: c.notePaths(s, notes), data: &namesAnswer{Total: len(notes), Notes: notes}, reads: true}), nil
	}
	names, err := s.Tags(ctx, path)
	if err != nil {
		return nil, c.partError(err, s.show(path))
	}
	a := &answer{text: render.Names(nil, names, "tag", "tags", "#", c.limits()), data: &namesAnswer{Total: len(names), Tags: names}, reads: true}
	if path == "" {
		s.tell(a)
	}
	return a, nil
}

// notePaths lists notes. It replaces their paths by those shown in answers.
func (c *call) notePaths(s *shelf, notes []string) []byte {
	for i := range notes {
		notes[i] = s.show(notes[i])
	}
	return render.PathList(nil, notes, len(notes), "note", "notes", c.limits())
}

// linksAnswer is the answer of links.
type linksAnswer struct {
	Total int             `json:"total"`
	In    int             `json:"in_notes,omitempty"` // number of notes that contain the links
	Links []notebook.Link `json:"links,omitempty"`
	Notes []string        `json:"notes,omitempty"`
	remark
}

var links = action{namesSchema, readOnly, listLinks}

func listLinks(ctx context.Context, c *call) (*answer, error) {
	s, path, err := c.book(c.path(ctx, "path"))
	if err != nil {
		return nil, err
	}
	kind := c.String("kind")
	path = s.called(ctx, path)
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
		total := len(notes)
		notes = notes[min(c.Int("offset"), total):]
		return s.tell(&answer{text: c.notePaths(s, notes), data: &linksAnswer{Total: total, Notes: notes}}), nil
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
	if show := c.String("show"); show == "files" || show == "count" {
		sources, counts := render.LinkSources(found)
		data := &linksAnswer{Total: total, In: len(sources)}
		if show == "files" {
			data.Notes = sources
		} else {
			sources, counts = nil, nil
		}
		return s.tell(&answer{text: render.LinkCounts(nil, found, sources, counts, c.limits()), data: data}), nil
	}
	from := min(c.Int("offset"), total)
	text, shown, err := c.placeLinks(ctx, s, found, from, kind == "outgoing")
	if err != nil {
		return nil, err
	}
	a := &answer{text: text, data: &linksAnswer{Total: total, Links: found[from : from+shown]}}
	if from+shown < total {
		a.receipt = append(a.receipt, "next: "+c.next(from+shown))
	}
	if kind != "outgoing" {
		s.tell(a)
	}
	return a, nil
}

// placeLinks appends links, starting at index from, and returns how many fit. Only links
// that may be shown are located in their notes, because that reads the notes.
func (c *call) placeLinks(ctx context.Context, s *shelf, found []notebook.Link, from int, outgoing bool) (text []byte, shown int, err error) {
	rest := found[from:]
	for n := 64; ; n *= 4 {
		n = min(n, len(rest))
		if err := s.Place(ctx, rest[:n]); err != nil {
			return nil, 0, err
		}
		for i := range rest[:n] {
			if rest[i].Target == "" { // its line may have other links
				rest[i].Text = rest[i].Link
			}
		}
		text, shown = render.NoteLinks(nil, rest, found, outgoing, c.limits())
		if shown < n || n == len(rest) {
			return text, shown, nil
		}
	}
}

// moveAttached moves a note with its attachments and updates its heading, if the dialect
// supports this and the vault's settings or the caller ask for it. Otherwise only the
// note moves.
func (c *call) moveAttached(ctx context.Context, from, to string, links change.LinkUpdate) (*answer, error) {
	if !c.d.attachments {
		return nil, nil
	}
	s, from, err := c.book(from)
	if err != nil || !s.root.Workspace.IsVault() && !c.Bool("heading") {
		return nil, nil // the move itself will report the error
	}
	other, to, err := c.book(to)
	if err != nil || other.root.Name != s.root.Name {
		return nil, nil
	}
	ch, _, err := s.MoveNote(ctx, from, to, links, c.Bool("heading"), c.noteOptions())
	if ch == nil || err != nil {
		return nil, err
	}
	return c.noteChanged(s, from, ch, nil)
}
