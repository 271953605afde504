package changer_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
	regime "quarry/internal/stress"
)

func TestDelete(t *testing.T) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal, change.TrashNone} {
		t.Run(string(kind), func(t *testing.T) {
			data := t.TempDir()
			ws := changeable(t, map[string]string{
				"a.md": "a", "d/x.md": "x", "d/e/run.sh": "y", "keep": "",
			}, &quarry.Options{Trash: kind, TrashDir: data})
			dir := ws.Dir()
			if err := os.Chmod(filepath.Join(dir, "d/e/run.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "d/e"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../a.md", filepath.Join(dir, "d/link")); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			dry := must(t)(ws.Delete(ctx, "d", &change.DeleteOptions{Options: change.Options{DryRun: true}}))
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" || dry.ID != "" || dry.Trash.Kind != kind {
				t.Errorf("dry run %+v: %s", dry, diff)
			}
			for _, p := range []string{"d/link", "d", "a.md"} {
				c := must(t)(ws.Delete(ctx, p, nil))
				if (c.Trash.Where == "") != (kind == change.TrashNone) {
					t.Errorf("%s: %+v", p, c.Trash)
				}
			}
			if diff := cmp.Diff(map[string]string{"keep": "-rw-r--r-- "}, snapshot(t, dir)); diff != "" {
				t.Error(diff)
			}
			if n := undoAll(t, ws); n != 3 {
				t.Errorf("%d changes undone", n)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeleteRefusals(t *testing.T) {
	ws := changeable(t, map[string]string{"a": "a", "d/.env": "secret", "d/x": "", "e/.git/config": "", ".obsidian/app.json": "{}"}, nil)
	before := snapshot(t, ws.Dir())
	for _, kind := range []change.TrashKind{change.TrashLocal, change.TrashNone} {
		for path, code := range map[string]fault.Code{
			"none": fault.NotFound, ".": fault.InvalidArgument, ".obsidian": fault.ProtectedPath,
			"../x": fault.OutsideRoot, "d": fault.ProtectedPath, "d/.env": fault.ProtectedPath,
		} {
			if _, err := ws.Delete(ctx, path, &change.DeleteOptions{Trash: kind}); fault.CodeOf(err) != code {
				t.Errorf("Delete(%q, %s): %v", path, kind, err)
			}
		}
		// Several checks may find it; the error is always the same.
		var refusal *fault.PathError
		if _, err := ws.Delete(ctx, "e", &change.DeleteOptions{Trash: kind}); !errors.As(err, &refusal) || refusal.Name != ".git/" {
			t.Errorf("Delete of a repository, %s: %v", kind, err)
		}
	}
	if _, err := ws.Delete(ctx, "a", &change.DeleteOptions{Trash: "shredder"}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("an unknown trash: %v", err)
	}
	stale := change.Options{ExpectedVersion: strings.Repeat("1", 32)}
	if _, err := ws.Delete(ctx, "a", &change.DeleteOptions{Options: stale}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a stale version: %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// A vault's trashOption applies unless the workspace or the call selects a trash.
func TestDeleteFollowsTheVault(t *testing.T) {
	for option, want := range map[string]change.TrashKind{
		`{"trashOption": "local"}`: change.TrashLocal, `{"trashOption": "none"}`: change.TrashNone, `{}`: change.TrashSystem,
	} {
		files := map[string]string{"a": "", ".obsidian/app.json": option}
		ws := workspace(t, files, &quarry.Options{StateDir: t.TempDir(), TrashDir: t.TempDir()})
		if c := must(t)(ws.Delete(ctx, "a", nil)); c.Trash.Kind != want {
			t.Errorf("%s: deleted to %q", option, c.Trash.Kind)
		}
	}
}

func TestTrash(t *testing.T) {
	ws := changeable(t, map[string]string{"W.md": "1", "d/x": "x"}, nil)
	must(t)(ws.Delete(ctx, "W.md", nil))
	put(t, ws, "W.md", "2")
	second := must(t)(ws.Delete(ctx, "W.md", nil))
	if second.Trash.Where != ".trash/W 1.md" {
		t.Errorf("trashed as %q", second.Trash.Where)
	}
	items, problems, err := ws.Trashed(ctx)
	if err != nil || len(problems) != 0 || len(items) != 2 {
		t.Fatalf("%+v, %v, %v", items, problems, err)
	}
	c := must(t)(ws.RestoreTrashed(ctx, ".trash/W.md", "new/folder/W.md", nil))
	if got := content(t, ws, "new/folder/W.md"); got != "1" || len(c.Folders) != 2 {
		t.Errorf("restored %q, %+v", got, c)
	}
	must(t)(ws.Undo(ctx, "", nil)) // moves it to the trash again
	must(t)(ws.RestoreTrashed(ctx, "W.md", "", nil))
	if got := content(t, ws, "W.md"); got != "2" {
		t.Errorf("restored %q by its path", got)
	}
	if _, err := ws.RestoreTrashed(ctx, ".trash/W.md", "W.md", nil); fault.CodeOf(err) != fault.AlreadyExists {
		t.Errorf("restoring over a file: %v", err)
	}
	if n, err := ws.EmptyTrash(ctx, time.Time{}); n != 1 || err != nil {
		t.Errorf("emptied %d, %v", n, err)
	}
	if _, err := ws.RestoreTrashed(ctx, ".trash/W.md", "W.md", nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("restoring what is gone: %v", err)
	}
	// The deletion can no longer be undone. The error says so, and nothing is changed.
	must(t)(ws.Delete(ctx, "d", nil))
	if _, err := ws.EmptyTrash(ctx, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Undo(ctx, "", nil); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("undo of a deletion whose trash was emptied: %v", err)
	}
}

// Debian's trash-cli sees Quarry's deletions, and Quarry sees its restores. A name in the
// trash may be reused after its item was restored. An undo restores the item that its
// change deleted, or nothing.
func TestUndoFindsItsOwnInTheTrash(t *testing.T) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal} {
		t.Run(string(kind), func(t *testing.T) {
			ws := changeable(t, map[string]string{"a.md": "first", "b/a.md": "second"}, &quarry.Options{Trash: kind, TrashDir: t.TempDir()})
			text := func(p string) string {
				data, _ := os.ReadFile(filepath.Join(ws.Dir(), p))
				return string(data)
			}
			first := must(t)(ws.Delete(ctx, "a.md", nil))
			back := must(t)(ws.Undo(ctx, "", nil))
			second := must(t)(ws.Delete(ctx, "b/a.md", nil))
			again := must(t)(ws.Undo(ctx, back.ID, nil)) // the deletion is repeated while its name in the trash is taken
			if first.Trash.Where != second.Trash.Where || text("a.md") != "" {
				t.Fatalf("%+v, %+v, %+v", first.Trash, second.Trash, again)
			}
			must(t)(ws.Undo(ctx, first.ID, nil))
			if got := text("a.md"); got != "first" {
				t.Errorf("a.md is %q", got)
			}
			must(t)(ws.Undo(ctx, second.ID, nil))
			if got := text("b/a.md"); got != "second" {
				t.Errorf("b/a.md is %q", got)
			}

			third := must(t)(ws.Delete(ctx, "a.md", nil))
			if n, err := ws.EmptyTrash(ctx, time.Time{}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			must(t)(ws.Write(ctx, "a.md", []byte("another"), nil))
			fourth := must(t)(ws.Delete(ctx, "a.md", nil))
			if fourth.Trash.Where != third.Trash.Where {
				t.Fatalf("the name was not given again: %s, %s", third.Trash.Where, fourth.Trash.Where)
			}
			var conflict *change.UndoError
			if _, err := ws.Undo(ctx, third.ID, nil); !errors.As(err, &conflict) || text("a.md") != "" {
				t.Errorf("%v, and a.md is %q", err, text("a.md"))
			}
			must(t)(ws.Undo(ctx, fourth.ID, nil))
			if got := text("a.md"); got != "another" {
				t.Errorf("a.md is %q", got)
			}
		})
	}
}

// An item in the trash may be touched and written to, and is still recognized. Another
// file under its name is not, even if all attributes are equal.
func TestMarksInTheTrash(t *testing.T) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal} {
		t.Run(string(kind), func(t *testing.T) {
			ws := changeable(t, map[string]string{"log": "one\n", "d/f": "precious"}, &quarry.Options{Trash: kind, TrashDir: t.TempDir()})
			place := func(c *change.Change) string {
				if kind == change.TrashLocal {
					return filepath.Join(ws.Dir(), c.Trash.Where)
				}
				return c.Trash.Where
			}
			handle, err := os.OpenFile(filepath.Join(ws.Dir(), "log"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer handle.Close()
			c := must(t)(ws.Delete(ctx, "log", nil))
			handle.WriteString("two\n")
			if err := os.Chtimes(place(c), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			must(t)(ws.Undo(ctx, c.ID, nil))
			if data, _ := os.ReadFile(filepath.Join(ws.Dir(), "log")); string(data) != "one\ntwo\n" {
				t.Errorf("log is %q", data)
			}

			c = must(t)(ws.Delete(ctx, "d", nil))
			if err := os.Rename(place(c), filepath.Join(ws.Dir(), "kept")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(place(c), 0o755); err != nil { // put there by hand, under the old record
				t.Fatal(err)
			}
			var conflict *change.UndoError
			if _, err := ws.Undo(ctx, c.ID, nil); !errors.As(err, &conflict) {
				t.Errorf("another folder came back: %v", err)
			}
		})
	}
}

// Of two concurrent undos of one change, exactly one succeeds.
func TestTwoUndosAtOnce(t *testing.T) {
	regime.SkipTiny(t)
	for _, c := range []struct {
		name string
		do   func(ws *quarry.Workspace) (*change.Change, error)
	}{
		{"write", func(ws *quarry.Workspace) (*change.Change, error) { return ws.Write(ctx, "a", []byte("new"), nil) }},
		{"create", func(ws *quarry.Workspace) (*change.Change, error) { return ws.Write(ctx, "n/b", []byte("new"), nil) }},
		{"move", func(ws *quarry.Workspace) (*change.Change, error) { return ws.Move(ctx, "a", "m/a", nil) }},
		{"system", func(ws *quarry.Workspace) (*change.Change, error) {
			return ws.Delete(ctx, "a", &change.DeleteOptions{Trash: change.TrashSystem})
		}},
		{"local", func(ws *quarry.Workspace) (*change.Change, error) {
			return ws.Delete(ctx, "a", &change.DeleteOptions{Trash: change.TrashLocal})
		}},
		{"none", func(ws *quarry.Workspace) (*change.Change, error) {
			return ws.Delete(ctx, "a", &change.DeleteOptions{Trash: change.TrashNone})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, data := t.TempDir(), t.TempDir()
			opts := func() *quarry.Options { return &quarry.Options{StateDir: state, TrashDir: data} }
			one := changeable(t, map[string]string{"a": "old"}, opts())
			two, err := quarry.Open(one.Dir(), opts())
			if err != nil {
				t.Fatal(err)
			}
			defer two.Close()
			before := snapshot(t, one.Dir())
			for range 12 {
				id := must(t)(c.do(one)).ID
				errs := make([]error, 2)
				var wait sync.WaitGroup
				for i, ws := range []*quarry.Workspace{one, two} {
					wait.Go(func() { _, errs[i] = ws.Undo(ctx, id, nil) })
				}
				wait.Wait()
				if (errs[0] == nil) == (errs[1] == nil) {
					t.Fatalf("%v, %v", errs[0], errs[1])
				}
				if diff := cmp.Diff(before, snapshot(t, one.Dir())); diff != "" {
					t.Fatalf("%v, %v: %s", errs[0], errs[1], diff)
				}
			}
		})
	}
}

// Redoing the creation of a file restores its permissions.
func TestRedoKeepsModes(t *testing.T) {
	ws := changeable(t, nil, nil)
	must(t)(ws.Write(ctx, "d/secret", []byte("x"), nil))
	if err := errors.Join(os.Chmod(filepath.Join(ws.Dir(), "d/secret"), 0o600), os.Chmod(filepath.Join(ws.Dir(), "d"), 0o700)); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, ws.Dir())
	back := must(t)(ws.Undo(ctx, "", nil))
	must(t)(ws.Undo(ctx, back.ID, nil))
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// Creating a file can be undone even if its content is too large to keep. The answer says
// that this undo can't be undone.
func TestUndoOfALargeFile(t *testing.T) {
	ws := changeable(t, nil, &quarry.Options{KeepBytes: 1 << 20})
	c := must(t)(ws.Write(ctx, "big", make([]byte, 2<<20), nil))
	back := must(t)(ws.Undo(ctx, c.ID, nil))
	if back.NoUndo == "" {
		t.Errorf("%+v", back)
	}
	if _, err := os.Stat(filepath.Join(ws.Dir(), "big")); err == nil {
		t.Error("it is still there")
	}
}

func TestSystemTrashForOthers(t *testing.T) {
	list, err := exec.LookPath("trash-list")
	if err != nil {
		t.Skip("trash-cli is not installed (Debian: trash-cli)")
	}
	data := t.TempDir()
	ws := changeable(t, map[string]string{"ä b.md": "text"}, &quarry.Options{Trash: change.TrashSystem, TrashDir: data})
	must(t)(ws.Delete(ctx, "ä b.md", nil))
	cmd := exec.Command(list)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+data, "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), filepath.Join(ws.Dir(), "ä b.md")) {
		t.Errorf("trash-list: %v\n%s", err, out)
	}
}

// A symlink is moved, deleted and restored as a symlink. Each change can be undone and
// redone.
func TestUndoOfSymlinks(t *testing.T) {
	for name, do := range map[string]func(*quarry.Workspace) (*change.Change, error){
		"move": func(ws *quarry.Workspace) (*change.Change, error) { return ws.Move(ctx, "link", "d/other", nil) },
		"local": func(ws *quarry.Workspace) (*change.Change, error) {
			return ws.Delete(ctx, "link", &change.DeleteOptions{Trash: change.TrashLocal})
		},
		"none": func(ws *quarry.Workspace) (*change.Change, error) {
			return ws.Delete(ctx, "link", &change.DeleteOptions{Trash: change.TrashNone})
		},
		"restore": func(ws *quarry.Workspace) (*change.Change, error) {
			if _, err := ws.Delete(ctx, "link", &change.DeleteOptions{Trash: change.TrashLocal}); err != nil {
				return nil, err
			}
			return ws.RestoreTrashed(ctx, "link", "again", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ws := changeable(t, map[string]string{"a": "text"}, nil)
			if err := os.Symlink("a", filepath.Join(ws.Dir(), "link")); err != nil {
				t.Skipf("no symlinks here (on Windows: turn on the developer mode): %v", err)
			}
			links := func() (out []string) {
				for _, name := range []string{"link", "d/other", "again"} {
					if target, err := os.Readlink(filepath.Join(ws.Dir(), name)); err == nil {
						out = append(out, name+" to "+target)
					}
				}
				return out
			}
			before := links()
			c := must(t)(do(ws))
			after := links()
			undo := must(t)(ws.Undo(ctx, c.ID, nil))
			if name != "restore" && !slices.Equal(links(), before) {
				t.Errorf("undone, there is %q", links())
			}
			must(t)(ws.Undo(ctx, undo.ID, nil))
			if !slices.Equal(links(), after) {
				t.Errorf("made again, there is %q, not %q", links(), after)
			}
		})
	}
}
