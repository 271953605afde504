package recorder_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
)

// Going back twice to the same point for one author does not repeat the first undo.
func TestBackTwiceByAuthor(t *testing.T) {
	p := newPlace(t)
	p.put("kept.txt", "kept\n")
	ws := p.open()
	must(t, ws.Point(t.Context(), "start"))
	agent := &change.Options{Client: change.Client{Name: "agent", Session: "1"}}
	back := func(by string) {
		t.Helper()
		log, err := ws.Changes(t.Context(), 0)
		must(t, err)
		at := log.Points[0]
		done, err := ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: at.After, Since: at.Time, Name: at.Name, By: by}})
		if err != nil {
			t.Fatalf("by %q: %v\n%s", by, err, p.summaries(ws))
		}
		if done.Unchanged {
			t.Fatalf("by %q: nothing was undone\n%s", by, p.summaries(ws))
		}
	}
	write := func(name, text string, o *change.Options) {
		t.Helper()
		_, err := ws.Write(t.Context(), name, []byte(text), o)
		must(t, err)
	}
	write("a.txt", "of the agent\n", agent)
	write("mine.txt", "mine\n", nil)
	back("agent")
	if got := p.text("a.txt") + p.text("mine.txt"); got != "-mine\n" {
		t.Fatalf("after the first: %q", got)
	}
	write("a.txt", "again\n", agent)
	write("b.txt", "b\n", agent)
	back("agent")
	if got := p.text("a.txt") + p.text("b.txt") + p.text("mine.txt"); got != "--mine\n" {
		t.Fatalf("after the second: %q", got)
	}
	back("") // undo everything
	write("a.txt", "third\n", agent)
	back("agent")
	if got := p.text("a.txt") + p.text("b.txt") + p.text("mine.txt") + p.text("kept.txt"); got != "---kept\n" {
		t.Fatalf("after all: %q", got)
	}
	for _, c := range p.log(ws) {
		if c.Client.Name == "agent" && c.UndoneBy == "" {
			t.Errorf("not marked as undone: %s", c.Summary)
		}
	}
}

// If another program replaces a file by a folder or vice versa before one of our own
// changes in it, the log has that replacement before our change, including the folder's
// contents.
func TestKindChangedBeforeOurOwn(t *testing.T) {
	for _, c := range []struct{ name, was, now string }{
		{"file to folder", "a", "a/b/inner.txt"},
		{"folder to file", "a/b/inner.txt", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(c.was, "was\n")
			ws := p.open()
			must(t, ws.Point(t.Context(), "start"))
			at := p.log(ws)
			must(t, os.RemoveAll(filepath.Join(p.dir, "a")))
			if !stress.Becomes(func() bool { _, err := os.Lstat(filepath.Join(p.dir, "a")); return errors.Is(err, fs.ErrNotExist) }) { // on Windows the file disappears when its last handle is closed
				t.Fatal("it is not deleted")
			}
			p.put(c.now, "outside\n")
			_, err := ws.Write(t.Context(), c.now, []byte("ours\n"), nil)
			must(t, err)
			if len(at) != 0 {
				t.Fatal(at)
			}
			log, err := ws.Changes(t.Context(), 0)
			must(t, err)
			ours := ""
			for _, one := range log.Changes {
				if !one.Outside {
					ours = one.ID
				} else if one.ID > ours && ours != "" {
					t.Errorf("after our own: %s", one.Summary)
				}
			}
			if _, err := ws.Undo(t.Context(), "", &change.Options{To: &change.Back{Since: log.Points[0].Time}}); err != nil {
				t.Fatalf("%v\n%s", err, p.summaries(ws))
			}
			if got := p.text(c.was); got != "was\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A dry run shows the undo as a diff from the files' present contents.
func TestDryRunShowsTheWayBack(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "one\ntwo\n")
	p.put("old.txt", "old\n")
	ws := p.open()
	must(t, ws.Point(t.Context(), "start"))
	p.put("a.txt", "one\nTWO\n")
	p.put("new.txt", "new\n")
	must(t, os.Remove(filepath.Join(p.dir, "old.txt")))
	p.log(ws)
	p.put("a.txt", "one\n2\n")
	p.put("ours.txt", "ours\n")
	p.log(ws)
	_, err := ws.Delete(t.Context(), "ours.txt", nil)
	must(t, err)
	log, err := ws.Changes(t.Context(), 0)
	must(t, err)
	got, err := ws.Undo(t.Context(), "", &change.Options{DryRun: true, To: &change.Back{Since: log.Points[0].Time, Name: "start"}})
	must(t, err)
	want := "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n--- a/new.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n--- /dev/null\n+++ b/old.txt\n@@ -0,0 +1 @@\n+old\n"
	if got.Diff != want {
		t.Errorf("got\n%s\nwant\n%s", got.Diff, want)
	}
}

// After a complete undo there is no difference from the point: entries made and deleted
// since cancel out, and so do changes of modes and symlinks.
func TestDiffAfterACompleteUndo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes and no symlinks for all")
	}
	p := newPlace(t)
	p.put("d/a.txt", "a\n")
	p.put("m.txt", "m\n")
	p.put("gone.txt", "gone\n")
	at := func(name string) string { return filepath.Join(p.dir, name) }
	must(t, os.Symlink("m.txt", at("link")))
	ws := p.open()
	must(t, os.RemoveAll(at("d")))
	must(t, os.Remove(at("gone.txt")))
	must(t, os.Remove(at("link")))
	must(t, os.Symlink("gone.txt", at("link")))
	must(t, os.Chmod(at("m.txt"), 0o600))
	p.put("new/b.txt", "b\n")
	list := p.log(ws)
	all := func() *change.Change {
		t.Helper()
		var ids []string
		for _, c := range p.log(ws) {
			ids = append(ids, c.ID)
		}
		c, err := ws.DiffAll(t.Context(), ids)
		must(t, err)
		return c
	}
	before := all().Diff
	for _, want := range []string{"deleted folder: d\n", "new folder: new\n", "deleted symlink: link\nnew symlink: link\n", "mode 644 changed to 600: m.txt\n", "--- a/gone.txt\n"} {
		if !strings.Contains(before, want) {
			t.Errorf("no %q in\n%s", want, before)
		}
	}
	_, err := ws.Undo(t.Context(), list[0].ID, nil)
	must(t, err)
	if c := all(); len(c.Diffs) > 0 || c.Diff != "" || len(c.Paths) > 0 {
		t.Errorf("after the undo %q differ:\n%s", c.Paths, c.Diff)
	}
}

// The baseline stores the time since which changes are recorded.
func TestRecordedSince(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "a\n")
	var since [2]time.Time
	for i := range since {
		ws := p.open()
		st, err := ws.Recording(t.Context())
		must(t, err)
		since[i] = st.Since
		p.put("b.txt", fmt.Sprint(i))
		p.log(ws)
		must(t, ws.Close())
	}
	if since[0].IsZero() || since[1].Unix() != since[0].Unix() {
		t.Errorf("recorded since %v, then %v", since[0], since[1])
	}
}

// Going back over an earlier undo changes only files that differ from the point.
func TestBackOverAnUndo(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"a.txt", "sub/b.txt", "c.txt"} {
		p.put(name, "old\n")
	}
	ws := p.open()
	must(t, ws.Point(t.Context(), "start"))
	must(t, os.Remove(filepath.Join(p.dir, "a.txt")))
	must(t, os.RemoveAll(filepath.Join(p.dir, "sub")))
	p.put("c.txt", "new\n")
	p.log(ws)
	log, err := ws.Changes(t.Context(), 0)
	must(t, err)
	at := log.Points[0]
	_, err = ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: at.After, Since: at.Time}})
	must(t, err)
	_, err = ws.Write(t.Context(), "c.txt", []byte("later\n"), nil)
	must(t, err)
	done, err := ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: at.After, Since: at.Time}})
	must(t, err)
	if len(done.Paths) != 1 || p.text("c.txt") != "old\n" || p.text("sub/b.txt") != "old\n" {
		t.Errorf("it changed %q", done.Paths)
	}
}

// If nothing records, going back keeps what other programs wrote between our changes, or
// refuses and names the file.
func TestBackKeepsUnrecordedChanges(t *testing.T) {
	lines := func(second, fifth, eighth string) string {
		return fmt.Sprintf("1\n%s\n3\n4\n%s\n6\n7\n%s\n9\n", second, fifth, eighth)
	}
	for _, c := range []struct {
		name   string
		texts  []string // the first one is before the point, "=" before a text says another program writes it
		want   string   // or "" if it is refused
		warned bool
	}{
		{"between two of ours", []string{lines("2", "5", "8"), lines("two", "5", "8"), "=" + lines("two", "five", "8"), lines("two", "five", "eight")}, lines("2", "five", "8"), true},
		{"between, the same lines", []string{lines("2", "5", "8"), lines("two", "5", "8"), "=" + lines("TWO", "5", "8"), lines("Two", "5", "8")}, "", false},
		{"after ours", []string{lines("2", "5", "8"), lines("two", "5", "8"), "=" + lines("two", "five", "8")}, lines("2", "five", "8"), true},
		{"after ours, the same lines", []string{lines("2", "5", "8"), lines("two", "5", "8"), "=" + lines("TWO", "5", "8")}, "", false},
		{"in a new file", []string{"", lines("2", "5", "8"), "=" + lines("2", "five", "8"), lines("2", "five", "eight")}, "", false},
		{"and back again", []string{lines("2", "5", "8"), lines("two", "5", "8"), "=" + lines("2", "five", "8"), lines("2", "5", "8")}, lines("2", "5", "8"), false},
	} {
		p := newPlace(t)
		if c.texts[0] != "" {
			p.put("a.txt", c.texts[0])
		}
		p.put("b.txt", "b\n")
		o := p.options()
		o.Index = nil
		ws, err := quarry.Open(p.dir, o)
		must(t, err)
		must(t, ws.Point(t.Context(), "start"))
		_, err = ws.Write(t.Context(), "b.txt", []byte("changed\n"), nil)
		must(t, err)
		var now string
		for _, text := range c.texts[1:] {
			var outside bool
			if now, outside = strings.CutPrefix(text, "="); outside {
				p.put("a.txt", now)
				continue
			}
			_, err := ws.Write(t.Context(), "a.txt", []byte(now), nil)
			must(t, err)
		}
		log, err := ws.Changes(t.Context(), 0)
		must(t, err)
		at := log.Points[0]
		back := &change.Options{To: &change.Back{After: at.After, Since: at.Time, Name: at.Name}}
		done, err := ws.Undo(t.Context(), "", back)
		var refused *change.UndoError
		switch {
		case c.want == "" && (!errors.As(err, &refused) || len(refused.Paths) != 1 || refused.Paths[0].Path != "a.txt"):
			t.Errorf("%s: %v, want a refusal that names a.txt", c.name, err)
		case c.want == "":
			c.want = now
			back.SkipConflicts = true
			_, err = ws.Undo(t.Context(), "", back)
			must(t, err)
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.warned != (len(done.Warnings) == 1 && strings.Contains(done.Warnings[0], "a.txt")):
			t.Errorf("%s: the warnings are %q", c.name, done.Warnings)
		}
		if got := p.text("a.txt"); got != c.want {
			t.Errorf("%s: a.txt is\n%swant\n%s", c.name, got, c.want)
		}
		if got := p.text("b.txt"); got != "b\n" && err == nil {
			t.Errorf("%s: b.txt is %q", c.name, got)
		}
		must(t, ws.Close())
	}
}
