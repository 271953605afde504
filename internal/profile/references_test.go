package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// find_symbol with references returns the definition, then its uses in code by file and
// enclosing definition, tests last.
func TestReferences(t *testing.T) {
	files := map[string]string{
		"store.go":      goFile + "\n// helper is spoken of here.\nvar note = \"helper\"\n",
		"use.go":        "package store\n\nfunc use(s *Store, o *Other) int {\n\ts.Open()\n\to.Open()\n\treturn helper() + helper()\n}\n\nvar x = helper()\n",
		"store_test.go": "package store\n\nfunc TestHelper() {\n\thelper()\n}\n",
		"README.md":     "Call helper.\n",
	}
	const uses = "3 uses in 2 files, 1 in comments, 1 in strings, 1 in other texts\n# use.go\n@@ use\n6: return helper() + helper()\n9: var x = helper()\n# store_test.go\n@@ TestHelper\n4: helper()"
	for name, want := range map[string]string{
		"code":   "- store.go:20-26 func helper() int\n\n" + uses,
		"quarry": "Found 1 definition of \"helper\":\n\n## store.go:20-26 function helper\n 20 | func helper() int {\n 21 | \tx := 1\n 22 | \tx++\n 23 | \tx++\n 24 | \tx++\n 25 | \treturn x\n 26 | }\n\n" + uses,
	} {
		r := openTree(t, &profile.Options{Profile: name}, files)
		if got := callText(t, r, "find_symbol", `{"name":"helper","references":true}`); got != want {
			t.Errorf("%s: find_symbol helper with references\n got %q\nwant %q", name, got, want)
		}
	}
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	got := callText(t, r, "find_symbol", `{"names":["Store.Open","zzqqzz"],"references":true}`)
	if !strings.Contains(got, "3 uses in 2 files, 1 in comments; types are not known, so 3 may be of another than Store.Open\n# store.go\n") || !strings.Contains(got, "5: o.Open()") || !strings.HasSuffix(got, "No definition of \"zzqqzz\" found.\n\nNo uses in code\n[no file in scope defines it or a similar name; search_code looks for words instead]") {
		t.Errorf("several names:\n%s", got)
	}
	structured := openTree(t, &profile.Options{Profile: "code", Structured: true}, files)
	res, err := structured.Call(context.Background(), "find_symbol", json.RawMessage(`{"name":"helper","references":true}`))
	if err != nil || !strings.Contains(res.Text, `"references":[{"path":"use.go","line":6,"text":"return helper() + helper()","symbol":"use"},`) {
		t.Errorf("structured: %v, %v", res, err)
	}
	if got := callText(t, r, "find_symbol", `{"name":"Store.Open","budget":100}`); got != "## store.go:10-18 Store.Open\n// Open opens a store.\nfunc (s *Store) Open() error {\n\tf, err := os.Open(s.name)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\treturn nil\n}" {
		t.Errorf("a small definition: %q", got)
	}
	var many strings.Builder
	many.WriteString("package store\n\nfunc all() {\n")
	for i := range 2000 {
		fmt.Fprintf(&many, "\thelper() // %d\n", i)
	}
	files["many.go"] = many.String() + "}\n"
	r = openTree(t, &profile.Options{Profile: "code"}, files)
	got = callText(t, r, "find_symbol", `{"name":"helper","references":true}`)
	if len(got) > 17<<10 || !strings.Contains(got, "2003 uses, 1 in comments") || !strings.Contains(got, " uses; give a path or a larger budget]") {
		t.Errorf("%d bytes: %s … %s", len(got), got[:200], got[len(got)-200:])
	}
}
