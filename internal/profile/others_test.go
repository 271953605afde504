package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/tool"
)

// If someone else has changed a file since the connection read it, the next answer about
// the file says so, once.
func TestChangedByOthers(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "ws")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Join(top, "state"), filepath.Join(top, "index")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put("one\ntwo\nthree\nfour\n")
	ws, err := quarry.Open(dir, &quarry.Options{
		StateDir: filepath.Join(top, "state"), AllowAny: true,
		Index: &quarry.IndexOptions{Dir: filepath.Join(top, "index"), Record: &quarry.RecordOptions{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if !stress.Becomes(func() bool { st, err := ws.Recording(t.Context()); return err == nil && st != nil && st.On }) {
		t.Fatal("nothing is recorded")
	}
	for _, c := range []struct {
		name   string
		silent bool
	}{{"quarry", false}, {"code", false}, {"notes", false}, {"vault", true}} {
		t.Run(c.name, func(t *testing.T) {
			tools, err := profile.New(ws, &profile.Options{Profile: c.name})
			if err != nil {
				t.Fatal(err)
			}
			one, two := &tool.Session{ID: c.name + "1"}, &tool.Session{ID: c.name + "2"}
			call := func(s *tool.Session, name, args string) string {
				t.Helper()
				ctx := tool.WithClient(tool.WithSession(t.Context(), s), tool.Client{Name: "claude-code", Session: s.ID})
				res, err := tools.Call(ctx, name, []byte(args))
				if err != nil {
					t.Fatal(err)
				}
				return res.Text
			}
			const said = "since you read it"
			put("one\ntwo\nthree\nfour\n")
			if _, err := ws.Changes(t.Context(), 1); err != nil { // so that the change gets its own log entry
				t.Fatal(err)
			}
			read := func() string { t.Helper(); return call(one, "read_file", `{"path":"a.txt"}`) }
			if got := read(); strings.Contains(got, said) {
				t.Errorf("at first: %s", got)
			}
			put("one\nTWO\nTHREE\nfour\n")
			want := "changed by another program since you read it (lines 2-3)"
			if c.silent {
				want = ""
			}
			if got := read(); !strings.Contains(got, want) || c.silent && strings.Contains(got, said) {
				t.Errorf("got %q", got)
			}
			if got := read(); strings.Contains(got, said) {
				t.Errorf("told twice: %q", got)
			}
			if c.silent {
				return
			}
			call(one, "edit_file", `{"path":"a.txt","old_text":"four","new_text":"FOUR"}`)
			if got := read(); strings.Contains(got, said) {
				t.Errorf("its own change: %q", got)
			}
			call(two, "edit_file", `{"path":"a.txt","old_text":"one","new_text":"ONE"}`)
			if got := call(one, "edit_file", `{"path":"a.txt","old_text":"one\n","new_text":"x"}`); !strings.Contains(got, "changed by claude-code since you read it") {
				t.Errorf("a refused edit: %q", got)
			}
			if got := read(); !strings.Contains(got, "changed by claude-code since you read it (line 1)") {
				t.Errorf("the read after it: %q", got)
			}
			put("ONE\nTWO\nTHREE\nFOUR\nfive\n")
			if got := call(one, "edit_file", `{"path":"a.txt","old_text":"five","new_text":"FIVE"}`); !strings.Contains(got, "changed by another program since you read it") {
				t.Errorf("an edit: %q", got)
			}
			if _, err := ws.Write(t.Context(), "a.txt", []byte("x\n"), &change.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := read(); !strings.Contains(got, "changed by quarry outside this session since you read it (line 1)") {
				t.Errorf("at the shell: %q", got)
			}
			if got := call(&tool.Session{ID: "3"}, "undo_change", `{}`); !strings.Contains(got, "Give an id") || !strings.Contains(got, "by another program") {
				t.Errorf("undo_change: %q", got)
			}
		})
	}
}
