package profile_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/tool"
)

// surrounded is a workspace beside a file that no tool may read or change. A link in the
// workspace leads to that file's folder.
type surrounded struct {
	ws      *quarry.Workspace
	outside string
	tools   []*tool.Tool // of every profile, for one root and for several
}

func newSurrounded(t testing.TB, f fixture) *surrounded {
	t.Helper()
	s := &surrounded{ws: f.make(t)}
	s.outside = filepath.Join(filepath.Dir(s.ws.Dir()), "outside")
	if err := os.MkdirAll(s.outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.outside, "secret.txt"), []byte("SECRETWORD\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.tools = everyTool(t, s.ws)
	return s
}

// call makes a call and checks that the answer fits its budget and shows nothing from
// outside the workspace.
func (s *surrounded) call(t testing.TB, tl *tool.Tool, args string) *tool.Result {
	t.Helper()
	r := tl.Execute(t.Context(), json.RawMessage(args))
	if strings.Contains(r.Text, "unexpectedly") {
		t.Errorf("%s %s panicked: %s", tl.Name, args, r.Text)
	}
	if strings.Contains(r.Text, "SECRETWORD") && !strings.Contains(args, "SECRETWORD") {
		t.Errorf("%s %s reads outside: %s", tl.Name, args, r.Text)
	}
	if r.IsError != strings.HasPrefix(r.Text, "Error: ") {
		t.Errorf("%s %s: IsError is %v: %s", tl.Name, args, r.IsError, r.Text)
	}
	if tl.Name != "read_file" && len(r.Text) > 64<<10 {
		t.Errorf("%s %s: %d bytes", tl.Name, args, len(r.Text))
	}
	if _, err := json.Marshal(r.Structured); err != nil {
		t.Errorf("%s %s: %v", tl.Name, args, err)
	}
	return r
}

// untouched checks that files outside the workspace are unchanged.
func (s *surrounded) untouched(t testing.TB, tl *tool.Tool, args string) {
	t.Helper()
	if left, err := os.ReadDir(s.outside); err != nil || len(left) != 1 {
		t.Errorf("%s %s changed files outside: %v %v", tl.Name, args, left, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.outside, "secret.txt")); err != nil || string(text) != "SECRETWORD\n" {
		t.Errorf("%s %s changed the file outside: %q %v", tl.Name, args, text, err)
	}
}

// dry adds dry_run to the arguments of a call. It reports false if the tool has no dry
// run, or if the arguments are not an object.
func dry(tl *tool.Tool, args string) (string, bool) {
	if tl.Hints.ReadOnly {
		return args, true
	}
	for _, p := range tl.Params {
		if p.Name == "dry_run" {
			// The last of several equal keys applies, so append it.
			if i := strings.LastIndexByte(args, '}'); i > 0 {
				before := strings.TrimRight(args[:i], ", \n\t")
				if !strings.HasSuffix(before, "{") {
					before += ","
				}
				return before + `"dry_run":true` + args[i:], true
			}
		}
	}
	return "", false
}

// FuzzTools calls tools with arbitrary arguments, and changing tools as a dry run. A tool
// must answer within its budget without reading anything outside the workspace. The
// workspace is small, in memory, and reused. Real changes are tested by TestRandomTools.
func FuzzTools(f *testing.F) {
	seeds := 0
	add := func(which uint8, args string) {
		f.Add(which, args)
		seeds++
	}
	for i, c := range searches {
		add(uint8(i), c.args)
	}
	add(3, `{"path":"../outside/secret.txt"}`)
	add(7, `{"path":"link/secret.txt","content":"x"}`)
	add(8, `{"path":"src/a.py","old_text":"TODO","new_text":"..","replace_all":true}`)
	add(9, `{"source":"src","destination":"../outside/x"}`)
	add(10, `{"path":"base64:Li4v","delete_lines":{"start":1,"end":-1}}`)
	add(11, `{"regex":"(((((","offset":-1,"max_results":1e9}`)
	add(12, `{"pattern":"[[[{{{","limit":"99999999999999999999"}`)
	for i := range uint8(19) { // for several roots
		add(37+i, `{"path":"src/src/a.py","regex":"TODO","query":"TODO","pattern":"src/**"}`)
		add(37+i, `{"path":"src/../../outside/secret.txt","source":"src/link","destination":"other/x"}`)
		add(37+i, `{"regex":"T","file_pattern":"{src,other}/**/{a,b}*","offset":1,"max_results":1}`)
	}
	small := fixture{opts: quarry.Options{Workers: 1}, files: map[string]string{
		"id_rsa": "TODO secret\n", "notes/todo.md": "- [ ] milk\n[[a]]\n", "src/a.py": "alpha\nTODO: one\n\ndef f():\n    pass\n",
	}}
	s := newSurrounded(f, small)
	if err := os.Symlink(s.outside, filepath.Join(s.ws.Dir(), "link")); err != nil {
		f.Skipf("no symlinks here (on Windows: turn on the developer mode): %v", err)
	}
	f.Fuzz(func(t *testing.T, which uint8, args string) {
		tl := s.tools[int(which)%len(s.tools)]
		if len(args) > 4096 {
			return
		}
		if args, ok := dry(tl, args); ok {
			s.call(t, tl, args)
		}
	})
}

// Values for random arguments, by kind of parameter.
var (
	somePaths = []string{"src/a.py", "src/a.py", "src", "notes/todo.md", "notes/todo.md", "README.md", "made/new.md", "made", "link/secret.txt", "../outside/secret.txt", "link", "id_rsa", "", ".", "/", "base64:Li4v"}
	someTexts = []string{"TODO", "TODO", "alpha", "x", "*", "**/*.py", "T.*(", "", "a\nb\x00c", "SECRET", "1-3", "\U0001f600"}
	someInts  = []any{0, 1, 1, 2, 3, -1, 1e9, "99999999999999999999"}
	someLists = []any{[]any{}, []string{"src/a.py", "link/secret.txt"}, []any{map[string]any{"old_text": "TODO", "new_text": "x"}}, map[string]any{"start": 1, "end": -1}, nil}
)

// randomValue returns a value that usually has the kind of the parameter.
func randomValue(rng *rand.Rand, p *tool.Param) any {
	kind := p.Kind
	if rng.IntN(12) == 0 {
		kind = []tool.Kind{tool.String, tool.Integer, tool.Boolean, tool.Object}[rng.IntN(4)]
	}
	switch kind {
	case tool.String:
		switch {
		case len(p.Enum) > 0 && rng.IntN(8) > 0:
			return p.Enum[rng.IntN(len(p.Enum))]
		case pathParams[p.Name]:
			return somePaths[rng.IntN(len(somePaths))]
		}
		return someTexts[rng.IntN(len(someTexts))]
	case tool.Integer:
		return someInts[rng.IntN(len(someInts))]
	case tool.Boolean:
		return rng.IntN(2) == 0
	}
	return someLists[rng.IntN(len(someLists))]
}

var pathParams = map[string]bool{"path": true, "source": true, "destination": true, "title": true, "note": true, "folder": true}

// randomArgs returns arguments of a tool, occasionally with corrupted bytes.
func randomArgs(rng *rand.Rand, tl *tool.Tool) string {
	object := map[string]any{}
	for i := range tl.Params {
		p := &tl.Params[i]
		if p.Required || rng.IntN(4+i) < 2 {
			object[p.Name] = randomValue(rng, p)
		}
	}
	args, err := json.Marshal(object)
	if err != nil {
		panic(err) // we generated the values, so they can be encoded
	}
	for rng.IntN(6) == 0 {
		args[rng.IntN(len(args))] = byte(rng.IntN(256))
	}
	return string(args)
}

// Random calls of any tool never change or show files outside the workspace. After each
// call that may have changed the workspace, its original files are restored.
func TestRandomTools(t *testing.T) {
	s := newSurrounded(t, code())
	restore(t, s.ws.Dir(), s.outside)
	run := stress.Start(t, "protocol: random calls of every tool", 4000, 400_000)
	answered, changed := 0, 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		tl := s.tools[rng.IntN(len(s.tools))]
		args := randomArgs(rng, tl)
		r := s.call(t, tl, args)
		s.untouched(t, tl, args)
		run.Tried(1)
		if t.Failed() {
			run.Violation(seed, "%s %s", tl.Name, args)
		}
		if !r.IsError {
			answered++
		}
		if !tl.Hints.ReadOnly {
			if !r.IsError {
				changed++
			}
			restore(t, s.ws.Dir(), s.outside)
		}
	}
	t.Logf("%d calls answered without an error, %d of them by tools that change files", answered, changed)
	if answered == 0 || changed == 0 {
		t.Error("no call was answered, or none changed anything")
	}
}

// restore resets a workspace of code to its original files.
func restore(t testing.TB, dir, outside string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range code().files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symlinks here (on Windows: turn on the developer mode): %v", err)
	}
}

// everyTool returns the tools of all profiles, and those for several roots.
func everyTool(t testing.TB, ws *quarry.Workspace) []*tool.Tool {
	var all []*tool.Tool
	for _, name := range profile.Names() {
		all = append(all, tools(t, ws, profile.Options{Profile: name}).Tools()...)
	}
	other := fixture{files: map[string]string{"src/a.py": "TODO\n", "notes/n.md": "[[a]]\n"}, opts: quarry.Options{ReadOnly: true}}.make(t)
	set, err := quarry.Join(quarry.Root{Name: "src", Workspace: ws}, quarry.Root{Name: "other", Workspace: other})
	if err != nil {
		t.Fatal(err)
	}
	return append(all, toolsOf(t, set, profile.Options{}).Tools()...)
}
