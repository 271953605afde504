package profile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
)

// linkedTree has links to a folder and a file, to nothing and out of the root.
func linkedTree(t *testing.T) (*quarry.Workspace, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "ws")
	for name, text := range map[string]string{"ws/real/a.txt": "one\n", "ws/real/sub/b.txt": "two\n", "ws/c.txt": "three\n", "outside.txt": "outside\n"} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "real", "file": "real/a.txt", "broken": "nothing", "out": "../outside.txt", "real/sub/up": ".."} {
		link := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no symlinks here:", err)
		}
		if _, err := os.Readlink(link); err != nil { // Wine 8 makes none and reports success
			t.Skip("no symlinks here:", err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashNone})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws, top
}

// entries are the names below a folder, with what they hold or lead to.
func entries(t *testing.T, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			out[rel] = "-> " + to
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			out[rel] = string(data)
			return err
		}
		out[rel] = "folder"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A script that goes through links leaves the tree that the tools leave, and refuses
// what they refuse.
func TestScriptsThroughLinks(t *testing.T) {
	changed, refused := 0, 0
	for _, c := range []struct {
		script string
		calls  []string // of tools, each its name and its arguments
	}{
		{`delete("link/a.txt")`, []string{`delete_file {"path": "link/a.txt"}`}},
		{`delete("link/sub")`, []string{`delete_file {"path": "link/sub"}`}},
		{`delete("link")`, []string{`delete_file {"path": "link"}`}},
		{`delete("file")`, []string{`delete_file {"path": "file"}`}},
		{`delete("broken")`, []string{`delete_file {"path": "broken"}`}},
		{`delete("out")`, []string{`delete_file {"path": "out"}`}},
		{`delete("real/sub/up/a.txt")`, []string{`delete_file {"path": "real/sub/up/a.txt"}`}},
		{`delete("LINK/a.txt")`, []string{`delete_file {"path": "LINK/a.txt"}`}},
		{`delete("link/nothing.txt")`, []string{`delete_file {"path": "link/nothing.txt"}`}},
		{`move("link/a.txt", "link/n.txt")`, []string{`move_file {"source": "link/a.txt", "destination": "link/n.txt"}`}},
		{`move("link/a.txt", "n.txt")`, []string{`move_file {"source": "link/a.txt", "destination": "n.txt"}`}},
		{`move("c.txt", "link/sub/c.txt")`, []string{`move_file {"source": "c.txt", "destination": "link/sub/c.txt"}`}},
		{`move("c.txt", "link/new/c.txt")`, []string{`move_file {"source": "c.txt", "destination": "link/new/c.txt"}`}},
		{`move("c.txt", "link/a.txt")`, []string{`move_file {"source": "c.txt", "destination": "link/a.txt"}`}},
		{`move("link/sub", "sub")`, []string{`move_file {"source": "link/sub", "destination": "sub"}`}},
		{`move("link", "other")`, []string{`move_file {"source": "link", "destination": "other"}`}},
		{`move("file", "other")`, []string{`move_file {"source": "file", "destination": "other"}`}},
		{`move("broken", "other")`, []string{`move_file {"source": "broken", "destination": "other"}`}},
		{`move("LINK/a.txt", "n.txt")`, []string{`move_file {"source": "LINK/a.txt", "destination": "n.txt"}`}},
		{`move("c.txt", "broken")`, []string{`move_file {"source": "c.txt", "destination": "broken"}`}},
		{`write("link/a.txt", "new\n")`, []string{`write_file {"path": "link/a.txt", "content": "new\n"}`}},
		{`write("file", "new\n")`, []string{`write_file {"path": "file", "content": "new\n"}`}},
		{`write("link/new.txt", "new\n")`, []string{`write_file {"path": "link/new.txt", "content": "new\n"}`}},
		{`write("out", "new\n")`, []string{`write_file {"path": "out", "content": "new\n"}`}},
		{`replace("link/a.txt", "one", "1")`, []string{`edit_file {"path": "link/a.txt", "old_text": "one", "new_text": "1"}`}},
		{`replace("file", "one", "1")`, []string{`edit_file {"path": "file", "old_text": "one", "new_text": "1"}`}},
		{"replace(\"link/a.txt\", \"one\", \"1\")\nreplace(\"real/a.txt\", \"1\", \"eins\")", []string{`edit_file {"path": "link/a.txt", "old_text": "one", "new_text": "1"}`, `edit_file {"path": "real/a.txt", "old_text": "1", "new_text": "eins"}`}},
		{"replace(\"real/a.txt\", \"one\", \"1\")\nreplace(\"file\", \"1\", \"eins\")", []string{`edit_file {"path": "real/a.txt", "old_text": "one", "new_text": "1"}`, `edit_file {"path": "file", "old_text": "1", "new_text": "eins"}`}},
		{"write(\"link/z.txt\", \"x\\n\")\nwrite(\"real/z.txt\", \"y\\n\")", []string{`write_file {"path": "link/z.txt", "content": "x\n"}`, `write_file {"path": "real/z.txt", "content": "y\n"}`}},
		{"replace(\"real/a.txt\", \"one\", \"1\")\nwrite(\"seen.txt\", read(\"link/a.txt\"))", []string{`edit_file {"path": "real/a.txt", "old_text": "one", "new_text": "1"}`, `write_file {"path": "seen.txt", "content": "1\n"}`}},
		{"delete(\"real/a.txt\")\nwrite(\"link/a.txt\", \"new\\n\")", []string{`delete_file {"path": "real/a.txt"}`, `write_file {"path": "link/a.txt", "content": "new\n"}`}},
		{"move(\"real/a.txt\", \"n.txt\")\nreplace(\"n.txt\", \"one\", \"1\")", []string{`move_file {"source": "real/a.txt", "destination": "n.txt"}`, `edit_file {"path": "n.txt", "old_text": "one", "new_text": "1"}`}},
	} {
		byTools, toolsTop := linkedTree(t)
		before := entries(t, toolsTop)
		r, ok := scripts(t, byTools), true
		said := ""
		for _, one := range c.calls {
			name, args, _ := strings.Cut(one, " ")
			res := call(t, r, name, args)
			ok, said = ok && !res.IsError, said+res.Text
		}
		byScript, scriptTop := linkedTree(t)
		res := call(t, scripts(t, byScript), "change", `{"script": `+quote(c.script)+`}`)
		want := entries(t, toolsTop)
		if diff := cmp.Diff(want, entries(t, scriptTop)); diff != "" || res.IsError == ok {
			t.Errorf("%s\ntools: %s\nscript: %s\ntrees (-tools +script): %s", c.script, said, res.Text, diff)
		}
		if cmp.Equal(before, want) {
			refused++
		} else {
			changed++
		}
	}
	if t.Logf("%d scripts that change something, %d that tools refuse", changed, refused); changed < 20 || refused < 4 {
		t.Error("too few cases do something")
	}
}
