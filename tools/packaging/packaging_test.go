// Package packaging_test checks that the shipped files agree with the program: the manifests, the
// image and the release configuration name existing tools, flags and builds.
package packaging_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"quarry/internal/cli"
	"quarry/internal/stress"
)

var update = flag.Bool("update", false, "write the tools into manifest.json anew")

type toolEntry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// tools returns the tools of the default profile, as listed by the program.
func tools(t *testing.T) []toolEntry {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), []string{"--no-config", "tools", "--json"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("quarry tools --json: exit code %d\n%s", code, &errs)
	}
	var list []toolEntry
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

type manifest struct {
	ManifestVersion string `json:"manifest_version"`
	Name, Version   string
	Description     string
	Author          struct{ Name string }
	Server          struct {
		Type       string
		EntryPoint string `json:"entry_point"`
		Config     struct {
			Command   string
			Args      []string
			Overrides map[string]struct{ Command string } `json:"platform_overrides"`
		} `json:"mcp_config"`
	}
	Compatibility struct{ Platforms []string }
	UserConfig    map[string]struct {
		Type, Title, Description string
		Multiple, Required       bool
		Default                  any
	} `json:"user_config"`
	Tools []toolEntry
}

func readManifest(t *testing.T) (m manifest, data []byte) {
	t.Helper()
	data, err := os.ReadFile("mcpb/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m, data
}

func TestManifestTools(t *testing.T) {
	want := tools(t)
	m, data := readManifest(t)
	if *update {
		list, err := json.MarshalIndent(want, "  ", "  ")
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(data, []byte(`"tools": [`))
		if at < 0 {
			t.Fatal("manifest.json has no tools")
		}
		data = append(data[:at], []byte(`"tools": `+string(list)+"\n}\n")...)
		if err := os.WriteFile("mcpb/manifest.json", data, 0o644); err != nil {
			t.Fatal(err)
		}
		m, _ = readManifest(t)
	}
	if diff := cmp.Diff(want, m.Tools); diff != "" {
		t.Errorf("tools of manifest.json (-program +manifest); go test -C tools ./packaging -update writes them:\n%s", diff)
	}
}

func TestManifest(t *testing.T) {
	m, _ := readManifest(t)
	for field, have := range map[string]string{
		"manifest_version": m.ManifestVersion, "name": m.Name, "version": m.Version, "description": m.Description,
		"author.name": m.Author.Name, "server.entry_point": m.Server.EntryPoint,
	} {
		if have == "" {
			t.Errorf("manifest.json: %s is missing", field)
		}
	}
	if m.Server.Type != "binary" {
		t.Errorf("server.type is %q", m.Server.Type)
	}
	commands := []string{m.Server.Config.Command}
	for _, o := range m.Server.Config.Overrides {
		commands = append(commands, o.Command)
	}
	// These are the program names that packaging/bundle uses.
	slices.Sort(commands)
	if diff := cmp.Diff([]string{"${__dirname}/server/quarry-darwin", "${__dirname}/server/quarry-linux", "${__dirname}/server/quarry.exe"}, commands); diff != "" {
		t.Errorf("commands:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"darwin", "linux", "win32"}, slices.Sorted(slices.Values(m.Compatibility.Platforms))); diff != "" {
		t.Errorf("platforms:\n%s", diff)
	}
	used := map[string]bool{}
	for _, a := range m.Server.Config.Args {
		for _, found := range userConfig.FindAllStringSubmatch(a, -1) {
			used[found[1]] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(m.UserConfig)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("user_config declared and used:\n%s", diff)
	}
	for name, c := range m.UserConfig {
		if c.Type == "" || c.Title == "" || c.Description == "" {
			t.Errorf("user_config.%s lacks type, title or description", name)
		}
	}
}

var userConfig = regexp.MustCompile(`\$\{user_config\.(\w+)\}`)

// The arguments that a desktop client passes start a server with the tools in the manifest. The
// test uses one folder and several, with various names.
func TestManifestStarts(t *testing.T) {
	m, _ := readManifest(t)
	var all []string
	for _, e := range m.Tools {
		all = append(all, e.Name)
	}
	slices.Sort(all)
	for _, c := range []struct {
		name     string
		folders  []string
		readOnly string
	}{
		{"one folder", []string{"My Notes"}, "false"},
		{"two folders", []string{"app", "api"}, "false"},
		{"folders with spaces", []string{"My Notes", "Büro (alt)"}, "false"},
		{"read only", []string{"app"}, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			var dirs []string
			for _, f := range c.folders {
				dirs = append(dirs, filepath.Join(top, f))
				if err := os.Mkdir(filepath.Join(top, f), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var args []string
			for _, a := range m.Server.Config.Args {
				if a == "${user_config.folders}" { // several values become several arguments
					args = append(args, dirs...)
					continue
				}
				args = append(args, strings.ReplaceAll(a, "${user_config.read_only}", c.readOnly))
			}
			got := listTools(t, args)
			if c.readOnly == "true" {
				if !slices.Contains(got, "search_files") || slices.Contains(got, "edit_file") {
					t.Errorf("read only has %v", got)
				}
				return
			}
			if diff := cmp.Diff(all, got); diff != "" {
				t.Errorf("tools (-manifest +server):\n%s", diff)
			}
		})
	}
}

// hello holds the requests that initialize a session and list the tools.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// listTools starts a server with args and returns the sorted names of its tools.
func listTools(t *testing.T, args []string) []string {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{
		"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home,
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, client := io.Pipe()
	server, out := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := cli.Run(ctx, args, cli.Streams{In: in, Out: out, Err: &errs, Getenv: func(n string) string { return env[n] }})
		out.Close()
		in.Close()
		ended <- code
	}()
	go io.WriteString(client, hello)
	var names []string
	lines := bufio.NewScanner(server)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct{ Tools []toolEntry }
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if answer.ID == 2 {
			for _, e := range answer.Result.Tools {
				names = append(names, e.Name)
			}
			break
		}
	}
	slices.Sort(names)
	client.Close()
	go io.Copy(io.Discard, server)
	if code := <-ended; code != 0 || names == nil {
		t.Fatalf("quarry %s: exit code %d, tools %v\n%s", strings.Join(args, " "), code, names, &errs)
	}
	return names
}

type serverJSON struct {
	Schema                     string `json:"$schema"`
	Name, Description, Version string
	Packages                   []struct {
		RegistryType, Identifier string
		Transport                struct{ Type string }
		PackageArguments         []argument
	}
}

type argument struct{ Type, Name, Value, Format string }

func TestServerJSON(t *testing.T) {
	data, err := os.ReadFile("server.json")
	if err != nil {
		t.Fatal(err)
	}
	var s serverJSON
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(s.Schema, "/2025-12-11/server.schema.json") {
		t.Errorf("$schema is %s", s.Schema)
	}
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(s.Name) {
		t.Errorf("name %q is not of the form the registry takes", s.Name)
	}
	if n := len(s.Description); n == 0 || n > 100 {
		t.Errorf("the description has %d characters; the registry takes 1 to 100", n)
	}
	m, _ := readManifest(t)
	if s.Version != m.Version || s.Description != m.Description {
		t.Error("server.json and manifest.json differ in version or description")
	}
	if len(s.Packages) == 0 {
		t.Fatal("there are no packages")
	}
	for _, p := range s.Packages {
		if p.Transport.Type != "stdio" || p.Identifier == "" {
			t.Errorf("package %+v", p)
		}
		// VS Code passes a named argument as two words; other clients pass name=value. If a flag
		// had no value, the second word would be taken for a folder.
		for _, words := range []bool{false, true} {
			dir := t.TempDir()
			var args []string
			for _, a := range p.PackageArguments {
				value := a.Value
				if a.Format == "filepath" || value == "/work" {
					value = dir
				}
				switch {
				case a.Type == "named" && words:
					args = append(args, a.Name, value)
				case a.Type == "named":
					args = append(args, a.Name+"="+value)
				default:
					args = append(args, value)
				}
			}
			got := listTools(t, args)
			if readOnly := !slices.Contains(got, "edit_file"); readOnly != (p.RegistryType == "oci") {
				t.Errorf("%s: %v gives %v", p.RegistryType, args, got)
			}
		}
	}
}

// The image runs as any user, and its server changes nothing. The image with a release's programs
// has the same final stage as the image built from source.
func TestDockerfile(t *testing.T) {
	last := lastStage(t, "../../Dockerfile")
	ofRelease := lastStage(t, "image/Dockerfile")
	for _, want := range []string{`ENTRYPOINT ["/quarry"]`, "USER nonroot", "distroless/static", "ENV XDG_STATE_HOME=/state XDG_CACHE_HOME=/state XDG_DATA_HOME=/state"} {
		if !strings.Contains(last, want) || !strings.Contains(ofRelease, want) {
			t.Errorf("an image lacks %s", want)
		}
	}
	_, ofSource, _ := strings.Cut(last, "USER ")
	if _, end, _ := strings.Cut(ofRelease, "USER "); end != ofSource {
		t.Errorf("the two images start differently:\n%s\n%s", ofSource, end)
	}
	_, cmd, found := strings.Cut(last, "\nCMD ")
	var args []string
	if !found || json.Unmarshal([]byte(cmd), &args) != nil {
		t.Fatalf("no CMD in\n%s", last)
	}
	for i, a := range args {
		if a == "/work" {
			args[i] = t.TempDir()
		}
	}
	if got := listTools(t, args); slices.Contains(got, "edit_file") || !slices.Contains(got, "search_files") {
		t.Errorf("the image's server has %v", got)
	}
}

func lastStage(t *testing.T, file string) string {
	t.Helper()
	stages := strings.Split(string(read(t, file)), "\nFROM ")
	return stages[len(stages)-1]
}

// release holds the relevant parts of .goreleaser.yaml.
type release struct {
	Version int
	Builds  []struct {
		Main         string
		Env          []string
		Goos, Goarch []string
		Flags        []string
		Ldflags      string
		ModTimestamp string `yaml:"mod_timestamp"`
	}
	Archives []struct{ Files []struct{ Src string } }
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
	Sboms  []struct{ Artifacts string }
	Before struct{ Hooks []string }
}

func readRelease(t *testing.T) release {
	t.Helper()
	data, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != 2 || len(r.Builds) != 1 {
		t.Fatalf("version %d, %d builds", r.Version, len(r.Builds))
	}
	return r
}

func TestRelease(t *testing.T) {
	r := readRelease(t)
	b := r.Builds[0]
	if !slices.Equal(b.Goos, []string{"linux", "darwin", "windows"}) || !slices.Equal(b.Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("targets: %v × %v", b.Goos, b.Goarch)
	}
	if !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || b.ModTimestamp != "{{ .CommitTimestamp }}" || r.Checksum.NameTemplate == "" || len(r.Sboms) == 0 {
		t.Error("the release lacks CGO_ENABLED=0, a fixed time, checksums or an SBOM")
	}
	// Releases are compiled in three places, which must use the same flags.
	for file, version := range map[string]string{"../../Dockerfile": "$VERSION", "bundle/main.go": `" + version`} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		ld := strings.TrimSuffix(strings.ReplaceAll(b.Ldflags, "{{ .Version }}", version), " + version")
		if !strings.Contains(text, ld) {
			t.Errorf("%s has other linker flags than %q", file, b.Ldflags)
		}
		for _, f := range b.Flags {
			if !strings.Contains(text, f) {
				t.Errorf("%s lacks %s", file, f)
			}
		}
	}
	// Files for the archives must exist in the tree, except those that the hooks create.
	for _, f := range r.Archives[0].Files {
		if strings.HasPrefix(f.Src, "bin/release/") {
			continue
		}
		if found, err := filepath.Glob(filepath.Join("../..", f.Src)); err != nil || len(found) == 0 {
			t.Errorf("the archives want %s, which there is not", f.Src)
		}
	}
	for _, h := range r.Before.Hooks {
		if _, shell, ok := strings.Cut(h, "completion "); ok {
			shell, _, _ = strings.Cut(shell, " ")
			var out, errs bytes.Buffer
			if code := cli.Run(t.Context(), []string{"completion", shell}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 || out.Len() == 0 {
				t.Errorf("completion %s: exit code %d %s", shell, code, &errs)
			}
		}
	}
}

// maxBinary limits the size of a stripped program, in bytes. The size was 15 MB before the page
// with its syntax colours, symbols, change sets and notes: 21.3 MB. Scripts, PCRE2's syntax and
// quarry fd increased it to 22.6 MB. Values by path, structural search, renames, and the page's
// rules and activity, without new dependencies, increased it to 24.1 MB. The type checker of Go's
// standard library, which makes renames reliable, added 1.4 MB: 25.9 MB.
const maxBinary = 26_200_000

// With the documented flags, builds in different folders give the same bytes, and the version is
// stamped; without them the version comes from git. Because only releases use these flags, this
// test has to compile every package. So only scripts/release-check.sh runs it; TestRelease checks
// the flags themselves.
func TestReproducible(t *testing.T) {
	if !stress.Thorough() {
		t.Skip("compiles the program anew: run make release-check, or set STRESS=short")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	b := readRelease(t).Builds[0]
	flags := append(slices.Clone(b.Flags), "-ldflags", strings.ReplaceAll(b.Ldflags, "{{ .Version }}", "1.2.3"))
	one, two := copySource(t, "one"), copySource(t, "elsewhere/two")
	first, second := compile(t, one, flags...), compile(t, two, flags...)
	if !bytes.Equal(read(t, first), read(t, second)) {
		t.Error("two builds of the same source differ")
	}
	if n := len(read(t, first)); n > maxBinary {
		t.Errorf("the program has %d bytes, more than %d", n, maxBinary)
	} else {
		t.Logf("%.1f MiB", float64(n)/(1<<20))
	}
	if got := output(t, one, first, "--version"); got != "quarry v1.2.3\n" {
		t.Errorf("a stamped build says %q", got)
	}

	if _, err := os.Lstat(filepath.Join(one, ".git")); err == nil {
		t.Fatal("the copy has a .git: its commits would go to the original")
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "all"},
		{"tag", "v0.4.5"},
	} {
		output(t, one, "git", args...)
	}
	if got := output(t, one, compile(t, one, "-trimpath", "-buildvcs=true"), "--version"); got != "quarry v0.4.5\n" {
		t.Errorf("a build at the tag v0.4.5 says %q", got)
	}
}

// copySource copies the files that are needed to compile the program.
func copySource(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); rel != "." && (strings.HasPrefix(n, ".") || n == "testdata" || n == "bin" || n == "dist") {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		}
		// In a worktree .git is a file. If it were copied, git would commit to the original.
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func compile(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quarry.exe")
	args := append([]string{"build", "-o", file}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/quarry")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return file
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, &errs)
	}
	return string(out)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
