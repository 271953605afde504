package page

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var imports = regexp.MustCompile(`(?m)(?:^import|\bimport\()[^;]*?"\./([\w-]+\.js)"`)

// The scripts have no import cycles: views import the frame, and only app.js imports both.
func TestScriptsWithoutCircles(t *testing.T) {
	names, err := fs.Glob(assets, "assets/*.js")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d scripts, %v", len(names), err)
	}
	needs, edges := map[string][]string{}, 0
	for _, name := range names {
		text, err := assets.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imports.FindAllStringSubmatch(string(text), -1) {
			if _, err := assets.ReadFile("assets/" + m[1]); err != nil {
				t.Errorf("%s imports %s, which is not there", name, m[1])
			}
			needs[path.Base(name)] = append(needs[path.Base(name)], m[1])
			edges++
		}
	}
	if edges < 20 {
		t.Fatalf("only %d imports were found", edges)
	}
	if circle := circleIn(needs); circle != nil {
		t.Errorf("a circle: %s", strings.Join(circle, " → "))
	}
	needs["dom.js"] = append(needs["dom.js"], "app.js") // plant a cycle, which must be found
	if circleIn(needs) == nil {
		t.Error("a circle is not found")
	}
}

func circleIn(needs map[string][]string) (circle []string) {
	done := map[string]bool{}
	var visit func(name string, above []string) []string
	visit = func(name string, above []string) []string {
		if i := slices.Index(above, name); i >= 0 {
			return append(slices.Clone(above[i:]), name)
		}
		if done[name] {
			return nil
		}
		for _, next := range needs[name] {
			if c := visit(next, append(slices.Clone(above), name)); c != nil {
				return c
			}
		}
		done[name] = true
		return nil
	}
	for name := range needs {
		if c := visit(name, nil); c != nil {
			return c
		}
	}
	return nil
}
