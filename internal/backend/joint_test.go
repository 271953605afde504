package backend_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/notes"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// write makes files below a folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, dir string) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashNone, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// pair returns the joint workspace of two sibling folders, and their parent as one workspace:
// both must give the same answers.
func pair(t testing.TB, files map[string]string) (*quarry.Workspace, *quarry.Workspace, string) {
	t.Helper()
	parent := t.TempDir()
	write(t, parent, files)
	set, err := quarry.Join(
		quarry.Root{Name: "api", Workspace: open(t, filepath.Join(parent, "api"))},
		quarry.Root{Name: "app", Workspace: open(t, filepath.Join(parent, "app"))},
	)
	if err != nil {
		t.Fatal(err)
	}
	return set, open(t, parent), parent
}

func tree() map[string]string {
	files := map[string]string{}
	rnd := rand.New(rand.NewPCG(7, 7))
	for _, root := range []string{"api", "app"} {
		for i, name := range []string{"main.go", "README.md", "src/a.go", "src/b.md", "src/app/x.go", "src/deep/er/c.go", "lib/api/y.go", "app", "docs/z.txt"} {
			if root == "api" && i%4 == 3 {
				continue
			}
			var b strings.Builder
			for range 3 + rnd.IntN(40) {
				b.WriteString([]string{"word\n", "other\n", "a word here\n", "\n", "Word\n"}[rnd.IntN(5)])
			}
			files[root+"/"+name] = b.String()
		}
	}
	return files
}

var globs = []string{
	"", "*.go", "!*.go", "*.{go,md}", "app/**", "api/**", "/app/**", "app/*.go", "app/src/*.go", "*/src/**", "**/src/*.go", "**/app/*.go", "**/app/**",
	"app/", "/app/", "!app/", "!app/**", "!/app/src/**", "!app", "a??/main.go", "{app,api}/main.go", "[a-z]pp/**/*.go", "src/", "app", "**", "*",
	"**/*.md", "app/**/c.go", "app/src/", "!**/src/**", "*p*/README.md",
}

type outcome struct {
	Files                 []string
	FilesN, Lines, Blocks int
	Exact                 bool
	Stopped               search.Stop
	Considered, Searched  int
	Err                   string
	Skipped               map[search.Reason]int
}

func outcomeOf(r *search.Result, err error) outcome {
	if err != nil {
		return outcome{Err: string(fault.CodeOf(err))}
	}
	o := outcome{
		FilesN: r.FilesMatched, Lines: r.LinesMatched, Blocks: r.Blocks, Exact: r.Exact, Stopped: r.Stopped,
		Considered: r.Stats.Considered, Searched: r.Stats.Searched,
	}
	for _, f := range r.Files {
		line := fmt.Sprintf("%s matched %d:", f.Path, f.Matched)
		for _, l := range f.Lines {
			line += fmt.Sprintf(" %d", l.Number)
		}
		o.Files = append(o.Files, line)
	}
	if r.Stopped != "" || !r.Exact { // an incomplete answer may differ
		o.Considered, o.Searched = 0, 0
		if !r.Exact {
			o.FilesN, o.Lines, o.Blocks = 0, 0, 0
		}
	}
	return o
}

// A search over several roots gives the same answer as a search of a folder that contains
// them, for every glob, limit and offset.
func TestSearchEqualsOneFolder(t *testing.T) {
	set, parent, _ := pair(t, tree())
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, g := range globs {
		for i := range stress.Fewer(40) {
			if !stress.Samples(i) {
				continue
			}
			q := search.Query{Pattern: "word", Offset: rnd.IntN(2) * rnd.IntN(60)}
			if g != "" {
				q.Globs = []string{g}
			}
			switch rnd.IntN(5) {
			case 0:
				q.Limits.Blocks, q.Before, q.After = 1+rnd.IntN(40), 1, 1
			case 1:
				q.Limits.Lines = 1 + rnd.IntN(80)
			case 2:
				q.Detail, q.Limits.Files = search.Files, 1+rnd.IntN(12)
			case 3:
				q.Detail, q.Offset = search.Counts, 0
			}
			if q.Detail == search.Lines {
				q.Limits.CountTo = []int{0, 50, 100, 1 << 40}[rnd.IntN(4)]
			}
			got, want := outcomeOf(set.Search(t.Context(), q)), outcomeOf(parent.Search(t.Context(), q))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("glob %q, offset %d, limits %+v, detail %d (-one folder +several roots):\n%s", g, q.Offset, q.Limits, q.Detail, diff)
			}
		}
	}
}

// The same for paths and listings.
func TestFindEqualsOneFolder(t *testing.T) {
	stress.SkipTiny(t)
	set, parent, _ := pair(t, tree())
	show := func(r *search.FindResult, err error) string {
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %q\n", r.Total, r.Stopped)
		for _, e := range r.Entries {
			fmt.Fprintln(&b, e.Path, e.Folder)
		}
		return b.String()
	}
	n := 0
	for _, g := range globs {
		for _, kind := range []search.EntryKind{search.OnlyFiles, search.OnlyFolders, search.FilesAndFolders} {
			for _, depth := range []int{0, 1, 2, 3} {
				for _, page := range [][2]int{{0, 0}, {3, 0}, {3, 2}, {100, 5}} {
					if n++; !stress.Samples(n * 5 / 3) { // the factor avoids a period of the loops
						continue
					}
					q := search.FindQuery{Kind: kind, Limit: page[0], Offset: page[1]}
					q.MaxDepth = depth
					if g != "" {
						q.Globs = []string{g}
					}
					got, want := show(set.Find(t.Context(), q)), show(parent.Find(t.Context(), q))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("glob %q, kind %d, depth %d, page %v (-one folder +several roots):\n%s", g, kind, depth, page, diff)
					}
				}
			}
		}
	}
}

// Newest first applies across all roots.
func TestFindByTime(t *testing.T) {
	set, parent, _ := pair(t, tree())
	q := search.FindQuery{Order: search.ByModTime, Limit: 5, Offset: 2}
	got, err := set.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := parent.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Entries {
		if !want.Entries[i].ModTime.Equal(got.Entries[i].ModTime) {
			t.Errorf("entry %d: %v, want %v", i, got.Entries[i], want.Entries[i])
		}
	}
}

func TestPaths(t *testing.T) {
	set, _, parent := pair(t, map[string]string{"api/main.go": "api\n", "app/main.go": "app\n", "app/src/x.go": "x\n", "app/only.go": "only\n"})
	for _, c := range []struct{ path, want string }{
		{"app/main.go", "app/main.go"},
		{"./app/main.go", "app/main.go"},
		{"/app/main.go", "app/main.go"},
		{`app\src\x.go`, "app/src/x.go"},
		{"APP/main.go", "app/main.go"},
		{"app//main.go", "app/main.go"},
		{"app/src/../main.go", "app/main.go"},
		{"api/../app/main.go", "app/main.go"},
		{filepath.Join(parent, "app", "main.go"), "app/main.go"},
	} {
		text, err := set.Read(t.Context(), c.path, nil)
		if err != nil || text.Path != c.want {
			t.Errorf("Read(%q) = %+v, %v; want %s", c.path, text, err, c.want)
		}
	}
	for _, c := range []struct {
		path string
		near []string
	}{
		{"main.go", []string{"api/main.go", "app/main.go"}},
		{"only.go", []string{"app/only.go"}},
		{"src/x.go", []string{"app/src/x.go"}},
		{"nowhere/x.go", nil},
		{"../etc/passwd", nil},
		{"/etc/passwd", nil},
		{"", nil},
		{".", nil},
	} {
		_, err := set.Read(t.Context(), c.path, nil)
		var name *fault.RootError
		if !errors.As(err, &name) {
			t.Errorf("Read(%q): %v", c.path, err)
			continue
		}
		if diff := cmp.Diff([]string{"api", "app"}, name.Names); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(c.near, name.Near); diff != "" {
			t.Errorf("near %q: %s", c.path, diff)
		}
	}
	for _, path := range []string{"app/../../x", "app/nope", "app/.git/config"} {
		_, err := set.Read(t.Context(), path, nil)
		if err == nil {
			t.Errorf("Read(%q) works", path)
		}
	}
	var refused *fault.PathError
	if _, err := set.Read(t.Context(), "app/nope", nil); !errors.As(err, &refused) || refused.Path != "app/nope" || fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a missing file is %v", err)
	}
}

// A glob from the top that does not begin with the name of a root can't match anything.
func TestGlobWithoutRoot(t *testing.T) {
	set, _, _ := pair(t, tree())
	for _, g := range []string{"src/**", "/main.go", "!src/**", "lib/api/y.go"} {
		q := search.Query{Pattern: "word"}
		q.Globs = []string{g}
		_, err := set.Search(t.Context(), q)
		var name *fault.RootError
		if !errors.As(err, &name) {
			t.Errorf("glob %q: %v", g, err)
		}
		q.Paths = []string{"app"} // there it begins at the folder
		if _, err := set.Search(t.Context(), q); err != nil {
			t.Errorf("glob %q in app: %v", g, err)
		}
	}
	q := search.Query{Pattern: "word"}
	q.Globs = []string{"{app/src,api}/*.go"}
	if _, err := set.Search(t.Context(), q); fault.CodeOf(err) != fault.InvalidPattern {
		t.Errorf("braces around the first slash: %v", err)
	}
}

func TestChanges(t *testing.T) {
	set, _, parent := pair(t, map[string]string{"api/a.txt": "one\n", "app/a.txt": "one\n", "app/note.md": "[[a]]\n"})
	ctx := t.Context()
	must := func(c *change.Change, err error) *change.Change {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	edit := []change.Edit{change.Edit{Old: "one", New: "--- a/two", Occurrence: change.First}}
	first := must(set.Edit(ctx, "app/a.txt", edit, nil))
	second := must(set.Edit(ctx, "api/a.txt", edit, nil))
	if !strings.HasPrefix(first.ID, "app/") || !strings.HasPrefix(second.ID, "api/") || first.Paths[0] != "app/a.txt" {
		t.Errorf("changes %+v, %+v", first, second)
	}
	if !strings.HasPrefix(first.Diff, "--- a/app/a.txt\n+++ b/app/a.txt\n@@ ") || !strings.Contains(first.Diff, "\n+--- a/two\n") {
		t.Errorf("diff:\n%s", first.Diff)
	}
	if !strings.Contains(first.Summary, "app/a.txt") {
		t.Errorf("summary: %s", first.Summary)
	}
	made := must(set.Write(ctx, "app/new/b.txt", []byte("b\n"), nil))
	if diff := cmp.Diff([]string{"app/new"}, made.Folders); diff != "" {
		t.Error(diff)
	}
	moved := must(set.Move(ctx, "app/new/b.txt", "app/c.txt", nil))
	if diff := cmp.Diff([]string{"app/new/b.txt", "app/c.txt"}, moved.Paths); diff != "" || moved.Summary != "moved app/new/b.txt to app/c.txt" {
		t.Error(diff, moved.Summary)
	}
	note := must(set.Apply(ctx, change.Set{Ops: []change.Op{notes.Create(notes.New{Path: "api/", Title: "T", Content: "x"})}}))
	if note.Paths[0] != "api/T.md" {
		t.Errorf("a note in a root: %v", note.Paths)
	}
	log, err := set.Changes(ctx, 3)
	if err != nil || len(log.Changes) != 3 || log.Changes[0].ID != note.ID || log.Changes[1].ID != moved.ID || log.Changes[2].ID != made.ID {
		t.Errorf("log %+v, %v", log, err)
	}
	// Undo the last change of all roots, then one by its id, then one by its bare id.
	if c := must(set.Undo(ctx, "", nil)); c.Undoes != note.ID || !strings.HasPrefix(c.Summary, "undo "+note.ID+": ") {
		t.Errorf("undo of the last: %+v", c)
	}
	if c := must(set.Undo(ctx, second.ID, nil)); c.Paths[0] != "api/a.txt" {
		t.Errorf("undo by id: %+v", c)
	}
	if data, _ := os.ReadFile(filepath.Join(parent, "api", "a.txt")); string(data) != "one\n" {
		t.Errorf("api/a.txt is %q", data)
	}
	var conflict *change.UndoError
	if _, err := set.Undo(ctx, made.ID, nil); !errors.As(err, &conflict) || conflict.ID != made.ID || conflict.Paths[0].Path != "app/new/b.txt" {
		t.Errorf("undo of a file moved since: %v", err)
	}
	var between *change.AcrossError
	if _, err := set.Move(ctx, "app/c.txt", "api/c.txt", nil); !errors.As(err, &between) {
		t.Errorf("a move between roots: %v", err)
	}
	var name *fault.RootError
	if _, err := set.Undo(ctx, "nope/"+strings.TrimPrefix(first.ID, "app/"), nil); !errors.As(err, &name) {
		t.Errorf("undo in an unknown root: %v", err)
	}
	if _, err := set.Undo(ctx, "zzzzzzzz", nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("undo of nothing: %v", err)
	}
	if _, err := set.Undo(ctx, "no id", nil); !errors.Is(err, change.ErrBadID) {
		t.Errorf("undo of no id: %v", err)
	}
}

// A bare id is accepted if only one root has it, and refused if two have.
func TestBareID(t *testing.T) {
	set, _, _ := pair(t, map[string]string{"api/a.txt": "one\n", "app/a.txt": "one\n"})
	ctx := t.Context()
	seen := map[string]string{}
	for i := range 200 {
		for _, root := range []string{"app", "api"} {
			c, err := set.Write(ctx, root+"/a.txt", fmt.Appendf(nil, "%d\n", i), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, id, _ := strings.Cut(c.ID, "/")
			if other, twice := seen[id]; twice && other != root {
				var several *change.SameIDError
				if _, err := set.Undo(ctx, id, nil); !errors.As(err, &several) || len(several.IDs) != 2 {
					t.Errorf("an id of two roots: %v", err)
				}
				return
			}
			seen[id] = root
			if i == 0 && root == "app" {
				if _, err := set.Undo(ctx, id, nil); err != nil {
					t.Errorf("an id of one root: %v", err)
				}
			}
		}
	}
	t.Skip("no two changes got the same id")
}

// Notes of several roots have the same order as in one: words in headings first, then
// matches, then the earliest.
func TestNotesRankAsInOneRoot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	files := map[string]string{}
	for i := range 40 {
		text := strings.Repeat("filler ", rnd.IntN(4))
		if rnd.IntN(3) == 0 {
			text += "\n# " + []string{"apple", "pear", "apple pear", "plum"}[rnd.IntN(4)] + "\n"
		}
		text += strings.Repeat("apple pear ", 1+rnd.IntN(3))
		files[fmt.Sprintf("%s/n%02d.md", []string{"api", "app"}[rnd.IntN(2)], i)] = text
	}
	set, one, _ := pair(t, files)
	q := notebook.Query{Query: "apple pear", Limit: 25, Scope: search.Scope{Dialect: search.Plain, Globs: []string{"**/*.md"}}}
	got, err := notebook.Open(set).Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := notebook.Open(one).Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Notes, got.Notes); diff != "" || got.Total != want.Total {
		t.Errorf("total %d, want %d; notes:\n%s", got.Total, want.Total, diff)
	}
}

func TestRanked(t *testing.T) {
	set, _, _ := pair(t, map[string]string{
		"api/a.md": "apple pear\n", "api/b.go": "func apple() {}\n", "app/c.md": "apple apple pear\n", "app/d.md": "nothing\n", "app/e.md": "apple\n",
	})
	notes, err := notebook.Open(set).Search(t.Context(), notebook.Query{Query: "apple pear", Scope: search.Scope{Dialect: search.Plain, Globs: []string{"**/*.md"}}})
	if err != nil || notes.Total != 2 || notes.Notes[0].Path != "app/c.md" || notes.Notes[1].Path != "api/a.md" {
		t.Errorf("notes %+v, %v", notes, err)
	}
	code, err := set.SearchCode(t.Context(), search.CodeQuery{Query: "apple", Limit: 2})
	if err != nil || code.Total != 4 || len(code.Chunks) != 2 || code.Chunks[0].Score < code.Chunks[1].Score {
		t.Errorf("code %+v, %v", code, err)
	}
	for _, c := range code.Chunks {
		if !strings.Contains(c.Path, "/") {
			t.Errorf("a path without its root: %s", c.Path)
		}
	}
}

// A single root is the workspace itself: nothing is renamed.
func TestSingleRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"src/a.txt": "one\n"})
	set, err := quarry.Join(quarry.Root{Name: "app", Workspace: open(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	if list := set.Roots(); len(list) != 1 || list[0].Name != "" {
		t.Errorf("a single root has a name: %v", list)
	}
	r, err := set.Search(t.Context(), search.Query{Pattern: "ONE", Match: match.Options{Case: match.Insensitive}})
	if err != nil || len(r.Files) != 1 || r.Files[0].Path != "src/a.txt" {
		t.Errorf("%+v, %v", r, err)
	}
	c, err := set.Write(t.Context(), "src/b.txt", []byte("x"), nil)
	if err != nil || strings.Contains(c.ID, "/") || c.Paths[0] != "src/b.txt" {
		t.Errorf("%+v, %v", c, err)
	}
	info, err := set.Stat(t.Context(), ".")
	if err != nil || info.Path != "." || !info.Folder {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := set.Undo(t.Context(), "", nil); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	ws := open(t, t.TempDir())
	for _, names := range [][]string{{}, {"a", ""}, {"a", "a"}, {"a", "A"}, {"a", "b/c"}, {"..", "b"}} {
		var list []quarry.Root
		for _, n := range names {
			list = append(list, quarry.Root{Name: n, Workspace: ws})
		}
		if _, err := quarry.Join(list...); err == nil {
			t.Errorf("New takes %q", names)
		}
	}
}
