package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/clients"
	"quarry/internal/stress"
)

// A repository can't make mcp install write settings outside of it. The test tries links in place
// of the settings file, of its folder and of a missing file, for all clients.
func TestInstallStaysInProject(t *testing.T) {
	if !stress.CanLink(t) {
		t.Skip("no symlinks here")
	}
	tried := 0
	for i := range clients.All {
		c := &clients.All[i]
		if c.ProjectFile == "" {
			continue
		}
		for _, shape := range []string{"file", "folder", "dangling", "inside"} {
			base := t.TempDir()
			project, victim := filepath.Join(base, "project"), filepath.Join(base, "victim")
			for _, dir := range []string{filepath.Join(project, ".git"), filepath.Join(project, "in"), victim} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(project, filepath.FromSlash(c.ProjectFile))
			there := filepath.Join(victim, filepath.Base(file))
			link, to := file, there
			switch {
			case shape == "file":
				writeFile(t, there, "{}\n")
			case shape == "folder" && filepath.Dir(file) == project:
				continue
			case shape == "folder":
				link, to = filepath.Dir(file), victim
			case shape == "inside":
				to = filepath.Join(project, "in", filepath.Base(file))
				writeFile(t, to, "")
			}
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, link); err != nil {
				t.Skip("no symlinks here:", err)
			}
			tried++
			out, err := program(t, project, "mcp", "install", "--client", c.Name, "--scope", "project", "--root", project, "--write").CombinedOutput()
			if shape == "inside" {
				if data, _ := os.ReadFile(to); err != nil || !strings.Contains(string(data), "quarry") {
					t.Errorf("%s, a link that stays inside: %v: %s", c.Name, err, out)
				}
				continue
			}
			real, _ := filepath.EvalSymlinks(victim)
			if err == nil || !strings.Contains(string(out), "leads out of the project, to "+real) {
				t.Errorf("%s, %s: %v: %s", c.Name, shape, err, out)
			}
			if data, _ := os.ReadFile(there); strings.Contains(string(data), "mcp") {
				t.Errorf("%s, %s: written outside: %s", c.Name, shape, data)
			}
		}
	}
	if tried < 15 {
		t.Errorf("%d cases", tried)
	}
}
