package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/render"
)

// searches are calls whose answers must not depend on the number of workers or on an
// index.
var searches = []struct{ tool, args string }{
	{"search_files", `{"regex":"TODO"}`},
	{"search_files", `{"regex":"TODO","file_pattern":"*.py"}`},
	{"search_files", `{"regex":"zebra"}`},
	{"search_files", `{"regex":"generated"}`},
	{"search_files", `{"pattern":"TODO"}`},
	{"search_files", `{"regex":"TODO","path":"src","include_hidden":true}`},
	{"file_search", `{"query":"todo"}`},
	{"file_search", `{"query":"TODO","max_results":2}`},
	{"search_by_path", `{"pattern":"*.md"}`},
	{"search_by_path", `{"pattern":"zebra"}`},
	{"list_files", `{"pattern":"**"}`},
	{"search_notes", `{"query":"todo"}`},
	{"search_code", `{"query":"calculate total"}`},
}

// The same call on the same files gives the same text, with one worker and with many,
// with and without an index.
func TestSameBytes(t *testing.T) {
	base := code().make(t)
	open := func(change func(*quarry.Options)) *quarry.Workspace {
		opts := &quarry.Options{}
		change(opts)
		ws, err := quarry.Open(base.Dir(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	want := tools(t, open(func(o *quarry.Options) { o.Workers = 1 }), profile.Options{})
	indexed := open(func(o *quarry.Options) { o.Index = &quarry.IndexOptions{Dir: t.TempDir()} })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := indexed.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for name, ws := range map[string]*quarry.Workspace{"8 workers": open(func(o *quarry.Options) { o.Workers = 8 }), "an index": indexed} {
		got := tools(t, ws, profile.Options{})
		for _, c := range searches {
			w, g := call(t, want, c.tool, c.args).Text, call(t, got, c.tool, c.args).Text
			if w != g {
				t.Errorf("%s, %s %s:\n%s\nwant\n%s", name, c.tool, c.args, g, w)
			}
		}
	}
	var st struct {
		Status, ProjectPath, StorageSize, Freshness, LastUpdated string
		TotalFiles, IndexedBytes, PendingFiles                   *int
		WatcherActive                                            *bool
	}
	text := call(t, tools(t, indexed, profile.Options{Profile: "smcp"}), "get_index_status", `{}`).Text
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		t.Fatal(err)
	}
	if st.Status != "ready" || st.ProjectPath != base.Dir() || st.TotalFiles == nil || *st.TotalFiles < 10 || st.IndexedBytes == nil ||
		st.PendingFiles == nil || st.WatcherActive == nil || st.StorageSize == "" || st.Freshness != "event" && st.Freshness != "sweep" {
		t.Errorf("status %s", text)
	}
}

// A file that can't be searched is named, and the answer is marked incomplete.
func TestFailedFiles(t *testing.T) {
	ws := fixture{files: map[string]string{"one-line.txt": "TODO" + strings.Repeat("x", 17<<20), "a.txt": "TODO\n"}}.make(t)
	r := call(t, tools(t, ws, profile.Options{}), "search_files", `{"regex":"zebra"}`)
	data, err := json.Marshal(r.Structured)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(r.Text, "; not searched: 1 too large]") || !strings.Contains(string(data), `"failed":[{"path":"one-line.txt","reason":"too_large"}]`) ||
		!strings.Contains(string(data), `"complete":false`) {
		t.Errorf("%s\n%s", r.Text, data)
	}
}

// An unprintable name is given as base64, which is accepted as a path.
func TestOddNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse such names")
	}
	for _, name := range []string{"a\x01b.txt", "\u202egnp.txt", "bad\xff.txt", "new\nline.txt"} {
		ws := fixture{files: map[string]string{"dir/" + name: "needle\n"}, opts: quarry.Options{Trash: change.TrashLocal}}.make(t)
		reg := tools(t, ws, profile.Options{})
		r := call(t, reg, "file_search", `{"query":"needle"}`)
		var a struct {
			Files []struct {
				Path   string `json:"path"`
				Base64 string `json:"path_base64"`
			}
		}
		data, _ := json.Marshal(r.Structured)
		if err := json.Unmarshal(data, &a); err != nil || len(a.Files) != 1 {
			t.Fatalf("%q: %s", name, data)
		}
		f := a.Files[0]
		if (strings.ContainsAny(r.Text, "\x01\u202e") || strings.Contains(r.Text, "\xff")) || !strings.HasPrefix(f.Base64, "base64:") || !strings.Contains(r.Text, "`"+f.Base64+":1`") {
			t.Errorf("%q: %q, %+v", name, r.Text, f)
		}
		for _, other := range [][2]string{{"search_code", `{"query":"needle"}`}, {"search_files", `{"regex":"needle"}`}, {"search_files", `{"pattern":"needle"}`}, {"list_files", `{"pattern":"**"}`}, {"search_by_path", `{"pattern":"*.txt"}`}} {
			if r := call(t, reg, other[0], other[1]); !strings.Contains(r.Text, f.Base64) {
				t.Errorf("%q: %s shows it otherwise: %s", name, other[0], r.Text)
			}
		}
		args := fmt.Sprintf(`{"path":%q}`, f.Base64)
		for _, tl := range []string{"read_file", "get_file_info", "delete_file"} {
			if r := call(t, reg, tl, args); r.IsError {
				t.Errorf("%q: %s %s: %s", name, tl, args, r.Text)
			}
		}
		if _, err := os.Lstat(filepath.Join(ws.Dir(), "dir", name)); err == nil {
			t.Errorf("%q is still there", name)
		}
	}
}

// Two files never have the same displayed name, even if one's name equals the other's
// escaped form, and every displayed name is accepted as a path.
func TestNamesAreToldApart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse such names")
	}
	odd := "nl\nname.txt"
	names := []string{odd, `nl\x0aname.txt`, render.EncodedName(odd), "plain.txt"}
	files := map[string]string{}
	for i, name := range names {
		files[name] = fmt.Sprintf("needle %d\n", i)
	}
	ws := fixture{files: files}.make(t)
	reg := tools(t, ws, profile.Options{})
	for i, name := range names {
		shown := render.Path(name)
		for tool, line := range map[string]string{
			"list_files {}":                   "[file] " + shown + " (",
			`search_files {"regex":"needle"}`: fmt.Sprintf("# %s\n  1 | needle %d\n", shown, i),
			`file_search {"query":"needle"}`:  fmt.Sprintf("`%s:1`: needle %d\n", shown, i),
			`search_by_path {"pattern":"*"}`:  fmt.Sprintf("%q", shown),
			`replace_in_files {"text":"needle","replacement":"n","dry_run":true}`: "edited " + shown + ":",
		} {
			what, args, _ := strings.Cut(tool, " ")
			if r := call(t, reg, what, args); strings.Count(r.Text, line) != 1 {
				t.Errorf("%s shows %q not once as %q:\n%s", what, name, line, r.Text)
			}
		}
		if r := call(t, reg, "read_file", fmt.Sprintf(`{"path":%q}`, shown)); !strings.Contains(r.Text, fmt.Sprintf("needle %d\n", i)) {
			t.Errorf("read_file of %q: %s", shown, r.Text)
		}
	}
}
