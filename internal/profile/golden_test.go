package profile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/internal/profile"
)

var update = flag.Bool("update", false, "rewrite golden files and docs/PROFILES.md")

// step is one call in a golden file. Steps of one scene share a workspace.
type step struct {
	name string
	tool string // if it differs from the file's own tool
	args string
	data bool // show the structured result as well
}

type scene struct {
	make  func() fixture
	roots []string // names of the roots if there are several, each created by make
	opts  profile.Options
	steps []step
}

// TestGolden runs the calls of goldens_test.go. The files under testdata are the
// specification of what agents read; go test -update rewrites them.
func TestGolden(t *testing.T) {
	for file, scenes := range goldens() {
		t.Run(file, func(t *testing.T) {
			var got bytes.Buffer
			name, toolName, _ := strings.Cut(file, "/")
			toolName, _, _ = strings.Cut(toolName, "@") // the part after @ distinguishes several files of one tool
			for _, s := range scenes {
				s.opts.Profile = name
				reg := toolsOf(t, s.set(t), s.opts)
				for _, st := range s.steps {
					if st.tool == "" {
						st.tool = toolName
					}
					runStep(t, &got, reg.Lookup(st.tool) != nil, st, func() (string, any, bool) {
						r := call(t, reg, st.tool, st.args)
						return r.Text, r.Structured, r.IsError
					})
				}
			}
			compare(t, filepath.Join("testdata", filepath.FromSlash(file)+".golden"), steady(got.Bytes()))
		})
	}
}

// set opens the workspace of a scene.
func (s *scene) set(t *testing.T) *quarry.Workspace {
	if len(s.roots) == 0 {
		return s.make().make(t)
	}
	var list []quarry.Root
	for _, name := range s.roots {
		list = append(list, quarry.Root{Name: name, Workspace: s.make().make(t)})
	}
	set, err := quarry.Join(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func runStep(t *testing.T, b *bytes.Buffer, known bool, st step, do func() (string, any, bool)) {
	t.Helper()
	if !known {
		t.Fatalf("no tool %s", st.tool)
	}
	text, data, failed := do()
	b.WriteString("== " + st.name + "\n> " + st.tool + " " + st.args + "\n" + text + "\n")
	if failed != (strings.HasPrefix(text, "Error: ") || strings.HasPrefix(text, `{"error":`)) {
		t.Errorf("%s: IsError is %v for %q", st.name, failed, text)
	}
	if st.data || failed {
		j, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("-- data\n")
		b.Write(j)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// unsteady lists patterns for texts that differ from run to run, and their replacements.
var unsteady = []struct{ re, with string }{
	{`change ((?:app|api)/)?[0-9a-z]{8}\b`, "change ${1}ID"},
	{`"id":"((?:app|api)/)?[0-9a-z]{8}"`, `"id":"${1}ID"`},
	{`"(undoes|undone_by)":"((?:app|api)/)?[0-9a-z]{8}"`, `"$1":"${2}ID"`},
	{`(?m)^((?:app|api)/)?[0-9a-z]{8}  20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`, "${1}ID  TIME"},
	{`undo ((?:app|api)/)?[0-9a-z]{8}:`, "undo ${1}ID:"},
	{`"time":"[^"]*"`, `"time":"TIME"`},
	{`Created: 20\d\d-.*`, "Created: TIME"},
	{`"created":"[^"]*"`, `"created":"TIME"`},
	{`"?searchTimeMs"?: ?\d+`, `"searchTimeMs": N`},
	{`Note-\d{13}`, "Note-MS"},
	{`"where":"[^"]*"`, `"where":"WHERE"`},
}

func steady(b []byte) []byte {
	for _, u := range unsteady {
		b = regexp.MustCompile(u.re).ReplaceAll(b, []byte(u.with))
	}
	return b
}

// compare checks a golden file, or rewrites it.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", name, diff)
	}
}
