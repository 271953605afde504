package agents

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"quarry/internal/cli/env"
	"quarry/internal/profile"
)

// Every name in a guide is a tool of its profile, a parameter of one, or a command, and the guide
// of a selectable profile names all of its tools.
func TestGuidesNameTools(t *testing.T) {
	for _, name := range profile.Names() {
		var out bytes.Buffer
		s := env.Streams{Out: &out, Err: &out, Conf: &env.Settings{}}
		cmd := NewAgentsMD(s)
		cmd.SetArgs([]string{"--profile", name})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		r, err := profile.New(nil, &profile.Options{Profile: name})
		if err != nil {
			t.Fatal(err)
		}
		tools, params := map[string]bool{}, map[string]bool{}
		for _, d := range r.Tools() {
			tools[d.Name] = true
			for _, p := range d.Params {
				params[p.Name] = true
			}
		}
		if name == "notes" || name == "quarry" { // these profiles show further tools in a vault
			for _, n := range []string{"properties", "tags", "links", "edit_section", "read_section"} {
				tools[n] = true
			}
		}
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(text, -1) {
			if !tools[m[1]] && !params[m[1]] && m[1] != "quarry" {
				t.Errorf("%s: agents-md names %s, which is neither a tool nor a parameter", name, m[1])
			}
		}
		for _, d := range r.Tools() {
			if name == "code" && !strings.Contains(text, "`"+d.Name+"`") {
				t.Errorf("%s: agents-md does not name %s", name, d.Name)
			}
		}
	}
}

// The skill has at most 900 tokens of four bytes, because a model has to read it.
func TestSkillIsShort(t *testing.T) {
	text := guide("skill")
	if n := len(text) / 4; n > 900 || n < 300 {
		t.Errorf("%d tokens", n)
	}
	front, _, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(front, "name: quarry\ndescription: ") || strings.Count(front, "\n") != 1 {
		t.Errorf("it begins with %q", front)
	}
	if data, err := json.Marshal(front); err != nil || len(data) > 300 {
		t.Errorf("the always loaded part has %d bytes", len(data))
	}
}
