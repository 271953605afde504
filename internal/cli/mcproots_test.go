package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server started without --root only changes files in a client's own folders. With --root it
// changes files wherever the client works, because its owner chose the root.
func TestClientRoots(t *testing.T) {
	for _, c := range []struct {
		name, root string // the client's folder, relative to the parent of the workspace
		flags      []string
		want       string
	}{
		{"the workspace", "work", nil, "Replaced 1 occurrence"},
		{"a folder in it", "work/sub", nil, "Replaced 1 occurrence"},
		{"the folder above", ".", nil, "Replaced 1 occurrence"},
		{"another project", "other", nil, "this server changes files of"},
		{"a project in it", "work/nested", nil, "this server changes files of"},
		{"another one, and a root", "other", []string{"--root", "."}, "Replaced 1 occurrence"},
		{"it does not say", "", nil, "Replaced 1 occurrence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			writeTree(t, top, map[string]string{"work/go.mod": "module x\n", "work/a.txt": "one\n", "work/sub/b.txt": "", "work/nested/go.mod": "module y\n", "other/go.mod": "module z\n"})
			client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
			if c.root != "" {
				//lint:ignore SA1019 clients of older protocols have roots
				client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(filepath.Join(top, c.root))})
			}
			cmd := program(t, filepath.Join(top, "work"), append([]string{"mcp"}, c.flags...)...)
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "edit_file", Arguments: map[string]any{"path": "a.txt", "old_text": "one", "new_text": "two"}})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			data, _ := os.ReadFile(filepath.Join(top, "work", "a.txt"))
			if changed := string(data) == "two\n"; !strings.Contains(text, c.want) || changed == res.IsError {
				t.Errorf("%s\n%q", text, data)
			}
		})
	}
}
