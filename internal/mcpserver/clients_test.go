package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// stdioVariable makes the test binary a server on stdin and stdout.
const stdioVariable = "QUARRY_TEST_STDIO"

func TestMain(m *testing.M) {
	if os.Getenv(stdioVariable) != "" {
		os.Exit(stdioServer())
	}
	os.Exit(m.Run())
}

func stdioServer() int {
	reg, err := stockTools()
	if err == nil {
		var s *Server
		if s, err = New(reg, clientOptions()); err == nil {
			err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func clientOptions() *Options {
	return &Options{Version: "v1", Instructions: "Be brief.", Structured: true}
}

type clientReport struct {
	Instructions string
	Tools        []struct{ Name string }
	Results      []struct {
		Name, Threw string
		Progress    int
		Result      struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
}

// The TypeScript client, which validates structured results, works over both transports.
func TestClientsTypeScript(t *testing.T) {
	npmPackage(t, "@modelcontextprotocol", "sdk", "package.json")
	program := node(t)
	url, _ := listen(t, newTestServer(t, clientOptions()), "127.0.0.1:0")
	for name, target := range targets(t, url) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program, "testdata/clients/drive.mjs", target)
			cmd.Stdin = strings.NewReader(`[{"name":"echo","arguments":{"text":"hi"}},{"name":"echo","arguments":{"text":"fail"}},{"name":"echo","arguments":{}},
				{"name":"count","arguments":{"to":3,"pause":true}},{"name":"boom"},{"name":"search_files"},{"name":"nothing"}]`)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.Bytes())
			}
			var r clientReport
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatal(err)
			}
			checkReport(t, &r)
		})
	}
}

func targets(t *testing.T, url string) map[string]string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdio, _ := json.Marshal(map[string]any{"command": self, "args": []string{}, "env": map[string]string{stdioVariable: "1"}})
	web, _ := json.Marshal(map[string]any{"url": url, "token": testToken})
	return map[string]string{"stdio": string(stdio), "http": string(web)}
}

func checkReport(t *testing.T, r *clientReport) {
	t.Helper()
	if r.Instructions != "Be brief." || len(r.Tools) != 6 {
		t.Errorf("the client saw %+v", r)
	}
	for i, want := range []struct{ text, structured, threw string }{
		{"hi", `{"length":2,"text":"hi"}`, ""},
		{"Error: nothing is called fail\nTry another text.", `{"error":{"code":"NOT_FOUND","message":"nothing is called fail","hint":"Try another text."}}`, ""},
		{"Error: text is required and must be a non-empty string.", `{"error":{"code":"INVALID_ARGUMENT","message":"text is required and must be a non-empty string."}}`, ""},
		{"counted", "", ""},
		{"Error: boom failed", "*", ""},
		{"  1 | a line", "", ""},
		{"", "", "unknown tool"},
	} {
		got := r.Results[i]
		text := ""
		if len(got.Result.Content) > 0 {
			text = got.Result.Content[0].Text
		}
		if !strings.HasPrefix(text, want.text) || !strings.Contains(got.Threw, want.threw) || want.threw == "" && got.Threw != "" {
			t.Errorf("%s: %q, threw %q; want %q, %q", got.Name, text, got.Threw, want.text, want.threw)
		}
		if want.structured != "*" && string(got.Result.StructuredContent) != want.structured {
			t.Errorf("%s: structured %s, want %s", got.Name, got.Result.StructuredContent, want.structured)
		}
		if got.Name == "count" && got.Progress == 0 {
			t.Error("no progress reached the client")
		}
	}
}

// The inspector's command line works over both transports.
func TestClientsInspector(t *testing.T) {
	inspector := npmPackage(t, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	program := node(t)
	url, _ := listen(t, newTestServer(t, clientOptions()), "127.0.0.1:0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string][]string{
		"stdio": {"--cli", "-e", stdioVariable + "=1", self},
		"http":  {"--cli", url, "--transport", "http", "--header", "Authorization: Bearer " + testToken},
	} {
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"--method", "tools/list", "--strict"}, `"name": "echo"`},
			{[]string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello"}, `"text": "hello"`},
		} {
			cmd := exec.Command(program, append(append([]string{inspector}, target...), c.args...)...)
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // it stores a catalogue there
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%s %v: %v\n%s", name, c.args, err, out)
			}
		}
	}
}
