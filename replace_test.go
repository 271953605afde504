package quarry_test

import (
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/quarrytest"
	"quarry/match"
	"quarry/search"
)

// Replace replaces patterns, texts and structures in all files as one change, or plans that. It
// reports the matches that it did not replace.
func TestReplace(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nvar x = foo(1) + foo(y)\n", "b.txt": "foo(1) costs $1\n", "c.c": "int f(int n) { return MAC(n) * n; }\n", "d.bin": "foo\x00"}
	for _, c := range []struct {
		name string
		q    search.Query
		text string
		opts quarry.ReplaceOptions
		want map[string]string
	}{
		{"groups", search.Query{Pattern: `foo\((\w+)\)`}, "bar[$1]", quarry.ReplaceOptions{}, map[string]string{"a.go": "package a\n\nvar x = bar[1] + bar[y]\n", "b.txt": "bar[1] costs $1\n"}},
		{"literal", search.Query{Pattern: "$1", Match: match.Options{Syntax: match.Literal}}, "$2", quarry.ReplaceOptions{Literal: true}, map[string]string{"b.txt": "foo(1) costs $2\n"}},
		{"structure", search.Query{Structure: "foo($A)", Scope: search.Scope{Globs: []string{"*.go"}}}, "bar($A, 0)", quarry.ReplaceOptions{}, map[string]string{"a.go": "package a\n\nvar x = bar(1, 0) + bar(y, 0)\n"}},
		{"limits don't count", search.Query{Pattern: "foo", Limits: search.Limits{Files: 1, Lines: 1}}, "bar", quarry.ReplaceOptions{Expected: 3}, map[string]string{"a.go": "package a\n\nvar x = bar(1) + bar(y)\n", "b.txt": "bar(1) costs $1\n"}},
	} {
		ws := quarrytest.Changeable(t, files, nil)
		c.opts.DryRun = true
		plan := quarrytest.Must(t)(ws.Replace(t.Context(), c.q, c.text, &c.opts))
		if got := quarrytest.Content(t, ws, "a.go"); got != files["a.go"] || plan.Digest == "" {
			t.Errorf("%s: a dry run wrote %q, digest %q", c.name, got, plan.Digest)
		}
		done := quarrytest.Must(t)(ws.Apply(t.Context(), change.Set{Digest: plan.Digest}))
		for name, text := range files {
			if want, ok := c.want[name]; ok {
				text = want
			}
			if got := quarrytest.Content(t, ws, name); got != text {
				t.Errorf("%s: %s is %q, want %q", c.name, name, got, text)
			}
		}
		quarrytest.Must(t)(ws.Undo(t.Context(), done.ID, nil))
	}
	ws := quarrytest.Changeable(t, files, nil)
	for _, c := range []struct {
		pattern string
		opts    quarry.ReplaceOptions
		want    fault.Code
	}{
		{"zebra", quarry.ReplaceOptions{}, fault.NotFound}, {"foo", quarry.ReplaceOptions{Expected: 2}, fault.Conflict}, {"(", quarry.ReplaceOptions{}, fault.InvalidPattern},
	} {
		if _, err := ws.Replace(t.Context(), search.Query{Pattern: c.pattern}, "$0", &c.opts); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.pattern, err, c.want)
		}
	}
	_, err := ws.Replace(t.Context(), search.Query{Pattern: "foo", Scope: search.Scope{Paths: []string{"./d.bin"}}}, "bar", nil)
	if fault.CodeOf(err) != fault.NotText || !strings.Contains(err.Error(), "d.bin is binary, so it was not searched") {
		t.Errorf("a binary file: %v", err)
	}
	done := quarrytest.Must(t)(ws.Replace(t.Context(), search.Query{Pattern: "foo"}, "bar", nil))
	if done.Tool != "replace" || !strings.Contains(done.Summary, "3 matches in 2 files") {
		t.Errorf("%s: %q", done.Tool, done.Summary)
	}
}
