package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/activity"
	"quarry/internal/cli/env"
)

// failing lists tool calls with the error codes expected in the profiles quarry and vault.
var failing = []struct {
	tool, args string
	code       fault.Code
}{
	{"read_file", `{"path":"missing.md"}`, fault.NotFound},
	{"read_file", `{"path":"../out.md"}`, fault.OutsideRoot},
	{"read_file", `{"path":".git/config"}`, fault.ProtectedPath},
	{"read_file", `{"path":"id_rsa"}`, fault.ProtectedPath},
	{"read_file", `{"path":"blob.bin"}`, fault.NotText},
	{"read_file", `{"path":"a.md","start_line":9}`, fault.InvalidArgument},
	{"read_file", `{"path":"a.md","start_line":"x"}`, fault.InvalidArgument},
	{"read_file", `{}`, fault.InvalidArgument},
	{"edit_file", `{"path":"a.md","old_text":"nowhere","new_text":"x"}`, fault.NotFound},
	{"edit_file", `{"path":"missing.md","old_text":"a","new_text":"b"}`, fault.NotFound},
	{"edit_file", `{"path":".obsidian/app.json","old_text":"a","new_text":"b"}`, fault.ProtectedPath},
	{"edit_file", `{"path":"a.md","operation":"explode"}`, fault.InvalidArgument},
	{"write_file", `{"path":".git/hooks/x","content":"x"}`, fault.ProtectedPath},
	{"move_file", `{"source":"a.md","destination":"b.md"}`, fault.AlreadyExists},
	{"move_file", `{"source":"missing.md","destination":"c.md"}`, fault.NotFound},
	{"delete_file", `{"path":"missing.md"}`, fault.NotFound},
	{"delete_file", `{"path":"../../out.md"}`, fault.OutsideRoot},
	{"create_folder", `{"path":"."}`, fault.InvalidArgument},
	{"search_files", `{"pattern":"("}`, fault.InvalidPattern},
	{"get_file_info", `{"path":"missing.md"}`, fault.NotFound},
}

// An error has the same code in the text of the profile quarry, in the structure of --structured,
// and in each server's recorded activity. This includes servers with the profile vault, whose texts
// have no codes.
func TestErrorCodes(t *testing.T) {
	for _, c := range []struct {
		name, profile string
		structured    bool
	}{{"text", "quarry", false}, {"structured", "quarry", true}, {"vault", "vault", false}} {
		t.Run(c.name, func(t *testing.T) {
			dir, root := t.TempDir(), t.TempDir()
			for name, text := range map[string]string{"a.md": "one\n", "b.md": "two\n", "blob.bin": "a\x00b", "id_rsa": "secret\n"} {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(root, ".obsidian"), 0o755); err != nil {
				t.Fatal(err)
			}
			in := new(bytes.Buffer)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1000,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codes","version":"1"}}}`)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for i, call := range failing {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", i, call.tool, call.args)
			}
			var out, errs bytes.Buffer
			s := env.Streams{In: in, Out: &out, Err: &errs, Getenv: own(dir, nil), Conf: &env.Settings{}}
			f := &mcpFlags{agent: agent{s: s, roots: []string{root}, profile: c.profile, noIndex: true, stays: true, data: c.structured}}
			if err := f.run(t.Context(), s); err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			answered := 0
			for line := range strings.Lines(out.String()) {
				var m struct {
					ID     int
					Result struct {
						IsError           bool
						Content           []struct{ Text string }
						StructuredContent struct{ Error struct{ Code fault.Code } }
					}
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil || m.ID >= len(failing) {
					continue
				}
				answered++
				call, text := failing[m.ID], ""
				if len(m.Result.Content) > 0 {
					text = m.Result.Content[0].Text
				}
				code := call.code
				switch {
				case c.structured:
					code = m.Result.StructuredContent.Error.Code
				case c.profile == "quarry":
					code = fault.Code(strings.TrimSuffix(text[strings.LastIndexByte(text, '[')+1:], "]"))
				}
				if !m.Result.IsError || code != call.code {
					t.Errorf("%s %s: error %v, code %q, want %q\n%s", call.tool, call.args, m.Result.IsError, code, call.code, text)
				}
			}
			if answered != len(failing) {
				t.Errorf("%d answers to %d calls", answered, len(failing))
			}
			var want, got []string
			for _, call := range failing {
				want = append(want, call.tool+" "+string(call.code))
			}
			for _, call := range keptCalls(t, dir) {
				got = append(got, call.Tool+" "+call.Error)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("activity has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// keptCalls returns the recorded calls below a folder.
func keptCalls(t *testing.T, dir string) (calls []activity.Call) {
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".calls") {
			return err
		}
		data, err := os.ReadFile(p)
		for line := range bytes.Lines(data) {
			var c activity.Call
			if err := json.Unmarshal(line, &c); err != nil {
				return err
			}
			calls = append(calls, c)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls
}
