package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/zoekt/zoekttest"
)

// TestBackend runs the commands over a server, as a person would.
func TestBackend(t *testing.T) {
	s, err := zoekttest.Start(
		zoekttest.Repo{Name: "app", Commit: "0123456789abcdef", Files: map[string]string{
			"main.go": "package main\n\nfunc main() { hello() }\n", "README.md": "hello there\n", "build.log": "hello\n", ".gitignore": "*.log\n",
		}},
		zoekttest.Repo{Name: "org/lib", Commit: "fedcba9876543210", Files: map[string]string{"lib.go": "func hello() {}\n"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": "package main // edited hello\n", "new.txt": "hello from here\n", ".gitignore": "*.log\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	backend := "--backend=zoekt=" + s.Addr
	const silent = "quarry: no server answered: 127.0.0.1:1 ("
	const advice = "); check the addresses, and that the servers run and can be reached from here\n"
	for _, x := range []struct {
		args []string
		code int
		want string // of stdout, or with an exclamation mark first, in stderr
	}{
		{[]string{"search", backend, "-n", "hello"}, 0, "app/README.md:1:hello there\napp/main.go:3:func main() { hello() }\norg/lib/lib.go:1:func hello() {}\n"},
		{[]string{"search", backend, "-c", "hello", "org"}, 0, "org/lib/lib.go:1\n"},
		{[]string{"search", backend, "hello", "app/main.go"}, 0, "3:func main() { hello() }\n"},
		{[]string{"search", backend, "-l", "hello", "-g", "*.go"}, 0, "app/main.go\norg/lib/lib.go\n"},
		{[]string{"search", backend, "hello", "nowhere"}, 2, "!nowhere: no such file"},
		{[]string{"search", backend, `x" or repo:org`, "app"}, 1, ""},
		{[]string{"search", backend, "--checkout", "app=" + dir, "-n", "hello"}, 0,
			"app/main.go:1:package main // edited hello\napp/new.txt:1:hello from here\norg/lib/lib.go:1:func hello() {}\n"},
		{[]string{"find", backend, "*.go"}, 0, "app/main.go\norg/lib/lib.go\n"},
		{[]string{"find", backend, "--checkout", "app=" + dir}, 0, "app/main.go\napp/new.txt\norg/lib/lib.go\n"},
		{[]string{"read", backend, "--plain", "app/README.md"}, 0, "hello there\n"},
		{[]string{"search", backend, "--root", dir, "hello"}, 2, "!--checkout REPOSITORY=FOLDER"},
		{[]string{"search", "--checkout", "app=" + dir, "hello"}, 2, "!--checkout is for --backend"},
		{[]string{"search", "--backend", s.Addr, "hello"}, 2, "!zoekt=HOST:PORT"},
		{[]string{"search", backend + ",127.0.0.1:1", "-l", "hello", "app"}, 2, "app/README.md\napp/main.go\n"},
		{[]string{"search", backend + ",127.0.0.1:1", "hello", "app"}, 2, "!server 127.0.0.1:1: "},
		{[]string{"search", "--backend=zoekt=127.0.0.1:1", "hello"}, 2, "!" + silent},
		{[]string{"search", "--backend=zoekt=127.0.0.1:1", "hello", "app", "org"}, 2, "!" + silent},
		{[]string{"find", "--backend=zoekt=127.0.0.1:1", "*.go"}, 2, "!" + silent},
		{[]string{"read", "--backend=zoekt=127.0.0.1:1", "app/main.go"}, 2, "!quarry: No server answered: 127.0.0.1:1 ("},
	} {
		got := runQuarry("", x.args...)
		want, inErr := strings.CutPrefix(x.want, "!")
		if got.code != x.code || !inErr && got.out != want || inErr && !strings.Contains(got.err, want) {
			t.Errorf("quarry %q: exit %d, stdout %q, stderr %q; want %d, %q", x.args, got.code, got.out, got.err, x.code, x.want)
		}
		if want == silent && (!strings.HasPrefix(got.err, silent) || !strings.HasSuffix(got.err, advice) || strings.Count(got.err, "\n") != 1) {
			t.Errorf("quarry %q: no single sentence: %q", x.args, got.err)
		}
	}
	odd, err := zoekttest.Start(zoekttest.Repo{Name: "app", Commit: "1", Files: map[string]string{"gen/.gitignore": "*\n", "gen/a.go": "hello\n", "b.go": "hello\n"}})
	if err != nil {
		t.Fatal(err)
	}
	defer odd.Close()
	for _, args := range [][]string{{"search", "-l", "hello"}, {"find", "*.go"}} {
		got := runQuarry("", append(args, "--backend=zoekt="+odd.Addr)...)
		if got.out != "app/b.go\napp/gen/a.go\n" || got.code != 2 || !strings.Contains(got.err, "app/gen/.gitignore: the rules of this ignore file are not known") {
			t.Errorf("quarry %q: %+v", args, got)
		}
	}
	if got := runQuarry("", "search", "-l", "hello", "b.go", "--no-ignore", "--backend=zoekt="+odd.Addr); strings.Contains(got.err, "rules") {
		t.Errorf("where no rule counts: %+v", got)
	}
	for _, x := range []struct{ tool, args, want string }{
		{"search_files", `{"regex":"func hello"}`, "# org/lib/lib.go"},
		{"search_files", `{"regex":"func hello"}`, "remote: org/lib at fedcba987654"},
		{"read_file", `{"path":"org/lib/lib.go"}`, "1: func hello() {}"},
		{"list_files", `{}`, "[folder] org/"},
		{"get_index_status", `{}`, `"freshness": "remote"`},
		{"edit_file", `{"path":"org/lib/lib.go","old_text":"hello","new_text":"x"}`, "not checked out here"},
	} {
		got := runQuarry("", "call", backend, x.tool, x.args)
		if !strings.Contains(got.out+got.err, x.want) {
			t.Errorf("%s %s: %q %q, want %q", x.tool, x.args, got.out, got.err, x.want)
		}
	}
}
