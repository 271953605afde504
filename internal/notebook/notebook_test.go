package notebook_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/vault"
)

// world is a vault on disk and its Book.
type world struct {
	t    testing.TB
	dir  string
	ws   *quarry.Workspace
	book *notebook.Book
}

func newWorld(t testing.TB, files ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for i := 0; i+1 < len(files); i += 2 {
		w.write(files[i], files[i+1])
	}
	ws, err := quarry.Open(w.dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	w.ws, w.book = ws, notebook.Open(ws)
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(w.dir, p)
		if !strings.HasPrefix(rel, ".") {
			out[filepath.ToSlash(rel)] = string(data)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// changes runs a change, compares the files with want, and undoes the change.
func (w *world) changes(do func() error, want map[string]string) {
	w.t.Helper()
	before := w.files()
	if err := do(); err != nil {
		w.t.Fatal(err)
	}
	if d := cmp.Diff(want, w.files()); d != "" {
		w.t.Errorf("after the change:\n%s", d)
	}
	if _, err := w.ws.Undo(context.Background(), "", nil); err != nil {
		w.t.Fatal(err)
	}
	if d := cmp.Diff(before, w.files()); d != "" {
		w.t.Errorf("after undo:\n%s", d)
	}
}

func TestEditPart(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, "a.md", "---\nk: [x] # c\n---\n# Log\n- one ^id\n\n# End\n")
	for _, c := range []struct {
		target notebook.Target
		edit   notebook.Edit
		want   string
	}{
		{notebook.Target{Heading: "Log"}, notebook.Edit{Operation: vault.OpAppend, Content: "- two"}, "---\nk: [x] # c\n---\n# Log\n- one ^id\n- two\n\n# End\n"},
		{notebook.Target{Block: "id"}, notebook.Edit{Operation: vault.OpReplace, Content: "- 1"}, "---\nk: [x] # c\n---\n# Log\n- 1 ^id\n\n# End\n"},
		{notebook.Target{Property: "k"}, notebook.Edit{Operation: vault.OpAppend, Value: "z"}, "---\nk: [x, z] # c\n---\n# Log\n- one ^id\n\n# End\n"},
		{notebook.Target{Property: "new"}, notebook.Edit{Operation: vault.OpReplace, Value: 3, Create: true}, "---\nk: [x] # c\nnew: 3\n---\n# Log\n- one ^id\n\n# End\n"},
	} {
		w.changes(func() error {
			_, err := w.book.EditPart(ctx, "a", c.target, c.edit, notebook.Options{})
			return err
		}, map[string]string{"a.md": c.want})
	}
	before := w.files()
	ch, err := w.book.EditPart(ctx, "a", notebook.Target{Heading: "Log"}, notebook.Edit{Operation: vault.OpAppend, Content: "x"}, notebook.Options{DryRun: true})
	if err != nil || !strings.Contains(ch.Diff, "+x") || !cmp.Equal(before, w.files()) {
		t.Errorf("dry run: %v, %+v", err, ch)
	}
	_, err = w.book.EditPart(ctx, "a.md", notebook.Target{Heading: "Nope"}, notebook.Edit{Operation: vault.OpAppend}, notebook.Options{})
	if fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.HintOf(err), "Log, End") {
		t.Errorf("a missing heading: %v, %s", err, fault.HintOf(err))
	}
	_, err = w.book.EditPart(ctx, "a.md", notebook.Target{Heading: "Log"}, notebook.Edit{Operation: vault.OpAppend, Content: "x"}, notebook.Options{ExpectedVersion: "v1:abc"})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a stale version: %v", err)
	}
}

func TestReadPart(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, "a.md", "---\nk:\n  - x\n---\n# A\ntext\n## B\n- i ^id\n# C\n")
	for _, c := range []struct {
		target notebook.Target
		first  int
		want   string
	}{
		{notebook.Target{Heading: "A"}, 5, "# A|text|## B|- i ^id"},
		{notebook.Target{Heading: "A::B"}, 7, "## B|- i ^id"},
		{notebook.Target{Block: "^id"}, 8, "- i ^id"},
		{notebook.Target{Property: "k"}, 2, "k:|  - x"},
	} {
		p, err := w.book.ReadPart(ctx, "a.md", c.target)
		if err != nil || p.First != c.first || strings.Join(p.Lines, "|") != c.want || p.Total != 9 {
			t.Errorf("%v: %+v, %v", c.target, p, err)
		}
	}
	o, err := w.book.Outline(ctx, "a")
	want := &notebook.Outline{Path: "a.md", Version: o.Version, Lines: 9, Properties: []string{"k"},
		Headings: []notebook.Heading{{1, "A", 5, 8}, {2, "B", 7, 8}, {1, "C", 9, 9}}, Blocks: []notebook.Block{{"id", 8}}}
	if d := cmp.Diff(want, o); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestRenames(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, ".obsidian/app.json", "{}", ".gitignore", "hidden.md\n",
		"n.md", "---\ntags: [t, t/x]\nstatus: open # c\n---\n# Old\ntext #t ^id\n", "sub/a.md", "---\nstatus: 1\n---\n[[n#Old]] ![[n#^id]] #T/y\n",
		"hidden.md", "[[n#Old]] #t\n")
	o := notebook.Options{}
	w.changes(func() error {
		c, err := w.book.RenamePart(ctx, "n", notebook.Target{Heading: "Old"}, "New", o)
		if err == nil && (c.Links.Updated != 2 || c.Links.Texts != 0 || len(c.Links.Files) != 2) {
			t.Errorf("%+v %s", c.Links, c.Summary)
		}
		return err
	}, map[string]string{"n.md": "---\ntags: [t, t/x]\nstatus: open # c\n---\n# New\ntext #t ^id\n", "sub/a.md": "---\nstatus: 1\n---\n[[n#New]] ![[n#^id]] #T/y\n", "hidden.md": "[[n#New]] #t\n"})
	w.changes(func() error {
		_, err := w.book.RenamePart(ctx, "n", notebook.Target{Block: "id"}, "b2", o)
		return err
	}, map[string]string{"n.md": "---\ntags: [t, t/x]\nstatus: open # c\n---\n# Old\ntext #t ^b2\n", "sub/a.md": "---\nstatus: 1\n---\n[[n#Old]] ![[n#^b2]] #T/y\n", "hidden.md": "[[n#Old]] #t\n"})
	w.changes(func() error {
		_, err := w.book.RenameTag(ctx, "", "#t", "z", o)
		return err
	}, map[string]string{"n.md": "---\ntags: [z, z/x]\nstatus: open # c\n---\n# Old\ntext #z ^id\n", "sub/a.md": "---\nstatus: 1\n---\n[[n#Old]] ![[n#^id]] #z/y\n", "hidden.md": "[[n#Old]] #z\n"})
	w.changes(func() error {
		_, err := w.book.RenameProperty(ctx, "", "status", "state", o)
		return err
	}, map[string]string{"n.md": "---\ntags: [t, t/x]\nstate: open # c\n---\n# Old\ntext #t ^id\n", "sub/a.md": "---\nstate: 1\n---\n[[n#Old]] ![[n#^id]] #T/y\n", "hidden.md": "[[n#Old]] #t\n"})
	w.changes(func() error {
		_, err := w.book.SetProperties(ctx, notebook.Chosen{Path: "n.md"}, map[string]any{"a": "2024-01-02", "status": "done"}, []string{"tags"}, o)
		return err
	}, map[string]string{"n.md": "---\nstatus: done # c\na: 2024-01-02\n---\n# Old\ntext #t ^id\n", "sub/a.md": "---\nstatus: 1\n---\n[[n#Old]] ![[n#^id]] #T/y\n", "hidden.md": "[[n#Old]] #t\n"})
	if _, err := w.book.RenameTag(ctx, "", "nope", "z", o); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a tag nobody has: %v", err)
	}
	tags, err := w.book.Tags(ctx, "")
	if want := []notebook.Name{{"t", 1, 2}, {"t/x", 1, 1}, {"T/y", 1, 1}}; err != nil || !cmp.Equal(tags, want) {
		t.Errorf("tags %v, %v", tags, err)
	}
	tagged, err := w.book.Tagged(ctx, "t")
	if want := []string{"n.md", "sub/a.md"}; err != nil || !cmp.Equal(tagged, want) {
		t.Errorf("tagged %v, %v", tagged, err)
	}
}

// TestChosen sets a tag and properties in the notes that filters select, as one change.
func TestChosen(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, ".obsidian/app.json", "{}", "Themes/a.md", "---\ntags:\n- \n---\n[[Light]]\n", "Themes/b.md", "[[x/light|L]] [[Dark]]\n",
		"Themes/c.md", "[l](Light.md) and https://Dark\n", "Themes/d.md", "---\ntags: [new]\n---\n[[Light]]\n", "other.md", "[[Light]]\n")
	o := notebook.Options{}
	where := notebook.Chosen{Where: "path:Themes link:Light -link:Dark"}
	rest := map[string]string{"Themes/b.md": "[[x/light|L]] [[Dark]]\n", "Themes/d.md": "---\ntags: [new]\n---\n[[Light]]\n", "other.md": "[[Light]]\n"}
	with := func(more map[string]string) map[string]string { maps.Copy(more, rest); return more }
	w.changes(func() error {
		c, err := w.book.AddTag(ctx, where, "#new", o)
		if err == nil && c.Summary != "added tag #new in 2 notes" {
			t.Error(c.Summary)
		}
		return err
	}, with(map[string]string{"Themes/a.md": "---\ntags:\n- new\n---\n[[Light]]\n", "Themes/c.md": "---\ntags:\n  - new\n---\n[l](Light.md) and https://Dark\n"}))
	rest["Themes/d.md"] = "---\n---\n[[Light]]\n"
	w.changes(func() error {
		_, err := w.book.SetProperties(ctx, where, nil, []string{"tags"}, o)
		return err
	}, with(map[string]string{"Themes/a.md": "---\n---\n[[Light]]\n", "Themes/c.md": "[l](Light.md) and https://Dark\n"}))
	for _, bad := range []notebook.Chosen{{Where: "themes"}, {Where: "link:"}, {Where: "path:nowhere"}} {
		if c, err := w.book.AddTag(ctx, bad, "new", o); err == nil {
			t.Errorf("%+v: %+v", bad, c)
		}
	}
}

func TestLinks(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, "n.md", "[[#own]] [[a]] [[gone#x]] https://e.org\n", "sub/n.md", "", "a.md", "line\nsee [[n|the note]] and [x](sub/n.md)\n", "b.md", "![[N.md]] `[[n]]`\n", "c.canvas", `{"nodes":[{"type":"file","file":"n.md"}]}`, "alone.md", "nothing\n")
	show := func(links []notebook.Link, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, l := range links {
			out = append(out, fmt.Sprintf("%s:%d %s → %s (%s)", l.Source, l.Line, l.Link, l.Target, l.Text))
		}
		return out
	}
	if d := cmp.Diff([]string{"a.md:2 n → n.md (see [[n|the note]] and [x](sub/n.md))", "b.md:1 N.md → n.md (![[N.md]] `[[n]]`)", "c.canvas:0 n.md → n.md ()"}, show(w.book.Backlinks(ctx, "n"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"n.md:1 #own → n.md ([[#own]] [[a]] [[gone#x]] https://e.org)", "n.md:1 a → a.md ([[#own]] [[a]] [[gone#x]] https://e.org)", "n.md:1 gone#x →  ([[#own]] [[a]] [[gone#x]] https://e.org)"}, show(w.book.Outgoing(ctx, "n.md"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"n.md:1 gone#x →  ([[#own]] [[a]] [[gone#x]] https://e.org)"}, show(w.book.Unresolved(ctx, ""))); d != "" {
		t.Error(d)
	}
	orphans, err := w.book.Orphans(ctx)
	if d := cmp.Diff([]string{"alone.md", "b.md"}, orphans); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := w.book.Backlinks(ctx, "nope"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("backlinks of nothing: %v", err)
	}
}

// A heading that is the old name of its note is renamed with the note, and links to the
// heading are updated. Outside a vault a Markdown link is a path from its file's folder;
// a wikilink is a name.
func TestLinksOutsideVault(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, "a/x.md", "[p](p.md) ![k](/img/k.png) [r]\n\n[r]: p\n", "a/p.md", "", "b/y.md", "[p](p.md) [p](../a/p.md) [[p]]\n", "img/k.png", "",
		"v/.obsidian/x", "", "v/sub/n.md", "[x](x.md)\n")
	show := func(links []notebook.Link, err error) (out []string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			out = append(out, l.Source+" "+l.Link)
		}
		return out
	}
	if d := cmp.Diff([]string{"a/x.md p.md", "a/x.md p", "b/y.md ../a/p.md", "b/y.md p"}, show(w.book.Backlinks(ctx, "a/p.md"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"v/sub/n.md x.md"}, show(w.book.Backlinks(ctx, "a/x.md"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"b/y.md p.md"}, show(w.book.Unresolved(ctx, ""))); d != "" {
		t.Error(d)
	}
	if orphans, err := w.book.Orphans(ctx); err != nil || strings.Join(orphans, " ") != "b/y.md v/sub/n.md" {
		t.Error(orphans, err)
	}
}

func TestMoveNoteWithHeading(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, ".obsidian/app.json", `{"alwaysUpdateLinks":true}`, "A/Old.md", "intro\n# Old\n[[#Old]]\n## Old\n", "Other.md", "# Title\n",
		"o.md", "[[Old]] [[A/Old#Old]] [x](A/Old.md#Old)\n", "b.canvas", "{\n \"nodes\": [ {\"type\":\"file\", \"file\":\"A/Old.md\",\"subpath\":\"#Old\"}]}")
	w.changes(func() error {
		_, _, err := w.book.MoveNote(ctx, "A/Old.md", "B/New.md", change.LinksDefault, true, notebook.Options{})
		return err
	}, map[string]string{"Other.md": "# Title\n", "B/New.md": "intro\n# New\n[[#New]]\n## Old\n", "o.md": "[[New]] [[B/New#New]] [x](B/New.md#New)\n",
		"b.canvas": "{\n \"nodes\": [ {\"type\":\"file\", \"file\":\"B/New.md\",\"subpath\":\"#New\"}]}"})
	c, _, err := w.book.MoveNote(ctx, "Other.md", "B/Other 2.md", change.LinksDefault, true, notebook.Options{DryRun: true})
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], `"Title", stays`) {
		t.Errorf("%+v, %v", c, err)
	}
}

// The result of renaming a heading counts the formerly broken links that now resolve to
// it.
func TestRenameHeadingLinkedAlready(t *testing.T) {
	w := newWorld(t, "n.md", "# Log\n", "a.md", "[[n#Log]] [[n#Journal]] ![[n#journal]]\n")
	c, err := w.book.RenamePart(context.Background(), "n.md", notebook.Target{Heading: "Log"}, "Journal", notebook.Options{DryRun: true})
	if err != nil || c.Links.Updated != 1 || len(c.Warnings) != 1 || c.Warnings[0] != "2 links had the new name already" {
		t.Errorf("%+v, %v", c, err)
	}
}

// A change of selected notes names the notes it leaves unchanged, with the reason.
func TestSelectedAndLeftAlone(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, "a.md", "---\ns: 1\n---\n[[h]]\n", "b.md", "---\nx: 1\n---\n[[h]]\n", "c.md", "[[h]]\n", "d.md", "---\ns: [\n---\n[[h]]\n", "h.md", "")
	for _, c := range []struct {
		edit func(notebook.Options) (*change.Change, error)
		want string
	}{
		{func(o notebook.Options) (*change.Change, error) {
			return w.book.SetProperties(ctx, notebook.Chosen{Where: "link:h"}, nil, []string{"s"}, o)
		}, "1 note can't be changed|1 note has no front matter: c.md|1 note has no s: b.md"},
		{func(o notebook.Options) (*change.Change, error) {
			return w.book.SetProperties(ctx, notebook.Chosen{Where: "link:h"}, map[string]any{"s": 1}, nil, o)
		}, "1 note can't be changed|1 note has the same value: a.md"},
		{func(o notebook.Options) (*change.Change, error) {
			return w.book.AddTag(ctx, notebook.Chosen{Where: "link:h"}, "t", o)
		}, "1 note can't be changed"},
	} {
		ch, err := c.edit(notebook.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range strings.Split(c.want, "|") {
			if len(ch.Warnings) != strings.Count(c.want, "|")+1 || !strings.HasPrefix(ch.Warnings[i], want) {
				t.Errorf("%q, want %q", ch.Warnings, c.want)
				break
			}
		}
	}
	_, err := w.book.SetProperties(ctx, notebook.Chosen{Where: "link:h -path:d.md"}, nil, []string{"y"}, notebook.Options{})
	if err == nil || !strings.Contains(err.Error(), "1 note has no front matter: c.md; 2 notes have no y: a.md, b.md") {
		t.Errorf("nothing to delete: %v", err)
	}
}

// Attachments move with a note if the vault keeps them next to the note.
func TestMoveNote(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, ".obsidian/app.json", `{"attachmentFolderPath":"./files","alwaysUpdateLinks":true}`,
		"A/n.md", "![[pic.png]] [p](files/doc.pdf) ![[shared.png]]\n", "A/files/pic.png", "1", "A/files/doc.pdf", "2", "A/files/shared.png", "3", "o.md", "![[shared.png]] [[A/n]]\n")
	w.changes(func() error {
		c, attached, err := w.book.MoveNote(ctx, "A/n.md", "B/n.md", change.LinksDefault, false, notebook.Options{})
		if err == nil && (attached != 2 || c.Paths[0] != "A/n.md" || c.Paths[1] != "B/n.md") {
			t.Errorf("%d attachments, %v", attached, c.Paths)
		}
		return err
	}, map[string]string{"B/n.md": "![[pic.png]] [p](files/doc.pdf) ![[shared.png]]\n", "B/files/pic.png": "1", "B/files/doc.pdf": "2", "A/files/shared.png": "3", "o.md": "![[shared.png]] [[B/n]]\n"})
	if c, attached, err := w.book.MoveNote(ctx, "o.md", "B/o.md", change.LinksDefault, false, notebook.Options{}); c != nil || attached != 0 || err != nil {
		t.Errorf("a note without attachments of its own: %v, %d, %v", c, attached, err)
	}
}
