package agents

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/cli/env"
	"quarry/internal/mcpserver"
	"quarry/tool"
)

// Calls are recorded, but without paths denied by the owner, and not at all if recording is turned
// off.
func TestActivity(t *testing.T) {
	for _, c := range []struct {
		name, config string
		keeps        bool
	}{{"by default", "", true}, {"switched off", "[mcp]\nactivity = false\n", false}} {
		dir, root := t.TempDir(), t.TempDir()
		file := filepath.Join(dir, "quarry.toml")
		for name, text := range map[string]string{file: c.config, filepath.Join(root, "a.txt"): "needle\n"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(root, "hush"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "hush", "plan.txt"), []byte("the plan\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := env.Streams{Getenv: own(dir, map[string]string{"QUARRY_CONFIG": file}), Conf: &env.Settings{}}
		f := &mcpFlags{agent: agent{s: s, roots: []string{root}, deny: []string{"hush/**"}, noIndex: true, stays: true}}
		set, err := openTools(f, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, call := range []struct{ tool, args string }{
			{"search_files", `{"query": "needle"}`}, {"read_file", `{"path": "hush/plan.txt"}`}, {"search_files", `{"query": "see hush/plan.txt"}`},
			{"search_by_path", `{"pattern": "hush/*"}`}, {"list_files", `{"path": "./hush"}`}, {"write_file", `{"path": "b.txt", "content": "words of a file"}`},
		} {
			res, err := set.tools.Call(t.Context(), call.tool, json.RawMessage(call.args))
			if err != nil {
				t.Fatalf("%s: %s = %v", c.name, call.tool, err)
			}
			if set.answered != nil {
				set.answered(mcpserver.Answer{Client: tool.Client{Name: "cursor"}, Tool: set.tools.Lookup(call.tool), Arguments: json.RawMessage(call.args), Began: time.Now(), Bytes: len(res.Text)})
			}
		}
		if err := set.close(); err != nil {
			t.Fatal(err)
		}
		kept := ""
		err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".calls") {
				data, err := os.ReadFile(p)
				kept += string(data)
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !c.keeps && (kept != "" || set.answered != nil):
			t.Errorf("%s: %q", c.name, kept)
		case c.keeps && (!strings.Contains(kept, "needle") || strings.Count(kept, "\n") != 6):
			t.Errorf("%s: %q", c.name, kept)
		case strings.Contains(kept, "hush") || strings.Contains(kept, "plan") || strings.Contains(kept, "words"):
			t.Errorf("%s: something closed is named: %q", c.name, kept)
		}
	}
}
