package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/profile"
	"quarry/tool"
)

// longFunction makes a function with the given numbers of comment lines and statements.
func longFunction(name string, comments, statements int) string {
	var b strings.Builder
	for i := range comments {
		fmt.Fprintf(&b, "// %s, remark %d\n", name, i+1)
	}
	fmt.Fprintf(&b, "func %s() {\n", name)
	for i := range statements {
		fmt.Fprintf(&b, "\tstep%s(%d)\n", name, i+1)
	}
	b.WriteString("}\n")
	return b.String()
}

// A long comment doesn't displace the code below it.
func TestLongCommentsAreCut(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{"a.go": "package a\n\n" + longFunction("Documented", 26, 3)})
	want := "## a.go:3-33 Documented\n// Documented, remark 1\n// Documented, remark 2\n// Documented, remark 3\n// Documented, remark 4\n … 22 lines\nfunc Documented() {\n\tstepDocumented(1)\n\tstepDocumented(2)\n\tstepDocumented(3)\n}"
	for tool, args := range map[string]string{"find_symbol": `{"name":"Documented"}`, "search_code": `{"query":"Documented"}`} {
		if got := callText(t, r, tool, args); got != want {
			t.Errorf("%s %s\n got %q\nwant %q", tool, args, got, want)
		}
	}
	if got := callText(t, r, "search_files", `{"pattern":"stepDocumented\\(2\\)","show":"definitions"}`); got != "1 match in 1 file\n\n"+want {
		t.Errorf("show: definitions\n got %q", got)
	}
	// Reading the definition returns all of it.
	if got := callText(t, r, "read_file", `{"path":"a.go#Documented"}`); !strings.Contains(got, "remark 26") {
		t.Errorf("read_file: %s", got)
	}
}

// A long definition is shown around its matches.
func TestLongDefinitionsAroundMatches(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{"a.go": "package a\n\n" + longFunction("Long", 1, 120)})
	got := callText(t, r, "search_files", `{"pattern":"stepLong\\((40|45)\\)","show":"definitions"}`)
	for _, want := range []string{"func Long() {\n\tstepLong(1)\n\tstepLong(2)\n … lines 7-31\n\tstepLong(28)", "stepLong(63)\n … lines 68-125"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "stepLong(27)") || strings.Contains(got, "stepLong(64)") {
		t.Errorf("too much:\n%s", got)
	}
}

// A type's text is followed by the names of its methods from all files.
func TestMethodsOfAType(t *testing.T) {
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{
		"store.go": goFile, "close.go": "package store\n\n// Close ends it.\nfunc (s *Store) Close() {\n\ts.name = \"\"\n}\n\nfunc (o *Other) Close() {}\n",
		"sub/x.go": "package sub\n\nfunc (s *Store) NotThis() {}\n",
	})
	want := "## store.go:5-8 struct Store\n// Store keeps things.\ntype Store struct {\n\tname string\n}\nMethods: close.go: Close 4-6, store.go: Open 11-18"
	if got := callText(t, r, "find_symbol", `{"name":"Store"}`); got != want {
		t.Errorf("find_symbol Store\n got %q\nwant %q", got, want)
	}
	if got := callText(t, r, "find_symbol", `{"name":"Store.Open"}`); strings.Contains(got, "Methods") {
		t.Errorf("a method: %s", got)
	}
}

// A long file is read folded unless the caller sets a limit.
func TestLongFilesAreFolded(t *testing.T) {
	text := "package a\n\n"
	for i := range 20 {
		text += longFunction(fmt.Sprintf("F%d", i), 2, 40) + "\n"
	}
	r := openTree(t, &profile.Options{Profile: "code"}, map[string]string{"a.go": text, "data.json": strings.Repeat("{\"key\": 1}\n", 1200)})
	got := callText(t, r, "read_file", `{"path":"a.go"}`)
	if len(text) < 8<<10 || len(got) > 3000 || !strings.Contains(got, "func F19() { … 41 lines\n[") || !strings.HasSuffix(got, "20 bodies folded: path#Name,Name reads them, fold: false all]") {
		t.Errorf("%d bytes folded to %d:\n%s", len(text), len(got), got)
	}
	for _, args := range []string{`{"path":"a.go","fold":false}`, `{"path":"a.go","budget":8000}`} {
		if got := callText(t, r, "read_file", args); got != strings.TrimSuffix(text, "\n") {
			t.Errorf("%s: %d bytes, want all %d", args, len(got), len(text))
		}
	}
	if got := callText(t, r, "read_file", `{"path":"data.json"}`); len(got) < 12000 {
		t.Errorf("nothing to fold: %d bytes", len(got))
	}
}

// Even with the smallest budget, runners-up are named: the wanted result is often among
// them.
func TestRunnersUpAreNamed(t *testing.T) {
	files := map[string]string{"origin.go": "package a\n\n// checkOrigin checks the origin of an admin request.\n" + longFunction("checkOrigin", 0, 30)}
	for i := range 8 {
		files[fmt.Sprintf("o%d.go", i)] = fmt.Sprintf("package a\n\nfunc originAllowed%d() bool { return origin }\n", i)
	}
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	got := callText(t, r, "search_code", `{"query":"check the origin of an admin request","budget":100}`)
	if !strings.HasPrefix(got, "## origin.go:3-35 checkOrigin\n") || strings.Count(got, "\n- o") != 6 || !strings.Contains(got, "\n- o0.go:1-3 originAllowed0") {
		t.Errorf("the best, then six names:\n%s", got)
	}
	if got := callText(t, r, "search_code", `{"query":"check the origin of an admin request","top_k":1}`); strings.Contains(got, "\n- ") {
		t.Errorf("one was asked for:\n%s", got)
	}
}

// A package clause with the best score is not shown, and does not displace other results.
func TestPackageClauseIsNoAnswer(t *testing.T) {
	files := map[string]string{
		"proxy/fastcgi.go": "// Package fastcgi speaks FastCGI: fastcgi.\npackage fastcgi\n\n" + longFunction("splitPos", 1, 30),
		"adapt/x.fcgitest": "split\n",
	}
	for i := range 40 {
		files[fmt.Sprintf("a/f%d.go", i)] = fmt.Sprintf("package a\n\n// f%d is one of many that split.\nfunc f%d() {}\n", i, i)
	}
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	got := callText(t, r, "search_code", `{"query":"fastcgi split"}`)
	if !strings.HasPrefix(got, "## ") || strings.Contains(got, "module fastcgi") || strings.Contains(got, "\n## adapt") {
		t.Errorf("no package clause, and no fixture before the code:\n%s", got)
	}
}

// Files closed because of their names are named once per session; files denied by the
// owner are not named.
func TestProtectedFilesAreNamed(t *testing.T) {
	files := map[string]string{"a.txt": "needle\n", "certs/a.key": "needle\n", "certs/b.pem": "needle\n", "x/c.pem": "needle\n", "x/d.key": "needle\n"}
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	ctx := tool.WithSession(context.Background(), &tool.Session{})
	call := func(name, args string) string {
		res, err := r.Call(ctx, name, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return res.Text
	}
	const all = "[not searched: 4 protected: certs/a.key, certs/b.pem, x/c.pem, …]"
	if got := call("search_files", `{"pattern":"needle"}`); !strings.HasSuffix(got, all) {
		t.Errorf("the first answer: %s", got)
	}
	if got := call("search_files", `{"pattern":"needle"}`); !strings.HasSuffix(got, "[not searched: 4 protected]") {
		t.Errorf("the second answer: %s", got)
	}
	if got := call("search_files", `{"pattern":"needle","path":"x"}`); !strings.HasSuffix(got, "not searched: 2 protected: x/c.pem, x/d.key]") {
		t.Errorf("others: %s", got)
	}
	quarry := openTree(t, nil, files)
	for range 2 {
		if got := callText(t, quarry, "search_files", `{"regex":"needle"}`); !strings.HasSuffix(got, "; "+all[1:]) {
			t.Errorf("the profile quarry: %s", got)
		}
	}
}

// A replacement for which the caller gave the number of matches doesn't list its files.
func TestExpectedCountIsQuiet(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("f%02d.txt", i)] = strings.Repeat("oldName\n", i%3+1)
	}
	for args, want := range map[string]string{
		`{"text":"oldName","replacement":"new","expected_count":24}`: "24 matches in 12 files. Changed 12 files: +24 -24.",
		`{"text":"oldName","replacement":"new"}`:                     "24 matches in 12 files. Changed 12 files, 4 of them: +1 -1 each.\nedited f01.txt: 1 hunk, +2 -2",
	} {
		r := openTree(t, &profile.Options{Profile: "code"}, files)
		if got := callText(t, r, "replace_in_files", args); !strings.HasPrefix(got, want) || strings.Contains(got, "version") {
			t.Errorf("replace_in_files %s\n got %s", args, got)
		}
	}
}
