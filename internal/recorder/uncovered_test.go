package recorder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/search"
)

// A file that existed while it was ignored or denied is not new when the rules change, and
// going back does not delete it.
func TestUncoveredFilesAreNotNew(t *testing.T) {
	for _, c := range []struct {
		name    string
		restart bool // the process that records ends before do
		do      func(p *place, ws *quarry.Workspace)
		logged  []string // the paths that the log has after the point
		after   string   // the text of build/x.txt after going back
	}{
		{"no longer ignored", false, func(p *place, _ *quarry.Workspace) { p.put(".gitignore", "") }, []string{".gitignore"}, "data"},
		{"no longer ignored while nothing records", true, func(p *place, _ *quarry.Workspace) { p.put(".gitignore", "") }, []string{".gitignore"}, "data"},
		{"written once it is not ignored", false, func(p *place, ws *quarry.Workspace) {
			p.put(".gitignore", "")
			p.log(ws)
			p.put("build/x.txt", "more")
			p.put("build/new.txt", "new")
		}, []string{".gitignore", "build/new.txt", "build/x.txt"}, "data"},
		{"our own edit of an ignored file", false, func(p *place, ws *quarry.Workspace) {
			_, err := ws.Write(p.t.Context(), "build/x.txt", []byte("own"), nil)
			must(p.t, err)
		}, []string{"build/x.txt"}, "data"},
		{"our own move of an ignored file", false, func(p *place, ws *quarry.Workspace) {
			_, err := ws.Move(p.t.Context(), "build/x.txt", "x.txt", nil)
			must(p.t, err)
			p.log(ws)
			p.put("x.txt", "outside")
		}, []string{"build/x.txt", "x.txt"}, "data"},
		{"our own move of a folder with an ignored file", false, func(p *place, ws *quarry.Workspace) {
			_, err := ws.Move(p.t.Context(), "src", "lib", nil)
			must(p.t, err)
		}, []string{"lib", "src"}, "data"},
		{"a client that denied it is gone", true, func(p *place, _ *quarry.Workspace) {}, nil, "data"},
	} {
		p := newPlace(t)
		must(t, os.Mkdir(filepath.Join(p.dir, ".git"), 0o755))
		for name, text := range map[string]string{".gitignore": "build/\n/src/*.o\n", "build/x.txt": "data", "build/sub/y.txt": "data", "src/a.c": "data", "src/a.o": "data", "Secret/diary.md": "data"} {
			p.put(name, text)
		}
		ws := p.open()
		o := p.options()
		o.Deny, o.Index.Ask, o.Index.Record = []string{"Secret/**"}, true, nil
		client, err := quarry.Open(p.dir, o)
		must(t, err)
		_, err = client.Search(t.Context(), search.Query{Pattern: "data"})
		must(t, err)
		must(t, client.Close())
		p.put("Secret/diary.md", "more")
		p.log(ws)
		if _, err := ws.Write(t.Context(), "plan.md", []byte("plan"), nil); err != nil {
			t.Fatal(err)
		}
		point := p.log(ws)[0].ID
		if c.restart {
			must(t, ws.Close())
			c.do(p, nil)
			ws = p.open()
		} else {
			c.do(p, ws)
		}
		var logged []string
		for _, ch := range p.log(ws) {
			if ch.ID > point {
				logged = append(logged, ch.Paths...)
			}
		}
		slices.Sort(logged)
		if logged = slices.Compact(logged); !slices.Equal(logged, c.logged) {
			t.Errorf("%s: the log has %q, want %q\n%s", c.name, logged, c.logged, p.summaries(ws))
		}
		if _, err := ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: point}}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for name, want := range map[string]string{"build/x.txt": c.after, "build/sub/y.txt": "data", "src/a.o": "data", "Secret/diary.md": "more", "plan.md": "plan"} {
			if got := p.text(name); got != want {
				t.Errorf("%s: %s is %q after going back, want %q", c.name, name, got, want)
			}
		}
		ws.Close()
	}
}
