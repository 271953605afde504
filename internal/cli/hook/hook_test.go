package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/cli/env"
)

// project makes a folder with a file whose syntax a client has just broken.
func project(t *testing.T) (dir string, s env.Streams, out *bytes.Buffer) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{".git/HEAD": "x", "calc.py": "def add(a, b):\n    return (a + b\n", ".env": "A=(\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "USERPROFILE", "LOCALAPPDATA"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("QUARRY_CONFIG", os.DevNull)
	out = &bytes.Buffer{}
	return dir, env.Streams{Out: out, Err: out, Conf: &env.Settings{}}, out
}

// text returns v as JSON.
func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type object = map[string]any

const whole = "def add(a, b):\n    return a + b\n"

// The inputs were recorded from the three clients after an edit.
func TestAfterEdit(t *testing.T) {
	dir, s, out := project(t)
	file := filepath.Join(dir, "calc.py")
	edit := object{"file_path": file, "old_string": "return a + b", "new_string": "return (a + b"}
	for _, c := range []struct {
		name, word string
		event      object
		want       bool
	}{
		{"Claude Code", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "tool_response": object{"originalFile": whole}}, true},
		{"Claude Code's own word", "PostToolUse", object{"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": edit, "tool_response": object{"originalFile": whole}}, true},
		{"a file that was broken before", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "tool_response": object{"originalFile": "f(("}}, false},
		{"a new file", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": edit, "tool_response": object{"originalFile": nil}}, false},
		{"reading", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": edit, "tool_response": object{"originalFile": whole}}, false},
		{"Gemini CLI", "after-tool", object{"hook_event_name": "AfterTool", "tool_name": "replace", "tool_input": edit,
			"tool_response": object{"llmContent": "x", "returnDisplay": object{"originalContent": whole}}}, true},
		{"Codex", "after-tool", object{"hook_event_name": "PostToolUse", "turn_id": "1", "tool_name": "apply_patch", "tool_input": object{
			"command": "*** Begin Patch\n*** Update File: calc.py\n@@ def add(a, b):\n-    return a + b\n+    return (a + b\n*** End Patch\n"}, "tool_response": "Exit code: 0"}, true},
		{"a patch of other text", "after-tool", object{"hook_event_name": "PostToolUse", "turn_id": "1", "tool_name": "apply_patch", "tool_input": object{
			"command": "*** Begin Patch\n*** Update File: calc.py\n@@\n-    a\n+    b\n*** End Patch\n"}}, false},
		{"a protected file", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": object{"file_path": filepath.Join(dir, ".env")},
			"tool_response": object{"originalFile": "A=()"}}, false},
		{"a file elsewhere", "after-tool", object{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": object{"file_path": "../calc.py"},
			"tool_response": object{"originalFile": whole}}, false},
	} {
		out.Reset()
		c.event["cwd"], c.event["session_id"] = dir, "s"
		s.In = strings.NewReader(text(t, c.event))
		Answer([]string{c.word}, s)
		want := ""
		if c.want {
			want = fmt.Sprintf(`{"hookSpecificOutput":{"additionalContext":"calc.py no longer parses: line 2: '(' is not closed","hookEventName":%q}}`+"\n", c.event["hook_event_name"])
		}
		if out.String() != want {
			t.Errorf("%s: %q, want %q", c.name, out.String(), want)
		}
	}
}

func TestSessionStart(t *testing.T) {
	dir, s, out := project(t)
	s.In = strings.NewReader(text(t, object{"hook_event_name": "SessionStart", "cwd": dir}))
	Answer([]string{"session-start"}, s)
	var got struct {
		Out struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Out.HookEventName != "SessionStart" || strings.Count(got.Out.AdditionalContext, "\n") > 2 {
		t.Errorf("%v: %s", err, out)
	}
}

// Whatever its input, a hook ends without output and does not panic.
func TestMalformedInput(t *testing.T) {
	dir, s, out := project(t)
	good := text(t, object{"hook_event_name": "PostToolUse", "cwd": dir, "tool_name": "Edit", "tool_input": object{"file_path": filepath.Join(dir, "calc.py")},
		"tool_response": object{"originalFile": "f(("}})
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"after-tool", "before-tool", "session-start", "PostToolUse", "Stop", "", "no such event"}
	for i := range 500 {
		bad := []byte(good)
		for range 1 + r.IntN(20) {
			switch at := r.IntN(len(bad)); r.IntN(4) {
			case 0:
				bad[at] = byte(r.IntN(256))
			case 1:
				bad = bad[:at+1]
			case 2:
				bad = append(bad[:at:at], append([]byte(`{"a":[1,null]}`), bad[at:]...)...)
			case 3:
				bad = append(bad, bad[at:]...)
			}
		}
		out.Reset()
		s.In = bytes.NewReader(bad)
		Answer([]string{words[i%len(words)]}, s)
		if out.Len() > 0 && (!json.Valid(bad) || !strings.HasPrefix(out.String(), `{"hookSpecificOutput":`)) {
			t.Fatalf("%q got %q", bad, out)
		}
	}
	for _, in := range []string{"", "null", "[]", "{}", `{"cwd":"relative"}`, `{"cwd":"/nowhere/at/all"}`, strings.Repeat(" ", maxInput+1)} {
		out.Reset()
		s.In = strings.NewReader(in)
		if Answer([]string{"after-tool"}, s); out.Len() > 0 {
			t.Errorf("%.20q got %q", in, out)
		}
	}
}

func TestPanic(t *testing.T) {
	_, s, out := project(t)
	defer func(f func([]string, env.Streams) []byte) { answer = f }(answer)
	answer = func([]string, env.Streams) []byte { panic("planted") }
	if Answer([]string{"after-tool"}, s); out.Len() > 0 {
		t.Errorf("got %q", out)
	}
}

// An owner that accepts connections but never answers delays a hook only by the owner's time limit.
func TestHangingOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the owner is met elsewhere on Windows")
	}
	dir, s, out := project(t)
	short, err := os.MkdirTemp("", "q") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	t.Setenv("XDG_RUNTIME_DIR", short)
	real, err := env.RealPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	place, err := env.IndexPlace(real)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(place.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	hanging, err := net.Listen("unix", place.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close()
	s.In = strings.NewReader(text(t, object{"hook_event_name": "PostToolUse", "cwd": dir, "tool_name": "Edit",
		"tool_input": object{"file_path": filepath.Join(dir, "calc.py")}, "tool_response": object{"originalFile": whole}}))
	began := time.Now()
	Answer([]string{"after-tool"}, s)
	if took := time.Since(began); took > maxTime/2 || !strings.Contains(out.String(), "no longer parses") {
		t.Errorf("%v: %q", took, out)
	}
}
