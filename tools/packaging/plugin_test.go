package packaging_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry/internal/cli"
)

// The plugin names only existing tools, its skill is the output of quarry agents-md, its manifests
// agree, and its entries start a server.
func TestPlugin(t *testing.T) {
	skill := string(read(t, "plugin/skills/quarry/SKILL.md"))
	front, body, found := strings.Cut(strings.TrimPrefix(skill, "---\n"), "\n---\n\n")
	if !found || !strings.HasPrefix(front, "name: quarry\ndescription: ") {
		t.Fatalf("SKILL.md begins with %q", front)
	}
	if want := string(read(t, "../../internal/cli/agents/guides/code.md")); body != want {
		t.Errorf("the skill is not what quarry agents-md prints:\n%s", body)
	}
	if n := len(strings.Fields(body)); n < 100 || n > 400 {
		t.Errorf("the skill has %d words", n)
	}
	var names []string
	for _, e := range tools(t) {
		names = append(names, e.Name)
	}
	var definitions bytes.Buffer
	cli.Run(t.Context(), []string{"--no-config", "tools", "--profile", "code", "--json"}, cli.Streams{In: strings.NewReader(""), Out: &definitions, Err: &definitions})
	named := 0
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(body, -1) {
		switch {
		case slices.Contains(names, m[1]):
			named++
		case m[1] != "quarry" && !strings.Contains(definitions.String(), `"`+m[1]+`":`):
			t.Errorf("the skill names %s, which is neither a tool nor a parameter", m[1])
		}
	}
	if named < 7 {
		t.Errorf("the skill names only %d tools", named)
	}

	m, _ := readManifest(t)
	// Clients install the plugin from the repository and compare the version there with their own.
	// So the committed version must be the latest release's.
	release := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindSubmatch(read(t, "../../CHANGELOG.md"))
	if release == nil {
		t.Fatal("CHANGELOG.md has no release")
	}
	for _, client := range []string{"claude", "codex", "cursor"} {
		var p struct {
			Name, Version, Description, Skills, MCPServers string
		}
		if err := json.Unmarshal(read(t, "plugin/."+client+"-plugin/plugin.json"), &p); err != nil {
			t.Fatal(err)
		}
		if p.Name != "quarry" || p.Version != string(release[1]) || p.Description != m.Description {
			t.Errorf("%s: %+v differs from the bundle's manifest or is not of release %s", client, p, release[1])
		}
		for _, path := range []string{p.Skills, p.MCPServers} {
			if _, err := os.Stat(filepath.Join("plugin", path)); err != nil {
				t.Errorf("%s: %v", client, err)
			}
		}
	}
	started := 0
	for _, file := range []string{".mcp.json", "mcp.json"} {
		var settings struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal(read(t, "plugin/"+file), &settings); err != nil {
			t.Fatal(err)
		}
		entry := settings.Servers["quarry"]
		for i, a := range entry.Args {
			entry.Args[i] = strings.ReplaceAll(a, "${workspaceFolder}", t.TempDir())
		}
		if file == ".mcp.json" { // clients start it in the project's folder
			entry.Args = append(entry.Args, "--root", t.TempDir())
		}
		if got := listTools(t, entry.Args); entry.Command != "quarry" || !slices.Contains(got, "edit_file") {
			t.Errorf("%s: %+v gives %v", file, entry, got)
		}
		started++
	}
	t.Logf("%d tools named, %d entries started", named, started)
}
