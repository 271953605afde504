package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/tool"
	"quarry/toolset"
)

var update = flag.Bool("update", false, "write the transcript anew")

// The ids of changes begin with the time.
var changeID = regexp.MustCompile(`change [0-9a-z]{8}\b`)

func TestDemo(t *testing.T) {
	var out bytes.Buffer
	if err := demo(context.Background(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	got := changeID.ReplaceAll(out.Bytes(), []byte("change ID"))
	golden := filepath.Join("testdata", "transcript.txt")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the transcript differs from %s (-want +got); -update writes it anew:\n%s", golden, diff)
	}
}

// A model that errs is told so and can go on; one that doesn't end is ended.
func TestRunTellsTheModel(t *testing.T) {
	tools, err := toolset.New(nil, &toolset.Options{Tools: []string{"read_file"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, tool, input, want string }{
		{"a tool that isn't there", "rm_rf", `{}`, `Error: unknown tool "rm_rf"`},
		{"a bad argument", "read_file", `{}`, "Error: "},
		{"no JSON at all", "read_file", `{`, "Error: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []Result
			model := func(_ context.Context, _ []tool.Definition, history []Message) (Message, error) {
				if told = history[len(history)-1].Results; told != nil {
					return Message{Role: "assistant", Text: "I see."}, nil
				}
				return Message{Role: "assistant", Calls: []Call{{ID: "1", Name: c.tool, Input: json.RawMessage(c.input)}}}, nil
			}
			if err := Run(context.Background(), &bytes.Buffer{}, tools, model, "go"); err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || !told[0].IsError || told[0].CallID != "1" || !strings.HasPrefix(told[0].Text, c.want) {
				t.Errorf("the model is told %+v, want an error %q", told, c.want)
			}
		})
	}
	t.Run("no end", func(t *testing.T) {
		model := func(context.Context, []tool.Definition, []Message) (Message, error) {
			return Message{Calls: []Call{{Name: "read_file", Input: json.RawMessage(`{}`)}}}, nil
		}
		if err := Run(context.Background(), &bytes.Buffer{}, tools, model, "go"); err == nil {
			t.Error("Run goes on for ever")
		}
	})
}
