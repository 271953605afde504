package recorder_test

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/change"
)

// Going back twice to one point by author: what the first one undid is not undone again.
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
	back("") // all of it
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

// A file that became a folder, or a folder a file, before a change of our own in it is
// in the log before that change, with what is beneath it.
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

// A dry run shows the way back: what the files have now, and what they would have.
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
