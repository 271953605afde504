package packaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/internal/profile"
	"quarry/tool"
	"quarry/toolset"
)

func readme(t *testing.T) string {
	t.Helper()
	return string(read(t, "../../README.md"))
}

// block returns the first code block below a heading.
func block(t *testing.T, heading, language string) string {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README.md has no heading %s", heading)
	}
	_, text, found = strings.Cut(text, "\n```"+language+"\n")
	text, _, closed := strings.Cut(text, "```\n")
	if !found || !closed {
		t.Fatalf("README.md has no code below %s", heading)
	}
	return text
}

// The section lists tools of the profiles that install may select. All of them exist, and
// docs/PROFILES.md lists the rest.
func TestReadmeTools(t *testing.T) {
	_, text, _ := strings.Cut(readme(t), "\n## Tools\n")
	text, _, _ = strings.Cut(text, "\n## ")
	of := func(profile string) *tool.Registry {
		r, err := toolset.New(nil, &toolset.Options{Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	_, tokens, err := profile.Costs(of("code"), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf("all %d tools", len(tools(t))), fmt.Sprintf("%d tools for a vault", len(of("notes").Tools())),
		fmt.Sprintf("%d,%03d tokens of definitions", tokens/1000, tokens%1000), "the four profiles", "`code`", "`notes`", "`quarry`",
	}
	known := toolset.Profiles()
	if len(known) != 3+4 {
		t.Errorf("README.md counts four other profiles, of %q", known)
	}
	for _, e := range of("code").Tools() {
		want = append(want, "`"+e.Name+"`")
		known = append(known, e.Name)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("README.md doesn't say %s", w)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("README.md names %s, which there is not", m[1])
		}
	}
}

func TestReadmeProgram(t *testing.T) {
	if got, want := block(t, "In Go", "go"), string(read(t, "../../examples/todo/main.go")); got != want {
		t.Errorf("the program in README.md is not examples/todo/main.go:\n%s", got)
	}
}

// The two commands that connect an agent work in an empty folder with only Go in the PATH, and the
// connected server answers. The program is compiled from the checkout, because compiling a copy
// would compile every package again, which takes 40 s of processor time. scripts/bare-room.sh runs
// the first two commands in a clone.
func TestReadmeConnect(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program: run without -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell: run it on Linux or macOS")
	}
	dir, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	program, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go on the path: install Go 1.26")
	}
	if err := os.Symlink(program, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + bin, "HOME=" + home, "GOPROXY=off"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS"} {
		env = append(env, name+"="+strings.TrimSpace(output(t, "../..", "go", "env", name)))
	}
	for line := range strings.Lines(block(t, "Connect an agent", "")) {
		words := strings.Fields(line)
		from := dir
		if words[0] == "go" {
			words[0], from = filepath.Join(bin, "go"), "../.."
			if i := slices.Index(words, "-o"); i > 0 {
				words[i+1] = filepath.Join(dir, words[i+1])
			}
		} else {
			words[0] = filepath.Join(dir, words[0])
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = from, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		t.Logf("$ %s%s", line, out)
	}
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(read(t, filepath.Join(dir, ".mcp.json")), &config); err != nil {
		t.Fatal(err)
	}
	server := config.Servers["quarry"]
	cmd := exec.Command(server.Command, server.Args...)
	cmd.Dir, cmd.Env = dir, env // clients start the server in the project's folder
	cmd.Stdin = strings.NewReader(hello)
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(`"search_files"`)) {
		t.Errorf("%v: %v\n%s", cmd.Args, err, out)
	}
}
