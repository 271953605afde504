package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/fault"
	"quarry/internal/stress"
)

// sampleTool has a parameter of every kind and returns the values it received.
func sampleTool() *Tool {
	return &Tool{
		Name: "sample", Description: "Shows its arguments.",
		Params: []Param{
			{Name: "path", Kind: String, Required: true, Description: "Where to look"},
			{Name: "max_results", Kind: Integer, Default: 10, Min: Limit(1), Max: Limit(1000), Clamp: true},
			{Name: "top_k", Kind: Integer, Min: Limit(1), Max: Limit(50)},
			{Name: "ignore_case", Kind: Boolean, Default: true},
			{Name: "globs", Kind: Strings},
			{Name: "mode", Kind: String, Enum: []string{"fast", "slow"}},
			{Name: "delete_lines", Kind: Object, Fields: []Param{{Name: "start", Kind: Integer, Required: true}, {Name: "end", Kind: Integer, Required: true}}},
		},
		Run: func(_ context.Context, a Args) (*Result, error) {
			text := fmt.Sprintf("%q %d %d %v %q %q", a.String("path"), a.Int("max_results"), a.Int("top_k"), a.Bool("ignore_case"), a.Strings("globs"), a.String("mode"))
			if o, ok := a.Object("delete_lines"); ok {
				text += fmt.Sprintf(" %d-%d", o.Int("start"), o.Int("end"))
			}
			return &Result{Text: text}, nil
		},
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"defaults", `{"path":"a"}`, `"a" 10 0 true [] ""`},
		{"numbers as text", `{"path":"a","max_results":"20"}`, `"a" 20 0 true [] ""`},
		{"whole floats", `{"path":"a","max_results":20.0}`, `"a" 20 0 true [] ""`},
		{"clamped", `{"path":"a","max_results":5000}`, `"a" 1000 0 true [] ""`},
		{"booleans as text", `{"path":"a","ignore_case":"false"}`, `"a" 10 0 false [] ""`},
		{"an explicit false", `{"path":"a","ignore_case":false}`, `"a" 10 0 false [] ""`},
		{"a lone string for a list", `{"path":"a","globs":"*.go"}`, `"a" 10 0 true ["*.go"] ""`},
		{"a list as text", `{"path":"a","globs":"[\"x\",\"y\"]"}`, `"a" 10 0 true ["x" "y"] ""`},
		{"null is absent", `{"path":"a","top_k":null,"max_results":null}`, `"a" 10 0 true [] ""`},
		{"a number for a string", `{"path":7}`, `"7" 10 0 true [] ""`},
		{"the object as text", `"{\"path\":\"a\"}"`, `"a" 10 0 true [] ""`},
		{"an object", `{"path":"a","delete_lines":{"start":"5","end":10}}`, `"a" 10 0 true [] "" 5-10`},
		{"an object as text", `{"path":"a","delete_lines":"{\"start\":5,\"end\":10}"}`, `"a" 10 0 true [] "" 5-10`},
		{"a choice in another case", `{"path":"a","mode":"Slow"}`, `"a" 10 0 true [] "slow"`},
		{"empty is absent", `{"path":"a","mode":"","top_k":"","ignore_case":"","delete_lines":""}`, `"a" 10 0 true [] ""`},

		{"missing", `{}`, "Error: path is required and must be a non-empty string."},
		{"no arguments at all", ``, "Error: path is required and must be a non-empty string."},
		{"empty", `{"path":""}`, "Error: path is required and must be a non-empty string."},
		{"null", `{"path":null}`, "Error: path is required and must be a non-empty string."},
		{"unknown key", `{"path":"a","maxResults":3}`, "Error: unknown parameter \"maxResults\"; did you mean \"max_results\"?\nKnown parameters: path, max_results, top_k, ignore_case, globs, mode, delete_lines."},
		{"added by a client", `{"wait_for_previous":true,"zz":1}`, "Error: unknown parameter \"zz\"\nKnown parameters: path, max_results, top_k, ignore_case, globs, mode, delete_lines."},
		{"unlike any key", `{"path":"a","zzzzzz":3}`, "Error: unknown parameter \"zzzzzz\"\nKnown parameters: path, max_results, top_k, ignore_case, globs, mode, delete_lines."},
		{"unknown key inside", `{"path":"a","delete_lines":{"start":1,"ende":2}}`, "Error: unknown parameter \"delete_lines.ende\"; did you mean \"end\"?\nKnown parameters: start, end."},
		{"missing inside", `{"path":"a","delete_lines":{"start":1}}`, "Error: delete_lines.end is required and must be an integer."},
		{"not a number", `{"path":"a","top_k":"many"}`, `Error: top_k must be an integer, not "many"`},
		{"a fraction", `{"path":"a","top_k":1.5}`, `Error: top_k must be an integer, not 1.5`},
		{"too small", `{"path":"a","top_k":0}`, `Error: top_k must be at least 1, not 0`},
		{"too large", `{"path":"a","top_k":1e9}`, `Error: top_k must be at most 50, not 1e9`},
		{"not one of", `{"path":"a","mode":"medium"}`, `Error: mode must be one of fast, slow, not "medium"`},
		{"a list for a string", `{"path":["a"]}`, `Error: path must be a string, not ["a"]`},
		{"not an object", `[1]`, "Error: the arguments are not a JSON object, but [1]\nKnown parameters: path, max_results, top_k, ignore_case, globs, mode, delete_lines."},
	} {
		got := sampleTool().Execute(context.Background(), json.RawMessage(c.args))
		if diff := cmp.Diff(c.want, got.Text); diff != "" {
			t.Errorf("%s: %s\n%s", c.name, c.args, diff)
		}
		if got.IsError != strings.HasPrefix(c.want, "Error: ") {
			t.Errorf("%s: IsError is %v", c.name, got.IsError)
		}
	}
}

// A Texts parameter keeps all members, in order.
func TestTexts(t *testing.T) {
	tl := &Tool{Name: "x", Params: []Param{{Name: "also", Kind: Texts}}, Run: func(_ context.Context, a Args) (*Result, error) {
		return &Result{Text: fmt.Sprintf("%q", a.Texts("also"))}, nil
	}}
	for args, want := range map[string]string{
		`{"also":{"z":"1","a":""}}`:         `[{"z" "1"} {"a" ""}]`,
		`{"also":"{\"b\":\"2\"}"}`:          `[{"b" "2"}]`,
		`{"also":{}}`:                       `[]`,
		`{}`:                                `[]`,
		`{"also":{"a":"1","a":"2"}}`:        `Error: also has "a" twice`,
		`{"also":{"a":1}}`:                  `Error: also: the value of "a" must be a string`,
		`{"also":{"a":null}}`:               `Error: also: the value of "a" must be a string`,
		`{"also":[{"a":"1"}]}`:              `Error: also must be an object, not [{"a":"1"}]`,
		`{"also":"a"}`:                      `Error: also must be an object, not "a"`,
		`{"also":"{\"a\":\"1\"} and more"}`: `Error: also must be an object, not "{\"a\":\"1\"} and more"`,
		`{"also":"{\"a\":"}`:                `Error: also must be an object, not "{\"a\":"`,
	} {
		if got := tl.Execute(t.Context(), json.RawMessage(args)); got.Text != want {
			t.Errorf("%s: %s, want %s", args, got.Text, want)
		}
	}
}

func TestSchema(t *testing.T) {
	var got map[string]any
	raw := sampleTool().InputSchema()
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if _, there := got["additionalProperties"]; there || fmt.Sprint(got["required"]) != "[path]" {
		t.Errorf("%s", raw)
	}
	props := got["properties"].(map[string]any)
	topK := props["top_k"].(map[string]any)
	if topK["minimum"] != 1.0 || topK["maximum"] != 50.0 || topK["type"] != "integer" {
		t.Errorf("top_k %v", topK)
	}
	if list := props["globs"].(map[string]any); list["type"] != "array" {
		t.Errorf("globs %v", list)
	}
	if strings.Index(string(raw), `"path"`) > strings.Index(string(raw), `"max_results"`) {
		t.Error("parameters are out of order")
	}
}

func TestErrorsAndPanics(t *testing.T) {
	run := func(f func() error) *Result {
		tl := &Tool{Name: "x", Run: func(context.Context, Args) (*Result, error) { return nil, f() }}
		return tl.Execute(context.Background(), nil)
	}
	for _, c := range []struct {
		name string
		err  func() error
		text string
		code fault.Code
	}{
		{"typed", func() error { return &Error{Code: fault.NotFound, Message: "no x", Hint: "Look elsewhere."} }, "Error: no x\nLook elsewhere.", fault.NotFound},
		{"wrapped", func() error { return fmt.Errorf("outer: %w", Errorf(fault.Conflict, "changed")) }, "Error: changed", fault.Conflict},
		{"plain", func() error { return errors.New("disk") }, "Error: disk", fault.IOError},
		{"late", func() error { return context.DeadlineExceeded }, "Error: the call took too long\nNarrow the path or the pattern and try again.", fault.Timeout},
	} {
		r := run(c.err)
		if r.Text != c.text || !r.IsError || r.Structured.(map[string]*Error)["error"].Code != c.code {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	long := run(func() error {
		return &Error{Code: fault.InvalidArgument, Message: "first\ninvalid date \"" + strings.Repeat("é", 50_000) + "\"", Hint: "Use today."}
	})
	if len(long.Text) > 2200 || !utf8.ValidString(long.Text) || !strings.HasPrefix(long.Text, "Error: first\ninvalid date \"éé") ||
		!strings.Contains(long.Text, "é… [98015 bytes cut] …é") || !strings.HasSuffix(long.Text, "éé\"\nUse today.") {
		t.Errorf("a long argument gives %d bytes: %.100s", len(long.Text), long.Text)
	}
	if r := run(func() error { panic("boom") }); !r.IsError || !strings.Contains(r.Text, "x failed unexpectedly: boom") {
		t.Errorf("panic: %+v", r)
	}
}

func TestRegistry(t *testing.T) {
	s := sampleTool()
	if _, err := NewRegistry(s, sampleTool()); err == nil {
		t.Error("two tools of one name")
	}
	r, err := NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Call(context.Background(), "sampel", nil); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "did you mean sample?") {
		t.Errorf("unknown: %v", err)
	}
	bad := &Tool{Name: "bad", Run: func(context.Context, Args) (*Result, error) { panic("boom") }}
	withBad, err := NewRegistry(bad)
	if err != nil {
		t.Fatal(err)
	}
	heard := ""
	withBad.Panicked = func(tool string, v any, stack []byte) { heard = fmt.Sprint(tool, v, len(stack) > 0) }
	if res, err := withBad.Call(context.Background(), "bad", nil); err != nil || !res.IsError || heard != "badboomtrue" {
		t.Errorf("panic: %+v %v %q", res, err, heard)
	}
	if res, err := r.Call(context.Background(), "sample", json.RawMessage(`{"path":"p"}`)); err != nil || res.IsError {
		t.Errorf("%+v %v", res, err)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"path":"a","max_results":"20","globs":"x","delete_lines":{"start":1,"end":2}}`)
	f.Add(`{"path":"a","path":"b"}`)
	f.Add(`[[[[`)
	f.Fuzz(func(t *testing.T, args string) {
		r := sampleTool().Execute(context.Background(), json.RawMessage(args))
		if r == nil || strings.Contains(r.Text, "unexpectedly") {
			t.Errorf("%q: %+v", args, r)
		}
	})
}

// An unknown name of several megabytes is not compared with the known names.
func TestLongNamesAreCheap(t *testing.T) {
	var tools []*Tool
	for i := range 60 {
		tools = append(tools, &Tool{Name: fmt.Sprintf("tool_with_a_name_%d", i), Run: sampleTool().Run})
	}
	r, err := NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x_", 4<<20)
	began := stress.CPU()
	if _, err := r.Call(t.Context(), long, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if res := sampleTool().Execute(t.Context(), json.RawMessage(`{"path":"p","`+long+`":1}`)); !res.IsError || len(res.Text) > 3000 {
		t.Errorf("unknown parameter: %.100s", res.Text)
	}
	if took := stress.CPU() - began; took > time.Second {
		t.Errorf("%v of processor time for two names of %d MB", took, len(long)>>20)
	}
}
