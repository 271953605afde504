package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/script/workertest"
	"quarry/internal/stress"
	"quarry/tool"
)

// scripts makes the tools of quarry with look and change.
func scripts(t testing.TB, ws *quarry.Workspace) *tool.Registry {
	t.Helper()
	names := []string{"look", "change"}
	for _, other := range tools(t, ws, profile.Options{}).Tools() {
		names = append(names, other.Name)
	}
	return tools(t, ws, profile.Options{Tools: names, Worker: workertest.Command(t)})
}

// run runs a script with look or change.
func run(t testing.TB, r *tool.Registry, name, script string) *tool.Result {
	t.Helper()
	data, err := json.Marshal(map[string]string{"script": script})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, r, name, string(data))
}

// Scripts are there only if they are named and can be run.
func TestScriptToolsAreAskedFor(t *testing.T) {
	ws := code().make(t)
	if tools(t, ws, profile.Options{Worker: workertest.Command(t)}).Lookup("look") != nil {
		t.Error("quarry has look without being asked for it")
	}
	if _, err := profile.New(ws, &profile.Options{Tools: []string{"look"}}); err == nil {
		t.Error("look is there without a worker")
	}
	r := tools(t, ws, profile.Options{Tools: []string{"look", "change", "read_file"}, Worker: workertest.Command(t), ReadOnly: true})
	if r.Lookup("look") == nil || r.Lookup("change") != nil {
		t.Error("a read-only server has look and not change")
	}
	// The whole API in at most 700 tokens.
	about := len(scripts(t, ws).Lookup("look").Description) + len(scripts(t, ws).Lookup("change").Description)
	if about > 4*700 {
		t.Errorf("the descriptions have %d tokens, more than 700", about/4)
	}
}

func TestLook(t *testing.T) {
	r := scripts(t, code().make(t))
	for _, c := range []struct{ name, script, want string }{
		{"hits are grouped", `show(search("TODO", path="src"))`, "# src/a.py\n2 | TODO: one\n6 | TODO: two\n# src/crlf.txt\n1 | TODO\n# src/sub/latin.md\n1 | café TODO"},
		{"fields", "for h in search(\"TODO\", glob=\"*.py\"): print(h.path, h.line, h[\"text\"])", "src/a.py 2 TODO: one\nsrc/a.py 6 TODO: two"},
		{"a definition in full", `show(definition("calculateTotal"))`, "## src/calc.js:1-3 calculateTotal\n1 | async function calculateTotal(items) {\n2 |   return items.length;\n3 | }"},
		{"symbols", `show(symbols(path="src/calc.js"))`, "# src/calc.js\n1-3 async function calculateTotal(items)\n5 function other() {}"},
		{"text", `print(read("src/a.py", 2, 3))`, "TODO: one\nbeta\n"},
		{"numbered", `show(lines("src/a.py", 2, 3))`, "# src/a.py\n2 | TODO: one\n3 | beta"},
		{"paths", `print(files("*.md"))`, `["README.md", "notes/todo.md", "src/sub/latin.md"]`},
		{"exclude", `print(files("*.md", exclude="notes/*"))`, `["README.md", "src/sub/latin.md"]`},
		{"a hit stands for its path", `print(len(read(search("gamma")[0])))`, "43"},
		{"other spellings", `print(len(search(regex="todo", i=True, file_pattern="*.py")), len(rank("total", top_k=1)))`, "2 1"},
		{"findall", `print(findall("(\\w+): (\\w+)", "a: b, c: d"), findall("\\d+", "1 22"))`, `[["a", "b"], ["c", "d"]] ["1", "22"]`},
		{"a long line around its match", `print(search("needle")[0].text[:60])`, "…" + strings.Repeat("x", 49) + " needle "},
		{"nothing", `show(search("nowhere to be found"))`, "none"},
		{"while and sets", "i = 0\nwhile i < 3: i += 1\nprint(i, len(set([1, 1])))", "3 1"},
	} {
		res := run(t, r, "look", c.script)
		text, _, _ := strings.Cut(res.Text, "\n[")
		if res.IsError || text != strings.TrimSuffix(c.want, "\n") && strings.TrimSpace(text) != strings.TrimSpace(c.want) {
			t.Errorf("%s: %s\n got %q\nwant %q", c.name, c.script, res.Text, c.want)
		}
	}
	// What was not searched is said once, at the end.
	if res := run(t, r, "look", `search("TODO"); search("x"); print(1)`); !strings.HasSuffix(res.Text, "\n[not searched: 1 protected: id_rsa]") {
		t.Errorf("receipt: %q", res.Text)
	}
}

func TestChangeByScript(t *testing.T) {
	ws := code().make(t)
	r := scripts(t, ws)
	res := run(t, r, "change", `
n = sub("TODO", "DONE", glob="*.py")
print(n, len(search("TODO", path="src/a.py")), len(search("DONE")))
replace("src/calc.js", "items", "list", count=1, within="calculateTotal") if False else None
replace("src/calc.js", "items.length", "items.size")
insert("src/a.py", "omega", after=0)
write("src/new.py", "def fresh():\n    pass\n")
print(definition("fresh").path, read("src/a.py", 1, 1))
move("notes/todo.md", "notes/done.md")
delete("empty.txt")
`)
	want := "2 0 2\nsrc/new.py omega\n\nChanged 5 files:"
	if res.IsError || !strings.HasPrefix(res.Text, want) || !strings.Contains(res.Text, "[change ") {
		t.Fatalf("got %q, want it to begin with %q", res.Text, want)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(ws.Dir(), filepath.FromSlash(name)))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	if got := read("src/a.py"); got != "omega\nalpha\nDONE: one\nbeta\ngamma\ndelta\nDONE: two\n" {
		t.Errorf("src/a.py is %q", got)
	}
	if got := read("notes/done.md"); got != "- [ ] milk\n- [ ] bread\n- [ ] eggs\n" {
		t.Errorf("notes/done.md is %q", got)
	}
	// One undo for all of it.
	if res := call(t, r, "undo_change", `{}`); res.IsError {
		t.Fatal(res.Text)
	}
	for name, text := range code().files {
		if got := read(name); got != text {
			t.Errorf("after undo %s is %q, want %q", name, got, text)
		}
	}
	if _, err := os.Stat(filepath.Join(ws.Dir(), "src", "new.py")); err == nil {
		t.Error("src/new.py is still there after undo")
	}
	// A dry run changes nothing.
	if res := call(t, r, "change", `{"script":"sub(\"TODO\", \"DONE\")","dry_run":true}`); !strings.HasPrefix(res.Text, "Dry run, nothing was changed. 4 files would change:") || read("README.md") != code().files["README.md"] {
		t.Errorf("dry run: %q", res.Text)
	}
}

// Every bad script ends in time and in bounds, with a sentence that helps, and
// nothing is changed.
func TestBadScripts(t *testing.T) {
	f := code()
	f.files["big.txt"] = strings.Repeat("hit and hit again\n", 120_000)
	f.opts.Deny = []string{"src/sub/deep.ts"}
	ws := f.make(t)
	r := scripts(t, ws)
	const touch = "sub(\"alpha\", \"CHANGED\", path=\"src/a.py\")\n"
	for i, c := range []struct{ name, script, want string }{
		{"an endless loop", touch + "while True: pass", "steps"},
		{"strings that double", touch + "s = \"ab\"\nfor i in range(60): s += s", "memory"},
		{"lists that double", touch + "l = [1]\nfor i in range(60): l += l", "memory"},
		{"a huge list at once", touch + "l = [0] * (1 << 30)", "excessive repeat"},
		{"a huge string at once", touch + "s = \"a\" * (1 << 30)\nt = s + s", "excessive repeat"},
		{"a large list, grown", touch + "l = [0] * (1 << 24)\nm = [l + l for i in range(9)]", "memory"},
		{"recursion", touch + "def f(n): return f(n + 1)\nf(0)", "recursion"},
		{"a path outside", touch + "read(\"../../etc/passwd\")", "outside the workspace"},
		{"an absolute path outside", touch + "write(\"/tmp/x\", \"y\")", "outside the workspace"},
		{"a denied file", touch + "read(\"src/sub/deep.ts\")", "denied"},
		{"a secret", touch + "print(read(\"id_rsa\"))", "enied"},
		{"a protected folder", touch + "write(\".git/config\", \"x\")", "rotected"},
		{"an error after a change", touch + "fail(\"no\")", "no"},
		{"a text that is not there", touch + "replace(\"src/a.py\", \"zeta\", \"x\")", "is not in src/a.py"},
		{"an import", touch + "import re", "Nothing is imported"},
		{"an f-string", touch + "print(f\"{1}\")", "no f-strings"},
		{"try", touch + "try:\n  x = 1\nexcept: pass", "There is no try"},
		{"with open", touch + "with open(\"x\") as f: pass", "read(path)"},
		{"an unknown name", touch + "grep(\"x\")", "Use search("},
		{"a near name", touch + "serch(\"x\")", "Did you mean search?"},
		{"a wrong parameter", touch + "search(\"x\", globb=\"*.py\")", "did you mean glob?"},
		{"a missing one", touch + "replace(\"src/a.py\", \"x\")", "needs new"},
		{"a wrong type", touch + "read(\"src/a.py\", \"one\")", "is a number"},
		{"a bad pattern", touch + "search(\"(\")", "unclosed group"},
		{"too many calls", touch + "for i in range(100000): files(\"nothing\", limit=1)", "functions"},
		{"nothing", "", "script"},
		{"not Starlark", touch + "ls -la | grep x", "line 2"},
		{"a field that is not there", touch + "print(search(\"alpha\")[0].lines)", "lines"},
		{"deep nesting", touch + "x = " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000), ""},
		{"10 MB", "x = \"" + strings.Repeat("a", 10<<20) + "\"", "MB"},
	} {
		if testing.Short() && (i < 3 || c.name == "too many calls") {
			continue // 10 seconds of processor time
		}
		start := time.Now()
		res := run(t, r, "change", c.script)
		took := time.Since(start)
		if !res.IsError || !strings.Contains(res.Text, c.want) {
			t.Errorf("%s: %q, want an error with %q", c.name, res.Text, c.want)
		}
		if took > 40*time.Second {
			t.Errorf("%s took %s", c.name, took)
		}
		if c.name == "an endless loop" && strings.Contains(res.Text, "line ") {
			t.Errorf("%s: not known in which line: %q", c.name, res.Text)
		}
		if len(res.Text) > 5000 {
			t.Errorf("%s: the error has %d bytes", c.name, len(res.Text))
		}
		if data, err := os.ReadFile(filepath.Join(ws.Dir(), "src", "a.py")); err != nil || string(data) != f.files["src/a.py"] {
			t.Fatalf("%s changed src/a.py: %q, %v", c.name, data, err)
		}
	}
	// 100,000 hits printed: the answer is cut, and says so.
	res := run(t, r, "look", `show(search("hit", path="big.txt", limit=100000))`)
	if res.IsError || len(res.Text) > 20<<10 || !strings.Contains(res.Text, "cut after") {
		t.Errorf("100,000 hits: error %v, %d bytes, %q", res.IsError, len(res.Text), res.Text[max(0, len(res.Text)-200):])
	}
	// The next script works: the worker was started anew.
	if res := run(t, r, "look", `print(len(files()))`); res.IsError {
		t.Error(res.Text)
	}
}

// A file that changes while the script runs is a conflict.
func TestFileChangesUnderScript(t *testing.T) {
	ws := code().make(t)
	r := scripts(t, ws)
	res := run(t, r, "look", `print(1)`)
	if res.IsError {
		t.Fatal(res.Text)
	}
	searches := 3000
	if stress.UnderWine() {
		searches = 100 // where each takes thirty times as long
	}
	done := make(chan *tool.Result)
	go func() {
		done <- run(t, r, "change", fmt.Sprintf(`
x = read("README.md")
for i in range(%d): files("nothing", limit=1)
replace("src/a.py", "alpha", "omega")`, searches))
	}()
	for i := 0; ; i++ { // until the script is over
		select {
		case res := <-done:
			if !res.IsError || !strings.Contains(res.Text, "CONFLICT") {
				t.Errorf("README.md changed %d times while the script ran: %q", i, res.Text)
			}
			if data, _ := os.ReadFile(filepath.Join(ws.Dir(), "src", "a.py")); !strings.HasPrefix(string(data), "alpha") {
				t.Errorf("src/a.py was changed: %q", data)
			}
			return
		default:
			next := filepath.Join(t.TempDir(), "next") // a new file each time, never half written
			if err := os.WriteFile(next, fmt.Appendf(nil, "number %d\n", i), 0o644); err != nil {
				t.Fatal(err)
			}
			// Windows refuses this while somebody has the file open.
			if err := os.Rename(next, filepath.Join(ws.Dir(), "README.md")); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
		}
	}
}
