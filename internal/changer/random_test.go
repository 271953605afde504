package changer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/internal/notes"
	regime "quarry/internal/stress"
	"quarry/search"
)

// actor makes random changes in a vault.
type actor struct {
	ws  *quarry.Workspace
	rng *rand.Rand
}

var actorNames = []string{"Note", "plan", "Käse", "x y", "run.sh", "data.txt", "Deep", "pic.png"}

func (a *actor) name() string {
	n := actorNames[a.rng.IntN(len(actorNames))]
	if a.rng.IntN(3) == 0 {
		n = fmt.Sprint(a.rng.IntN(9)) + n
	}
	if !strings.Contains(n, ".") && a.rng.IntN(4) > 0 {
		n += ".md"
	}
	return n
}

// fresh returns a path that may or may not exist.
func (a *actor) fresh() string {
	p := a.name()
	for a.rng.IntN(2) == 0 {
		p = fmt.Sprintf("dir %d/%s", a.rng.IntN(4), p)
	}
	return p
}

// entries lists the vault's entries except hidden ones.
func (a *actor) entries(t testing.TB, folders bool) []string {
	t.Helper()
	kind := search.OnlyFiles
	if folders {
		kind = search.FilesAndFolders
	}
	r, err := a.ws.Find(ctx, search.FindQuery{Kind: kind, Scope: search.Scope{IncludeIgnored: true}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range r.Entries {
		out = append(out, e.Path)
		if link := path.Join(path.Dir(e.Path), "link"); folders && !slices.Contains(out, link) {
			if _, err := os.Readlink(filepath.Join(a.ws.Dir(), link)); err == nil {
				out = append(out, link) // searches don't list symlinks
			}
		}
	}
	return out
}

func (a *actor) one(list []string) string {
	if len(list) == 0 {
		return "nothing.md"
	}
	return list[a.rng.IntN(len(list))]
}

// text returns random text, with links to some of the files.
func (a *actor) text(files []string) string {
	var b strings.Builder
	end := []string{"\n", "\r\n"}[a.rng.IntN(2)]
	for range a.rng.IntN(6) {
		switch a.rng.IntN(4) {
		case 0:
			b.WriteString("[[" + strings.TrimSuffix(path.Base(a.one(files)), ".md") + "]]" + end)
		case 1:
			b.WriteString("see [t](</" + a.one(files) + ">)" + end)
		case 2:
			b.WriteString("some words " + fmt.Sprint(a.rng.IntN(100)) + end)
		default:
			b.WriteString(end)
		}
	}
	return b.String()
}

// set applies several changes as one.
func (a *actor) set(t testing.TB, files []string) (*change.Change, error) {
	var ops []change.Op
	for range 2 + a.rng.IntN(5) {
		op := change.Op{Path: a.one(files)}
		switch a.rng.IntN(5) {
		case 0:
			op.Verb, op.Content = change.WriteFile, []byte(a.text(files))
		case 1:
			op.Verb, op.Path, op.Content = change.CreateFile, a.fresh(), []byte(a.text(files))
		case 2:
			op.Verb, op.To = change.MovePath, a.fresh()
		case 3:
			op.Verb, op.Trash = change.DeletePath, []change.TrashKind{change.TrashSystem, change.TrashLocal, change.TrashNone}[a.rng.IntN(3)]
		default:
			op.Edits = []change.Edit{{Verb: change.InsertAfter, New: a.text(files) + "set"}}
		}
		ops = append(ops, op)
	}
	return a.ws.Apply(ctx, change.Set{Ops: ops})
}

// act makes one random change, which may fail for good reasons.
func (a *actor) act(t testing.TB) (*change.Change, error) {
	files := a.entries(t, false)
	switch a.rng.IntN(14) {
	case 12, 13:
		return a.set(t, files)
	case 0, 1:
		edit := []change.Edit{
			change.Edit{Old: "some", New: a.text(files) + "x", Occurrence: []int{change.All, change.First}[a.rng.IntN(2)]},
			change.Edit{Verb: change.InsertAfter, First: a.rng.IntN(3), New: a.text(files) + "y"},
			change.Edit{Verb: change.DeleteLines, First: 1, Last: 1 + a.rng.IntN(2)},
		}[a.rng.IntN(3)]
		return a.ws.Edit(ctx, a.one(files), []change.Edit{edit}, nil)
	case 2:
		return a.ws.Write(ctx, a.one(files), []byte(a.text(files)), nil)
	case 3, 4:
		return a.ws.Write(ctx, a.fresh(), []byte(a.text(files)), nil)
	case 5:
		return a.ws.Mkdir(ctx, path.Join(path.Dir(a.fresh()), "new "+fmt.Sprint(a.rng.IntN(5))), nil)
	case 6, 7:
		return a.ws.Move(ctx, a.one(a.entries(t, true)), a.fresh(), nil)
	case 8, 9:
		kind := []change.TrashKind{change.TrashSystem, change.TrashLocal, change.TrashNone}[a.rng.IntN(3)]
		return a.ws.Delete(ctx, a.one(a.entries(t, true)), &change.DeleteOptions{Trash: kind})
	case 10:
		return a.ws.Apply(ctx, change.Set{Ops: []change.Op{notes.Create(notes.New{Content: "# " + a.name() + "\n" + a.text(files)})}})
	}
	op := []notes.Operation{notes.Append, notes.Prepend}[a.rng.IntN(2)]
	return modifyNote(a.ws, a.one(files), notes.Edit{Operation: op, Content: a.text(files) + "z"}, nil)
}

// actorFiles returns the vault's initial files.
func actorFiles() map[string]string {
	files := map[string]string{".obsidian/app.json": `{"alwaysUpdateLinks": true}`, "dir 0/wide.md": utf16le("über [[Note]] some\r\n")}
	for i, n := range actorNames {
		files[fmt.Sprintf("dir %d/%s", i%4, n)] = "some text\n[[Note]] and [[plan]]\n"
	}
	files["Note.md"] = "caf\xe9 [[Deep]] some [p](<dir 2/x y>)\r\n"
	return files
}

func actorVault(t testing.TB, opts *quarry.Options) *quarry.Workspace {
	ws := changeable(t, actorFiles(), opts)
	if err := os.Chmod(filepath.Join(ws.Dir(), "dir 0/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "dir 1", "dir 3"} {
		if err := os.Symlink("Note.md", filepath.Join(ws.Dir(), dir, "link")); err != nil {
			t.Log(err) // not every system supports them
		}
	}
	return ws
}

// Undoing random changes one by one restores every earlier tree. A change that fails
// changes nothing.
func TestUndoRandomSequences(t *testing.T) {
	regime.SkipShort(t)
	for seed := range regime.Start(t, "undo: 200 random changes", 3, 200).Cases() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ws := actorVault(t, &quarry.Options{TrashDir: t.TempDir()})
			a := &actor{ws, rand.New(rand.NewPCG(uint64(seed), 5))}
			type moment struct {
				id, what string
				before   map[string]string
			}
			var past []moment
			kinds := map[string]int{}
			now := snapshot(t, ws.Dir())
			for tries := 0; len(past) < 200 && tries < 2000; tries++ {
				c, err := a.act(t)
				next := snapshot(t, ws.Dir())
				if err != nil || c.ID == "" {
					if diff := cmp.Diff(now, next); diff != "" {
						t.Fatalf("%v and yet: %s", err, diff)
					}
					continue
				}
				past = append(past, moment{c.ID, c.Summary, now})
				kinds[c.Tool]++
				now = next
			}
			t.Logf("%d changes: %v", len(past), kinds)
			for _, m := range slices.Backward(past) {
				if _, err := ws.Undo(ctx, m.id, nil); err != nil {
					t.Fatalf("undo of %s: %v", m.what, err)
				}
				if diff := cmp.Diff(m.before, snapshot(t, ws.Dir())); diff != "" {
					t.Fatalf("undo of %s: %s", m.what, diff)
				}
			}
			if len(past) < 200 || len(kinds) < 6 {
				t.Errorf("only %d changes of %d kinds", len(past), len(kinds))
			}
		})
	}
}

// A search with an index sees each change of its own process at once, including moves of
// folders, deletions and undos.
func TestIndexSeesOwnChanges(t *testing.T) {
	ws := actorVault(t, &quarry.Options{TrashDir: t.TempDir(), Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err := ws.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	plain, err := quarry.Open(ws.Dir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	a := &actor{ws, rand.New(rand.NewPCG(4, 4))}
	check := func(what string) {
		t.Helper()
		q := search.Query{Pattern: "some|Note|xyz"}
		if diff := cmp.Diff(answer(t, plain, q), answer(t, ws, q)); diff != "" {
			t.Fatalf("after %s: %s", what, diff)
		}
	}
	run := regime.Start(t, "index sees own changes", 60, 2000)
	for seed := range run.Cases() {
		a.rng = regime.Rand(seed)
		c, err := a.act(t)
		for err != nil || c.ID == "" {
			c, err = a.act(t)
		}
		check(c.Summary)
		if seed%4 == 0 {
			check(must(t)(ws.Undo(ctx, "", nil)).Summary)
		}
	}
}
